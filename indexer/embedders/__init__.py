"""Embedders: one file a provider, one vector space each.

To add one: write `indexer/embedders/<name>.py` with a class that satisfies `Embedder`, a function
`embedder(settings, environment)` that makes it and a function `unavailable(settings, environment)` that says
why it takes no part; list both below and the name in `schemas.settings.PROVIDERS`. The conformance test runs
over the dict. The SDK of a provider is imported inside its class, never at the top of the file.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Protocol

import numpy as np
from numpy.typing import NDArray

from schemas.records import Space

from . import gemini, hash, local, ollama

if TYPE_CHECKING:
    from schemas.settings import Settings


class Embedder(Protocol):
    """Texts to unit vectors of one space. Documents and queries are embedded differently.

    Every method that talks to the provider raises one of `schemas.problems.EmbedderError` and returns nothing
    else than a complete, validated answer. Safe to call from several threads.
    """

    @property
    def identity(self) -> Space:
        """The space of its vectors; asking may probe the server once, and raises as `query` does."""
        ...

    def recognises(self, space: Space) -> bool:
        """Whether a known space is its own, as far as can be told without embedding or loading anything.

        A build with nothing to do asks this instead of `identity`.
        """
        ...

    @property
    def english_only(self) -> bool:
        """Whether the model knows English alone: it then ranks below the local one."""
        ...

    @property
    def workers(self) -> int:
        """How many batches may be in flight at once."""
        ...

    @property
    def paid(self) -> bool:
        """Whether a request costs money or a quota."""
        ...

    @property
    def max_batch(self) -> int:
        """How many texts one call of `documents` may hold."""
        ...

    def warm(self) -> None:
        """Pay the start-up cost now (start a process, load the model); raises as `query` does."""
        ...

    def documents(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Vectors of documents, shape (len(texts), dims), L2-normalised rows in the order of the texts."""
        ...

    def query(self, text: str) -> NDArray[np.float32]:
        """The vector of a query, shape (dims,), L2-normalised."""
        ...

    def close(self) -> None:
        """End processes and connections; closing twice is harmless."""
        ...


Factory = Callable[["Settings", Mapping[str, str]], Embedder]
Absence = Callable[["Settings", Mapping[str, str]], str | None]

EMBEDDERS: dict[str, Factory] = {
    "gemini": gemini.embedder,
    "ollama": ollama.embedder,
    "local": local.embedder,
    "hash": hash.embedder,
}

_ABSENCES: dict[str, Absence] = {
    "gemini": gemini.unavailable,
    "ollama": ollama.unavailable,
    "local": local.unavailable,
    "hash": hash.unavailable,
}


def unavailable(name: str, settings: Settings, environment: Mapping[str, str]) -> str | None:
    """Why this provider takes no part in this run, as one sentence with its remedy; None if it does.

    Loads no SDK and no model, and sends no text; for Ollama it asks the server which models it has.
    """
    return _ABSENCES[name](settings, environment)

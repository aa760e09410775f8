"""Embedders of imported spaces: the model and the dims that its owner named, and texts without any prefix.

A query must be made as the documents were. Those of an imported index were made by another program, of bare
texts and by a model that need not be the configured one: both may be asked side by side.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from schemas.problems import Refusal
from schemas.records import Space

from . import Embedder, gemini, ollama, unavailable

if TYPE_CHECKING:
    from schemas.settings import Settings

# Providers that can be asked for any model by its name; the bundled one has but its own.
MAKERS: dict[str, Callable[[Settings, Mapping[str, str], int], Embedder]] = {
    "gemini": gemini.embedder,
    "ollama": ollama.embedder,
}


def imported(space: Space, settings: Settings, environment: Mapping[str, str]) -> Embedder:
    """The embedder of an imported space; no text is sent yet.

    Args:
        space: a bare one.
        settings: addresses, timeouts and leave; the space says the model and the dims.
        environment: keys and hosts.

    Raises:
        Refusal: why it can't be asked, one sentence with its remedy.
    """
    make = MAKERS.get(space.provider)
    if make is None:
        raise Refusal(f"{space.provider}: it can't be asked for a model by name.")
    asked = _asking(space, settings)
    reason = unavailable(space.provider, asked, environment)
    if reason is not None:
        raise Refusal(reason)
    return make(asked, environment, space.prefix_version)


def _asking(space: Space, settings: Settings) -> Settings:
    """The settings with the model and the dims of a space."""
    own = settings.embedding
    gemini = own.gemini.model_copy(update={"model": space.model, "dimensions": space.dims})
    ollama = own.ollama.model_copy(update={"model": space.model})
    embedding = own.model_copy(update={"gemini": gemini, "ollama": ollama})
    return settings.model_copy(update={"embedding": embedding})

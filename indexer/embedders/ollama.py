"""A local Ollama server, in its own space: the fallback for Gemini, or the first choice without a cloud."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from indexer.text.normal import scrubbed
from schemas.problems import EmbedderError, Outage, Quota, Refusal, TextRejected
from schemas.records import Space

from .ollama_models import BEST, Model, canonical, chosen, described
from .ollama_server import address, is_local, models_of
from .validation import validated

if TYPE_CHECKING:
    from ollama import Client

    from schemas.settings import Settings

AUTO = "auto"

# Raised when a prefix in ollama_models changes: its vectors are then another space.
PREFIX_VERSION = 1

# A cold load takes 8–15 s on a laptop, a batch of 20 on its CPU about as long again.
_TIMEOUT = 120.0

# The model stays loaded between two batches that wait for a slower provider, and between two queries.
_KEEP_ALIVE = "30m"

_RATE_WAIT = 30.0


class OllamaEmbedder:
    """Space `ollama/<model>/<dims>/1`; the dims are learned from the first answer.

    Args:
        host: as `ollama_server.address` gives it.
        model: the server's name of the model, or `auto`.
        timeout: seconds for a batch and for loading the model.
        query_timeout: seconds for a query, which a person waits for. Loading the model takes longer: `warm`
            first, since Ollama gives up loading when its client goes away.
        prefix_version: 0 for bare texts, without the prefixes of the model's card.
    """

    workers = 1  # the server queues by itself
    paid = False
    max_batch = 100

    def __init__(
        self,
        host: str,
        model: str = AUTO,
        timeout: float = _TIMEOUT,
        query_timeout: float = _TIMEOUT,
        prefix_version: int = PREFIX_VERSION,
    ) -> None:
        from ollama import Client

        # A proxy of the environment would carry the texts of a local server off the machine; a redirect too.
        options: dict[str, Any] = {"trust_env": not is_local(host), "follow_redirects": False}
        self._client = Client(host=host, timeout=timeout, **options)
        self._query_client = (
            self._client if query_timeout == timeout else Client(host=host, timeout=query_timeout, **options)
        )
        self._host = host
        self._wanted = model
        self._prefix_version = prefix_version
        self._model: tuple[str, Model] | None = None
        self._dims: int | None = None
        self._lock = threading.Lock()

    @property
    def identity(self) -> Space:
        """The space of its vectors; before the first answer it asks for one, and raises as `query` does."""
        if self._dims is None:
            self.warm()
        assert self._dims is not None
        return Space("ollama", canonical(self._described()[0]), self._dims, self._prefix_version)

    def recognises(self, space: Space) -> bool:
        """Whether a space is of the model that would embed; loads no model, so unknown dims are believed."""
        model = canonical(self._described()[0])
        known = Space("ollama", model, self._dims or space.dims, self._prefix_version)
        return space == known

    @property
    def english_only(self) -> bool:
        """Whether the model knows English alone; under `auto` it asks the server which models it has."""
        return self._described()[1].english_only

    def warm(self) -> None:
        """Load the model and learn its dims; takes as long as a cold load does."""
        self._embed(self._client, [self._described()[1].document + "warm"])

    def documents(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Vectors of documents, shape (len(texts), dims), unit rows, by one HTTP call.

        Raises:
            Refusal: no such model, or no access.
            TextRejected: a 400, or the 500 that means NaN for one of these texts.
            Outage: not reachable, or a broken answer.
        """
        if not texts:
            return np.empty((0, self.identity.dims), dtype=np.float32)
        model = self._described()[1]
        return self._embed(self._client, [model.document + _cut(text, model) for text in texts])

    def query(self, text: str) -> NDArray[np.float32]:
        """The vector of a query, shape (dims,), norm 1; raises as `documents` does."""
        model = self._described()[1]
        vector: NDArray[np.float32] = self._embed(self._query_client, [model.query + _cut(text, model)])[0]
        return vector

    def close(self) -> None:
        """Close the connections."""
        self._client.close()  # type: ignore[no-untyped-call]
        self._query_client.close()  # type: ignore[no-untyped-call]

    def _described(self) -> tuple[str, Model]:
        with self._lock:
            if self._model is None:
                name = self._wanted if self._wanted != AUTO else self._best()
                model = described(name)
                bare = self._prefix_version == 0
                self._model = name, replace(model, document="", query="") if bare else model
            return self._model

    def _best(self) -> str:
        try:
            listed = self._client.list().models
        except Exception as error:
            raise _typed(error, self._host, "") from None
        name = chosen(model.model for model in listed if model.model)
        if name is None:
            raise Refusal(
                f"The Ollama server has no embedding model among its {len(listed)} models.",
                f"ollama pull {BEST}",
            )
        return name

    def _embed(self, client: Client, texts: Sequence[str]) -> NDArray[np.float32]:
        name = self._described()[0]
        try:
            answer = client.embed(name, list(texts), truncate=True, keep_alive=_KEEP_ALIVE).embeddings
        except Exception as error:
            raise _typed(error, self._host, name) from None
        dims = self._dims or (len(answer[0]) if answer else 0)
        vectors = validated(answer, len(texts), dims, "Ollama")
        self._dims = dims
        return vectors


def _cut(text: str, model: Model) -> str:
    return scrubbed(text)[: model.max_characters]


def _typed(error: Exception, host: str, model: str) -> EmbedderError:
    """Our error for anything that the SDK raises: its ResponseError, or httpx, JSON and shape errors."""
    from ollama import ResponseError

    if not isinstance(error, ResponseError):
        return Outage(
            f"The Ollama server at {host} could not be reached or its answer could not be read "
            f"({type(error).__name__}).",
            "start it with `ollama serve`",
        )
    said = " ".join(str(error.error).split())[:200]
    match error.status_code:
        case 404:
            return Refusal(f"The Ollama server has no model {model} (404).", f"ollama pull {model}")
        case 401 | 403:
            return Refusal(
                f"The Ollama server refused access ({error.status_code}): {said}", "check its proxy"
            )
        case 429:
            return Quota(f"The Ollama server asks to wait (429): {said}", _RATE_WAIT)
        case 400 | 413 | 422:
            return TextRejected(f"Ollama rejected a text ({error.status_code}): {said}")
        case 500 if "NaN" in said:
            # bge-m3 yields NaN for certain texts, always the same (ollama/ollama#15582): not an outage.
            return TextRejected(f"Ollama made NaN of a text (500): {said}")
        case _:
            return Outage(
                f"The Ollama server answered {error.status_code}: {said}", "the next run tries again"
            )


def embedder(
    settings: Settings, environment: Mapping[str, str], prefix_version: int = PREFIX_VERSION
) -> OllamaEmbedder:
    """The configured Ollama embedder; no request is made yet.

    Args:
        settings: host, model and leave.
        environment: the host.
        prefix_version: 0 for bare texts.

    Raises:
        Refusal: the server is on another machine and the cloud is not allowed.
    """
    host = address(settings, environment)
    refusal = _abroad(settings, host)
    if refusal:
        raise Refusal(refusal)
    return OllamaEmbedder(
        host,
        settings.embedding.ollama.model,
        query_timeout=settings.embedding.query_timeout_ms / 1000,
        prefix_version=prefix_version,
    )


def unavailable(settings: Settings, environment: Mapping[str, str]) -> str | None:
    """Why Ollama takes no part: another machine without leave, no server, no model; None if it does."""
    host = address(settings, environment)
    if refusal := _abroad(settings, host):
        return refusal
    try:
        names = models_of(host)
    except (OSError, ValueError, KeyError, TypeError):
        return f"ollama: no server answers at {host}; start it with `ollama serve`."
    wanted = settings.embedding.ollama.model
    if wanted == AUTO:
        return (
            None if chosen(names) else f"ollama: the server has no embedding model; run `ollama pull {BEST}`."
        )
    if canonical(wanted) in {canonical(name) for name in names}:
        return None
    return f"ollama: the server has no model {wanted}; run `ollama pull {wanted}`."


def _abroad(settings: Settings, host: str) -> str | None:
    if is_local(host) or settings.embedding.cloud:
        return None
    return (
        f"ollama: {host} is another machine, and no text leaves this one; "
        "to allow it write `cloud = true` under [embedding]."
    )

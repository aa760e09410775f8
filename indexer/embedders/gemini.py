"""The Gemini API: the best vectors, for a key, and only when `embedding.cloud` is true."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from indexer.text.normal import scrubbed
from schemas.problems import Refusal
from schemas.records import Space

from .gemini_errors import from_response, unreachable
from .validation import validated

if TYPE_CHECKING:
    from google.genai import Client

    from schemas.settings import Settings

KEYS = ("GEMINI_API_KEY", "GOOGLE_API_KEY")

# Raised when a prefix below changes: its vectors are then another space.
PREFIX_VERSION = 1

# The API takes at most 100 entries a call, and each counts as one request of the quota.
MAX_BATCH = 100

# gemini-embedding-2 takes 8,192 tokens and gemini-embedding-001 2,048; 6,000 characters of Russian are under
# 2,048 tokens, so that neither cuts what we believe to be inside the vector.
MAX_CHARACTERS = 6_000

_TIMEOUT_MS = 60_000


class GeminiEmbedder:
    """Space `gemini/<model>/<dimensions>/1`. One call embeds a whole batch; the SDK never retries.

    Args:
        key: the API key; it appears in no error and no log line of ours.
        model: gemini-embedding-2* (text prefixes) or an older one (task types).
        dimensions: 128–3072; the API cuts a Matryoshka vector, which is then normalised here.
        base_url: the SDK's own by default.
        api_version: v1beta while the model is a preview.
        timeout_ms: for a batch of documents.
        query_timeout_ms: for a query, which a person waits for.
        prefix_version: 0 for bare texts, without a prefix and without a task type.
    """

    workers = 1  # a crash may cost one paid batch, not several
    paid = True
    max_batch = MAX_BATCH
    english_only = False

    def __init__(
        self,
        key: str,
        model: str,
        dimensions: int,
        base_url: str | None = None,
        api_version: str = "v1beta",
        timeout_ms: int = _TIMEOUT_MS,
        query_timeout_ms: int = _TIMEOUT_MS,
        prefix_version: int = PREFIX_VERSION,
    ) -> None:
        self._key = key
        self._space = Space("gemini", model.removeprefix("models/"), dimensions, prefix_version)
        self._base_url = base_url
        self._api_version = api_version
        self._timeout_ms = timeout_ms
        self._query_timeout_ms = query_timeout_ms
        self._lock = threading.Lock()

    @cached_property
    def _client(self) -> Client:
        # On the first call, not before: a build with nothing to embed does not pay for importing the SDK.
        from google import genai
        from google.genai import types

        try:
            # vertexai=False: GOOGLE_GENAI_USE_VERTEXAI in the environment would send the texts elsewhere.
            return genai.Client(
                api_key=self._key,
                vertexai=False,
                http_options=types.HttpOptions(
                    base_url=self._base_url, api_version=self._api_version, timeout=self._timeout_ms
                ),
            )
        except Exception as error:  # a proxy or certificate setting of the environment that httpx can't use
            raise Refusal(f"gemini: the client could not be made ({type(error).__name__}).") from None

    @property
    def identity(self) -> Space:
        """The space of its vectors."""
        return self._space

    def recognises(self, space: Space) -> bool:
        """Whether a space is this one; loads no SDK."""
        return space == self._space

    def warm(self) -> None:
        """Nothing to load."""

    def documents(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Vectors of documents, shape (len(texts), dimensions), unit rows, by one HTTP call.

        Raises:
            Quota: ask again after its `wait`.
            QuotaExhausted: the quota of the day is spent.
            Refusal: bad key, no access, no such model, wrong location.
            TextRejected: a plain 400.
            Outage: not reachable, or a broken answer.
        """
        if len(texts) > MAX_BATCH:
            raise ValueError(f"{len(texts)} texts in one call, the API takes {MAX_BATCH}")
        if not texts:
            return np.empty((0, self._space.dims), dtype=np.float32)
        return self._embed([_document(self._space, text) for text in texts], "RETRIEVAL_DOCUMENT")

    def query(self, text: str) -> NDArray[np.float32]:
        """The vector of a query, shape (dimensions,), norm 1; raises as `documents` does."""
        rows = self._embed([_query(self._space, text)], "RETRIEVAL_QUERY", self._query_timeout_ms)
        vector: NDArray[np.float32] = rows[0]
        return vector

    def close(self) -> None:
        """Close the connections, if there are any."""
        if "_client" in self.__dict__:
            self._client.close()

    def _embed(self, texts: Sequence[str], task: str, timeout_ms: int | None = None) -> NDArray[np.float32]:
        from google.genai import errors, types

        with self._lock:
            client = self._client
        config = types.EmbedContentConfig(
            output_dimensionality=self._space.dims,
            task_type=None if self._space.bare or _prefixed(self._space) else task,
            http_options=None if timeout_ms is None else types.HttpOptions(timeout=timeout_ms),
        )
        # One Content a text: a list of strings becomes one Content of many parts, and one vector for all.
        contents: Any = [types.Content(parts=[types.Part(text=text)]) for text in texts]
        try:
            answer = client.models.embed_content(model=self._space.model, contents=contents, config=config)
        except errors.APIError as error:
            # `from None`: the SDK's error holds the response, and that the request with its key.
            raise from_response(error, self._key) from None
        except Exception as error:  # a timeout, a broken connection, HTML, JSON cut short or of another shape
            raise unreachable(error) from None
        vectors = [embedding.values or [] for embedding in answer.embeddings or []]
        return validated(vectors, len(texts), self._space.dims, "Gemini")


def _prefixed(space: Space) -> bool:
    # gemini-embedding-2 ignores task_type and wants the task in the text; the older models want task_type.
    return not space.bare and space.model.startswith("gemini-embedding-2")


def _document(space: Space, text: str) -> str:
    text = scrubbed(text)[:MAX_CHARACTERS]
    return f"title: none | text: {text}" if _prefixed(space) else text


def _query(space: Space, text: str) -> str:
    text = scrubbed(text)[:MAX_CHARACTERS]
    return f"task: search result | query: {text}" if _prefixed(space) else text


def _key(environment: Mapping[str, str]) -> tuple[str, str] | None:
    return next(
        ((name, environment[name].strip()) for name in KEYS if environment.get(name, "").strip()), None
    )


def embedder(
    settings: Settings, environment: Mapping[str, str], prefix_version: int = PREFIX_VERSION
) -> GeminiEmbedder:
    """The configured Gemini embedder; no request is made yet.

    Args:
        settings: model, dims and leave.
        environment: the key.
        prefix_version: 0 for bare texts.

    Raises:
        Refusal: no key, or the cloud is not allowed.
    """
    key = _key(environment)
    if key is None or not settings.embedding.cloud:
        raise Refusal(unavailable(settings, environment) or "gemini: not available.")
    gemini = settings.embedding.gemini
    return GeminiEmbedder(
        key[1],
        gemini.model,
        gemini.dimensions,
        gemini.base_url or environment.get("GOOGLE_GEMINI_BASE_URL"),
        gemini.api_version,
        query_timeout_ms=settings.embedding.query_timeout_ms,
        prefix_version=prefix_version,
    )


def unavailable(settings: Settings, environment: Mapping[str, str]) -> str | None:
    """Why Gemini takes no part: no key, or a key without leave to send texts; None if it does."""
    key = _key(environment)
    if key is None:
        return f"gemini: no key; set {KEYS[0]} to use it."
    if not settings.embedding.cloud:
        return (
            f"gemini: {key[0]} is set, but no text leaves this machine; "
            "to allow it write `cloud = true` under [embedding]."
        )
    return None

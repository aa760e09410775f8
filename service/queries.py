"""The query's vectors: in every space of the generation that can be reached within its time budget.

A provider that failed is left alone for a while and then asked again; a query is embedded once a space and
cached. Where a better space is missing the answer comes from the others, and says so.
"""

from __future__ import annotations

import logging
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from concurrent.futures import TimeoutError as FutureTimeout
from functools import partial
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from indexer.embedders import EMBEDDERS, Embedder, unavailable
from indexer.embedders.imported import MAKERS, imported
from indexer.stores import SpaceInfo
from schemas.problems import EmbedderError, LetopisError
from schemas.records import Space
from schemas.settings import Settings
from service.evidence import QueryVector

_CACHED = 1_000

# A broken provider is asked again after this many seconds.
_REST = 30.0

# The bundled model's worker loads for about a second on first use; only then may a query wait for it.
_LOCAL_TIMEOUT = 20.0

# Queries of one provider in flight; each has its own threads, so that one that hangs holds up no other.
_IN_FLIGHT = 4

log = logging.getLogger("letopis.queries")

Vector = NDArray[np.float32]
T = TypeVar("T")


class QueryEmbedders:
    """Embeds queries for a service or a command; safe from many threads.

    Args:
        settings: order, timeouts, cloud.
        environment: keys and hosts.
    """

    def __init__(self, settings: Settings, environment: Mapping[str, str]) -> None:
        self._settings = settings.model_copy(
            update={
                "embedding": settings.embedding.model_copy(
                    update={"local": settings.embedding.local.model_copy(update={"workers": 1})}
                )
            }
        )
        self._environment = environment
        self._lock = threading.Lock()
        # All by `_asked_as`: a provider, or an imported space.
        self._embedders: dict[str, Embedder] = {}
        self._broken: dict[str, tuple[float, str]] = {}
        self._pools: dict[str, ThreadPoolExecutor] = {}
        self._cache: OrderedDict[tuple[str, str], Vector] = OrderedDict()

    def close(self) -> None:
        """End worker processes and connections."""
        for pool in self._pools.values():
            pool.shutdown(wait=False, cancel_futures=True)
        for embedder in self._embedders.values():
            embedder.close()

    def warm(self, spaces: Sequence[SpaceInfo]) -> None:
        """Start the bundled model now, so that the first query does not wait for it."""
        if any(info.space.provider == "local" for info in spaces):
            try:
                self._embedder("local", lambda: self._configured("local")).warm()
            except LetopisError as error:
                self._rest("local", error.message)

    def vectors(self, query: str, spaces: Sequence[SpaceInfo]) -> tuple[list[QueryVector], list[str]]:
        """The query in every space that can be had now.

        Returns:
            Vectors, better spaces first, and one sentence for each space that could not take part.
        """
        started = time.monotonic()
        asked = [(info, self._submitted(info.space, query)) for info in self.ranked(spaces)]
        found: list[QueryVector] = []
        missing: list[tuple[str, str]] = []
        for info, future in asked:
            try:
                found.append(QueryVector(info, self._result(info.space, future, started)))
            except LetopisError as error:
                missing.append((_asked_as(info.space), error.message.rstrip(".")))
        answered = ", ".join(_asked_as(vector.info.space) for vector in found) or "words and names"
        return found, [
            f"vector: {name} unavailable, answered from {answered} ({reason})" for name, reason in missing
        ]

    def ranked(self, spaces: Sequence[SpaceInfo]) -> list[SpaceInfo]:
        """Spaces, better ones first."""
        return sorted(spaces, key=self._rank)

    def _submitted(self, space: Space, query: str) -> Future[Vector]:
        if space.provider in EMBEDDERS:
            return self._pool(_asked_as(space)).submit(self._vector, space, query)
        unknown: Future[Vector] = Future()
        unknown.set_exception(EmbedderError(f"this program knows no provider {space.provider}"))
        return unknown

    def _pool(self, name: str) -> ThreadPoolExecutor:
        with self._lock:
            if name not in self._pools:
                self._pools[name] = ThreadPoolExecutor(_IN_FLIGHT, thread_name_prefix=f"query-{name}")
            return self._pools[name]

    def _rank(self, info: SpaceInfo) -> tuple[int, bool, int]:
        order = list(self._settings.embedding.order)
        provider = info.space.provider
        place = order.index(provider) if provider in order else len(order)
        # English-only vectors rank below the bundled multilingual ones.
        english = provider == "ollama" and info.space.model.split(":")[0] == "nomic-embed-text"
        # The provider's own space stands before an imported one, whichever was there first.
        return (len(order) if english else place, info.space.bare, info.id)

    def _result(self, space: Space, future: Future[Vector], started: float) -> Vector:
        timeout = (
            _LOCAL_TIMEOUT
            if space.provider in ("local", "hash")
            else self._settings.embedding.query_timeout_ms / 1000
        )
        try:
            return future.result(max(0.0, started + timeout - time.monotonic()))
        except FutureTimeout:
            message = f"no answer within {timeout:.1f} s"
            self._rest(_asked_as(space), message)
            raise EmbedderError(message) from None

    def _vector(self, space: Space, query: str) -> Vector:
        key, name = (space.name, query), _asked_as(space)
        with self._lock:
            if key in self._cache:
                self._cache.move_to_end(key)
                return self._cache[key]
            broken = self._broken.get(name)
        if broken is not None and time.monotonic() < broken[0]:
            raise EmbedderError(broken[1])
        make = partial(self._made, space)
        embedder = self._asked(name, partial(self._embedder, name, make))
        offered = self._asked(name, lambda: embedder.identity)
        if offered != space:
            # No fault of the provider: another space of it may well be the one that it offers.
            raise EmbedderError(f"it now offers {offered.name}, the index holds {space.name}")
        vector = self._asked(name, lambda: embedder.query(query))
        with self._lock:
            self._broken.pop(name, None)
            self._cache[key] = vector
            if len(self._cache) > _CACHED:
                self._cache.popitem(last=False)
        return vector

    def _asked(self, name: str, call: Callable[[], T]) -> T:
        """What a provider answers; one that fails, however it does, is left alone for a while."""
        try:
            return call()
        except LetopisError as error:
            self._rest(name, error.message)
            raise
        except Exception as error:  # a search answers without it
            log.exception("embedding a query by %s failed", name)
            message = f"it failed with {type(error).__name__}"
            self._rest(name, message)
            raise EmbedderError(message) from None

    def _embedder(self, name: str, make: Callable[[], Embedder]) -> Embedder:
        with self._lock:
            if name in self._embedders:
                return self._embedders[name]
        made = make()
        with self._lock:
            kept = self._embedders.setdefault(name, made)
        if kept is not made:  # another thread was faster
            made.close()
        return kept

    def _made(self, space: Space) -> Embedder:
        if _asked_as(space) == space.provider:
            return self._configured(space.provider)
        return imported(space, self._settings, self._environment)

    def _configured(self, provider: str) -> Embedder:
        reason = unavailable(provider, self._settings, self._environment)
        if reason is not None:
            raise EmbedderError(reason)
        return EMBEDDERS[provider](self._settings, self._environment)

    def _rest(self, name: str, message: str) -> None:
        with self._lock:
            current = self._broken.get(name)
            if current is None or time.monotonic() >= current[0]:
                self._broken[name] = (time.monotonic() + _REST, message)


def _asked_as(space: Space) -> str:
    """Who is asked for a space, by name: its provider, or the imported space by itself."""
    return space.name if space.bare and space.provider in MAKERS else space.provider

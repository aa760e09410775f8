"""Everything that can be asked of an index, without HTTP: search, chunks, entities, status."""

from __future__ import annotations

import os
from collections.abc import Mapping
from datetime import UTC, datetime
from types import TracebackType
from typing import Any, Self

from indexer.stores.generation import Generation
from indexer.stores.manifest import Manifest
from schemas.http import (
    Answer,
    ChunkAnswer,
    EntityAnswer,
    EntityList,
    EntitySort,
    GraphAnswer,
    IndexInfo,
    PathsAnswer,
    SearchRequest,
)
from schemas.problems import DatabaseError, RequestError
from schemas.settings import Settings
from service.empty_searches import EmptySearches
from service.evidence import QueryVector
from service.live import LiveIndex
from service.names import entity_answer, entity_list
from service.paths import paths_answer
from service.picture import graph_answer
from service.queries import QueryEmbedders
from service.repair import repaired
from service.search import index_info, search
from service.staleness import Staleness
from service.status import status_of
from service.talk import chunk_answer


class LiveEngine:
    """The engine over a data folder's current generation.

    Args:
        settings: data folder, order of the providers, zone.
        environment: keys and hosts of the providers.
        lasting: it will answer many requests, so that what some of them need is read before the first.
    """

    def __init__(
        self, settings: Settings, environment: Mapping[str, str] | None = None, lasting: bool = False
    ) -> None:
        self._settings = settings
        self._lasting = lasting
        self._embedders = QueryEmbedders(settings, os.environ if environment is None else environment)
        self._live = LiveIndex(settings.data, self._opened)
        self._staleness = Staleness(settings.data)
        self._empty = EmptySearches(settings.quality.log_empty)

    def _opened(self, generation: Generation) -> None:
        self._embedders.warm(generation.store.spaces())
        if self._lasting:
            store = generation.store
            _ = generation.graph.names.spelling, store.vocabulary().spelling, store.asking()

    def __enter__(self) -> Self:
        self._live.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._live.close()
        self._embedders.close()

    def ready(self) -> str:
        """The name of the generation that is served.

        Raises:
            IndexMissing: none has been published.
            IndexCorrupt: it can't be opened.
        """
        with self._live.lease() as generation:
            return generation.name

    def search(self, request: SearchRequest) -> Answer:
        """Answer one search.

        Raises:
            RequestError: a filter that is not understood; embedder_unavailable under `strict`, or where
                `mode=vector` has no vector to work with.
            IndexMissing, IndexCorrupt: see `ready`.
        """
        with self._live.lease() as generation:
            repair = repaired(request.q, generation.store)
            vectors, degraded = self._vectors(generation, request, repair.text)
            if request.strict and degraded:
                raise RequestError(
                    "embedder_unavailable", "; ".join(degraded) + ".", "ask without strict=true"
                )
            now = datetime.now(UTC)
            answer = search(
                generation,
                request,
                vectors,
                self._settings.zone,
                now,
                degraded,
                self._staleness.of(generation),
                repair=repair,
            )
        if not answer.hits:
            self._empty.note(request, now)
        return answer

    def _vectors(
        self, generation: Generation, request: SearchRequest, query: str
    ) -> tuple[list[QueryVector], list[str]]:
        if request.mode in ("text", "entities"):
            return [], []
        spaces = generation.store.spaces()
        if not spaces:
            found: list[QueryVector] = []
            degraded = ["vector: this generation holds no vectors yet, answered from words and names"]
        else:
            found, degraded = self._embedders.vectors(query, spaces)
        if request.mode == "vector" and not found:
            raise RequestError(
                "embedder_unavailable", "; ".join(degraded) + ".", "ask with mode=hybrid or mode=text"
            )
        return found, degraded

    # --- chunks -----------------------------------------------------------------------------------------

    def chunk(self, chunk_id: str, before: int, after: int) -> ChunkAnswer:
        """One chunk with its neighbours in the talk.

        Raises:
            RequestError: not_found.
        """
        with self._live.lease() as generation:
            return chunk_answer(generation, chunk_id, before, after, self._index(generation))

    # --- entities ---------------------------------------------------------------------------------------

    def entities(self, q: str, type: str | None, limit: int, sort: EntitySort = "mentions") -> EntityList:
        """Entities by name in any inflection; all of them where `q` is empty."""
        with self._live.lease() as generation:
            return entity_list(generation, q, type, sort, limit, self._index(generation))

    def entity(self, entity_id: int) -> EntityAnswer:
        """One entity with aliases, relations and newest mentions.

        Raises:
            RequestError: not_found.
        """
        with self._live.lease() as generation:
            return entity_answer(generation, entity_id, self._index(generation))

    def paths(self, from_: str, to: str, limit: int) -> PathsAnswer:
        """How two names, or entities by id, are connected.

        Raises:
            RequestError: not_found.
        """
        with self._live.lease() as generation:
            return paths_answer(generation, from_, to, limit, self._index(generation))

    def graph(self, entity: str, depth: int, limit: int) -> GraphAnswer:
        """What stands around a name, or an entity by id.

        Raises:
            RequestError: not_found.
        """
        with self._live.lease() as generation:
            return graph_answer(generation, entity, depth, limit, self._index(generation))

    # --- status -----------------------------------------------------------------------------------------

    def status(self) -> dict[str, Any]:
        """What is served, what the last run did, and what is missing; without a generation it says so."""
        manifest: Manifest | None = None
        stale: list[str] = []
        try:
            with self._live.lease() as generation:
                manifest, stale = generation.manifest, self._staleness.of(generation)
        except DatabaseError:
            pass  # the watcher's fault says why
        return status_of(self._settings.data, manifest, stale, self._live.fault)

    def _index(self, generation: Generation) -> IndexInfo:
        return index_info(generation, self._staleness.of(generation))

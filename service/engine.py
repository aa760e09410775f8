"""Everything that can be asked of an index, without HTTP: search, chunks, entities, status."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from indexer.stores.generation import LAST_RUN, Generation
from indexer.stores.graph import StoredEntity, StoredRelation
from indexer.stores.manifest import Manifest
from schemas.http import (
    AliasRef,
    Answer,
    ChatRef,
    ChunkAnswer,
    EntityAnswer,
    EntityList,
    EntityRef,
    MentionRef,
    MessageRef,
    Neighbour,
    RelationRef,
    SearchRequest,
)
from schemas.problems import DatabaseError, RequestError
from schemas.settings import Settings
from service.evidence import QueryVector
from service.hits import messages_of
from service.live import LiveIndex
from service.queries import QueryEmbedders
from service.query import shown_time
from service.search import index_info, search
from service.staleness import Staleness

_RELATIONS = 50
_NEWEST = 20


class LiveEngine:
    """The engine over a data folder's current generation.

    Args:
        settings: data folder, order of the providers, zone.
        environment: keys and hosts of the providers.
    """

    def __init__(self, settings: Settings, environment: Mapping[str, str] | None = None) -> None:
        self._settings = settings
        self._embedders = QueryEmbedders(settings, os.environ if environment is None else environment)
        self._live = LiveIndex(settings.data, self._opened)
        self._staleness = Staleness(settings.data)

    def _opened(self, generation: Generation) -> None:
        self._embedders.warm(generation.store.spaces())

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
            vectors, degraded = self._vectors(generation, request)
            if request.strict and degraded:
                raise RequestError(
                    "embedder_unavailable", "; ".join(degraded) + ".", "ask without strict=true"
                )
            return search(
                generation,
                request,
                vectors,
                self._settings.zone,
                datetime.now(UTC),
                degraded,
                self._staleness.of(generation),
            )

    def _vectors(self, generation: Generation, request: SearchRequest) -> tuple[list[QueryVector], list[str]]:
        if request.mode in ("text", "entities"):
            return [], []
        spaces = generation.store.spaces()
        if not spaces:
            found: list[QueryVector] = []
            degraded = ["vector: this generation holds no vectors yet, answered from words and names"]
        else:
            found, degraded = self._embedders.vectors(request.q, spaces)
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
            row = generation.store.chunk_rows([chunk_id]).get(chunk_id)
            if row is None:
                raise RequestError(
                    "not_found",
                    f"There is no chunk {chunk_id[:64]} in generation {generation.name}.",
                    "ids of chunks change with their text; message ids stay",
                )
            sides = [
                _walk(row, generation.store.columns.before, before)[::-1],
                _walk(row, generation.store.columns.after, after),
            ]
            chunks = generation.store.chunks([row, *sides[0], *sides[1]])
            messages = messages_of(generation, chunks.values())

            def refs(number: int) -> list[MessageRef]:
                return [
                    MessageRef(
                        id=messages[piece.message].message_id,
                        author=messages[piece.message].author,
                        role=messages[piece.message].role,
                        at=shown_time(messages[piece.message].at),
                        span=(piece.start, piece.end),
                    )
                    for piece in chunks[number].pieces
                ]

            neighbours = [
                [
                    Neighbour(
                        id=chunks[number].chunk_id,
                        text=chunks[number].text,
                        at=shown_time(chunks[number].first_at),
                        messages=refs(number),
                    )
                    for number in side
                ]
                for side in sides
            ]
            chunk = chunks[row]
            return ChunkAnswer(
                id=chunk.chunk_id,
                text=chunk.text,
                chat=ChatRef(id=chunk.chat_id, title=chunk.chat_title),
                source=chunk.source,
                at=shown_time(chunk.first_at),
                messages=refs(row),
                entities=generation.graph.names_in([chunk_id]).get(chunk_id, []),
                before=neighbours[0],
                after=neighbours[1],
                index=index_info(generation, self._staleness.of(generation)),
            )

    # --- entities ---------------------------------------------------------------------------------------

    def entities(self, q: str, type: str | None, limit: int) -> EntityList:
        """Entities by name in any inflection; all of them, most mentioned first, where `q` is empty."""
        with self._live.lease() as generation:
            return EntityList(
                query={"q": q, "type": type, "limit": limit},
                entities=[_entity_ref(entity) for entity in generation.graph.search(q, type, limit)],
                index=index_info(generation, self._staleness.of(generation)),
            )

    def entity(self, entity_id: int) -> EntityAnswer:
        """One entity with aliases, relations and newest mentions.

        Raises:
            RequestError: not_found.
        """
        with self._live.lease() as generation:
            entity = generation.graph.entity(entity_id)
            if entity is None:
                raise RequestError(
                    "not_found",
                    f"There is no entity {entity_id} in generation {generation.name}.",
                    "entity ids belong to one generation; look the name up with /v1/entities?q=",
                )
            return EntityAnswer(
                **_entity_ref(entity).model_dump(include={"id", "name", "type", "mentions"}),
                aliases=[
                    AliasRef(name=name, count=count) for name, count in generation.graph.aliases(entity_id)
                ],
                relations=[
                    _relation_ref(relation) for relation in generation.graph.relations(entity_id, _RELATIONS)
                ],
                newest=_newest(generation, entity_id),
                index=index_info(generation, self._staleness.of(generation)),
            )

    # --- status -----------------------------------------------------------------------------------------

    def status(self) -> dict[str, Any]:
        """What is served, what the last run did, and what is missing; without a generation it says so."""
        try:
            with self._live.lease() as generation:
                served = _served(generation.manifest) | {"stale": self._staleness.of(generation)}
        except DatabaseError:
            served = dict(_NOTHING)  # the watcher's fault, below, says why
        fault = self._live.fault
        used = served.pop("bytes")
        return served | {
            "degraded": [*served["degraded"], *([fault.line()] if fault else [])],
            "last_run": self._last_run(),
            "disk": {"generation_bytes": used, "free_bytes": _free(self._settings.data)},
        }

    def _last_run(self) -> dict[str, Any] | None:
        try:
            run = json.loads((self._settings.data / LAST_RUN).read_text("utf-8"))
            return {key: run[key] for key in ("at", "exit", "new", "left", "spent")}
        except (OSError, ValueError, KeyError, TypeError):
            return None


_NOTHING: dict[str, Any] = {
    "generation": None,
    "built_at": None,
    "counts": {},
    "spaces": [],
    "entities": {},
    "versions": {},
    "sources": [],
    "stale": [],
    "degraded": [],
    "bytes": 0,
}


def _served(manifest: Manifest) -> dict[str, Any]:
    return {
        "generation": manifest.generation,
        "built_at": shown_time(manifest.built_at),
        "counts": manifest.counts,
        "spaces": manifest.spaces,
        "entities": manifest.entities,
        "versions": manifest.versions,
        "sources": [
            {
                "path": source["path"],
                "kind": source["kind"],
                "messages": source["messages"],
                "last_seen": shown_time(source["last_at"]),
                "health": "gone" if source["gone"] else ("ok" if source["messages"] else "empty"),
            }
            for source in manifest.sources
        ],
        "degraded": [
            f"vector: {space['name']} covers {space['coverage']:.0%} of the chunks"
            for space in manifest.spaces
            if space["coverage"] < 1 and space["provider"] in ("local", "hash")
        ],
        "bytes": sum(file["size"] for file in manifest.files.values()),
    }


def _free(data: Path) -> int:
    there = next(path for path in (data, *data.absolute().parents) if path.exists())
    return shutil.disk_usage(there).free


def _walk(row: int, step: Any, count: int) -> list[int]:
    found: list[int] = []
    for _ in range(count):
        row = int(step[row])
        if not row:
            break
        found.append(row)
    return found


def _entity_ref(entity: StoredEntity) -> EntityRef:
    return EntityRef(
        id=entity.id,
        name=entity.name,
        type=entity.type,
        mentions=entity.mentions,
        first_at=shown_time(entity.first_at),
        last_at=shown_time(entity.last_at),
    )


def _relation_ref(relation: StoredRelation) -> RelationRef:
    return RelationRef(
        predicate=relation.predicate,
        entity=_entity_ref(relation.other) if relation.other else None,
        object=relation.object_name,
        count=relation.count,
        npmi=relation.npmi,
        first_at=shown_time(relation.first_at),
        last_at=shown_time(relation.last_at),
        evidence=relation.evidence,
    )


def _newest(generation: Generation, entity_id: int) -> list[MentionRef]:
    mentions = generation.graph.newest(entity_id, _NEWEST)
    rows = generation.store.chunk_rows([mention.chunk_id for mention in mentions])
    chunks = generation.store.chunks(list(rows.values()))
    return [
        MentionRef(
            chunk=mention.chunk_id,
            message=mention.message_id,
            chat=ChatRef(id=mention.chat_id, title=chunks[rows[mention.chunk_id]].chat_title),
            at=shown_time(mention.at),
            text=chunks[rows[mention.chunk_id]].text,
        )
        for mention in mentions
        if mention.chunk_id in rows
    ]

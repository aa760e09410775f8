"""Entities as they are shown: lists, one entity with its relations and evidence, newest mentions."""

from __future__ import annotations

import re

from indexer.stores.generation import Generation
from indexer.stores.graph import GraphStore, StoredEntity, StoredRelation
from schemas.http import (
    AliasRef,
    ChatRef,
    EntityAnswer,
    EntityList,
    EntityRef,
    EntitySort,
    IndexInfo,
    MentionRef,
    RelationRef,
)
from schemas.problems import RequestError
from service.query import shown_time

_RELATIONS = 50
_NEWEST = 20
_NEAREST = 3
_SHOWN = 60

_ID = re.compile("[0-9]{1,18}")  # within SQLite's 64 bits


def entity_list(
    generation: Generation, q: str, type: str | None, sort: EntitySort, limit: int, index: IndexInfo
) -> EntityList:
    """Entities by name: exact, partial, then misspelt; all of them where `q` is empty."""
    found = generation.graph.search(q, type, limit, sort)
    return EntityList(
        query={"q": q, "type": type, "limit": limit, "sort": sort},
        entities=[entity_ref(entity) for entity in found],
        index=index,
    )


def named(graph: GraphStore, name: str, forgiving: bool = True) -> list[StoredEntity]:
    """What a name in any form means, or the entity of an id; see `GraphStore.by_name`."""
    by_id = graph.entity(int(name)) if _ID.fullmatch(name) else None
    return [by_id] if by_id is not None else graph.by_name(name, forgiving)


def nearest(graph: GraphStore, name: str) -> str:
    """The hint for a name that means nothing: the nearest ones."""
    near = [entity.name for entity in graph.names.nearest(name, _NEAREST)]
    return f"did you mean {' or '.join(near)}?" if near else "no name comes near it"


def resolved(generation: Generation, name: str, key: str) -> StoredEntity:
    """The entity that a key of a request names, the one most often called so.

    Raises:
        RequestError: not_found, with the nearest names.
    """
    found = named(generation.graph, name.strip())
    if found:
        return found[0]
    message = f"{name.strip()[:_SHOWN]!r} names nothing in generation {generation.name}"
    hint = nearest(generation.graph, name)
    raise RequestError("not_found", f"{message}.", hint, ((key, message),))


def entity_answer(generation: Generation, entity_id: int, index: IndexInfo) -> EntityAnswer:
    """One entity with aliases, relations and newest mentions.

    Raises:
        RequestError: not_found.
    """
    entity = generation.graph.entity(entity_id)
    if entity is None:
        raise RequestError(
            "not_found",
            f"There is no entity {entity_id} in generation {generation.name}.",
            "entity ids belong to one generation; look the name up with /v1/entities?q=",
        )
    graph = generation.graph
    return EntityAnswer(
        **entity_ref(entity).model_dump(include={"id", "name", "type", "mentions"}),
        aliases=[
            AliasRef(name=alias.form, count=alias.count, ambiguous=list(alias.others))
            for alias in graph.aliases(entity_id)
        ],
        relations=[_relation_ref(relation) for relation in graph.relations(entity_id, _RELATIONS)],
        newest=_newest(generation, entity_id),
        index=index,
    )


def entity_ref(entity: StoredEntity) -> EntityRef:
    """An entity in a list."""
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
        entity=entity_ref(relation.other) if relation.other else None,
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

"""Entities as they are shown: lists, one entity with its relations and evidence, newest mentions."""

from __future__ import annotations

from indexer.stores.generation import Generation
from indexer.stores.graph import StoredEntity, StoredRelation
from schemas.http import AliasRef, ChatRef, EntityAnswer, EntityRef, IndexInfo, MentionRef, RelationRef
from schemas.problems import RequestError
from service.query import shown_time

_RELATIONS = 50
_NEWEST = 20


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
        aliases=[AliasRef(name=name, count=count) for name, count in graph.aliases(entity_id)],
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

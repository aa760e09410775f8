"""What the reader of `entity_graph.db` gives out; times are UTC ms."""

from __future__ import annotations

from dataclasses import dataclass

# The columns of a StoredEntity, from a table `entity` called e.
ENTITY = "e.id, e.name, e.type, e.mentions, e.chunks, e.first_at, e.last_at"


@dataclass(frozen=True, slots=True)
class StoredEntity:
    """An entity as the service shows it; times are UTC ms."""

    id: int
    name: str
    type: str
    mentions: int
    chunks: int
    first_at: int | None
    last_at: int | None


@dataclass(frozen=True, slots=True)
class StoredAlias:
    """A form that an entity appears in, and the other entities that the same form means elsewhere."""

    form: str
    count: int
    others: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class StoredRelation:
    """One relation of an entity, seen from it: `other` is None where the object is no entity."""

    predicate: str
    other: StoredEntity | None
    object_name: str
    count: int
    npmi: float | None
    first_at: int | None
    last_at: int | None
    evidence: str | None


@dataclass(frozen=True, slots=True)
class StoredEdge:
    """A tie of two entities: a relation, or that both are named together (predicate `together`).

    `weight` is 0 to 1. `count` of `together` counts messages of the rarer of the two.
    """

    subject: int
    predicate: str
    object: int
    count: int
    npmi: float | None
    first_at: int | None
    last_at: int | None
    evidence: str | None
    weight: float


@dataclass(frozen=True, slots=True)
class StoredMention:
    """Where an entity is named."""

    chunk_id: str
    chat_id: str
    message_id: str
    at: int | None


@dataclass(frozen=True, slots=True)
class StoredSpan:
    """A mention inside a chunk; `start` and `end` count code points of its message's text."""

    entity: int
    chat_id: str
    message_id: str
    start: int
    end: int

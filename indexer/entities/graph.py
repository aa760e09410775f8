"""What the entity graph of a generation is made from and what it holds; plain frozen records."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from schemas.records import Mention

Predicate = Literal["co_occurs", "said_by", "in_chat", "links_to", "alias_of"]


@dataclass(frozen=True, slots=True)
class Place:
    """The part of a message that stands in a chunk, in code points of the message's text."""

    chunk_id: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class MessageMentions:
    """A message as the graph needs it; messages come in the order of their talk.

    Attributes:
        chat_id: the talk.
        message_id: the message.
        text: its display text, for the forms of the aliases.
        places: the chunks that hold it; without one it is not counted.
        at: when it was sent, UTC ms, or None.
        mentions: what the extractor found in it; may be empty, the message still counts in the total.
        author: the author's display name, or None.
        chat_title: the talk's title, or None.
        handle: the author's handle without `@`, where the archive tells it, or None.
    """

    chat_id: str
    message_id: str
    text: str
    places: tuple[Place, ...]
    at: int | None
    mentions: tuple[Mention, ...]
    author: str | None = None
    chat_title: str | None = None
    handle: str | None = None


@dataclass(frozen=True, slots=True)
class Entity:
    """A name merged over all its inflections.

    Attributes:
        id: 1 and up; the most mentioned has 1.
        key: the merge key.
        name: the display name, by vote of its mentions.
        type: likewise; the model's PER, LOC, ORG outvote NAME from a quarter of the mentions on.
        mentions: how often it occurs.
        chunks: in how many chunks.
        first_at: its first dated mention, UTC ms, or None.
        last_at: its last dated mention, UTC ms, or None.
    """

    id: int
    key: str
    name: str
    type: str
    mentions: int
    chunks: int
    first_at: int | None
    last_at: int | None


@dataclass(frozen=True, slots=True)
class PlacedMention:
    """An occurrence of an entity in a message, once for each chunk that holds it."""

    entity: int
    chunk_id: str
    chat_id: str
    message_id: str
    at: int | None
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Relation:
    """One edge.

    Attributes:
        subject: an entity's id.
        predicate: co_occurs (symmetric, stored once), said_by, in_chat, links_to or alias_of.
        object: an entity's id, or None where the object is no entity.
        object_name: the object as shown.
        count: messages that support it; a co_occurs across two messages of one chunk counts half, rounded up.
        npmi: normalised pointwise mutual information, -1 to 1, for co_occurs; else None.
        first_at: first dated support, UTC ms, or None.
        last_at: last dated support, UTC ms, or None.
        evidence: id of a chunk that shows it.
    """

    subject: int
    predicate: Predicate
    object: int | None
    object_name: str
    count: int
    npmi: float | None
    first_at: int | None
    last_at: int | None
    evidence: str | None


@dataclass(frozen=True, slots=True)
class Graph:
    """The whole graph.

    Attributes:
        entities: in the order of their ids.
        keys: (merge key, entity id), also of names that were merged into a fuller one; keys are unique.
        aliases: (entity id, form as written, count), most frequent first within an entity.
        mentions: every occurrence in every chunk.
        relations: every edge.
    """

    entities: tuple[Entity, ...]
    keys: tuple[tuple[str, int], ...]
    aliases: tuple[tuple[int, str, int], ...]
    mentions: tuple[PlacedMention, ...]
    relations: tuple[Relation, ...]

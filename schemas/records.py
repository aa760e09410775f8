"""The records that one stage hands to the next; all frozen, all plain data.

Times are UTC milliseconds since the epoch (`int`) or None where the archive does not say: never "now".
Offsets count Unicode code points and are half-open, `[start, end)`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

Role = Literal["user", "assistant", "tool", "thinking", "system", "summary", "note", "instruction"]
ROLES: tuple[Role, ...] = (
    *("user", "assistant", "tool", "thinking", "system", "summary", "note", "instruction"),
)

# Whose talk it is; a search is of the main one unless its `agent` filter asks for the workers'.
AGENTS: tuple[str, ...] = ("main", "worker")

# Left out of a search unless its `role` filter asks for them.
QUIET_ROLES: tuple[Role, ...] = ("instruction", "tool", "thinking")


@dataclass(frozen=True, slots=True)
class Message:
    """One message of a talk, as a reader yields it, in the order of the talk.

    Attributes:
        chat_id: the talk's own id (session id, Telegram id, …); with `id` the message's identity everywhere.
        id: the source's own message id, unique per chat; else derived from content (`derived_id`).
        source: the reader's name (openclaw, lcm, telegram, jsonl, markdown, …).
        role: who spoke, in the sense of ROLES.
        text: the display text, as written.
        place: file and record, relative to the archive root, e.g. `result.json#12` or `notes.jsonl:4`.
        at: when it was sent, UTC ms, or None.
        chat_title: the talk's title, or None.
        author: the display name, or None.
        author_id: a stable id of the author where the source has one (`user7`).
        session: a hard border inside the chat: no chunk spans two sessions.
        edited: when the text was last changed, UTC ms; the newest edit of the same id wins.
        reply_to: id of the message it answers.
        agent: `worker` for transcripts of sub-agents, else None.
        side_branch: True for entries that are not on the active branch of a tree.
        origin: the source's own id where it is unique over all its chats (a UUID): a copy of the message in
            another chat of the same source (a resumed session) is the same message.
        copied_from: the chat whose history this talk repeats at its beginning (a fork), or None.
        windows: half-open spans of the text that are its chunks, where the message was cut by an index that
            it was imported from; empty for all others.
        meta: small extras kept for display (forwarded_from, sender, …), strings only.
    """

    chat_id: str
    id: str
    source: str
    role: Role
    text: str
    place: str
    at: int | None = None
    chat_title: str | None = None
    author: str | None = None
    author_id: str | None = None
    session: str | None = None
    edited: int | None = None
    reply_to: str | None = None
    agent: str | None = None
    side_branch: bool = False
    origin: str | None = None
    copied_from: str | None = None
    windows: tuple[tuple[int, int], ...] = ()
    meta: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Skipped:
    """A record that was not kept because it is broken or not understood: counted, named, and harmless.

    Attributes:
        place: file and record, relative to the archive root.
        reason: one short sentence, the same for the same kind of fault, so that it can be counted.
        hint: what the owner can do about it, or an empty string.
    """

    place: str
    reason: str
    hint: str = ""


@dataclass(frozen=True, slots=True)
class Dropped:
    """A sound record that is noise by rule (a heartbeat, an empty text): counted in characters.

    Attributes:
        kind: what it is: `tool_result`, `thinking`, `heartbeat`, `empty`, `service`, …
        characters: how many characters of text were left out.
        count: how many records.
    """

    kind: str
    characters: int
    count: int = 1


Record = Message | Skipped | Dropped


@dataclass(frozen=True, slots=True)
class Piece:
    """The part of a message that stands in a chunk.

    Attributes:
        message_id: which message of the chunk's chat.
        start: first code point of the piece inside the chunk's text (after the "Author: " prefix).
        end: one past its last code point inside the chunk's text.
        message_start: where the piece begins inside the message's own text.
    """

    message_id: str
    start: int
    end: int
    message_start: int


@dataclass(frozen=True, slots=True)
class Chunk:
    """A window over consecutive messages of one talk: the unit that is embedded and returned.

    Attributes:
        id: `c_` and 20 hex digits of a hash over chat, first and last message, offsets and text.
        chat_id: the talk.
        session: the session it lies in; windows never cross one.
        ordinal: position among the chunks of its chat, from 0.
        header: chat title, date in words and the authors of this window; indexed, not returned.
        text: the returned text, "Author: message" lines.
        pieces: which messages it holds and exactly where, in order.
        first_at: time of its first dated message, UTC ms, or None.
        last_at: time of its last dated message, UTC ms, or None.
    """

    id: str
    chat_id: str
    session: str | None
    ordinal: int
    header: str
    text: str
    pieces: tuple[Piece, ...]
    first_at: int | None
    last_at: int | None

    @property
    def indexed(self) -> str:
        """The text that is embedded and searched: header, newline, lines."""
        return f"{self.header}\n{self.text}" if self.header else self.text


@dataclass(frozen=True, slots=True)
class Space:
    """What makes two vectors comparable; cosines are taken inside one space only.

    Attributes:
        provider: gemini, ollama, local or hash.
        model: the provider's name of the model.
        dims: length of a vector.
        prefix_version: version of the text prefixes put before documents and queries; 0 for none, as in the
            vectors of an index that was imported.
    """

    provider: str
    model: str
    dims: int
    prefix_version: int

    @property
    def name(self) -> str:
        """Readable identity, e.g. `gemini/gemini-embedding-2-preview/768/1`."""
        return f"{self.provider}/{self.model}/{self.dims}/{self.prefix_version}"

    @property
    def bare(self) -> bool:
        """Whether its vectors were made of bare texts by another program: kept and asked, never filled."""
        return self.prefix_version == 0


@dataclass(frozen=True, slots=True)
class Mention:
    """One occurrence of a name or pattern in a message's text.

    Attributes:
        start: first code point in the message's text.
        end: one past the last.
        type: PER, LOC, ORG, NAME (a Latin or unclassified name), MAYBE (a word in small letters that the
            archive as a whole makes a name or drops) or a pattern's type: URL, EMAIL, HANDLE,
            HASHTAG, PATH, FILE, ENV, VERSION, MODEL, MONEY, DATE, IP, CODE.
        name: the readable form in the nominative, cased as a reader would write it.
        key: the merge key: equal for all inflections of the same name (normal form of the lemmas).
    """

    start: int
    end: int
    type: str
    name: str
    key: str


Action = Literal["merge", "split", "rename", "ignore"]


@dataclass(frozen=True, slots=True)
class Correction:
    """What a person has corrected in the entity graph.

    Attributes:
        action: merge (the name is another entity's), split (the name is an entity of its own), rename (the
            entity is shown otherwise) or ignore (the name is no entity).
        key: the merge key of the name that is meant.
        value: merge: the key of the other entity; rename: the display name; else None.
    """

    action: Action
    key: str
    value: str | None = None


@dataclass(frozen=True, slots=True)
class Filter:
    """What a search is narrowed to, applied before ranking; an empty tuple or None means "any".

    Attributes:
        chats: exact chat ids or titles; one of them must match (id first, else the title's normal form).
        authors: exact author ids or names, likewise.
        roles: roles to keep; empty means all but QUIET_ROLES.
        agents: of AGENTS: `worker` for the transcripts of sub-agents; empty means `main` alone.
        sources: names of readers.
        entities: names in any inflection; a chunk must mention one of them.
        since: earliest time, UTC ms inclusive; messages without a time fall out when it is set.
        until: latest time, UTC ms inclusive; likewise.
    """

    chats: tuple[str, ...] = ()
    authors: tuple[str, ...] = ()
    roles: tuple[str, ...] = ()
    agents: tuple[str, ...] = ()
    sources: tuple[str, ...] = ()
    entities: tuple[str, ...] = ()
    since: int | None = None
    until: int | None = None

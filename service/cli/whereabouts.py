"""One message looked for in the generation and in the ledger, and what is known of its way into the index."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np

from indexer.stores import StoredMessage
from indexer.stores.generation import Generation
from indexer.stores.ledger.trace import SeenIn, Trace, Traced
from indexer.text.normal import normal
from schemas.problems import IndexMissing, NoMatch
from schemas.records import AGENTS, QUIET_ROLES, ROLES, Filter
from service.query import shown_time, terms_of
from service.standing import chunks_of

# By id, by the whole text, by a part of it, or the nearest in words.
Match = Literal["id", "text", "part", "words"]

_SECRET = re.compile(r"\[REDACTED:[^\]\n]{1,60}\]")

# The best messages by words, among which the whole text is looked for.
_LOOKED_AT = 50


@dataclass(frozen=True, slots=True)
class Held:
    """A chunk that holds the message, and the names of the spaces that hold its vector."""

    id: str
    vectors: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Whereabouts:
    """What is known of one message.

    Attributes:
        id: its own id.
        chat: id of its talk.
        chat_title: the talk's title, or None.
        source: the reader's name.
        role: who spoke.
        author: the display name, or None.
        at: when, UTC ms, or None.
        text: redacted, whole; empty where it is forgotten.
        match: how it was found.
        row: in the generation, 0 where it is not there.
        in_ledger: None where there is no ledger.
        forgotten: whether the ledger holds a tombstone of it and no message.
        place: file and record as the ledger keeps them, or None.
        files: archive files that hold it; without a ledger all files of its reader.
        hidden: filters that a search must name to find it: `role=tool`, `agent=worker`.
        chunks: that hold it.
    """

    id: str
    chat: str
    match: Match
    chat_title: str | None = None
    source: str = ""
    role: str = ""
    author: str | None = None
    at: int | None = None
    text: str = ""
    row: int = 0
    in_ledger: bool | None = None
    forgotten: bool = False
    place: str | None = None
    files: tuple[SeenIn, ...] = ()
    hidden: tuple[str, ...] = ()
    chunks: tuple[Held, ...] = ()

    @property
    def redacted(self) -> int:
        """How many secrets were replaced in its text."""
        return len(_SECRET.findall(self.text))

    def as_json(self) -> dict[str, Any]:
        """Plain data for JSON."""
        known = asdict(self)
        del known["row"]
        return known | {
            "at": shown_time(self.at),
            "in_generation": bool(self.row),
            "redacted": self.redacted,
        }


def whereabouts(
    generation: Generation | None, trace: Trace | None, wanted: str, chat: str | None
) -> Whereabouts:
    """Find a message by its id, else by its text, and follow it.

    Args:
        generation: the published one, or None.
        trace: the ledger, or None where there is none.
        wanted: an id, a text, a part of it or words of it.
        chat: id or title of its talk, or None.

    Raises:
        NoMatch: there is none, there is no such chat, or several messages have this id.
        IndexMissing: there is neither a generation nor a ledger.
    """
    if generation is None and trace is None:
        raise IndexMissing("There is no index in the data folder yet.", "run `letopis build PATH`")
    chats = _chats(generation, trace, chat)
    for match in (_by_id, _by_text, _forgotten, _by_part, _in_ledger, _by_words):
        found = match(generation, trace, wanted, chats)
        if found is not None:
            return found
    raise NoMatch(
        "No message of the index has this id or any of these words.",
        "`letopis archives --all` says which files are read and what is left out of them",
    )


# --- finding ------------------------------------------------------------------------------------------------


def _chats(generation: Generation | None, trace: Trace | None, name: str | None) -> tuple[str, ...]:
    """Ids of the talks of this id or title; empty for any talk."""
    if name is None:
        return ()
    known = trace.chats() if trace else []
    found = [id_ for id_, _ in known if id_ == name] or [
        id_ for id_, title in known if title and normal(title) == normal(name)
    ]
    if not found and generation is not None:
        rows = np.flatnonzero(generation.store.mask(_everything((name,)), "message"))
        found = sorted({m.chat_id for m in generation.store.messages(rows.tolist()).values()})
    if not found and not (trace and trace.knew(name)):
        raise NoMatch(
            f"There is no chat {name!r} in the index.",
            "--chat takes an id or a whole title; `letopis search --json` tells the id of each hit's chat",
        )
    return tuple(found) or (name,)


def _by_id(
    generation: Generation | None, trace: Trace | None, wanted: str, chats: Sequence[str]
) -> Whereabouts | None:
    if generation is None:
        return None
    rows = generation.store.messages_called(wanted)
    found = [one for one in generation.store.messages(rows).values() if not chats or one.chat_id in chats]
    if len(found) > 1:
        listed = ", ".join(sorted(one.chat_id for one in found)[:10])
        raise NoMatch(f"{len(found)} messages have the id {wanted[:64]!r}.", f"choose with --chat: {listed}")
    return _published(generation, trace, found[0], "id") if found else None


def _forgotten(
    generation: Generation | None, trace: Trace | None, wanted: str, chats: Sequence[str]
) -> Whereabouts | None:
    found = trace.forgotten(wanted, chats) if trace else None
    if found is None or trace is None or trace.message(*found) is not None:
        return None
    match: Match = "id" if found[1] == wanted else "text"
    return Whereabouts(found[1], found[0], match, in_ledger=False, forgotten=True)


def _by_text(
    generation: Generation | None, trace: Trace | None, wanted: str, chats: Sequence[str]
) -> Whereabouts | None:
    text = normal(wanted)
    for one in _likely(generation, wanted, chats) if generation else ():
        if generation and normal(one.text) == text:
            return _published(generation, trace, one, "text")
    return None


def _by_part(
    generation: Generation | None, trace: Trace | None, wanted: str, chats: Sequence[str]
) -> Whereabouts | None:
    text = normal(wanted)
    for one in _likely(generation, wanted, chats) if generation else ():
        if generation and text in normal(one.text):
            return _published(generation, trace, one, "part")
    return None


def _by_words(
    generation: Generation | None, trace: Trace | None, wanted: str, chats: Sequence[str]
) -> Whereabouts | None:
    best = _likely(generation, wanted, chats) if generation else []
    return _published(generation, trace, best[0], "words") if generation and best else None


def _likely(generation: Generation, wanted: str, chats: Sequence[str]) -> list[StoredMessage]:
    found = generation.store.text(terms_of(wanted), _everything(chats), "message")
    rows = found.ids[np.argsort(-found.bm25, kind="stable")][:_LOOKED_AT].tolist()
    messages = generation.store.messages(rows)
    return [messages[row] for row in rows]


def _in_ledger(
    generation: Generation | None, trace: Trace | None, wanted: str, chats: Sequence[str]
) -> Whereabouts | None:
    if trace is None:
        return None
    found = [one for one in trace.called(wanted) if not chats or one.chat_id in chats]
    if not found:
        return None
    match: Match = "id" if found[0].id == wanted else "text" if found[0].text == wanted else "part"
    if len(found) > 1 and match == "id":
        listed = ", ".join(one.chat_id for one in found[:10])
        raise NoMatch(f"{len(found)} messages have the id {wanted[:64]!r}.", f"choose with --chat: {listed}")
    return _unpublished(trace, found[0], match)


def _everything(chats: Sequence[str] = ()) -> Filter:
    return Filter(chats=tuple(chats), roles=ROLES, agents=AGENTS)


# --- following ----------------------------------------------------------------------------------------------


def _published(
    generation: Generation, trace: Trace | None, message: StoredMessage, match: Match
) -> Whereabouts:
    traced = trace.message(message.chat_id, message.message_id) if trace else None
    files = trace.files(traced.key) if trace and traced else _files_of(generation, message.source)
    return Whereabouts(
        id=message.message_id,
        chat=message.chat_id,
        match=match,
        chat_title=message.chat_title,
        source=message.source,
        role=message.role,
        author=message.author,
        at=message.at,
        text=message.text,
        row=message.id,
        in_ledger=None if trace is None else traced is not None,
        forgotten=bool(trace and traced is None and trace.forgotten(message.message_id, (message.chat_id,))),
        place=traced.place if traced else None,
        files=tuple(files),
        hidden=_hidden(message.role, _is_worker(generation, message.id)),
        chunks=tuple(_held(generation, message.id)),
    )


def _unpublished(trace: Trace, message: Traced, match: Match) -> Whereabouts:
    return Whereabouts(
        id=message.id,
        chat=message.chat_id,
        match=match,
        source=message.source,
        role=message.role,
        author=message.author,
        at=message.at,
        text=message.text,
        in_ledger=True,
        place=message.place,
        files=tuple(trace.files(message.key)),
        hidden=_hidden(message.role, message.agent is not None),
    )


def _files_of(generation: Generation, kind: str) -> list[SeenIn]:
    """What the manifest tells: the files of a reader, not which of them holds the message."""
    return [
        SeenIn(str(source["path"]), kind, bool(source.get("gone")), int(source["messages"]))
        for source in generation.manifest.sources
        if source.get("kind") == kind
    ]


def _hidden(role: str, worker: bool) -> tuple[str, ...]:
    return (*((f"role={role}",) if role in QUIET_ROLES else ()), *(("agent=worker",) if worker else ()))


def _is_worker(generation: Generation, row: int) -> bool:
    return not generation.store.mask(Filter(roles=ROLES), "message")[row]


def _held(generation: Generation, message: int) -> list[Held]:
    store = generation.store
    rows = chunks_of(generation, message)
    covered = {
        info.space.name: set(
            store.cosines(info.id, np.zeros(info.space.dims, np.float32), _everything())[0].tolist()
        )
        for info in store.spaces()
    }
    chunks = store.chunks(rows)
    return [
        Held(chunks[row].chunk_id, tuple(name for name, ids in covered.items() if row in ids)) for row in rows
    ]


def opened_trace(path: Path) -> Trace | None:
    """The ledger of a data folder, or None where there is none."""
    return Trace(path) if path.is_file() else None

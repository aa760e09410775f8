"""lossless-claw's `lcm.db`: conversations, messages and summaries of an OpenClaw agent."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC
from itertools import islice
from typing import Any

import apsw

from indexer.archives.databases import blob, columns, has_tables, numbered_rows, opened, text_of
from indexer.archives.files import ArchiveFile, ReadOptions
from indexer.archives.identity import source_id
from indexer.archives.lcm.parts import FED_BACK, Part, Parts
from indexer.archives.lines import unreadable
from indexer.archives.openclaw.cleaning import cleaned
from indexer.archives.times import parse_time
from indexer.archives.wording import asides_of, label, says_something, tidy
from schemas.records import Dropped, Message, Record, Role, Skipped

_ROLES: dict[str, Role] = {"user": "user", "assistant": "assistant", "system": "system", "tool": "tool"}
_DAMAGED = "a damaged page of the database"
_ANEW = "the other rows were read; restore the database from a backup"


class Lcm:
    """Reads lcm.db while its owner may be writing to it."""

    name = "lcm"

    def fits(self, file: ArchiveFile) -> bool:
        """True for a database with the tables of lossless-claw."""
        return has_tables(
            file,
            conversations=frozenset({"conversation_id"}),
            messages=frozenset({"message_id", "conversation_id", "seq", "role", "content"}),
        )

    def read(self, file: ArchiveFile, options: ReadOptions) -> Iterator[Record]:
        """Yield each conversation's messages by `seq`, then its summaries."""
        try:
            with opened(file) as connection:
                known = {table: columns(connection, table) for table in _TABLES}
                parts = Parts(connection, known["message_parts"], options)
                for talk in _conversations(connection, known["conversations"]):
                    rows = _rows(connection, known["messages"], talk, file.name)
                    yield from _messages(rows, parts, talk, file.name, options)
                    yield from _summaries(connection, known["summaries"], talk, file.name)
                yield from _numberless(connection, file.name)
        except OSError as error:
            yield unreadable(file.name, error)
        except (apsw.Error, UnicodeError) as error:
            yield Skipped(file.name, "the database can't be read on", f"{type(error).__name__}: {_ANEW}")


# Messages whose parts are asked for together.
_TOGETHER = 100
_TABLES = ("conversations", "messages", "summaries", "message_parts")


class _Conversation:
    def __init__(self, row: tuple[Any, ...]) -> None:
        self.key: Any = row[0]
        self.name = source_id(text_of(row[0])) or "?"
        session, session_key, title = (label(text_of(value)) for value in row[1:4])
        self.chat_id = session or f"lcm:{self.name}"
        self.session = session
        self.title = title
        self.meta = {"session_key": session_key} if session_key else {}
        self.agent = "worker" if session_key and ":subagent:" in session_key else None


def _conversations(connection: apsw.Connection, known: frozenset[str]) -> list[_Conversation]:
    """The talks; one whose own row is gone keeps its messages."""
    chosen = ", ".join(blob(name, known) for name in ("session_id", "session_key", "title"))
    rows = connection.execute(
        f"SELECT conversation_id, {chosen} FROM conversations ORDER BY conversation_id"
    ).fetchall()
    orphans = connection.execute(
        "SELECT DISTINCT conversation_id, NULL, NULL, NULL FROM messages"
        " WHERE conversation_id NOT IN (SELECT conversation_id FROM conversations) ORDER BY conversation_id"
    ).fetchall()
    return [_Conversation(row) for row in (*rows, *orphans)]


def _numberless(connection: apsw.Connection, name: str) -> Iterator[Skipped]:
    """Rows that stand in no talk or at no place of it; the index over both columns tells."""
    for (talk,) in connection.execute(
        "SELECT CAST(conversation_id AS BLOB) FROM messages"
        " WHERE conversation_id IS NULL OR typeof(seq) <> 'integer'"
    ).fetchall():
        yield Skipped(f"{name}#{source_id(text_of(talk)) or '?'}", "a row without its number", _ANEW)


def _rows(
    connection: apsw.Connection, known: frozenset[str], talk: _Conversation, name: str
) -> Iterator[tuple[Any, ...] | Skipped]:
    chosen = ", ".join(blob(column, known) for column in ("role", "content", "created_at"))
    sql = (
        f"SELECT seq, message_id, {chosen} FROM messages"
        " WHERE conversation_id = :talk AND seq > :after AND seq <= :upto ORDER BY seq LIMIT :most"
    )
    for row in numbered_rows(connection, sql, {"talk": talk.key}):
        yield Skipped(f"{name}#{talk.name}", _DAMAGED, _ANEW) if isinstance(row, int) else row


def _messages(
    rows: Iterator[tuple[Any, ...] | Skipped],
    parts: Parts,
    talk: _Conversation,
    name: str,
    options: ReadOptions,
) -> Iterator[Record]:
    while batch := list(islice(rows, _TOGETHER)):
        beside: Mapping[Any, Sequence[Part]] = {}
        try:
            beside = parts.of([row[1] for row in batch if isinstance(row, tuple)])
        except apsw.Error:
            yield Skipped(f"{name}#{talk.name}", _DAMAGED, _ANEW)
        for row in batch:
            yield from _told(row, talk, name, beside, options)


def _told(
    row: tuple[Any, ...] | Skipped,
    talk: _Conversation,
    name: str,
    beside: Mapping[Any, Sequence[Part]],
    options: ReadOptions,
) -> Iterator[Record]:
    if isinstance(row, Skipped):
        yield row
        return
    place = f"{name}#{talk.name}/{row[0]}"
    try:
        yield from list(_message(row, talk, place, beside.get(row[1], ()), options))
    except Exception as error:
        yield Skipped(place, "a row that is not understood", type(error).__name__)


def _message(
    row: tuple[Any, ...], talk: _Conversation, place: str, parts: Sequence[Part], options: ReadOptions
) -> Iterator[Record]:
    seq, message_id, raw_role, content, created_at = row
    role = _ROLES.get(text_of(raw_role))
    text = tidy(text_of(content))
    if role is None:
        yield Skipped(place, "an unknown role", f"role {text_of(raw_role)[:40]!r}")
        return
    message = Message(
        chat_id=talk.chat_id,
        id=source_id(message_id) or str(seq),
        source="lcm",
        role=role,
        text=text,
        place=place,
        at=parse_time(text_of(created_at), UTC),
        chat_title=talk.title,
        session=talk.session,
        agent=talk.agent,
        meta=talk.meta,
    )
    # What a tool said stands both in its message and in a part of it.
    kept = [part for part in parts if part.role is not None and part.text != text]
    yield from (Dropped(part.kind, part.characters) for part in parts if part.role is None)
    asides = tuple((part.role, part.text) for part in kept if part.role is not None)
    for part, aside in zip(kept, asides_of(message, asides), strict=True):
        yield replace(aside, author=part.tool)
    if role == "tool" and not options.tool_results:
        yield Dropped("tool_result", len(text))
    elif role == "tool" and any(part.kind in FED_BACK for part in parts):
        yield Dropped("recalled", len(text))
    else:
        yield from _said(message, counted=bool(parts))


def _said(message: Message, counted: bool) -> Iterator[Record]:
    """The message itself; a turn of thinking and calls alone has been counted by its parts."""
    if not message.text and counted:
        return
    clean = cleaned(message.role, message.text)
    yield from clean.drops
    if clean.noise is not None or not says_something(clean.text):
        yield Dropped(clean.noise or "empty", len(clean.text))
        return
    yield replace(
        message,
        role=clean.role or message.role,
        text=clean.text,
        author=clean.author,
        author_id=clean.author_id,
        meta={**message.meta, **clean.meta},
    )


def _summaries(
    connection: apsw.Connection, known: frozenset[str], talk: _Conversation, name: str
) -> Iterator[Record]:
    if not known >= {"summary_id", "content", "conversation_id"}:
        return
    chosen = ", ".join(blob(column, known) for column in ("content", "kind", "latest_at", "created_at"))
    sql = (
        f"SELECT rowid, CAST(summary_id AS BLOB), {chosen} FROM summaries"
        " WHERE conversation_id = :talk AND rowid > :after AND rowid <= :upto ORDER BY rowid LIMIT :most"
    )
    for row in numbered_rows(connection, sql, {"talk": talk.key}):
        if isinstance(row, int):
            yield Skipped(f"{name}#{talk.name}", _DAMAGED, _ANEW)
            continue
        key = source_id(text_of(row[1])) or str(row[0])
        text, kind = tidy(text_of(row[2])), label(text_of(row[3]))
        if not says_something(text):
            yield Dropped("empty", len(text))
            continue
        yield Message(
            chat_id=talk.chat_id,
            id=key,
            source="lcm",
            role="summary",
            text=text,
            place=f"{name}#{key}",
            at=parse_time(text_of(row[4]), UTC) or parse_time(text_of(row[5]), UTC),
            chat_title=talk.title,
            session=talk.session,
            agent=talk.agent,
            meta={**talk.meta, **({"kind": kind} if kind else {})},
        )

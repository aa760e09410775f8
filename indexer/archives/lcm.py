"""lossless-claw's `lcm.db`: conversations, messages and summaries of an OpenClaw agent."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC
from typing import Any, cast

import apsw

from indexer.archives.databases import columns, has_tables, numbered_rows, opened, text_of
from indexer.archives.files import ArchiveFile, ReadOptions
from indexer.archives.identity import source_id
from indexer.archives.lines import unreadable
from indexer.archives.openclaw_cleaning import cleaned
from indexer.archives.times import parse_time
from indexer.archives.wording import label, says_something, tidy
from schemas.records import Dropped, Message, Record, Role, Skipped

_ROLES: dict[str, Role] = {"user": "user", "assistant": "assistant", "system": "system", "tool": "tool"}
_PART_KINDS = {"reasoning": "thinking", "tool": "tool_result"}
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
                for conversation in _conversations(connection, known["conversations"]):
                    yield from _messages(connection, known["messages"], conversation, file.name, options)
                    yield from _summaries(connection, known["summaries"], conversation, file.name)
                yield from _parts(connection, known["message_parts"])
        except OSError as error:
            yield unreadable(file.name, error)
        except (apsw.Error, UnicodeError) as error:
            yield Skipped(file.name, "the database can't be read on", f"{type(error).__name__}: {_ANEW}")


_TABLES = ("conversations", "messages", "summaries", "message_parts")


class _Conversation:
    def __init__(self, row: tuple[Any, ...]) -> None:
        self.key: Any = row[0]
        session, session_key, title = (label(text_of(value)) for value in row[1:4])
        self.chat_id = session or f"lcm:{self.key}"
        self.session = session
        self.title = title
        self.meta = {"session_key": session_key} if session_key else {}
        self.agent = "worker" if session_key and ":subagent:" in session_key else None


def _conversations(connection: apsw.Connection, known: frozenset[str]) -> list[_Conversation]:
    chosen = ", ".join(_blob(name, known) for name in ("session_id", "session_key", "title"))
    return [
        _Conversation(row)
        for row in connection.execute(
            f"SELECT conversation_id, {chosen} FROM conversations ORDER BY conversation_id"
        ).fetchall()
    ]


def _blob(name: str, known: frozenset[str]) -> str:
    return f"CAST({name} AS BLOB)" if name in known else "NULL"


def _messages(
    connection: apsw.Connection, known: frozenset[str], talk: _Conversation, name: str, options: ReadOptions
) -> Iterator[Record]:
    chosen = ", ".join(_blob(name, known) for name in ("role", "content", "created_at"))
    sql = (
        f"SELECT seq, message_id, {chosen} FROM messages"
        " WHERE conversation_id = :talk AND seq > :after AND seq <= :upto ORDER BY seq LIMIT :most"
    )
    for row in numbered_rows(connection, sql, {"talk": talk.key}):
        if isinstance(row, int):
            yield Skipped(f"{name}#{talk.key}", _DAMAGED, _ANEW)
            continue
        place = f"{name}#{talk.key}/{row[0]}"
        try:
            yield from _message(row, talk, place, options)
        except Exception as error:
            yield Skipped(place, "a row that is not understood", type(error).__name__)


def _message(row: tuple[Any, ...], talk: _Conversation, place: str, options: ReadOptions) -> Iterator[Record]:
    seq, message_id, raw_role, content, created_at = row
    role = _ROLES.get(text_of(raw_role))
    text = tidy(text_of(content))
    if role is None:
        yield Skipped(place, "an unknown role", f"role {text_of(raw_role)[:40]!r}")
        return
    if role == "tool" and not options.tool_results:
        yield Dropped("tool_result", len(text))
        return
    clean = cleaned(role, text)
    yield from clean.drops
    if clean.noise is not None or not says_something(clean.text):
        yield Dropped(clean.noise or "empty", len(clean.text))
        return
    yield Message(
        chat_id=talk.chat_id,
        id=source_id(message_id) or str(seq),
        source="lcm",
        role=clean.role or role,
        text=clean.text,
        place=place,
        at=parse_time(text_of(created_at), UTC),
        chat_title=talk.title,
        author=clean.author,
        author_id=clean.author_id,
        session=talk.session,
        agent=talk.agent,
        meta={**talk.meta, **clean.meta},
    )


def _summaries(
    connection: apsw.Connection, known: frozenset[str], talk: _Conversation, name: str
) -> Iterator[Record]:
    if not known >= {"summary_id", "content", "conversation_id"}:
        return
    chosen = ", ".join(_blob(column, known) for column in ("content", "kind", "latest_at", "created_at"))
    sql = (
        f"SELECT rowid, CAST(summary_id AS BLOB), {chosen} FROM summaries"
        " WHERE conversation_id = :talk AND rowid > :after AND rowid <= :upto ORDER BY rowid LIMIT :most"
    )
    for row in numbered_rows(connection, sql, {"talk": talk.key}):
        if isinstance(row, int):
            yield Skipped(f"{name}#{talk.key}", _DAMAGED, _ANEW)
            continue
        key = text_of(row[1]) or str(row[0])
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


def _parts(connection: apsw.Connection, known: frozenset[str]) -> Iterator[Record]:
    """Count what the parts hold beside the text: reasoning, and what went to and came from tools."""
    if "part_type" not in known:
        return
    texts = [name for name in ("text_content", "tool_input", "tool_output") if name in known]
    size = " + ".join(f"coalesce(length({name}), 0)" for name in texts) or "0"
    for part_type, count, characters in connection.execute(
        f"SELECT CAST(part_type AS BLOB), count(*), sum({size}) FROM message_parts GROUP BY part_type"
    ).fetchall():
        kind = _PART_KINDS.get(text_of(part_type))
        if kind is not None:
            yield Dropped(kind, cast(int, characters or 0), cast(int, count))

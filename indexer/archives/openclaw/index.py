"""What OpenClaw knows of its sessions beside their transcripts: whose they are, how they are called.

Older versions keep it in `sessions.json`, newer ones in tables of the agent's database.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import apsw

from indexer.archives.databases import columns, opened, text_of
from indexer.archives.files import ArchiveFile
from indexer.archives.identity import source_id
from indexer.archives.wording import label

MAX_INDEX = 64 * 1024 * 1024
_AGENT = re.compile(r"(?P<folder>(?:.*[/!])?agents/(?P<agent>[^/]+)/)(?:sessions|agent)/(?:cold/)?[^/]+")
_DATABASE = "agent/openclaw-agent.sqlite"
_SUBAGENT = ":subagent:"
# Tables of the newer and of the older layout: (of transcripts, of logical sessions, its current session).
_LAYOUTS = (
    ("session_windows", "session_nodes", "current_session_id"),
    ("sessions", "session_entries", "session_id"),
)
# A session that begins so repeats the entries of the one before; after a reset it begins empty.
_REPEATING = frozenset({"fork", "rewind", "switch", "recovery", "compaction"})


@dataclass(frozen=True, slots=True)
class Facts:
    """What is known of one session.

    Attributes:
        key: the session key (`agent:main:main`), or None.
        title: its label or display name, or None.
        chat_type: direct, group or channel, or None.
        worker: True for the transcript of a sub-agent.
        parent: the session whose entries it begins with, or None.
    """

    key: str | None = None
    title: str | None = None
    chat_type: str | None = None
    worker: bool = False
    parent: str | None = None


Index = Mapping[str, Facts]


def agent_of(file: ArchiveFile) -> str | None:
    """The id of the agent that the file belongs to, by its folder."""
    match = _AGENT.fullmatch(file.name)
    return match["agent"] if match else None


def index_of(file: ArchiveFile) -> Index:
    """What the files beside a session file tell, by session id; empty where there are none to read."""
    known: dict[str, Facts] = {}
    match = _AGENT.fullmatch(file.name)
    if match and (database := file.elsewhere(match["folder"] + _DATABASE)):
        known.update(_of_file(database))
    if beside := file.sibling("sessions.json"):
        known.update(_of_json(beside))
    return known


@lru_cache(maxsize=4)
def _of_json(file: ArchiveFile) -> Index:
    """Read once for all sessions of an agent."""
    if file.size > MAX_INDEX:
        return {}
    try:
        with file.open() as stream:
            value = json.loads(stream.read().decode("utf-8-sig", "replace"))
    except (OSError, ValueError, RecursionError):
        return {}
    rows = value.items() if isinstance(value, dict) else ()
    return {
        row["sessionId"]: _of_entry(key, row)
        for key, row in rows
        if isinstance(row, dict) and isinstance(row.get("sessionId"), str)
    }


@lru_cache(maxsize=4)
def _of_file(file: ArchiveFile) -> Index:
    try:
        if file.is_sqlite:
            with opened(file) as connection:
                return of_database(connection)
    except (apsw.Error, OSError, UnicodeError):
        pass  # its own reading tells what is wrong with it
    return {}


def _of_entry(key: str, row: Mapping[str, Any]) -> Facts:
    title = label(row.get("label")) or label(row.get("displayName")) or label(row.get("subject"))
    worker = bool(row.get("spawnedBy")) or _SUBAGENT in key
    return Facts(label(key), title, label(row.get("chatType")), worker)


def of_database(connection: apsw.Connection) -> Index:
    """What the tables of an agent's database tell, by session id; of deleted sessions by their archives.

    Raises:
        apsw.Error: a damaged page.
    """
    known: dict[str, Facts] = {}
    for transcripts, logical, current in _LAYOUTS:
        by_key: dict[str, Facts] = {}
        for session, facts in _logical(connection, logical, current):
            by_key[facts.key or ""] = known[session] = facts
        known.update(_transcripts(connection, transcripts, by_key))
        if known:
            break
    for session, key in _rows(connection, "session_transcript_archives", "session_id", "session_key"):
        if session not in known:
            known[session] = Facts(label(key), worker=_SUBAGENT in key)
    return known


def _logical(connection: apsw.Connection, table: str, current: str) -> Iterator[tuple[str, Facts]]:
    for key, session, entry, title, shown, spawned, source in _rows(
        connection,
        *(table, "session_key", current, "entry_json", "label", "display_name", "spawned_by"),
        "fork_source_session_id",
    ):
        try:
            value = json.loads(entry)
        except (ValueError, RecursionError):
            value = {}
        facts = _of_entry(key, value if isinstance(value, dict) else {})
        yield (
            session,
            replace(
                facts,
                title=label(title) or facts.title or label(shown),
                worker=facts.worker or bool(spawned),
                parent=source_id(source),
            ),
        )


def _transcripts(
    connection: apsw.Connection, table: str, by_key: Mapping[str, Facts]
) -> Iterator[tuple[str, Facts]]:
    for session, key, kind, spawned, shown, reason, previous in _rows(
        connection,
        *(table, "session_id", "session_key", "chat_type", "spawned_by", "display_name"),
        *("reason", "previous_session_id"),
    ):
        own = by_key.get(key, Facts(label(key), worker=_SUBAGENT in key))
        repeated = source_id(previous) or own.parent if reason in _REPEATING else None
        yield (
            session,
            replace(
                own,
                title=own.title or label(shown),
                chat_type=label(kind) or own.chat_type,
                worker=own.worker or bool(spawned),
                parent=repeated if repeated != session else None,
            ),
        )


def _rows(connection: apsw.Connection, table: str, *names: str) -> Iterator[tuple[str, ...]]:
    """The rows of a table as text, an empty text where a version lacks the column; none without the first."""
    there = columns(connection, table)
    if names[0] not in there:
        return
    chosen = ", ".join(f"CAST({name} AS BLOB)" if name in there else "NULL" for name in names)
    for row in connection.execute(f"SELECT {chosen} FROM {table}"):
        yield tuple(text_of(value) for value in row)

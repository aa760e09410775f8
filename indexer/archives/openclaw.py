"""OpenClaw transcripts: session files with their archives, and the agent's own transcript database."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from functools import lru_cache

import apsw

from indexer.archives.databases import columns, has_tables, numbered_rows, opened
from indexer.archives.files import ArchiveFile, ReadOptions
from indexer.archives.lines import Entry, entries, first_objects, unreadable
from indexer.archives.openclaw_transcript import Session, Transcript
from indexer.archives.wording import label
from schemas.records import Dropped, Record, Skipped

_TABLE = "transcript_events"
_SESSION_NAME = re.compile(r"(?P<id>.+?)(?:-topic-[^.]+)?\.jsonl(?:\.|$)")
_DELETED = re.compile(r"\.jsonl\.deleted\.")
_AGENT = re.compile(r"(?:^|/)agents/(?P<agent>[^/]+)/(?:sessions|agent)/")
MAX_INDEX = 64 * 1024 * 1024
MAX_EVENT = 64 * 1024 * 1024


class OpenClaw:
    """Reads sessions as trees: the active branch as it was talked, side branches marked."""

    name = "openclaw"

    def fits(self, file: ArchiveFile) -> bool:
        """True for a session file (by its header, else its entries) or a database of transcript events."""
        if file.is_sqlite:
            return has_tables(file, **{_TABLE: frozenset({"session_id", "seq", "event_json"})})
        return any(
            value.get("type") == "session"
            or (
                value.get("type") == "message"
                and isinstance(value.get("message"), dict)
                and "uuid" not in value
            )
            for value in first_objects(file)
        )

    def read(self, file: ArchiveFile, options: ReadOptions) -> Iterator[Record]:
        """Yield the messages in the order of the file; of `.deleted` archives only when asked for."""
        if _DELETED.search(file.base) and not options.deleted_sessions:
            yield Dropped("deleted_session", 0)
            return
        try:
            is_database = file.is_sqlite
        except OSError as error:
            yield unreadable(file.name, error)
            return
        if is_database:
            yield from _database(file, options)
        else:
            match = _SESSION_NAME.match(file.base)
            session = _session(file, match["id"] if match else file.stem)
            yield from Transcript(session, options).read(lambda: entries(file))


def _session(file: ArchiveFile, session_id: str) -> Session:
    agent = _AGENT.search(file.name)
    index = file.sibling("sessions.json")
    known = _index(index) if index is not None else {}
    return Session(session_id, known, {"agent_id": agent["agent"]} if agent else {})


@lru_cache(maxsize=4)
def _index(file: ArchiveFile) -> dict[str, dict[str, str]]:
    """What `sessions.json` tells by session id; empty when it can't be read. Read once for all sessions."""
    if file.size > MAX_INDEX:
        return {}
    try:
        with file.open() as stream:
            value = json.loads(stream.read().decode("utf-8-sig", "replace"))
    except (OSError, ValueError, RecursionError):
        return {}
    found: dict[str, dict[str, str]] = {}
    for key, row in value.items() if isinstance(value, dict) else ():
        if isinstance(row, dict) and isinstance(row.get("sessionId"), str):
            spawned = bool(row.get("spawnedBy")) or ":subagent:" in key
            title = label(row.get("label")) or label(row.get("displayName")) or label(row.get("subject"))
            fields = {"session_key": key, "agent": "worker" if spawned else "", "title": title or ""}
            fields["chat_type"] = label(row.get("chatType")) or ""
            found[row["sessionId"]] = fields
    return found


def _database(file: ArchiveFile, options: ReadOptions) -> Iterator[Record]:
    try:
        with opened(file) as connection:
            known = columns(connection, _TABLE)
            for (session_id,) in connection.execute(
                f"SELECT DISTINCT session_id FROM {_TABLE} ORDER BY session_id"
            ).fetchall():
                events = _events(connection, known, file.name, str(session_id))
                yield from Transcript(_session(file, str(session_id)), options).read(events)
    except OSError as error:
        yield unreadable(file.name, error)
    except (apsw.Error, UnicodeError) as error:
        yield Skipped(file.name, "the database can't be read on", type(error).__name__)


def _events(
    connection: apsw.Connection, known: frozenset[str], name: str, session: str
) -> Callable[[], Iterator[Entry | Skipped | Dropped]]:
    packed = "event_zstd" if "event_zstd" in known else "NULL"
    sql = (
        f"SELECT seq, CAST(event_json AS BLOB), {packed} FROM {_TABLE}"
        " WHERE session_id = :session AND seq > :after AND seq <= :upto ORDER BY seq LIMIT :most"
    )

    def events() -> Iterator[Entry | Skipped | Dropped]:
        for row in numbered_rows(connection, sql, {"session": session}):
            if isinstance(row, int):
                yield Skipped(f"{name}#{session}", "a damaged page of the database", "the rest was read")
            else:
                yield _event(f"{name}#{session}/{row[0]}", row[1], row[2])

    return events


def _event(place: str, plain: bytes | None, packed: bytes | None) -> Entry | Skipped:
    from zstandard import ZstdDecompressor, ZstdError

    try:
        if not plain and packed:
            with ZstdDecompressor().stream_reader(packed) as stream:
                plain = stream.read(MAX_EVENT)
        value = json.loads((plain or b"").decode("utf-8", "replace"))
    except (ZstdError, ValueError, RecursionError):
        return Skipped(place, "an event that is damaged", "the other events were read")
    return (
        Entry(place, value) if isinstance(value, dict) else Skipped(place, "an event that is no JSON object")
    )

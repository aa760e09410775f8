"""The database in which newer versions of OpenClaw keep an agent's transcripts, live and archived."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import apsw

from indexer.archives.databases import columns, has_tables, numbered_rows, opened, text_of
from indexer.archives.files import ArchiveFile, ReadOptions
from indexer.archives.lines import Entry, entries, unreadable
from indexer.archives.openclaw.index import Index, agent_of, of_database
from indexer.archives.openclaw.transcript import Session, Transcript
from schemas.records import Dropped, Record, Skipped

EVENTS = "transcript_events"
_PAYLOADS = ("event_json", "event_zstd")
# Whole transcripts as JSONL: of sessions that were reset or deleted, and of windows that went cold.
_ARCHIVES = ("session_transcript_archives", "session_transcript_cold_archives")
MAX_EVENT = 64 * 1024 * 1024
_STEP = 1 << 20
_FRAME_STEP = 1 << 16
_ANEW = "the other rows were read; restore the database from a backup"


def is_transcripts(file: ArchiveFile) -> bool:
    """True for a database with OpenClaw's table of transcript events, whatever its version."""
    return any(
        has_tables(file, **{EVENTS: frozenset({"session_id", "seq", payload})}) for payload in _PAYLOADS
    )


def transcripts(file: ArchiveFile, options: ReadOptions) -> Iterator[Record]:
    """Yield every session of the database; one that is damaged costs the others nothing."""
    try:
        with opened(file) as connection:
            yield from _Database(connection, file, options).records()
    except OSError as error:
        yield unreadable(file.name, error)
    except (apsw.Error, UnicodeError) as error:
        yield Skipped(file.name, "the database can't be read on", f"{type(error).__name__}: {_ANEW}")


@dataclass(frozen=True, slots=True)
class _Stored:
    """Where a session stands: among the events, or as an archive in the row of a table."""

    session: bytes
    at: int
    table: str | None = None
    row: int = 0
    deleted: bool = False


class _Database:
    def __init__(self, connection: apsw.Connection, file: ArchiveFile, options: ReadOptions) -> None:
        self._connection, self._file, self._options = connection, file, options
        self._index: Index = {}

    def records(self) -> Iterator[Record]:
        """The main talks before those of workers, originals before forks: the first copy is the message."""
        try:
            self._index = of_database(self._connection)
        except apsw.Error as error:
            yield self._damaged("the list of sessions can't be read", error)
        stored: list[_Stored] = []
        for table in (None, *_ARCHIVES):
            try:
                stored += self._live() if table is None else self._archived(table)
            except apsw.Error as error:
                yield self._damaged("a list of transcripts can't be read", error)
                if table is None:  # what the agent's own list names may still be there
                    stored += [_Stored(id.encode(), 0) for id in self._index]
        for one in sorted(stored, key=self._order):
            try:
                yield from self._told(one)
            except apsw.Error as error:
                yield self._damaged("a session that can't be read on", error, f"#{text_of(one.session)}")

    def _order(self, one: _Stored) -> tuple[bool, bool, int, bytes]:
        facts = self._index.get(text_of(one.session))
        # An archive is older than what the session still holds; a header's time is later in a fork.
        return facts is not None and facts.worker, one.table is None, one.at, one.session

    def _told(self, one: _Stored) -> Iterator[Record]:
        id = text_of(one.session)
        if one.table is None:
            yield from self._session(id).read(self._events(one.session))
        elif one.deleted and not self._options.deleted_sessions:
            yield Dropped("deleted_session", 0)
        else:
            with self._unpacked(one.table, one.row, id) as archive:
                yield from self._session(id).read(partial(entries, archive))

    def _session(self, id: str) -> Transcript:
        agent = agent_of(self._file)
        return Transcript(Session(id, self._index, {"agent_id": agent} if agent else {}), self._options)

    def _damaged(self, reason: str, error: apsw.Error, place: str = "") -> Skipped:
        return Skipped(f"{self._file.name}{place}", reason, f"{type(error).__name__}: {_ANEW}")

    # --- live sessions: one event a row -----------------------------------------------------------------

    def _live(self) -> list[_Stored]:
        stored_at = "created_at" if "created_at" in columns(self._connection, EVENTS) else "NULL"
        # Of the row with the least seq, the header.
        rows: list[tuple[Any, ...]] = self._connection.execute(
            f"SELECT CAST(session_id AS BLOB), min(seq), {stored_at} FROM {EVENTS} GROUP BY session_id"
        ).fetchall()
        return [_Stored(session or b"", at if isinstance(at, int) else 0) for session, _, at in rows]

    def _events(self, session: bytes) -> Callable[[], Iterator[Entry | Skipped | Dropped]]:
        place = f"{self._file.name}#{text_of(session)}"
        there = columns(self._connection, EVENTS)
        chosen = [_bounded(name) if name in there else "NULL, NULL" for name in _PAYLOADS]
        # The row's own created_at is when it was stored where an event has no time: that is no time of it.
        sql = (
            f"SELECT seq, {', '.join(chosen)} FROM {EVENTS} WHERE session_id = CAST(:session AS TEXT)"
            " AND seq > :after AND seq <= :upto ORDER BY seq LIMIT :most"
        )

        def events() -> Iterator[Entry | Skipped | Dropped]:
            for row in numbered_rows(self._connection, sql, {"session": session}):
                if isinstance(row, int):
                    yield Skipped(place, "a damaged page of the database", "the rest was read")
                elif any(size is not None and size > MAX_EVENT for size in (row[2], row[4])):
                    yield Skipped(f"{place}/{row[0]}", _TOO_LONG, "")
                else:
                    yield _event(f"{place}/{row[0]}", row[1], row[3])

        return events

    # --- archived sessions: one JSONL file a row --------------------------------------------------------

    def _archived(self, table: str) -> list[_Stored]:
        there = columns(self._connection, table)
        if not {"session_id", "archive_blob"} <= there:
            return []
        reason = "CAST(reason AS BLOB)" if "reason" in there else "NULL"
        rows: list[tuple[Any, ...]] = self._connection.execute(
            f"SELECT rowid, CAST(session_id AS BLOB), {reason} FROM {table} WHERE archive_blob IS NOT NULL"
        ).fetchall()
        return [
            _Stored(session or b"", row, table, row, text_of(reason) == "deleted")
            for row, session, reason in rows
        ]

    @contextmanager
    def _unpacked(self, table: str, row: int, session: str) -> Iterator[ArchiveFile]:
        """An archived session as a file of its own: it is read twice, and the owner is not kept waiting."""
        with tempfile.TemporaryDirectory(prefix="letopis-") as folder:
            target = Path(folder) / "archive"
            with (
                self._connection.blob_open("main", table, "archive_blob", row, False) as blob,
                target.open("wb") as copy,
            ):
                while data := blob.read(_STEP):
                    copy.write(data)
            name = f"{self._file.name}#{session}"
            yield replace(self._file, path=target, name=name, size=target.stat().st_size, member=None)


def _bounded(name: str) -> str:
    """A value where it is no longer than an event may be, and how long it is."""
    return (
        f"CASE WHEN octet_length({name}) <= {MAX_EVENT} THEN CAST({name} AS BLOB) END, octet_length({name})"
    )


_TOO_LONG = f"an event longer than {MAX_EVENT >> 20} MB"


def _event(place: str, plain: bytes | None, packed: bytes | None) -> Entry | Skipped:
    """The event of a row: as it is, else unpacked; what the row says of its length is not needed."""
    fault = "an event that is damaged"
    for data, is_packed in ((plain, False), (packed, True)):
        if not data:
            continue
        try:
            event = _unpacked(data) if is_packed else data
            if len(event) > MAX_EVENT:
                fault = _TOO_LONG
                continue
            value = _parsed(event)
        except (ValueError, RecursionError):
            continue
        if isinstance(value, dict):
            return Entry(place, value)
        return Skipped(place, "an event that is no JSON object")
    return Skipped(place, fault, "the other events were read")


def _parsed(data: bytes) -> object:
    try:
        return json.loads(data)  # UTF-8, or UTF-16 where the database stores its text so
    except UnicodeDecodeError:
        return json.loads(data.decode("utf-8", "replace"))


def _unpacked(packed: bytes) -> bytes:
    """The first frame, as far as an event may go: a bomb is never expanded.

    Raises:
        ValueError: it is no sound frame.
    """
    from zstandard import ZstdDecompressor, ZstdError

    found = bytearray()
    try:
        with ZstdDecompressor().stream_reader(packed) as stream:
            while len(found) <= MAX_EVENT and (data := stream.read(_FRAME_STEP)):
                found += data
    except ZstdError as error:
        raise ValueError(str(error)) from None
    return bytes(found)

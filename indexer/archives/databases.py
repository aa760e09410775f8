"""Databases that belong to other programs: opened to read, never changed, never kept from their owner."""

from __future__ import annotations

import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import quote

import apsw

from indexer.archives.files import ArchiveFile
from indexer.archives.streams import open_regular

BATCH = 500
# A batch of long values ends before its rows are counted.
BATCH_BYTES = 16 * 1024 * 1024
_WAL_VERSION = 2


def journal_of(file: ArchiveFile) -> Path | None:
    """The write-ahead log beside a database, in which its owner's newest rows may stand, or None."""
    if file.member is not None:
        return None
    path = file.path.with_name(file.path.name + "-wal")
    try:
        found = path.lstat()
    except OSError:
        return None
    return path if stat.S_ISREG(found.st_mode) and found.st_size else None


@contextmanager
def opened(file: ArchiveFile) -> Iterator[apsw.Connection]:
    """A read-only connection to the database in this file.

    The owner may be writing: with a `-wal` beside it we read as one reader more; without one `immutable`
    is used for a database in WAL mode, since a plain reader would leave side files in the owner's folder.

    Raises:
        apsw.Error: not a database, damaged, or locked for more than five seconds.
        OSError: the file can't be read.
    """
    with file.local() as path:
        open_regular(path).close()  # SQLite would wait for ever at a FIFO, and follow a symlink
        connection = _connect(path, _is_idle(path, file.head) or _has_strange_sides(path))
        try:
            yield connection
        finally:
            connection.close()


def _has_strange_sides(path: Path) -> bool:
    """Whether what SQLite would open beside it is no file: at a FIFO named `-journal` it waited for ever."""
    for suffix in ("-wal", "-shm", "-journal"):
        try:
            mode = path.with_name(path.name + suffix).lstat().st_mode
        except OSError:
            continue
        if not stat.S_ISREG(mode):
            return True
    return False


def _is_idle(path: Path, head: bytes) -> bool:
    wal = path.with_name(path.name + "-wal")
    return head[18:19] == bytes([_WAL_VERSION]) and not wal.exists()


def _connect(path: Path, immutable: bool) -> apsw.Connection:
    uri = f"file:{quote(str(path.absolute()))}?mode=ro"
    flags = apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI
    try:
        connection = apsw.Connection(uri + ("&immutable=1" if immutable else ""), flags=flags)
        connection.set_busy_timeout(5_000)
        connection.execute("SELECT count(*) FROM sqlite_master").fetchall()
        return connection
    except (apsw.CantOpenError, apsw.ReadOnlyError, apsw.IOError):
        # A folder that we may not write to has no room for the shared-memory file of a WAL reader.
        if immutable:
            raise
        return _connect(path, immutable=True)


def columns(connection: apsw.Connection, table: str) -> frozenset[str]:
    """The columns of a table; empty when there is none. Older versions of a program lack some."""
    return frozenset(
        name for (name,) in connection.execute("SELECT name FROM pragma_table_info(?)", (table,)) if name
    )


def blob(name: str, known: frozenset[str]) -> str:
    """SQL for a column whose text may not be UTF-8 (see `text_of`), or for NULL where there is none."""
    return f"CAST({name} AS BLOB)" if name in known else "NULL"


def has_tables(file: ArchiveFile, **needed: frozenset[str]) -> bool:
    """True when the file is a database with these tables, each with at least these columns."""
    if not file.is_sqlite:
        return False
    try:
        with opened(file) as connection:
            return all(columns(connection, table) >= names for table, names in needed.items())
    except (apsw.Error, OSError, UnicodeError):
        return False


def numbered_rows(
    connection: apsw.Connection, sql: str, bindings: dict[str, Any], after: int = -(2**62)
) -> Iterator[tuple[Any, ...] | int]:
    """The rows of a numbered table in order, a batch a transaction, so that the owner is never kept waiting.

    Args:
        connection: the database.
        sql: a SELECT whose first column is an integer, with `:after` (exclusive), `:upto` (inclusive) and
            `:most` rows, ordered by that column.
        bindings: its other parameters.
        after: where to begin.

    Yields:
        Rows; an int in place of rows that a damaged page took: the number after which they stood.

    Raises:
        apsw.Error: the damage is everywhere.
    """
    faults = 0
    while True:
        try:
            batch, more = _rows(connection, sql, bindings, after, 2**62, BATCH)
        except (apsw.CorruptError, apsw.IOError):
            faults += 1
            if faults > 20:
                raise
            yield after
            after = max(after, -1) if after < 0 else after
            for number in range(after + 1, after + BATCH + 1):
                try:
                    yield from _rows(connection, sql, bindings, number - 1, number, 1)[0]
                except (apsw.CorruptError, apsw.IOError):
                    continue
            after += BATCH
            continue
        yield from batch
        if not more:
            return
        after = batch[-1][0]


def _rows(
    connection: apsw.Connection, sql: str, bindings: dict[str, Any], after: int, upto: int, most: int
) -> tuple[list[tuple[Any, ...]], bool]:
    """Rows of one transaction, and whether there may be more."""
    found: list[tuple[Any, ...]] = []
    size = 0
    cursor = connection.execute(sql, {**bindings, "after": after, "upto": upto, "most": most})
    for row in cursor:
        found.append(row)
        size += sum(len(value) for value in row if isinstance(value, bytes | str))
        if size > BATCH_BYTES:
            cursor.close()
            return found, True
    return found, len(found) == most


def text_of(value: object) -> str:
    """A TEXT column that was selected as BLOB: a bad byte becomes U+FFFD instead of an error."""
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    return "" if value is None else str(value)

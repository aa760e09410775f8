"""Opening databases with apsw: versions, extension, read-only and immutable modes."""

from __future__ import annotations

import queue
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import quote

import apsw

from schemas.problems import DatabaseError, IndexCorrupt

_URI = apsw.SQLITE_OPEN_URI

# Searches of one database at the same time; SQLite and numpy leave the interpreter lock, Python does not.
CONNECTIONS = 8


def create(path: Path, ddl: Sequence[str], version: int, page_size: int = 4096) -> apsw.Connection:
    """A new, empty database for bulk writing: no journal, since an unfinished file is thrown away."""
    connection = apsw.Connection(str(path))
    with_vectors(connection)
    connection.execute(f"PRAGMA page_size={page_size}")
    connection.execute("PRAGMA journal_mode=OFF")
    connection.execute("PRAGMA synchronous=OFF")
    connection.execute("PRAGMA cache_size=-65536")
    connection.execute("BEGIN EXCLUSIVE")
    for statement in ddl:
        connection.execute(statement)
    connection.execute(f"PRAGMA user_version={version}")
    return connection


def finish(connection: apsw.Connection) -> None:
    """Commit a bulk write and leave one plain file, without side files, in rollback-journal mode."""
    connection.execute("COMMIT")
    connection.execute("PRAGMA journal_mode=DELETE")
    connection.close()


def open_immutable(path: Path, version: int) -> apsw.Connection:
    """A published database: read-only, and never looked at for changes."""
    uri = f"file:{quote(str(path))}?mode=ro&immutable=1"
    try:
        connection = apsw.Connection(uri, flags=apsw.SQLITE_OPEN_READONLY | _URI)
        with_vectors(connection)
        connection.execute("PRAGMA mmap_size=1073741824")
        _check_version(connection, path.name, version)
    except apsw.Error as error:
        raise IndexCorrupt(f"{path.name} can't be opened: {error}.", "run `letopis build --full`") from None
    return connection


class Pool:
    """Connections to one published database, for many threads; a request waits for a free one.

    All are opened at once: by the time that a request would open another, pruning may have removed the file,
    while what is open goes on reading it. Never hold one while asking for another.

    Args:
        path: the database.
        version: its schema version.
        prepare: statements for every connection.
    """

    def __init__(self, path: Path, version: int, prepare: Sequence[str] = ()) -> None:
        self._idle: queue.LifoQueue[apsw.Connection] = queue.LifoQueue()
        try:
            for _ in range(CONNECTIONS):
                connection = open_immutable(path, version)
                self._idle.put(connection)
                for statement in prepare:
                    connection.execute(statement)
        except BaseException:
            self.close()
            raise

    @contextmanager
    def connection(self) -> Iterator[apsw.Connection]:
        """One connection, for one thread at a time."""
        connection = self._idle.get()
        try:
            yield connection
        finally:
            self._idle.put(connection)

    def close(self) -> None:
        """Close every connection; call it when no request is left."""
        while True:
            try:
                self._idle.get_nowait().close()
            except queue.Empty:
                return


def with_vectors(connection: apsw.Connection) -> None:
    """Load sqlite-vec into a connection."""
    import sqlite_vec

    connection.enable_load_extension(True)
    connection.load_extension(sqlite_vec.loadable_path())
    connection.enable_load_extension(False)


def _check_version(connection: apsw.Connection, name: str, version: int) -> None:
    found = user_version(connection)
    if found != version:
        age = "newer" if found > version else "older"
        raise DatabaseError(
            f"{name} has schema version {found}, {age} than this program's {version}.",
            "update letopis" if found > version else "run `letopis build --full`",
        )


def user_version(connection: apsw.Connection) -> int:
    """The schema version that stands in a database; 0 in a new one."""
    return int(connection.execute("PRAGMA user_version").get)


def rows(connection: apsw.Connection, statement: str, bindings: Sequence[Any] = ()) -> list[Any]:
    """All rows of a query, as plain tuples."""
    return connection.execute(statement, tuple(bindings)).fetchall()


def row(connection: apsw.Connection, statement: str, bindings: Sequence[Any] = ()) -> Any:
    """The first row of a query, or None."""
    return connection.execute(statement, tuple(bindings)).fetchone()


@contextmanager
def transaction(connection: apsw.Connection) -> Iterator[None]:
    """All or nothing, with the write lock taken at the start."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
    except BaseException:
        connection.execute("ROLLBACK")
        raise
    connection.execute("COMMIT")

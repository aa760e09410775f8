"""The table `chunks` of an older index, read by row number: a damaged page costs only its own rows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import groupby
from typing import Any

import apsw

from indexer.archives.databases import blob, columns, numbered_rows, text_of
from indexer.archives.files import ArchiveFile
from indexer.archives.identity import source_id
from indexer.archives.wording import label
from indexer.text.normal import scrubbed

# No embedding model is this small: such a blob was cut. vec0 takes no more than this many.
LEAST_DIMS = 32
MOST_DIMS = 8_192

NO_VECTOR = "no vector"
_NUMBERED = " FROM chunks WHERE rowid > :after AND rowid <= :upto ORDER BY rowid LIMIT :most"


@dataclass(frozen=True, slots=True)
class Vectors:
    """What the table holds of vectors, by their sizes alone.

    Attributes:
        rows: of the table, as far as they can be read.
        dims: how many vectors there are of each length.
        faults: how many rows have none that could be one, by reason.
    """

    rows: int
    dims: dict[int, int]
    faults: Counter[str] = field(default_factory=Counter)


@dataclass(frozen=True, slots=True)
class VectorRow:
    """One row with its vector.

    Attributes:
        chat_id: as the messages of the table have it.
        message_id: likewise.
        text: what was embedded.
        dims: the length of the vector; 0 where there is none.
        raw: little-endian float32.
        fault: why there is none, or an empty string.
    """

    chat_id: str
    message_id: str
    text: str
    dims: int
    raw: bytes
    fault: str


class SeedTable:
    """`chunks` of an open database; columns may lack.

    Raises:
        apsw.Error: there is no such table, or it can't be read by number.
    """

    def __init__(self, connection: apsw.Connection, file: ArchiveFile) -> None:
        self._db = connection
        self._known = columns(connection, "chunks")
        self._stem = file.stem
        # A view could compute without end.
        kind = connection.execute("SELECT type FROM sqlite_master WHERE name = 'chunks'").fetchone()
        if kind != ("table",) or "text" not in self._known:
            raise apsw.SQLError("no table chunks with a column text")

    def vectors(self) -> Vectors:
        """Count the vectors by length; no text and no vector is read for it."""
        dims: Counter[int] = Counter()
        faults: Counter[str] = Counter()
        rows = 0
        for row in self._rows(*self._size()):
            if not isinstance(row, int):
                rows += 1
                fault = fault_of(row[1], row[2])
                if fault:
                    faults[fault] += 1
                else:
                    dims[row[2] // 4] += 1
        return Vectors(rows, dict(sorted(dims.items())), faults)

    def vector_rows(self) -> Iterator[VectorRow | int]:
        """Every row with its vector, in the order of the table; an int in place of rows that are damaged."""
        kind, size = self._size()
        raw = f"CASE WHEN {kind} = 'blob' AND {size} <= {4 * MOST_DIMS} THEN embedding END"
        names = ("conv_id", "message_id", "chunk_id", "text")
        for row in self._rows(kind, size, raw if kind != "'null'" else "NULL", *map(self._blob, names)):
            if isinstance(row, int):
                yield row
                continue
            number, kind_of, length, vector, conv, message, chunk, text = row
            fault = fault_of(kind_of, length)
            yield VectorRow(
                *self._ids(number, conv, message, chunk),
                text=scrubbed(text_of(text)),
                dims=0 if fault else length // 4,
                raw=b"" if fault else vector,
                fault=fault,
            )

    def sort(self) -> Iterator[int]:
        """Note where the chunks of each message stand, on disk; yields the number before damaged rows."""
        self._db.execute("CREATE TEMP TABLE place (conv, message, at, number INTEGER PRIMARY KEY)")
        index = "CAST(chunk_index AS INTEGER)" if "chunk_index" in self._known else "NULL"
        for row in self._rows(*map(self._blob, ("conv_id", "message_id", "chunk_id")), index):
            if isinstance(row, int):
                yield row
                continue
            number, conv, message, chunk, at = row
            self._db.execute(
                "INSERT INTO place VALUES (?, ?, ?, ?)",
                (*self._ids(number, conv, message, chunk), at, number),
            )

    def messages(self) -> Iterator[tuple[str, str, list[tuple[Any, int]]]]:
        """After `sort`: chat id, message id, and (chunk index, row number) of its chunks in their order.

        Messages come in the order in which the table first met them.
        """
        places: Iterator[tuple[Any, ...]] = self._db.execute(
            """SELECT conv, message, at, number FROM
                 (SELECT *, min(number) OVER (PARTITION BY conv, message) AS first FROM place)
               ORDER BY first, at, number"""
        )
        for (conv, message), found in groupby(places, key=lambda place: place[:2]):
            yield conv, message, [place[2:] for place in found]

    def chunk(self, number: int) -> tuple[str, str, str] | None:
        """Text, role and time of a row as they stand there; None where it is gone meanwhile.

        Raises:
            apsw.CorruptError, apsw.IOError: its page is damaged.
        """
        chosen = ", ".join(map(self._blob, ("text", "role", "created_at")))
        row = self._db.execute(f"SELECT {chosen} FROM chunks WHERE rowid = ?", (number,)).fetchone()
        return None if row is None else (scrubbed(text_of(row[0])), text_of(row[1]), text_of(row[2]))

    def _blob(self, name: str) -> str:
        return blob(name, self._known)

    def _size(self) -> tuple[str, str]:
        if "embedding" not in self._known:
            return "'null'", "0"
        return "typeof(embedding)", "coalesce(length(embedding), 0)"

    def _rows(self, *chosen: str) -> Iterator[tuple[Any, ...] | int]:
        return numbered_rows(self._db, f"SELECT rowid, {', '.join(chosen)}{_NUMBERED}", {})

    def _ids(self, number: int, conv: object, message: object, chunk: object) -> tuple[str, str]:
        talk = label(text_of(conv)) or self._stem
        own = source_id(text_of(message)) or f"chunk:{source_id(text_of(chunk)) or number}"
        return f"seed:{talk}", own


def fault_of(kind: str, size: int) -> str:
    """Why a value of this SQL type and size in bytes is no vector, or an empty string."""
    if kind == "null" or (kind == "blob" and not size):
        return NO_VECTOR
    if kind != "blob":
        return "a vector that is no blob"
    if size % 4:
        return "a vector whose bytes are no multiple of 4"
    if size < 4 * LEAST_DIMS:
        return f"a vector of under {LEAST_DIMS} numbers"
    return f"a vector of over {MOST_DIMS:,} numbers" if size > 4 * MOST_DIMS else ""

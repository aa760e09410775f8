"""Archive files: what was read of them, and whether they are still there."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import apsw

from indexer.stores.database import row, rows, transaction

# The reader of note files: a note is the truth, so what was removed from it leaves the index.
NOTES = "markdown"


@dataclass(frozen=True, slots=True)
class SourceFile:
    """An archive file as it is read.

    Attributes:
        root: hash of the archive root's path.
        path: relative to the root.
        kind: the reader's name.
        size: bytes.
        mtime_ns: nanoseconds since the epoch.
        sha256: of the content, hex.
        reading: versions of reader, redactor and the settings that change a reading.
    """

    root: str
    path: str
    kind: str
    size: int
    mtime_ns: int
    sha256: str
    reading: str


@dataclass(frozen=True, slots=True)
class SourceState:
    """What the ledger knows of an archive file."""

    id: int
    size: int
    mtime_ns: int
    sha256: str
    reading: str


class Sources:
    """All files ever read and not dropped."""

    def __init__(self, db: apsw.Connection) -> None:
        self._db = db

    def find(self, root: str, path: str) -> SourceState | None:
        """What is known of a file, or None."""
        found = row(
            self._db,
            "SELECT id, size, mtime_ns, sha256, reading FROM source WHERE root = ? AND path = ?",
            (root, path),
        )
        return SourceState(*found) if found else None

    def restat(self, source: int, size: int, mtime_ns: int) -> None:
        """The file was touched but its content is the same."""
        self._db.execute("UPDATE source SET size = ?, mtime_ns = ? WHERE id = ?", (size, mtime_ns, source))

    def report(self, source: int) -> str:
        """The JSON text that was kept with a file when it was read."""
        return str(row(self._db, "SELECT report FROM source WHERE id = ?", (source,))[0])

    def all(self) -> list[dict[str, object]]:
        """Every file with its counts, for the manifest and the report."""
        names = (
            *("id", "root", "path", "kind", "size", "mtime_ns", "sha256"),
            *("messages", "last_at", "gone", "report"),
        )
        found = rows(self._db, f"SELECT {', '.join(names)} FROM source ORDER BY root, path")
        return [dict(zip(names, values, strict=True)) for values in found]

    def mark_gone(self, present: Iterable[int], roots: Sequence[str]) -> int:
        """Mark the files of these roots that were not met in this run; returns how many are newly gone."""
        with transaction(self._db):
            newly = rows(
                self._db,
                """UPDATE source SET gone = NOT gone
                   WHERE root IN (SELECT value FROM json_each(?2))
                     AND gone = (id IN (SELECT value FROM json_each(?1))) RETURNING gone""",
                (json.dumps(list(present)), json.dumps(list(roots))),
            )
        return sum(gone for (gone,) in newly)

"""Archive files: what was read of them, and whether they are still there."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

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
    kind: str
    size: int
    mtime_ns: int
    sha256: str
    reading: str


class Rhythm(NamedTuple):
    """How a kind of source of one archive has grown.

    Attributes:
        grew: in how many builds it brought messages newer than those before.
        noticed: when it was found quiet first, UTC ms, or None.
    """

    grew: int
    noticed: int | None


# What a finding on a file's health consists of; see `indexer.health.Finding`.
FindingRow = tuple[Any, ...]


class Sources:
    """All files ever read and not dropped."""

    def __init__(self, db: apsw.Connection) -> None:
        self._db = db

    def find(self, root: str, path: str) -> SourceState | None:
        """What is known of a file, or None."""
        found = row(
            self._db,
            "SELECT id, kind, size, mtime_ns, sha256, reading FROM source WHERE root = ? AND path = ?",
            (root, path),
        )
        return SourceState(*found) if found else None

    def restat(self, source: int, size: int, mtime_ns: int) -> None:
        """The file was touched but its content is the same."""
        self._db.execute("UPDATE source SET size = ?, mtime_ns = ? WHERE id = ?", (size, mtime_ns, source))

    def messages(self, source: int) -> int:
        """How many messages a file held when it was last read."""
        return int(row(self._db, "SELECT messages FROM source WHERE id = ?", (source,))[0])

    def report(self, source: int) -> str:
        """The JSON text that was kept with a file when it was read."""
        return str(row(self._db, "SELECT report FROM source WHERE id = ?", (source,))[0])

    def all(self) -> list[dict[str, object]]:
        """Every file with its counts, for the manifest and the report."""
        names = (
            *("id", "root", "path", "kind", "size", "mtime_ns", "sha256"),
            *("messages", "last_at", "gone", "report", "health"),
        )
        found = rows(self._db, f"SELECT {', '.join(names)} FROM source ORDER BY root, path")
        return [dict(zip(names, values, strict=True)) for values in found]

    def note_finding(self, source: int, finding: FindingRow | None) -> FindingRow | None:
        """Keep what is wrong with a file (None: nothing); returns it as of its first finding."""
        known = self.finding(source)
        if finding is not None and known is not None and finding[1] == known[1]:
            finding = (*finding[:3], known[3])
        text = None if finding is None else json.dumps(finding, ensure_ascii=False)
        self._db.execute("UPDATE source SET health = ? WHERE id = ?", (text, source))
        return finding

    def finding(self, source: int) -> FindingRow | None:
        """What is wrong with a file, or None."""
        found = row(self._db, "SELECT health FROM source WHERE id = ?", (source,))
        return tuple(json.loads(found[0])) if found and found[0] else None

    def newest(self, root: str) -> list[tuple[str, int]]:
        """(kind, time of the newest message in UTC ms) of everything that is dated in an archive."""
        return rows(
            self._db,
            """SELECT kind, max(last_at) FROM source WHERE root = ? AND last_at IS NOT NULL
               GROUP BY kind ORDER BY kind""",
            (root,),
        )

    def rhythm(self, root: str, kind: str, last_at: int) -> Rhythm:
        """How a kind of source has grown, this build included, whose newest message is of `last_at`."""
        with transaction(self._db):
            self._db.execute(
                """INSERT INTO rhythm (root, kind, last_at, grew) VALUES (?, ?, ?, 0)
                   ON CONFLICT DO UPDATE SET grew = grew + 1, last_at = excluded.last_at
                   WHERE excluded.last_at > last_at""",
                (root, kind, last_at),
            )
            found = row(
                self._db, "SELECT grew, noticed FROM rhythm WHERE (root, kind) = (?, ?)", (root, kind)
            )
        return Rhythm(*found)

    def quiet_since(self, root: str, kind: str, noticed: int | None) -> None:
        """Remember when a kind of source was found quiet first; None when it talks."""
        self._db.execute("UPDATE rhythm SET noticed = ? WHERE (root, kind) = (?, ?)", (noticed, root, kind))

    def days(self, root: str, kind: str) -> list[int]:
        """Numbers of the UTC days since 1970 on which a kind of source said something, ascending."""
        found = rows(
            self._db,
            """SELECT DISTINCT m.at / 86400000 FROM source f JOIN sighting o ON o.source = f.id
               JOIN message m ON m.key = o.message
               WHERE (f.root, f.kind) = (?, ?) AND m.at IS NOT NULL ORDER BY 1""",
            (root, kind),
        )
        return [day for (day,) in found]

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

"""Builds: when they ran, how they ended, and what they spent."""

from __future__ import annotations

import apsw

from indexer.stores.database import row


class Runs:
    """One row a build; paid requests by day and provider."""

    def __init__(self, db: apsw.Connection) -> None:
        self._db = db

    def begin(self, at: int) -> int:
        """Note the start of a build (UTC ms); returns its row."""
        return int(row(self._db, "INSERT INTO run (started) VALUES (?) RETURNING id", (at,))[0])

    def end(self, run: int, at: int, code: int, report: str) -> None:
        """Note the end of a build: UTC ms, exit code and the report as JSON."""
        self._db.execute(
            "UPDATE run SET (ended, exit, report) = (?, ?, ?) WHERE id = ?", (at, code, report, run)
        )

    def spent(self, day: str, provider: str) -> int:
        """Requests paid on a day (ISO date)."""
        found = row(self._db, "SELECT requests FROM spend WHERE (day, provider) = (?, ?)", (day, provider))
        return int(found[0]) if found else 0

    def spend(self, day: str, provider: str, requests: int) -> None:
        """Count paid requests."""
        self._db.execute(
            """INSERT INTO spend VALUES (?, ?, ?)
               ON CONFLICT DO UPDATE SET requests = requests + excluded.requests""",
            (day, provider, requests),
        )

"""What a person has corrected in the graph; kept in the ledger, applied on every build."""

from __future__ import annotations

import apsw

from indexer.stores.database import rows, transaction
from indexer.stores.ledger.meta import Meta
from schemas.records import Correction


class Corrections:
    """Corrections in the order in which they were made; a later one beats an earlier one."""

    def __init__(self, db: apsw.Connection, meta: Meta) -> None:
        self._db = db
        self._meta = meta

    def add(self, correction: Correction, at: int) -> int:
        """Keep one.

        Args:
            correction: what to change.
            at: UTC ms.

        Returns:
            Its number, by which it can be taken back.
        """
        with transaction(self._db):
            found = rows(
                self._db,
                "INSERT INTO correction (action, key, value, at) VALUES (?, ?, ?, ?) RETURNING id",
                (correction.action, correction.key, correction.value, at),
            )
            self._meta.touch()
        return int(found[0][0])

    def take_back(self, number: int) -> bool:
        """Remove one by its number; False where there is none."""
        with transaction(self._db):
            found = rows(self._db, "DELETE FROM correction WHERE id = ? RETURNING 1", (number,))
            if found:
                self._meta.touch()
        return bool(found)

    def all(self) -> list[tuple[int, Correction, int]]:
        """(number, correction, UTC ms) of each, in order."""
        found = rows(self._db, "SELECT id, action, key, value, at FROM correction ORDER BY id")
        return [(number, Correction(action, key, value), at) for number, action, key, value, at in found]

"""Small remembered values, among them the revision that tells whether content has changed."""

from __future__ import annotations

import secrets
from collections.abc import Iterable

import apsw


class Meta:
    """Key and value, both text."""

    def __init__(self, db: apsw.Connection) -> None:
        self._db = db

    def get(self, key: str) -> str | None:
        """A remembered value, or None."""
        found = self._db.execute("SELECT value FROM meta WHERE key = ?", (key,)).fetchone()
        return str(found[0]) if found else None

    def put(self, key: str, value: str) -> None:
        """Remember a value."""
        self._db.execute(
            "INSERT INTO meta VALUES (?, ?) ON CONFLICT DO UPDATE SET value = excluded.value", (key, value)
        )

    @property
    def revision(self) -> int:
        """Grows with every change of content; holds no clock, so equal content of one ledger is equal."""
        return int(self.get("revision") or 0)

    @property
    def identity(self) -> str:
        """Tells this ledger from every other one: revisions of two ledgers mean nothing to each other."""
        return self.get("identity") or ""

    def identify(self) -> None:
        """Give a new ledger its identity."""
        self.put("identity", secrets.token_hex(8))

    def touch(self) -> None:
        """Say that content has changed."""
        self.put("revision", str(self.revision + 1))

    def stale(self, chats: Iterable[str]) -> None:
        """Say that the messages of these chats have changed: their chunks must be cut anew."""
        self._db.executemany("UPDATE chat SET stale = 1 WHERE id = ?", ((chat,) for chat in chats))

"""Names found in the messages, kept by extractor version and the hash of the text."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence

import apsw

from indexer.stores.database import row, rows, transaction
from indexer.stores.ledger.meta import Meta
from schemas.records import Mention

_EXTRACTOR = "extractor"


class Mentions:
    """What the extractor has seen."""

    def __init__(self, db: apsw.Connection, meta: Meta) -> None:
        self._db = db
        self._meta = meta

    @property
    def extractor(self) -> str | None:
        """The version whose mentions are complete, or None where none is."""
        return self._meta.get(_EXTRACTOR)

    def complete(self, extractor: str) -> None:
        """Remember that this version has seen every message."""
        self._meta.put(_EXTRACTOR, extractor)

    def pending(self, extractor: str) -> list[bytes]:
        """Hashes of the message texts that this extractor version has not seen, each once."""
        found = rows(
            self._db,
            """SELECT DISTINCT hash FROM message m
               WHERE NOT EXISTS (SELECT 1 FROM extraction e WHERE e.extractor = ? AND e.hash = m.hash)
               ORDER BY hash""",
            (extractor,),
        )
        return [digest for (digest,) in found]

    def texts(self, hashes: Sequence[bytes]) -> list[str]:
        """The message text of each hash, in the same order."""
        return [
            str(row(self._db, "SELECT text FROM message WHERE hash = ? LIMIT 1", (digest,))[0])
            for digest in hashes
        ]

    def keep(self, extractor: str, extracted: Iterable[tuple[bytes, Sequence[Mention]]]) -> None:
        """Commit one batch of extracted mentions."""
        with transaction(self._db):
            self._db.executemany(
                "INSERT INTO extraction VALUES (?, ?, ?) ON CONFLICT DO NOTHING",
                ((extractor, digest, _as_json(found)) for digest, found in extracted),
            )
            self._meta.touch()

    def of(self, extractor: str, chat_id: str) -> dict[str, tuple[Mention, ...]]:
        """Mentions by message id, for one chat; messages without any are left out."""
        found = rows(
            self._db,
            """SELECT m.id, e.mentions FROM message m JOIN extraction e ON e.extractor = ? AND e.hash = m.hash
               WHERE m.chat_id = ? AND e.mentions <> '[]'""",
            (extractor, chat_id),
        )
        return {id_: tuple(Mention(*values) for values in json.loads(mentions)) for id_, mentions in found}


def _as_json(mentions: Sequence[Mention]) -> str:
    return json.dumps([(m.start, m.end, m.type, m.name, m.key) for m in mentions], ensure_ascii=False)

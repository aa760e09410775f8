"""Chunks of each chat, and which chats must be cut anew."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator

import apsw

from indexer.stores.database import row, rows, transaction
from indexer.stores.ledger.meta import Meta
from schemas.records import Chunk, Piece

_CHUNKER = "chunker"


class Chunks:
    """The windows that are embedded and published."""

    def __init__(self, db: apsw.Connection, meta: Meta) -> None:
        self._db = db
        self._meta = meta

    def count(self) -> int:
        """How many chunks the ledger holds."""
        return int(self._db.execute("SELECT count(*) FROM chunk").get)

    def stale(self, chunker: str) -> list[str]:
        """Chats whose chunks must be cut anew: their messages changed, or the chunker did.

        Args:
            chunker: identity of the chunker and its settings; another one than last time makes all stale.
        """
        every = self._meta.get(_CHUNKER) != chunker
        found = rows(
            self._db,
            """SELECT id FROM chat WHERE stale
                 OR ? AND EXISTS (SELECT 1 FROM message m WHERE m.chat_id = chat.id) ORDER BY id""",
            (every,),
        )
        return [chat for (chat,) in found]

    def replace(self, chat_id: str, chunks: Iterable[tuple[Chunk, bytes]]) -> None:
        """Replace the chunks of one chat; it is no longer stale."""
        with transaction(self._db):
            self._db.execute("DELETE FROM chunk WHERE chat_id = ?", (chat_id,))
            self._db.executemany(
                "INSERT INTO chunk VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                (
                    (
                        *(chunk.id, chunk.chat_id, chunk.ordinal, chunk.session, chunk.header, chunk.text),
                        json.dumps([(p.message_id, p.start, p.end, p.message_start) for p in chunk.pieces]),
                        *(chunk.first_at, chunk.last_at, digest),
                    )
                    for chunk, digest in chunks
                ),
            )
            self._db.execute("UPDATE chat SET stale = 0 WHERE id = ?", (chat_id,))
            self._meta.touch()

    def all_cut(self, chunker: str) -> None:
        """Remember by which chunker the chunks of every chat were cut."""
        self._meta.put(_CHUNKER, chunker)

    def has(self, digest: bytes) -> bool:
        """Whether a present chunk's embedded text has this hash."""
        return row(self._db, "SELECT 1 FROM chunk WHERE hash = ? LIMIT 1", (digest,)) is not None

    @property
    def chunker(self) -> str:
        """The chunker that all chunks were cut by."""
        return self._meta.get(_CHUNKER) or ""

    def of(self, chat_id: str) -> Iterator[tuple[Chunk, bytes]]:
        """The chunks of one chat with the hash of their embedded text, in order."""
        statement = (
            "SELECT id, chat_id, session, ordinal, header, text, pieces, first_at, last_at, hash"
            " FROM chunk WHERE chat_id = ? ORDER BY ordinal"
        )
        for id_, chat, session, ordinal, header, text, pieces, first_at, last_at, digest in rows(
            self._db, statement, (chat_id,)
        ):
            held = tuple(Piece(*piece) for piece in json.loads(pieces))
            yield Chunk(id_, chat, session, ordinal, header, text, held, first_at, last_at), digest

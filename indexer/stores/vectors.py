"""Writing a generation's `chat_vectors.db` from the ledger, sequentially, in the order of the talk."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import apsw
import numpy as np

from indexer.stores.database import create, finish
from indexer.stores.ledger import Ledger
from indexer.stores.quantised import quantised
from indexer.text.lemmas import lemma_column, raw_column
from indexer.text.normal import has_words
from schemas.problems import BuildRefused
from schemas.records import Chunk, Message
from schemas.sql import vectors as sql

_VECTOR_BATCH = 1_000


class VectorsWriter:
    """Writes chats one after another; ids grow in the order of the talk, from 1."""

    def __init__(self, path: Path, ledger: Ledger) -> None:
        self._db = create(path, sql.DDL, sql.VERSION, sql.PAGE_SIZE)
        self._ledger = ledger
        self._spaces = ledger.vectors.spaces()
        self._chunks = 0
        self._messages = 0
        self._chats = 0
        self._hashes: list[bytes] = []
        self.rows: dict[str, int] = {}

    def chat(self, chat_id: str, title: str | None, source: str) -> None:
        """Write one chat with its messages and chunks."""
        self._chats += 1
        self._db.execute("INSERT INTO chat VALUES (?, ?, ?, ?)", (self._chats, chat_id, title, source))
        numbers: dict[str, int] = {}
        for message in self._ledger.messages.talk(chat_id):
            if has_words(message.text):
                self._messages += 1
                numbers[message.id] = self._messages
                self._message(message)
        for chunk, digest in self._ledger.chunks.of(chat_id):
            self._chunks += 1
            self._hashes.append(digest)
            self.rows[chunk.id] = self._chunks
            self._chunk(chunk, numbers)

    def _message(self, message: Message) -> None:
        row, agent = self._messages, message.agent
        self._db.execute(
            "INSERT INTO message VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (
                *(row, message.id, self._chats, message.session, message.role, message.author),
                *(message.author_id, agent, message.source, message.at, message.text),
            ),
        )
        self._db.execute(
            "INSERT INTO message_fts (rowid, raw, lemma) VALUES (?, ?, ?)",
            (row, raw_column(message.text), lemma_column(message.text)),
        )

    def _chunk(self, chunk: Chunk, numbers: dict[str, int]) -> None:
        row = self._chunks
        self._db.execute(
            "INSERT INTO chunk VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (
                *(row, chunk.id, self._chats, chunk.session, chunk.ordinal, chunk.header, chunk.text),
                *(chunk.first_at, chunk.last_at),
            ),
        )
        self._db.execute(
            "INSERT INTO chunk_fts (rowid, raw, lemma) VALUES (?, ?, ?)",
            (row, raw_column(chunk.indexed), lemma_column(chunk.indexed)),
        )
        self._db.executemany(
            "INSERT INTO chunk_message VALUES (?, ?, ?, ?, ?)",
            ((row, numbers[p.message_id], p.start, p.end, p.message_start) for p in chunk.pieces),
        )

    def close(self, weights: Mapping[int, float]) -> dict[str, int]:
        """Write the vectors, check the counts, and finish the file.

        Args:
            weights: of the vector legs, by the ledger's space id.

        Returns:
            Counts: chats, messages, chunks, and vectors by space name.

        Raises:
            BuildRefused: rows are missing somewhere.
        """
        counts = {"chats": self._chats, "messages": self._messages, "chunks": self._chunks}
        for space_id, space, _ in self._spaces:
            self._db.execute(sql.vec_ddl(space_id, space.dims))
            vectors = self._vectors(space_id, space.dims)
            counts[space.name] = vectors
            self._db.execute(
                "INSERT INTO space VALUES (?, ?, ?, ?, ?, ?, ?)",
                (
                    *(space_id, space.provider, space.model, space.dims, space.prefix_version),
                    *(weights[space_id], vectors),
                ),
            )
        for statement in sql.INDEXES:
            self._db.execute(statement)
        for table in ("chunk_fts", "message_fts"):
            self._db.execute(f"INSERT INTO {table} ({table}) VALUES ('optimize')")
        self._verify(counts)
        finish(self._db)
        return counts

    def _vectors(self, space: int, dims: int) -> int:
        insert = f"INSERT INTO {sql.vec_table(space)} (rowid, embedding) VALUES (?, vec_int8(?))"
        written = 0
        for start in range(0, len(self._hashes), _VECTOR_BATCH):
            rows = [
                (start + offset + 1, found)
                for offset, digest in enumerate(self._hashes[start : start + _VECTOR_BATCH])
                if (found := self._ledger.vectors.find(space, digest)) is not None
            ]
            if rows:
                floats = np.frombuffer(b"".join(row[1] for row in rows), dtype="<f4").reshape(len(rows), dims)
                small = quantised(floats)
                self._db.executemany(insert, ((row[0], small[at].tobytes()) for at, row in enumerate(rows)))
                written += len(rows)
        return written

    def _verify(self, counts: dict[str, int]) -> None:
        for table, unit in (("chunk_fts", "chunks"), ("message_fts", "messages")):
            rows = int(self._db.execute(f"SELECT count(*) FROM {table}_docsize").get)
            if rows != counts[unit]:
                raise BuildRefused(
                    f"{table} holds {rows} rows for {counts[unit]} {unit}.", "run the build again"
                )
            try:
                self._db.execute(f"INSERT INTO {table} ({table}) VALUES ('integrity-check')")
            except apsw.Error:
                raise BuildRefused(
                    f"{table} did not pass its integrity check.", "run the build again"
                ) from None
        for space_id, space, _ in self._spaces:
            rows = int(self._db.execute(f"SELECT count(*) FROM {sql.vec_table(space_id)}").get)
            if rows != counts[space.name]:
                raise BuildRefused(
                    f"The vector table of {space.name} holds {rows} rows for {counts[space.name]} vectors.",
                    "run the build again",
                )

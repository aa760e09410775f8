"""The SQLite engine: FTS5 for words, an in-memory mirror of the vectors, and columns for the filters.

The mirror is read from the vec0 tables, which stay the exact, portable oracle (`oracle`).
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import cached_property, lru_cache
from pathlib import Path

import apsw
import numpy as np
from numpy.typing import NDArray

from indexer.stores import (
    RAW_WEIGHT,
    Ids,
    Mask,
    Scores,
    SpaceInfo,
    StoredChunk,
    StoredMessage,
    StoredPiece,
    Term,
    TextScores,
    Unit,
)
from indexer.stores.columns import Columns
from indexer.stores.database import Pool, rows
from indexer.stores.quantised import normalised, quantised
from indexer.stores.words import VOCABULARIES, Words
from indexer.text.vocabulary import Vocabulary
from schemas.records import Filter, Space
from schemas.sql import vectors as sql

# What may stand after a question mark, and the messages that end with one.
_CLOSING = " \t\r\n)]\"'»”’*_~"
_ASKING = "SELECT id FROM message WHERE substr(rtrim(text, ?1), -1) IN ('?', '？', '؟')"


class SqliteStore:
    """`chat_vectors.db` of one generation, opened read-only; safe to use from many threads."""

    def __init__(self, path: Path) -> None:
        self._pool = Pool(path, sql.VERSION, VOCABULARIES)
        self._connection = self._pool.connection
        try:
            with self._connection() as db:
                self._columns = Columns(db)
                self._spaces = _spaces(db)
                self._matrices = {info.id: _matrix(db, info) for info in self._spaces}
        except BaseException:
            self.close()
            raise
        self._masks = lru_cache(maxsize=64)(self._columns.mask)
        self._words = Words(self._pool, {"chunk": self._columns.chunks, "message": self._columns.messages})

    def close(self) -> None:
        """Close every connection; call it when no request is left."""
        self._pool.close()

    def size(self, unit: Unit) -> int:
        """How many chunks or messages there are."""
        return self._columns.chunks if unit == "chunk" else self._columns.messages

    def spaces(self) -> Sequence[SpaceInfo]:
        """The spaces that hold vectors."""
        return self._spaces

    def mask(self, keep: Filter, unit: Unit) -> Mask:
        """Which chunks or messages a filter keeps; index 0 is unused."""
        return self._masks(keep, unit)

    def neighbours(self, unit: Unit) -> tuple[Ids, Ids]:
        """For every chunk the one before and after it in its session, for every message in its chat."""
        if unit == "message":
            return self._columns.message_before, self._columns.message_after
        return self._columns.before, self._columns.after

    def membership(self) -> tuple[Ids, Ids]:
        """Parallel arrays (chunk, message), sorted by chunk."""
        return self._columns.member_chunk, self._columns.member_message

    def times(self) -> tuple[Ids, Ids]:
        """First and last time of every chunk, UTC ms; the least integer where it is unknown."""
        return self._columns.chunk_first, self._columns.chunk_last

    def authors(self) -> Sequence[tuple[str | None, str | None, int]]:
        """(name, id, code) of every author."""
        return self._columns.authors()

    def author_lemmas(self) -> frozenset[str]:
        """Every lemma of every word of an author's name; made at the first call."""
        return self._columns.author_lemmas

    def message_authors(self) -> NDArray[np.signedinteger]:
        """The author's code of every message."""
        return self._columns.message_author

    def asking(self) -> Mask:
        """Which messages end with a question mark; all texts are read at the first call."""
        return self._asking

    @cached_property
    def _asking(self) -> Mask:
        asks = np.zeros(self.size("message") + 1, np.bool_)
        with self._connection() as db:
            asks[[id_ for (id_,) in rows(db, _ASKING, (_CLOSING,))]] = True
        return asks

    def alone(self) -> Ids:
        """By chunk the message that it holds a window of and nothing else; 0 for any other chunk."""
        return self._columns.alone

    def share(self, messages: Mask) -> Scores:
        """How much of each chunk's text some messages hold, 0–1."""
        return self._columns.share(messages)

    # --- the lexical leg --------------------------------------------------------------------------------

    def text(
        self, terms: Sequence[Term], keep: Filter, unit: Unit, raw_weight: float = RAW_WEIGHT
    ) -> TextScores:
        """BM25 of the chunks or messages that match any term, filtered before they are counted."""
        return self._words.text(terms, self.mask(keep, unit), unit, raw_weight)

    def near(self, one: Term, other: Term) -> Ids:
        """The chunks in which two words stand within a few words of each other, in any order."""
        return self._words.near(one, other)

    def knows(self, word: str) -> bool:
        """Whether a word in the normal form stands in some chunk, in any inflection."""
        return self._words.knows(word)

    def vocabulary(self) -> Vocabulary:
        """The words and lemmas of all chunks; read at the first call."""
        return self._words.vocabulary

    # --- the vector leg ---------------------------------------------------------------------------------

    def cosines(self, space: int, vector: NDArray[np.float32], keep: Filter) -> tuple[Ids, Scores]:
        """The whole cosine array of a space over the kept chunks that it covers."""
        ids, matrix = self._matrices[space]
        kept = self.mask(keep, "chunk")[ids]
        if kept.all():
            return ids, matrix @ vector
        return ids[kept], matrix[kept] @ vector

    def oracle(self, space: int, vector: NDArray[np.float32], k: int, keep: Filter) -> tuple[Ids, Scores]:
        """The same by vec0, exact and slow: the k nearest kept chunks (k ≤ 4,096)."""
        ids = np.flatnonzero(self.mask(keep, "chunk"))
        with self._connection() as db:
            found = rows(
                db,
                f"SELECT rowid, distance FROM {sql.vec_table(space)} WHERE embedding MATCH vec_int8(?)"
                " AND k = ? AND rowid IN (SELECT value FROM json_each(?)) ORDER BY distance",
                (quantised(vector[None, :])[0].tobytes(), k, json.dumps(ids.tolist())),
            )
        return (
            np.array([hit[0] for hit in found], np.int64),
            np.array([1.0 - hit[1] for hit in found], np.float32),
        )

    # --- rows -------------------------------------------------------------------------------------------

    def chunks(self, ids: Sequence[int]) -> Mapping[int, StoredChunk]:
        """Chunks by id."""
        wanted = json.dumps([int(id_) for id_ in ids])
        with self._connection() as db:
            pieces: dict[int, list[StoredPiece]] = {}
            for chunk, *piece in rows(
                db,
                "SELECT chunk, message, start, end, message_start FROM chunk_message"
                " WHERE chunk IN (SELECT value FROM json_each(?)) ORDER BY chunk, start",
                (wanted,),
            ):
                pieces.setdefault(int(chunk), []).append(StoredPiece(*piece))
            found = rows(
                db,
                """SELECT k.id, k.chunk_id, c.chat_id, c.title, c.source, k.text, k.first_at
                   FROM chunk k JOIN chat c ON c.id = k.chat
                   WHERE k.id IN (SELECT value FROM json_each(?))""",
                (wanted,),
            )
        return {
            id_: StoredChunk(id_, chunk_id, chat_id, title, source, text, at, tuple(pieces.get(id_, ())))
            for id_, chunk_id, chat_id, title, source, text, at in found
        }

    def messages(self, ids: Sequence[int]) -> Mapping[int, StoredMessage]:
        """Messages by id."""
        with self._connection() as db:
            found = rows(
                db,
                """SELECT m.id, m.message_id, c.chat_id, c.title, m.source, m.role, m.author, m.at, m.text
                   FROM message m JOIN chat c ON c.id = m.chat
                   WHERE m.id IN (SELECT value FROM json_each(?))""",
                (json.dumps([int(id_) for id_ in ids]),),
            )
        return {values[0]: StoredMessage(*values) for values in found}

    def chunk_rows(self, chunk_ids: Sequence[str]) -> dict[str, int]:
        """Dense ids of chunks by their public ids; unknown ones are left out."""
        with self._connection() as db:
            found = rows(
                db,
                "SELECT chunk_id, id FROM chunk WHERE chunk_id IN (SELECT value FROM json_each(?))",
                (json.dumps(list(chunk_ids)),),
            )
        return dict(found)

    def message_rows(self, pairs: Sequence[tuple[str, str]]) -> list[int]:
        """Dense ids of messages by (chat id, message id); unknown ones are left out."""
        with self._connection() as db:
            found = rows(
                db,
                """SELECT m.id FROM json_each(?) j JOIN chat c ON c.chat_id = j.value ->> 0
                   JOIN message m ON m.chat = c.id AND m.message_id = j.value ->> 1""",
                (json.dumps(list(pairs), ensure_ascii=False),),
            )
        return [id_ for (id_,) in found]

    def messages_called(self, message_id: str) -> list[int]:
        """Dense ids of the messages of any chat that have this id."""
        with self._connection() as db:
            found = rows(db, "SELECT id FROM message WHERE message_id = ? ORDER BY id", (message_id,))
        return [id_ for (id_,) in found]


def _spaces(db: apsw.Connection) -> tuple[SpaceInfo, ...]:
    found = rows(
        db, "SELECT id, provider, model, dims, prefix_version, weight, vectors FROM space ORDER BY id"
    )
    return tuple(
        SpaceInfo(id_, Space(*identity), weight, vectors) for id_, *identity, weight, vectors in found
    )


def _matrix(db: apsw.Connection, info: SpaceInfo) -> tuple[Ids, NDArray[np.float32]]:
    ids = np.empty(info.vectors, np.int64)
    small = np.empty((info.vectors, info.space.dims), np.int8)
    found = db.execute(f"SELECT rowid, embedding FROM {sql.vec_table(info.id)}")
    for at, (rowid, blob) in enumerate(found):
        ids[at] = rowid
        small[at] = np.frombuffer(blob, np.int8)
    return ids, normalised(small)

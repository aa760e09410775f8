"""The SQLite engine: FTS5 for words, an in-memory mirror of the vectors, and columns for the filters.

The mirror is read from the vec0 tables, which stay the exact, portable oracle (`oracle`).
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping, Sequence
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
from indexer.stores.database import Pool, row, rows
from indexer.stores.quantised import normalised, quantised
from indexer.text.lemmas import lemmas
from indexer.text.vocabulary import Vocabulary
from schemas.records import ROLES, Filter, Space
from schemas.sql import vectors as sql

# FTS5's own constants for bm25().
_K1 = 1.2

# Without a filter the best rows are enough: 200 lose .003 against all, 100 lose .022.
_TEXT_ROWS = 1_000

# Entries of the lemma column between two near words: each word has two or three, stop words stand between.
_NEAR, _NEAR_FORMS = 8, 2

_VOCABULARIES = tuple(
    f"CREATE VIRTUAL TABLE temp.{table}_vocab USING fts5vocab('main', '{table}', 'col')"
    for table in ("chunk_fts", "message_fts")
)
# Read whole, by rows in two thirds of the time that it takes by columns.
_WORDS = "CREATE VIRTUAL TABLE IF NOT EXISTS temp.chunk_words USING fts5vocab('main', 'chunk_fts', 'row')"


class SqliteStore:
    """`chat_vectors.db` of one generation, opened read-only; safe to use from many threads."""

    def __init__(self, path: Path) -> None:
        self._pool = Pool(path, sql.VERSION, _VOCABULARIES)
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
        self._said_by = lru_cache(maxsize=len(ROLES))(self._columns.said_by)
        # SQLite walks all documents of a word to count them: once a generation is enough.
        self._frequency = lru_cache(maxsize=50_000)(self._documents)

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

    def said_by(self, role: str) -> Mask:
        """Which messages are of a role."""
        return self._said_by(role)

    def asking(self) -> Mask:
        """Which messages end with a question mark."""
        return self._columns.message_asks

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
        if not terms or not self.size(unit):
            return TextScores(np.empty(0, np.int64), np.empty(0, np.float32), 0.0)
        table = f"{unit}_fts"
        mask = self.mask(keep, unit)
        kept = int(mask.sum())
        # A filter that keeps most rows (the default roles do) leaves enough of four times as many.
        limit = 4 * _TEXT_ROWS if 2 * kept >= self.size(unit) else -1
        expression = " OR ".join(alternative for term in terms for alternative in _alternatives(term))
        with self._connection() as db:
            ids, scores = _matching(db, table, expression, raw_weight, limit)
            if len(ids) == limit and mask[ids].sum() < _TEXT_ROWS:  # the best ones were of what is left out
                ids, scores = _matching(db, table, expression, raw_weight, -1)
        upper_bound = sum(self._idf(unit, term) for term in terms) * (_K1 + 1)
        kept_rows = mask[ids]
        return TextScores(ids[kept_rows], scores[kept_rows], upper_bound)

    def _idf(self, unit: Unit, term: Term) -> float:
        column, alternatives = ("lemma", term.lemmas) if term.lemmas else ("raw", (term.raw,))
        known = max(min(self._frequency(unit, column, token) for token in tokens) for tokens in alternatives)
        # FTS5's idf, which it floors at 1e-6.
        return max(math.log((self.size(unit) - known + 0.5) / (known + 0.5)), 1e-6)

    def _documents(self, unit: Unit, column: str, token: str) -> int:
        statement = f"SELECT doc FROM temp.{unit}_fts_vocab WHERE term = ? AND col = ?"
        with self._connection() as db:
            found = row(db, statement, (token, column))
        return int(found[0]) if found else 0

    def near(self, one: Term, other: Term, unit: Unit) -> Ids:
        """The chunks or messages in which two words stand within a few words of each other, in any order."""
        left, right = (_single(term)[:_NEAR_FORMS] for term in (one, other))
        expression = " OR ".join(
            f"lemma : NEAR({_phrase((first,))} {_phrase((second,))}, {_NEAR})"
            for first in left
            for second in right
        )
        if not expression:
            return np.empty(0, np.int64)
        with self._connection() as db:
            found = rows(db, f"SELECT rowid FROM {unit}_fts WHERE {unit}_fts MATCH ?", (expression,))
        return np.array(found, np.int64).reshape(-1)

    def knows(self, word: str) -> bool:
        """Whether a word in the normal form stands in some chunk, in any inflection."""
        if self._frequency("chunk", "raw", word):
            return True
        # English stems are shared by misspelt words: kubernets and kubernetes.
        return not word.isascii() and any(self._frequency("chunk", "lemma", lemma) for lemma in lemmas(word))

    def vocabulary(self) -> Vocabulary:
        """The words and lemmas of all chunks; read at the first call."""
        return self._vocabulary

    @cached_property
    def _vocabulary(self) -> Vocabulary:
        with self._connection() as db:
            db.execute(_WORDS)
            return Vocabulary(term for (term,) in db.execute("SELECT term FROM temp.chunk_words"))

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


def _matching(
    db: apsw.Connection, table: str, expression: str, raw_weight: float, limit: int
) -> tuple[Ids, Scores]:
    found = rows(
        db,
        f"SELECT rowid, -bm25({table}, {float(raw_weight)!r}, 1.0) AS s FROM {table} WHERE {table} MATCH ?"
        " ORDER BY s DESC LIMIT ?",
        (expression, limit),
    )
    both = np.array(found, np.float64).reshape(-1, 2)
    return both[:, 0].astype(np.int64), both[:, 1].astype(np.float32)


def _alternatives(term: Term) -> Iterator[str]:
    yield f"raw : {_phrase(term.raw)}"
    for tokens in term.lemmas:
        if len(tokens) == 1:
            yield f"lemma : {_phrase(tokens)}"
        else:
            # In the lemma column each token is followed by its lemmas, so a compound's parts stand near.
            yield f"lemma : NEAR({' '.join(_phrase((token,)) for token in tokens)}, {3 * len(tokens)})"


def _single(term: Term) -> list[str]:
    """The lemmas of a term that is one word."""
    return [tokens[0] for tokens in term.lemmas if len(tokens) == 1]


def _phrase(tokens: Sequence[str]) -> str:
    # Tokens hold letters and digits alone; the quotes keep AND, OR, NOT and NEAR ordinary words.
    return '"' + " ".join(tokens) + '"'

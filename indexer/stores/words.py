"""The words of a generation: FTS5's BM25 over tokens and lemmas, how common a word is, and all of them."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property, lru_cache

import apsw
import numpy as np

from indexer.stores import RAW_WEIGHT, Ids, Mask, Scores, Term, TextScores, Unit
from indexer.stores.database import Pool, row, rows
from indexer.text.lemmas import lemmas
from indexer.text.vocabulary import Vocabulary

# FTS5's own constants for bm25().
_K1 = 1.2

# Without a filter the best rows are enough: 200 lose .003 against all, 100 lose .022.
_TEXT_ROWS = 1_000

# Entries of the lemma column between two near words: each word has two or three, stop words stand between.
_NEAR, _NEAR_FORMS = 8, 2

# Statements that every connection needs.
VOCABULARIES = tuple(
    f"CREATE VIRTUAL TABLE temp.{table}_vocab USING fts5vocab('main', '{table}', 'col')"
    for table in ("chunk_fts", "message_fts")
)
# Read whole, by rows in two thirds of the time that it takes by columns.
_WORDS = "CREATE VIRTUAL TABLE IF NOT EXISTS temp.chunk_words USING fts5vocab('main', 'chunk_fts', 'row')"


class Words:
    """The full text of one generation; safe to use from many threads.

    Args:
        pool: connections to it, made with VOCABULARIES.
        sizes: how many chunks and messages there are.
    """

    def __init__(self, pool: Pool, sizes: Mapping[Unit, int]) -> None:
        self._pool = pool
        self._sizes = sizes
        # SQLite walks all documents of a word to count them: once a generation is enough.
        self._frequency = lru_cache(maxsize=50_000)(self._documents)

    def text(
        self, terms: Sequence[Term], mask: Mask, unit: Unit, raw_weight: float = RAW_WEIGHT
    ) -> TextScores:
        """BM25 of the chunks or messages that match any term, filtered before they are counted.

        Args:
            terms: of the query.
            mask: which rows are searched; index 0 is unused.
            unit: chunk or message.
            raw_weight: of an exact form; its lemma counts 1.
        """
        if not terms or not self._sizes[unit]:
            return TextScores(np.empty(0, np.int64), np.empty(0, np.float32), 0.0)
        table = f"{unit}_fts"
        kept = int(mask.sum())
        # A filter that keeps most rows (the default roles do) leaves enough of four times as many.
        limit = 4 * _TEXT_ROWS if 2 * kept >= self._sizes[unit] else -1
        expression = " OR ".join(alternative for term in terms for alternative in _alternatives(term))
        with self._pool.connection() as db:
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
        return max(math.log((self._sizes[unit] - known + 0.5) / (known + 0.5)), 1e-6)

    def _documents(self, unit: Unit, column: str, token: str) -> int:
        statement = f"SELECT doc FROM temp.{unit}_fts_vocab WHERE term = ? AND col = ?"
        with self._pool.connection() as db:
            found = row(db, statement, (token, column))
        return int(found[0]) if found else 0

    def near(self, one: Term, other: Term) -> Ids:
        """The chunks in which two words stand within a few words of each other, in any order."""
        left, right = (_single(term)[:_NEAR_FORMS] for term in (one, other))
        expression = " OR ".join(
            f"lemma : NEAR({_phrase((first,))} {_phrase((second,))}, {_NEAR})"
            for first in left
            for second in right
        )
        if not expression:
            return np.empty(0, np.int64)
        with self._pool.connection() as db:
            found = rows(db, "SELECT rowid FROM chunk_fts WHERE chunk_fts MATCH ?", (expression,))
        return np.array(found, np.int64).reshape(-1)

    def knows(self, word: str) -> bool:
        """Whether a word in the normal form stands in some chunk, in any inflection."""
        if self._frequency("chunk", "raw", word):
            return True
        # English stems are shared by misspelt words: kubernets and kubernetes.
        return not word.isascii() and any(self._frequency("chunk", "lemma", lemma) for lemma in lemmas(word))

    @cached_property
    def vocabulary(self) -> Vocabulary:
        """The words and lemmas of all chunks; read at the first call."""
        with self._pool.connection() as db:
            db.execute(_WORDS)
            return Vocabulary(term for (term,) in db.execute("SELECT term FROM temp.chunk_words"))


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

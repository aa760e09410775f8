"""Rules that others rank by, over the same chunks, words and vectors: what our own must beat.

Each takes BM25 and cosines as dense arrays, NaN where a row is not in the list, and returns scores, NaN where
a row is not ranked at all. Rows of a filter's rest are NaN in both.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from indexer.stores import Term, Unit
from schemas.records import Filter
from service import ranking
from service.evaluation.asking import Question, Subject
from service.evaluation.results import Ranked
from service.ranking import Array, Ids

# Cormack, Clarke and Büttcher 2009.
RRF_K = 60

# OpenClaw's hybrid memory search, as its documentation gives it.
_COSINE, _WORDS, _LEAST = 0.7, 0.3, 0.35


@dataclass(frozen=True, slots=True)
class Lists:
    """What a rule is given: two lists over the rows of one unit.

    Attributes:
        raw: BM25 of the words as they stand.
        lemma: BM25 of their lemmas.
        cosines: of the best space; of a message those of its best chunk.
        giver: of each message the chunk that gave its cosine.
    """

    raw: Array
    lemma: Array
    cosines: Array
    giver: Ids


def rrf(bm25: Array, cosines: Array) -> Array:
    """Reciprocal rank fusion."""
    scores = np.zeros(len(bm25), np.float32)
    for leg in (bm25, cosines):
        order = best_first(leg)
        scores[order] += (1 / (RRF_K + 1 + np.arange(len(order)))).astype(np.float32)
    return np.where(np.isnan(bm25) & np.isnan(cosines), np.nan, scores)


def openclaw(bm25: Array, cosines: Array) -> Array:
    """.7·cosine + .3·r/(1 + r) with r = BM25, nothing under .35."""
    words = np.nan_to_num(bm25 / (1 + bm25))
    scores = (_COSINE * np.nan_to_num(cosines) + _WORDS * words).astype(np.float32)
    return np.where(scores >= _LEAST, scores, np.float32(np.nan))


def minmax(bm25: Array, cosines: Array) -> Array:
    """Half of each leg, each stretched from its least to its greatest; what a leg does not hold gets 0."""
    scores = 0.5 * _stretched(bm25) + 0.5 * _stretched(cosines)
    return np.where(np.isnan(bm25) & np.isnan(cosines), np.nan, scores).astype(np.float32)


def _stretched(leg: Array) -> Array:
    held = leg[~np.isnan(leg)]
    if not len(held):
        return np.zeros_like(leg)
    least, greatest = held.min(), held.max()
    if least == greatest:
        return np.where(np.isnan(leg), 0, 1).astype(np.float32)
    return np.where(np.isnan(leg), 0, (leg - least) / (greatest - least)).astype(np.float32)


RULES: dict[str, Callable[[Lists], Array]] = {
    "bm25 raw": lambda lists: lists.raw,
    "bm25 lemma": lambda lists: lists.lemma,
    "cosine": lambda lists: lists.cosines,
    "rrf60": lambda lists: rrf(lists.lemma, lists.cosines),
    "openclaw": lambda lists: openclaw(lists.lemma, lists.cosines),
    "min-max": lambda lists: minmax(lists.lemma, lists.cosines),
}


def best_first(scores: Array) -> Ids:
    """Rows that have a score, best first; equal ones in the order of the talk."""
    rows = np.flatnonzero(~np.isnan(scores))
    return rows[np.argsort(-scores[rows], kind="stable")]


def lists(subject: Subject, question: Question, unit: Unit) -> Lists:
    """The two legs of a question, straight from the store."""
    asked = subject.asked(question, unit)
    store = subject.generation.store
    size = store.size("chunk") + 1
    cosines = np.full(size, np.nan, np.float32)
    if asked.vectors:
        best = asked.vectors[0]
        ids, values = store.cosines(best.info.id, best.vector, asked.keep)
        cosines[ids] = values
    giver = np.arange(size)
    if unit == "message":
        cosines, giver = _by_message(subject, cosines, asked.keep)
    raw = [replace(term, lemmas=()) for term in asked.terms]
    return Lists(
        _bm25(subject, raw, asked.keep, unit, 1.0),
        _bm25(subject, asked.terms, asked.keep, unit, 0.0),
        cosines,
        giver,
    )


def _bm25(subject: Subject, terms: Sequence[Term], keep: Filter, unit: Unit, raw_weight: float) -> Array:
    store = subject.generation.store
    scores = np.full(store.size(unit) + 1, np.nan, np.float32)
    found = store.text(terms, keep, unit, raw_weight)
    scores[found.ids] = np.maximum(found.bm25, 0)
    return scores


def _by_message(subject: Subject, cosines: Array, keep: Filter) -> tuple[Array, Ids]:
    store = subject.generation.store
    size = store.size("message") + 1
    best, giver = ranking.by_message(np.nan_to_num(cosines), *store.membership(), size)
    return np.where((giver > 0) & store.mask(keep, "message"), best, np.float32(np.nan)), giver


def ranked(subject: Subject, scores: Array, giver: Ids, unit: Unit, depth: int) -> Ranked:
    """The first rows by score, as results."""
    rows = best_first(scores)[:depth].tolist()
    results = (
        subject.reader.messages(rows, giver) if unit == "message" else subject.reader.results(rows, unit)
    )
    return Ranked(results, float(scores[rows[0]]) if rows else 0.0)

"""The ranking: pure functions over dense arrays (index 0 unused), as docs/architecture.md derives them.

L = bm25 / max(bm25_max, .5·UB), D = clip((cos − lo) / (cos_max − lo), 0), lo the 25th percentile of the
query's own cosines: no constant of any corpus or model. Score = (1 − w)·L + w·D, then neighbours, date,
author and entities add to it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from indexer.stores import RAW_WEIGHT

Array = NDArray[np.float32]
Ids = NDArray[np.int64]

# A word that stands in every chunk has no weight in BM25, yet a chunk that holds it is no miss.
MATCH = 0.001

# With fewer searched chunks than this the percentile is taken over the whole space.
FLOOR_SAMPLE = 40

# How far under the least cosine of so few chunks the floor then lies, as a share of their range.
FEW_MARGIN = 0.05


# Legs that say what a chunk is about, and not whose or when it is.
_TOPICAL = ("text", "vector", "neighbours")


@dataclass(frozen=True, slots=True)
class Weights:
    """What each part of the ranking counts; `letopis eval search --ablate` measures them one by one.

    Attributes:
        smoothing: share of the better neighbour's score that a chunk gets besides its own.
        date: for a chunk of a time that the query names.
        author: for a message of someone whom the query names.
        author_share: the same for a chunk, by the share of its text that is theirs.
        entity: for a chunk that mentions every name of the query.
        message_text: the message's own words, beside its chunk's, in message ranking.
        phrase: for words that stand side by side in the query and near each other in a chunk.
        answer: the words of the question just before a message, in message ranking.
        question: share of its score that a message loses which itself asks, where the query asks.
        speaker: share of its score that is lost by what the wrong side says: the assistant, unless the query
            asks for the assistant's words, and then everyone else.
        recency: for the newest of equal evidence, or the oldest, where the query asks for it.
        joining: share of what a hit's words and meaning give, from which on the next window of its message is
            shown with it; above 1 none is.
        raw: an exact form on top of its lemma, as a weight of FTS5's column.
        upper_bound: a perfect lexical hit is not assumed below this share of the query's upper bound.
        floor: percentile of the query's own cosines that counts as no evidence, 0–100.
    """

    smoothing: float = 0.2
    date: float = 0.1
    author: float = 0.1
    author_share: float = 0.2
    entity: float = 0.05
    message_text: float = 0.2
    phrase: float = 0.2
    answer: float = 0.2
    question: float = 0.15
    speaker: float = 0.15
    recency: float = 0.1
    joining: float = 0.3
    raw: float = RAW_WEIGHT
    # One common word out of six is weak evidence, even where nothing better stands in the index. Against .3
    # recall@10 rises from .836 to .851 on ru_chat and stays on LoCoMo (.841, .843).
    upper_bound: float = 0.5
    floor: float = 25.0


WEIGHTS = Weights()


@dataclass(slots=True)
class Evidence:
    """Weighted contributions by leg, each a dense array over chunks or messages; their sum is the raw score.

    Attributes:
        legs: contribution by name: vector, text, entities, neighbours, date, author, message_text, phrase,
            answer, recency; question and speaker take away.
        maximum: the greatest sum that the query could reach; scores and contributions are divided by it.
    """

    legs: dict[str, Array] = field(default_factory=dict)
    maximum: float = 1.0

    def summed(self) -> Array:
        """The raw scores."""
        scores: Array = np.sum(list(self.legs.values()), axis=0, dtype=np.float32)
        return scores

    def total(self) -> Array:
        """Scores from 0 to 1."""
        return self.summed() / np.float32(self.maximum)

    def topical(self, at: int) -> float:
        """What a row's words and meaning give, and those of its neighbours, without what the query names."""
        legs = [self.legs[leg] for leg in _TOPICAL if leg in self.legs] or list(self.legs.values())
        return sum(float(leg[at]) for leg in legs) / self.maximum

    def add(self, leg: str, scores: Array, most: float) -> None:
        """A further leg, and the most that it can give."""
        self.legs[leg] = scores
        self.maximum += most

    def discount(self, leg: str, rows: NDArray[np.bool_], share: float) -> None:
        """Take a share of their sum from some rows, as a leg of its own."""
        self.legs[leg] = np.where(rows, np.float32(-share) * self.summed(), np.float32(0)).astype(np.float32)

    def share(self, leg: str, at: int) -> float:
        """One leg's part of one score."""
        return float(self.legs[leg][at]) / self.maximum if leg in self.legs else 0.0


def lexical(
    ids: Ids, bm25: Array, upper_bound: float, size: int, share: float = WEIGHTS.upper_bound
) -> Array:
    """L of every chunk or message, 0–1.

    Args:
        ids: those that match.
        bm25: their positive BM25.
        upper_bound: Σ idf·(k1 + 1) over the query's terms, unseen ones included.
        size: length of the result, ids from 1 to size − 1.
        share: of the upper bound that a perfect hit has at least.
    """
    scores = np.zeros(size, np.float32)
    if len(ids):
        positive = np.maximum(bm25, 0)
        best = max(float(positive.max()), share * upper_bound)
        scores[ids] = MATCH + (1 - MATCH) * (positive / best if best > 0 else np.zeros_like(positive))
    return scores


@dataclass(frozen=True, slots=True)
class SpaceScores:
    """Cosines of one space: searched chunks, and all chunks of the space for the floor of small searches.

    Attributes:
        floor: whether it is the bundled model's, which an imported English-only space may stand behind.
    """

    ids: Ids
    cosines: Array
    every: Array
    weight: float
    floor: bool = False


def dense(
    spaces: Sequence[SpaceScores], size: int, percentile: float = WEIGHTS.floor
) -> tuple[Array, Array, NDArray[np.int8]]:
    """D of every chunk, each in the first space that covers it.

    Args:
        spaces: better ones first; the last one is the floor where none says that it is.
        size: length of the results.
        percentile: of a space's cosines that counts as no evidence.

    Returns:
        D (0–1), the vector weight of each chunk, and the index of the space it was scored in (−1: none).
        Where a better space covers only part of the chunks, its D is multiplied by the floor's maximum over
        those, so that 30 % coverage is not worse than the floor alone (own maxima: any@10 .907 against .914).
    """
    scores, weights = np.zeros(size, np.float32), np.zeros(size, np.float32)
    used = np.full(size, -1, np.int8)
    own = [_dense(space, size, percentile) for space in spaces]
    held = np.zeros(size, np.bool_)
    for space in spaces:
        held[space.ids] = True
    searched = int(held.sum())
    floor = next((at for at, space in enumerate(spaces) if space.floor), len(spaces) - 1)
    for at, space in enumerate(spaces):
        free = space.ids[used[space.ids] < 0]
        scale = 1.0
        if at != floor and len(free) and len(space.ids) < searched:
            floored = np.zeros(size, np.bool_)
            floored[spaces[floor].ids] = True
            both = space.ids[floored[space.ids]]
            # A floor that shares no chunk with this space can't say how good its best ones are.
            scale = float(own[floor][both].max()) if len(both) else 1.0
        scores[free] = own[at][free] * np.float32(scale)
        weights[free] = space.weight
        used[free] = at
    return scores, weights, used


def _dense(space: SpaceScores, size: int, percentile: float) -> Array:
    scores = np.zeros(size, np.float32)
    if not len(space.ids):
        return scores
    few = len(space.cosines) < FLOOR_SAMPLE
    sample = space.every if few else space.cosines
    low = float(np.percentile(sample, percentile))
    high = max(float(space.cosines.max()), float(np.percentile(sample, 95)))
    if few:
        # A rare chat fills the list if it can: the least of its few chunks is still above the floor.
        least = float(space.cosines.min())
        low = min(low, least - FEW_MARGIN * (high - least) - 1e-6)
    scores[space.ids] = np.clip((space.cosines - low) / (high - low), 0, 1) if high > low else 1.0
    return scores


def smoothed(scores: Array, before: Ids, after: Ids, share: float = WEIGHTS.smoothing) -> Array:
    """What the neighbours in the session add: a share of the better one, where a chunk has evidence."""
    near = np.maximum(scores[before], scores[after])
    return np.where(scores > 0, np.float32(share) * near, np.float32(0)).astype(np.float32)


def answering(own: Array, before: Ids, asking: NDArray[np.bool_]) -> Array:
    """How well the question just before each message fits, 0–1: an answer seldom repeats its words.

    Args:
        own: L of every message.
        before: by message, the one before it.
        asking: which messages end with a question mark.
    """
    return np.where(asking[before], own[before], np.float32(0))


def together(rows: Sequence[Ids], pairs: int, size: int) -> Array:
    """Share of the query's neighbouring words that stand near each other there, 0–1.

    Args:
        rows: by pair of neighbouring words, the chunks or messages that hold them so.
        pairs: of neighbouring words in the query.
        size: length of the result.
    """
    scores = np.zeros(size, np.float32)
    for found in rows:
        scores[found] += np.float32(1 / pairs)
    return np.minimum(scores, 1)


def by_message(scores: Array, chunks: Ids, messages: Ids, size: int) -> tuple[Array, Ids]:
    """A message takes the best of its chunks.

    Args:
        scores: by chunk.
        chunks: parallel to messages: which chunk holds which message.
        messages: see chunks.
        size: length of the results.

    Returns:
        The best score of each message, and the chunk that gave it (0: none).
    """
    best = np.zeros(size, np.float32)
    np.maximum.at(best, messages, scores[chunks])
    giver = np.zeros(size, np.int64)
    gives = (scores[chunks] >= best[messages]) & (best[messages] > 0)
    giver[messages[gives][::-1]] = chunks[gives][::-1]
    return best, giver

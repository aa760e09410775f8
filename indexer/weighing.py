"""How much a space's cosines are worth here, measured at build time by self-retrieval.

One half of a message must be nearer to the other than to the halves of other messages. A good model gets half
of the score; random vectors get nothing, so that a weak space can't drag the words down (with a fixed .5
random vectors take the evidence recall from .80 to .58).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from indexer.embedders import Embedder

# Raise with any change of the measure: weights are then measured anew.
VERSION = 2

SAMPLE = 48
MIN_CHARACTERS = 120

# Fewer halves than this measure nothing.
MIN_SAMPLE = 12

# The weight of a space that finds every half; both legs then count alike.
FULL = 0.5

# Without a sample (a tiny archive) a model that is known to be good is trusted.
UNMEASURED = 0.5

# Self-retrieval (area under the curve) at which a space counts as worthless, and from which as good. Random
# vectors get .5 ± .04 on 48 pairs; e5 gets .73 on short chat messages, whose halves are often about two
# things.
_WORTHLESS = 0.55
_GOOD = 0.70


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
    """Chance that a message's second half is nearer to its first half than another message's second half is.

    Returns:
        0–1, the area under the ROC curve; .5 for vectors that mean nothing.

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
    cosines = queries @ documents.T
    own = np.diag(cosines)[:, None]
    return 1.0 - float((cosines > own).sum(axis=1).mean()) / (len(pairs) - 1)


def weight_of(area: float) -> float:
    """The vector leg's weight: 0 up to `_WORTHLESS`, FULL from `_GOOD` on."""
    return FULL * min(1.0, max(0.0, (area - _WORTHLESS) / (_GOOD - _WORTHLESS)))

"""A deterministic embedder without a model: hashed words and character trigrams.

It ships with the product so that tests, and a first look without any model, need no mock. Texts that share
words are near; it knows nothing of meaning.
"""

from __future__ import annotations

import zlib
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from indexer.text.normal import tokens
from schemas.records import Space

from .validation import validated

if TYPE_CHECKING:
    from schemas.settings import Settings

DIMS = 64

# Trigrams blur inflections together, whole words tell texts apart; the word counts for more.
_WORD_WEIGHT = 2.0


def features(text: str, dims: int = DIMS) -> NDArray[np.float32]:
    """Signed feature hashing of words and their trigrams.

    Returns:
        Shape (dims,), not normalised; never zero, also for a text without a word.
    """
    vector = np.zeros(dims, dtype=np.float32)
    for word in tokens(text):
        _add(vector, word, _WORD_WEIGHT)
        padded = f"^{word}$"
        for start in range(len(padded) - 2):
            _add(vector, padded[start : start + 3], 1.0)
    if not vector.any():
        _add(vector, "\x00" + text.encode("utf-8", "replace").decode("utf-8"), 1.0)
    return vector


def _add(vector: NDArray[np.float32], feature: str, weight: float) -> None:
    # crc32, not hash(): the latter differs from one process to the next.
    code = zlib.crc32(feature.encode("utf-8", "replace"))
    vector[code % len(vector)] += weight if code & 0x8000_0000 else -weight


class HashEmbedder:
    """Space `hash/hash/64/1`; instant, offline, safe from any thread."""

    workers = 1
    paid = False
    max_batch = 100
    english_only = False

    @property
    def identity(self) -> Space:
        """The space of its vectors."""
        return Space("hash", "hash", DIMS, 1)

    def recognises(self, space: Space) -> bool:
        """Whether a space is this one."""
        return space == self.identity

    def warm(self) -> None:
        """Nothing to load."""

    def documents(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Vectors of documents, shape (len(texts), 64), unit rows."""
        return validated([features(text).tolist() for text in texts], len(texts), DIMS, "hash")

    def query(self, text: str) -> NDArray[np.float32]:
        """The vector of a query, shape (64,), norm 1."""
        vector: NDArray[np.float32] = self.documents([text])[0]
        return vector

    def close(self) -> None:
        """Nothing to close."""


def embedder(settings: Settings, environment: Mapping[str, str]) -> HashEmbedder:
    """The hash embedder; it has no settings."""
    return HashEmbedder()


def unavailable(settings: Settings, environment: Mapping[str, str]) -> str | None:
    """Always None: it needs nothing."""
    return None

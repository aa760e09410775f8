"""Known words near a misspelt one, and text that was typed in the other keyboard layout."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

# Longer words are ids and hashes: a slip in one of them is another id.
_SHORTEST, _LONGEST = 4, 24

_LATIN = "`qwertyuiop[]asdfghjkl;'zxcvbnm,."
_CYRILLIC = "ёйцукенгшщзхъфывапролджэячсмитьбю"
_OTHER_KEY = str.maketrans(_LATIN + _CYRILLIC, _CYRILLIC + _LATIN)

_ALL = 0x0001_0001_0001_0001

Letters = NDArray[np.uint16]
Numbers = NDArray[np.int64]


def tolerance(word: str) -> int:
    """Slips that a word is forgiven: none below 4 letters, one below 8, else two."""
    if not _SHORTEST <= len(word) <= _LONGEST or not word.isalpha():
        return 0
    return 1 if len(word) < 8 else 2


def swapped(text: str) -> str:
    """The text as the same keys give it in the other layout: ghbdtn becomes привет, and the other way."""
    return text.casefold().translate(_OTHER_KEY)


class Spelling:
    """Words to compare a misspelt one with; all of them are looked at, so that none is missed.

    By the letters that they hold most are ruled out at once: 50,000 words take about a millisecond, without
    the postings that a trigram index would have to read for every common beginning.

    Args:
        words: in the normal form; only those of 4 to 24 letters are kept.
    """

    def __init__(self, words: Iterable[str]) -> None:
        kept = sorted({word for word in words if tolerance(word) and max(word) <= "\uffff"}, key=len)
        self._letters = _matrix(kept)
        self._lengths = np.count_nonzero(self._letters, axis=1)
        self._held = _held(self._letters)

    def __len__(self) -> int:
        return len(self._lengths)

    def near(self, word: str, edits: int) -> list[tuple[int, str]]:
        """The words that are at most some slips away.

        Args:
            word: in the normal form.
            edits: letters left out, put in, exchanged, or swapped with the next one (the restricted
                Damerau-Levenshtein distance).

        Returns:
            (distance, word), nearest first; none where the word itself is too short, too long, or holds more
            than letters.
        """
        if not tolerance(word) or max(word) > "\uffff":
            return []
        asked = _matrix([word])
        first, last = np.searchsorted(self._lengths, (len(word) - edits, len(word) + edits + 1))
        # A slip takes at most one letter away and brings at most one in.
        rows = first + np.flatnonzero(_bits(self._held[first:last] ^ _held(asked)) <= 2 * edits)
        distances = _distances(asked[0, : len(word)], self._letters[rows], self._lengths[rows], edits)
        near = np.flatnonzero(distances <= edits)
        return sorted((int(distances[at]), self._word(int(rows[at]))) for at in near)

    def _word(self, row: int) -> str:
        return "".join(map(chr, self._letters[row, : self._lengths[row]]))


def _matrix(words: list[str]) -> Letters:
    points = np.array(words, dtype=f"U{_LONGEST}").view(np.uint32)
    return points.reshape(len(words), _LONGEST).astype(np.uint16)


def _held(letters: Letters) -> NDArray[np.uint64]:
    """Which letters each word holds, 64 bits; column by column, so that a million words need no gigabyte."""
    held = np.zeros(len(letters), np.uint64)
    for column in letters.T:
        held |= np.where(column > 0, np.uint64(1) << (column % 64).astype(np.uint64), np.uint64(0))
    return held


def _bits(numbers: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """How many bits are set in each number: added up in pairs, fours and eights side by side."""
    pairs, fours, eights = (np.uint64(mask) for mask in (0x5555 * _ALL, 0x3333 * _ALL, 0x0F0F * _ALL))
    one, two, four, top = (np.uint64(shift) for shift in (1, 2, 4, 56))
    counts = numbers - ((numbers >> one) & pairs)
    counts = (counts & fours) + ((counts >> two) & fours)
    counts = (counts + (counts >> four)) & eights
    added: NDArray[np.uint64] = (counts * np.uint64(0x0101 * _ALL)) >> top
    return added


def _distances(asked: Letters, letters: Letters, lengths: Numbers, edits: int) -> Numbers:
    """The distance of one word to each of many, exact up to `edits`: the table of one word, in columns."""
    size, width, many = len(asked), len(asked) + edits, len(lengths)
    far = np.full(many, edits + 1, np.int64)
    table = [[far] * (width + 1) for _ in range(size + 1)]
    table[0] = [np.full(many, at, np.int64) for at in range(width + 1)]
    for i in range(1, size + 1):
        table[i][0] = np.full(many, i, np.int64)
        for j in range(max(1, i - edits), min(width, i + edits) + 1):  # beyond, the distance is greater
            differs = letters[:, j - 1] != asked[i - 1] if j <= _LONGEST else np.ones(many, np.bool_)
            best = np.minimum(table[i - 1][j], table[i][j - 1]) + 1
            best = np.minimum(best, table[i - 1][j - 1] + differs)
            if i > 1 and 1 < j <= _LONGEST:
                turned = (letters[:, j - 1] == asked[i - 2]) & (letters[:, j - 2] == asked[i - 1])
                best = np.where(turned, np.minimum(best, table[i - 2][j - 2] + 1), best)
            table[i][j] = best
    return np.stack(table[size])[lengths, np.arange(many)] if many else far

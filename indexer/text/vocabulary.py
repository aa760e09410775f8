"""The words of an index, to be walked letter by letter and compared with misspelt ones."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable
from functools import cached_property, lru_cache

import numpy as np

from indexer.text.spelling import Spelling

# A byte a letter, Russian and Latin: what cp1251 can't hold is no word that is repaired.
_ENCODING = "cp1251"
_SHORTEST, _LONGEST = 2, 24

# Rows that share their first letters: the first one, the one after the last, and how many letters.
Place = tuple[int, int, int]


class Vocabulary:
    """Words in the normal form, sorted: 24 bytes each, and 64 more once misspelt words are compared.

    Args:
        words: any; those that hold more than letters, and those of more than 24, are left out.

    Attributes:
        root: where every walk begins.
        near: words near a misspelt one, nearest first, by word and slips; see `Spelling.near`.
    """

    def __init__(self, words: Iterable[str]) -> None:
        kept = {code for word in words if (code := _code(word)) is not None}
        self._words = np.array(sorted(kept), dtype=f"S{_LONGEST}")
        letters = self._words.view(np.uint8).reshape(len(kept), _LONGEST)
        self._columns = [letters[:, at] for at in range(_LONGEST)]
        self.root: Place = (0, len(kept), 0)
        self.near = lru_cache(maxsize=4_096)(self._near)

    def __len__(self) -> int:
        return len(self._words)

    def holds(self, word: str) -> bool:
        """Whether a word in the normal form is one of them."""
        code = _code(word)
        at = np.searchsorted(self._words, code) if code is not None else len(self)
        return bool(at < len(self) and self._words[at] == code)

    @cached_property
    def spelling(self) -> Spelling:
        """The same words, to compare a misspelt one with; made when it is first asked for."""
        return Spelling(word.decode(_ENCODING) for word in self._words.tolist())

    def step(self, place: Place, letter: str) -> Place | None:
        """Where the words stand that go on with a letter; None where there are none."""
        first, last, depth = place
        code = letter.encode(_ENCODING, "replace")[0]
        if depth == _LONGEST:
            return None
        column = self._columns[depth]
        start = bisect_left(column, code, first, last)
        if start == last or column[start] != code:
            return None
        return start, bisect_left(column, code + 1, start, last), depth + 1

    def ends(self, place: Place) -> bool:
        """Whether the letters so far are a word."""
        first, _, depth = place
        return depth == _LONGEST or not self._columns[depth][first]

    def _near(self, word: str, edits: int) -> list[tuple[int, str]]:
        return self.spelling.near(word, edits)


def _code(word: str) -> bytes | None:
    if not _SHORTEST <= len(word) <= _LONGEST or not word.isalpha():
        return None
    try:
        return word.encode(_ENCODING)
    except UnicodeEncodeError:
        return None

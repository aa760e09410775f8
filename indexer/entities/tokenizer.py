"""razdel's tokens in spaCy's tokeniser slot, each stretch between blanks tokenised once and remembered."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from spacy.tokens import Doc
    from spacy.vocab import Vocab

_STRETCH = re.compile(r"\S+")
# razdel looks past a blank only from a sign that may join words or numbers: слово -то, 5. 6
_JOINING = frozenset("-‑–—−―‐‒⁃_.,/\\")
_MEMORY = 50_000
# Words are remembered, pasted base64 is not.
_LONGEST = 40


class RazdelTokenizer:
    """spaCy's tokeniser slot filled by razdel: slovnet was trained on its tokens, and Ростов-на-Дону is one.

    Most stretches between blanks are words that were seen before, so their tokens come from memory; where
    razdel would look beyond a blank, the stretches around it are given to razdel together.

    Args:
        vocab: the pipeline's vocabulary.
    """

    def __init__(self, vocab: Vocab) -> None:
        from razdel import tokenize  # type: ignore[import-untyped]

        self.vocab = vocab
        self._tokenize: Callable[[str], Iterable[Any]] = tokenize
        self._remembered = lru_cache(maxsize=_MEMORY)(self._tokens)

    def __call__(self, text: str) -> Doc:
        """A Doc whose tokens cover the text exactly; white space beyond one blank is a token of its own."""
        from spacy.tokens import Doc

        words: list[str] = []
        spaces: list[bool] = []
        at = 0
        for start, end in _stretches(text):
            if start > at:
                self._gap(text[at:start], words, spaces)
            piece = text[start:end]
            if end - start <= _LONGEST:
                tokens = self._remembered(piece)
                words += tokens
                spaces += [False] * len(tokens)
            else:
                self._long(piece, words, spaces)
            at = end
        self._gap(text[at:], words, spaces)
        return Doc(self.vocab, words=words, spaces=spaces)

    def _tokens(self, piece: str) -> tuple[str, ...]:
        """The tokens of a piece; its white space comes as tokens too."""
        words: list[str] = []
        at = 0
        for token in self._tokenize(piece):
            words += [piece[at : token.start], token.text] if token.start > at else [token.text]
            at = token.stop
        return tuple(words)

    def _long(self, piece: str, words: list[str], spaces: list[bool]) -> None:
        at = 0
        for token in self._tokenize(piece):
            self._gap(piece[at : token.start], words, spaces)
            words.append(token.text)
            spaces.append(False)
            at = token.stop

    @staticmethod
    def _gap(gap: str, words: list[str], spaces: list[bool]) -> None:
        if gap.startswith(" ") and words and not spaces[-1]:
            spaces[-1] = True
            gap = gap[1:]
        if gap:
            words.append(gap)
            spaces.append(False)


def _stretches(text: str) -> Iterator[tuple[int, int]]:
    """Borders of the stretches that razdel may be given one by one."""
    start = end = -1
    joined = False
    for match in _STRETCH.finditer(text):
        first, last = match.span()
        if end >= 0 and not joined and text[first] not in _JOINING:
            yield start, end
            start = first
        elif end < 0:
            start = first
        end = last
        joined = _joins(text, last)
    if end >= 0:
        yield start, end


def _joins(text: str, end: int) -> bool:
    """Whether razdel may join the last sign before a blank to what follows."""
    sign = text[end - 1]
    if sign in ".,":
        return end > 1 and text[end - 2].isdigit()
    return sign in _JOINING

"""Words in small letters that may be names; whether they are, the archive as a whole decides."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache, lru_cache
from importlib.resources import files

from indexer.entities.gazetteer import known
from indexer.entities.naming import readable
from indexer.entities.patterns import Span
from indexer.entities.truecase import reading
from indexer.text.aliases import stop_words
from indexer.text.lemmas import analyser, lemmas
from indexer.text.normal import normal

TYPE = "MAYBE"
# Most candidates of one message; what has more is a log or another language.
MOST = 40
# Share of name parses, and of first names, from which a word of the dictionary may be a name.
SHARE, GIVEN = 0.4, 0.15

_WORD = re.compile(
    r"(?<![\w/.@#$:=\\-])(?:[а-яё]{3,24}(?:-[а-яё]{1,16}){0,2}|[a-z][a-z0-9]{2,23})(?![\w/@=(-]|[.:]\w)"
)
# аааа, ахахах, ололо: no name repeats itself so.
_NOISE = re.compile(r"(.)\1\1|(..)\2\2|^(?:[ахъ]+|[хеи]+|[лo]+|[эм]+|[уфх]+)$")


@cache
def _stems() -> frozenset[str]:
    lines = files("indexer.entities").joinpath("data", "english_stems.txt").read_text("utf-8").splitlines()
    return frozenset(stem for line in lines if not line.startswith("#") for stem in line.split())


@lru_cache(maxsize=30_000)
def _readable(word: str) -> str | None:
    """The name that a word in small letters may be, or None."""
    if normal(word) in stop_words() or known(word) is not None or _NOISE.search(word):
        return None
    title = "-".join(part[:1].upper() + part[1:] for part in word.split("-"))
    if word.isascii():
        return None if lemmas(word)[0] in _stems() else title
    read = reading(word)
    likely = read.share >= SHARE or read.given >= GIVEN
    if (read.ordinary or not likely) if read.known else not _noun(word):
        return None
    return readable(title, "PER" if read.person > read.place else "LOC")


def _noun(word: str) -> bool:
    """Whether an unknown word can be a noun and is not merely put together (июнь-август)."""
    tag = analyser().parse(word)[0].tag
    joined = "-" in word and all(map(analyser().word_is_known, word.split("-")))
    return (tag.POS in ("NOUN", None) or "UNKN" in tag) and not joined


def candidates(text: str) -> Iterator[tuple[Span, str]]:
    """Candidates of a text with their readable names, from left to right, any number of them.

    Args:
        text: a message as it was written.
    """
    for match in _WORD.finditer(text):
        name = _readable(match.group())
        if name is not None:
            yield Span(match.start(), match.end(), TYPE), name

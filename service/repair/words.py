"""What a repair is, which words need one, and which must not get one."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import islice

from indexer.stores import Store
from indexer.text.aliases import expansions, stop_words
from indexer.text.lemmas import analyser, lemmas
from indexer.text.normal import normal

# As many as the lexical leg asks for; a pasted page is no question.
MAX_WORDS = 32

# A word that only English has says more than a reading, which may be chance: with 1, 8 of 1,641 English
# questions were taken for Russian in Latin letters, with 2 none.
ENGLISH_WEIGHT = 2

RUSSIAN = re.compile("[а-я]+")
LATIN = re.compile("[a-z]+")

PART = re.compile(r"\S+")
# With combining marks, as й may stand decomposed, and apostrophes, which are soft signs in Latin letters.
_WORD = re.compile(r"(?:[^\W\d_][\u0300-\u036f]*)+(?:['’](?:[^\W\d_][\u0300-\u036f]*)+)*['’]*")
_CODE = re.compile(r"[\d_/\\@=<>{}$#&|~^*+]|[^\W_][.:][^\W_]")
_INNER_CAPITAL = re.compile(r"[a-zа-яё][A-ZА-ЯЁ]")
_AROUND = ',.;:!?()"«»…—–-'

Span = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Repair:
    """A query, repaired.

    Attributes:
        text: what is embedded and searched for.
        also: by word of `text`, in the normal form: further words that it may have been meant for.
        changes: as typed → as read; empty where nothing was repaired.
    """

    text: str
    also: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    changes: Mapping[str, str] = field(default_factory=dict)


def is_known(token: str, store: Store) -> bool:
    """Whether a token in the normal form is left alone: a known word, or what is no word at all."""
    if not token.isalpha() or token in stop_words() or expansions(token) or store.knows(token):
        return True
    if RUSSIAN.fullmatch(token):
        return bool(analyser().word_is_known(token))
    # The lexical leg finds a Latin word by its stem already.
    return not LATIN.fullmatch(token) or store.vocabulary().holds(lemmas(token)[0])


def _parts(query: str) -> Iterator[re.Match[str]]:
    """What stands between the blanks of a query, without ids, paths, addresses and names of programs."""
    for part in islice(PART.finditer(query), MAX_WORDS):
        bare = part[0].strip(_AROUND)
        if not _CODE.search(bare) and not _INNER_CAPITAL.search(bare):
            yield part


def words(query: str) -> Iterator[tuple[Span, str]]:
    """(place in the query, normal form) of the first words in its parts."""
    return islice(_words(query), MAX_WORDS)


def _words(query: str) -> Iterator[tuple[Span, str]]:
    for part in _parts(query):
        whole = normal(part[0].strip(_AROUND))
        if "-" in whole and analyser().word_is_known(whole):
            continue  # the first half of северо-запад is no word
        for match in _WORD.finditer(part[0]):
            start = part.start() + match.start()
            yield (start, start + len(match[0])), normal(match[0]).replace("’", "'")


def replaced(query: str, meant: Mapping[Span, str]) -> str:
    """The query with other words in some places."""
    written, end = [], 0
    for (start, stop), text in sorted(meant.items()):
        written += [query[end:start], text]
        end = stop
    return "".join([*written, query[end:]])


def typed(query: str, meant: Mapping[Span, str]) -> dict[str, str]:
    """The changes: as typed → as read."""
    return {query[start:end]: text for (start, end), text in meant.items()}

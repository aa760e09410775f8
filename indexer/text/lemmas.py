"""Lemmas of one token: every distinct pymorphy3 normal form, Snowball English for Latin words.

All parses on both sides, not the likeliest one: over inflected forms exact match finds .20 of the documents,
Snowball .83, all pymorphy3 lemmas .99.
"""

from __future__ import annotations

import re
from functools import cache, lru_cache
from typing import Any

from indexer.text.aliases import expansions
from indexer.text.normal import normal, tokens

_CYRILLIC = re.compile("^[а-я]+$")
# Distinct words of a batch of messages; a word with its parses takes about 2 kB.
_RECENT = 10_000
_LATIN = re.compile("^[a-z]+$")


@cache
def analyser() -> Any:
    """The pymorphy3 analyser of this process; loaded on first use.

    The parses of recent words are remembered: an unknown word is asked about five times over, a third of a
    millisecond each time. The lists are shared and are not to be changed.
    """
    import pymorphy3

    made = pymorphy3.MorphAnalyzer(lang="ru")
    made.parse = lru_cache(maxsize=_RECENT)(made.parse)
    made.word_is_known = lru_cache(maxsize=_RECENT)(made.word_is_known)
    return made


@cache
def _english() -> Any:
    import snowballstemmer

    return snowballstemmer.stemmer("english")


@lru_cache(maxsize=50_000)
def lemmas(token: str) -> tuple[str, ...]:
    """Distinct lemmas of a token in normal form, best parse first; the token itself where none is known."""
    if _CYRILLIC.match(token):
        found = [normal(parse.normal_form) for parse in analyser().parse(token)]
    elif _LATIN.match(token):
        found = [str(_english().stemWord(token))]
    else:
        found = [token]
    return tuple(dict.fromkeys(found))


@lru_cache(maxsize=200_000)
def terms(token: str) -> tuple[str, ...]:
    """What a token is filed and sought under in the lemma column: its lemmas and the words of its aliases."""
    own = lemmas(token)
    extra = [
        lemma for form in dict.fromkeys((token, *own)) for word in expansions(form) for lemma in lemmas(word)
    ]
    return tuple(dict.fromkeys((*own, *extra)))


def raw_column(text: str) -> str:
    """The raw FTS5 column: the tokens of the text."""
    return " ".join(tokens(text))


def lemma_column(text: str) -> str:
    """The lemma FTS5 column: each token followed by its distinct terms, so that any sqlite3 can search it."""
    words: list[str] = []
    for token in tokens(text):
        words.append(token)
        words.extend(term for term in terms(token) if term != token)
    return " ".join(words)

"""Russian in Latin letters: sherbinin, kak kvasit' kapustu."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import islice

from indexer.stores import Store
from indexer.text.aliases import stop_words
from indexer.text.normal import tokens
from indexer.text.transliteration import dictionary, english_words, plain, readings
from service.repair.misspelt import near
from service.repair.words import (
    ENGLISH_WEIGHT,
    MAX_WORDS,
    RUSSIAN,
    Repair,
    Span,
    is_known,
    replaced,
    typed,
    words,
)

# Dearer readings than this are found for every other English word; what stands in the index may be dearer.
_DEAREST, _DEAREST_STANDING = 1, 2

# So many readings stand beside the likeliest one.
_OTHERS = 2

# Capitals up to this length are an acronym.
_ACRONYM = 4

_WRITTEN = re.compile("[a-z']+")

_Read = tuple[Span, str, list[str]]


def transliterated(query: str, store: Store) -> Repair | None:
    """The query with its Latin words read as Russian, where they rather are; else with readings beside them.

    Where the query is half in Cyrillic, the layout was at hand, and Latin was typed on purpose.
    """
    latin = [
        (span, word)
        for span, word in words(query)
        if _WRITTEN.fullmatch(word) and not _is_acronym(query, span)
    ]
    forms_of = {word: _russian(word, store) for word in {word for _, word in latin}}
    read: list[_Read] = [(span, word, forms_of[word]) for span, word in latin]
    cyrillic = sum(RUSSIAN.fullmatch(token) is not None for token in islice(tokens(query), MAX_WORDS))
    mixed = cyrillic >= len(latin)
    if mixed or sum(_evidence(word, forms, store) for _, word, forms in read) <= 0:
        return _beside(query, read, mixed, store)
    meant: dict[Span, str] = {}
    also: dict[str, tuple[str, ...]] = {}
    for span, word, forms in read:
        if not _is_meant(word, forms, store):
            continue
        forms = forms or list(near(plain(word), store))
        if forms:
            meant[span] = forms[0]
            others = tuple(form for form in forms[1:] if store.knows(form))[:_OTHERS]
            also |= {forms[0]: others} if others else {}
    return Repair(replaced(query, meant), also, typed(query, meant))


def _is_meant(word: str, forms: Sequence[str], store: Store) -> bool:
    """Whether a word of a Russian query is Russian, and not a name or an English word in it."""
    if forms and forms[0] in stop_words():
        return True
    if word in english_words():
        return bool(forms) and store.knows(forms[0])
    return not _stands(word, store)


def _is_acronym(query: str, span: Span) -> bool:
    written = query[slice(*span)]
    return 1 < len(written) <= _ACRONYM and written.isupper() and not query.isupper()


def _evidence(word: str, forms: Sequence[str], store: Store) -> float:
    """How much a Latin word says that the query is Russian; below 0, that it is not."""
    if forms and forms[0] in stop_words():
        # to, on, no and pro are of both languages, and a letter is of any.
        either = len(word) == 1 or word in stop_words() or word in english_words()
        return 0.0 if either else 1.0
    if word in stop_words():
        return -ENGLISH_WEIGHT
    if word in english_words() or _stands(word, store):
        return -0.5 if len(word) > 2 else 0.0
    if not forms:
        return -1.0
    if len(word) < 4:  # easily some word: кар, нов
        return 0.0
    return 1.0 if store.knows(forms[0]) else 0.5


def _stands(word: str, store: Store) -> bool:
    """Whether a Latin word is known, with what stands before and after an apostrophe."""
    return all(is_known(token, store) for token in tokens(word))


def _russian(word: str, store: Store) -> list[str]:
    """What a Latin word stands for in Russian, likeliest first: what stands in the index before all else."""
    costs = {form: cost for cost, form in readings(word, dictionary()) if cost <= _DEAREST}
    small = [form for form, cost in costs.items() if not cost and form in stop_words()]
    if small:
        return small
    for cost, form in readings(word, store.vocabulary()):
        if cost <= _DEAREST_STANDING:
            costs.setdefault(form, cost)
    return sorted(costs, key=lambda form: (not store.knows(form), costs[form], form))


def _beside(query: str, read: Sequence[_Read], mixed: bool, store: Store) -> Repair | None:
    """The query as it is, with what its Latin words are called in Cyrillic in the index beside them.

    Among English words only what reads so without a change: Boston is бостон, Paul is not пауль.
    """
    also: dict[str, tuple[str, ...]] = {}
    meant: dict[Span, str] = {}
    for span, word, forms in read:
        if len(word) < 4 or word in english_words() or _stands(word, store):
            continue
        exact = [form for cost, form in readings(word, store.vocabulary()) if not cost]
        standing = [form for form in (forms if mixed else exact) if store.knows(form)][:1]
        if standing:
            also[word] = tuple(standing)
            meant[span] = standing[0]
    return Repair(query, also, typed(query, meant)) if also else None

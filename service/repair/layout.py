"""Text that was typed in the other keyboard layout: ghbdtn, вщслук."""

from __future__ import annotations

import re
from itertools import islice

from indexer.stores import Store
from indexer.text.aliases import stop_words
from indexer.text.lemmas import analyser
from indexer.text.normal import normal, tokens
from indexer.text.spelling import swapped
from service.repair.misspelt import near
from service.repair.words import (
    ENGLISH_WEIGHT,
    MAX_WORDS,
    PART,
    RUSSIAN,
    Repair,
    Span,
    is_known,
    replaced,
    typed,
)

# Of 9,000 English words the keys of 2 give a longer Russian word in the other layout (erect, inert).
_SHORTEST = 5

# A Russian word in the Latin layout must stand in the index, and is sure sooner.
_SHORTEST_LATIN = 4

# Letters with the signs that are letters in the Russian layout.
_KEYS = re.compile(r"[a-z\[\];',.`]+")
_INNER_CAPITAL = re.compile("[a-z][A-Z]")


def other_layout(query: str, store: Store) -> Repair | None:
    """The query as the same keys give it in the other layout, where that makes more words of it."""
    meant: dict[Span, str] = {}
    unread: dict[Span, str] = {}
    gained = lost = 0
    for part in islice(PART.finditer(query), MAX_WORDS):
        keys = normal(part[0])
        if RUSSIAN.fullmatch(keys):
            latin = _in_latin(keys, store)
            if latin is not None:
                meant[part.span()] = latin
                gained += _SHORTEST
            continue
        keys = keys.rstrip("?!")
        own = tokens(keys)
        if not own or not _KEYS.fullmatch(keys) or _INNER_CAPITAL.search(part[0]):
            continue
        known = [token for token in own if is_known(token, store)]
        russian = _in_russian(keys, store)
        if russian is not None and (len(keys) < 3 or len(known) < len(own)):
            meant[part.span()] = russian
            gained += len(keys) if len(known) < len(own) else 0
        elif not stop_words().isdisjoint(known):
            lost += ENGLISH_WEIGHT * len(keys)
        elif not known:
            lost += len(keys)
            unread[part.span()] = normal(swapped(keys))
    if gained < max(_SHORTEST, lost + 1):
        return None
    for span, word in unread.items():
        slipped = near(word, store)
        if slipped:
            meant[span] = slipped[0]
    return Repair(replaced(query, meant), {}, typed(query, meant))


def _in_latin(keys: str, store: Store) -> str | None:
    if len(keys) < _SHORTEST_LATIN or is_known(keys, store):
        return None
    latin = normal(swapped(keys))
    return latin if store.knows(latin) else None


def _in_russian(keys: str, store: Store) -> str | None:
    """A part in the Russian layout, where that makes a word of it; its last signs may be signs."""
    for letters in dict.fromkeys((keys, keys.rstrip(",.;"))):
        russian = normal(swapped(letters))
        if RUSSIAN.fullmatch(russian) and (
            russian in stop_words() or store.knows(russian) or analyser().word_is_known(russian)
        ):
            return russian + keys[len(letters) :]
    return None

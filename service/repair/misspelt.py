"""Misspelt words: the words of the index that they may have been meant for, beside them."""

from __future__ import annotations

from itertools import islice

from indexer.stores import Store
from indexer.text.lemmas import analyser, lemmas
from indexer.text.transliteration import english_words, spellings
from service.repair.words import LATIN, RUSSIAN, Repair, is_known, words

# Each one costs a look at all words of the index; a question has one slip, seldom two.
_MISSPELT_WORDS = 4

# A word has a few near ones at most; more are guesses.
_NEAR_WORDS = 3

# A slip in a shorter word gives another word as a rule.
_SHORTEST = 5

# Two slips in a shorter word are another word: of 102 words that an archive lacks, 15 were changed when two
# were forgiven from 8 letters on, 8 from here on, and 7 with one slip alone.
_TWO_SLIPS = 10

# An unknown word has as many lemmas as the dictionary has endings like its own.
_LEMMAS = 3

# What a name may lose between two alphabets; see `spellings`.
_DEAREST_SPELLING = 1

_NAME_TAGS = ("Name", "Surn", "Patr", "Geox", "Orgn")


def misspelt(read: Repair, store: Store) -> Repair:
    """With the words that a misspelt one may have been meant for beside it; the text stays as it is.

    Vectors forgive a slip by themselves, and what was meant is not sure.
    """
    also, changes = dict(read.also), dict(read.changes)
    doubtful = (
        (span, word)
        for span, word in words(read.text)
        if len(word) > 2 and word not in also and not is_known(word, store)
    )
    for (start, end), word in islice(doubtful, _MISSPELT_WORDS):
        as_typed = read.text[start:end]
        named = start > 0 and as_typed[0].isupper() and not as_typed.isupper()
        found = spelt_in_latin(word, store) or near(word, store, named)
        if found:
            also[word] = found
            changes[as_typed] = ", ".join(found)
    return Repair(read.text, also, changes)


def near(word: str, store: Store, named: bool = False) -> tuple[str, ...]:
    """The words of the index nearest to a misspelt one.

    Args:
        word: in the normal form.
        store: whose words are looked at.
        named: written as a name; then no common word is meant.

    Returns:
        At most three, nearest first.
    """
    if len(word) < _SHORTEST:
        return ()
    if LATIN.fullmatch(word):
        return _near_english(word, store)
    if not RUSSIAN.fullmatch(word):
        return ()
    # What it may be in the nominative: another form of the word stands in the index.
    forms = dict.fromkeys((word, *lemmas(word)[:_LEMMAS]))
    for edits in range(1, 2 if len(word) < _TWO_SLIPS else 3):
        found = dict.fromkeys(other for form in forms for _, other in store.vocabulary().near(form, edits))
        meant = [other for other in found if not named or _may_be_name(other)]
        if meant:
            return tuple(meant[:_NEAR_WORDS])
    return ()


def _near_english(word: str, store: Store) -> tuple[str, ...]:
    """The one word of the index that a Latin word is a slip away from; no dictionary says what is a word."""
    if word in english_words():
        return ()
    found = [other for _, other in store.vocabulary().near(word, 1) if other[0] == word[0]]
    found = [other for other in found if store.knows(other)]  # the rest are stems
    return tuple(found) if len(found) == 1 else ()


def _may_be_name(word: str) -> bool:
    parses = [parse for parse in analyser().parse(word) if parse.is_known]
    return not parses or any(tag in parse.tag for parse in parses for tag in _NAME_TAGS)


def spelt_in_latin(word: str, store: Store) -> tuple[str, ...]:
    """The Latin words of the index that an unknown Cyrillic word spells by their sound: кубернетес."""
    if not RUSSIAN.fullmatch(word):
        return ()
    costs: dict[str, int] = {}
    for form in dict.fromkeys((word, *lemmas(word)[:_LEMMAS])):
        for cost, latin in spellings(form, store.vocabulary()):
            if cost <= _DEAREST_SPELLING and len(latin) > 2 and store.knows(latin):
                costs[latin] = min(cost, costs.get(latin, cost))
    return tuple(sorted(costs, key=lambda latin: (costs[latin], latin))[:_NEAR_WORDS])

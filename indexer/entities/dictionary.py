"""First names and places that the dictionary is sure of, where the model saw none: Олег at a line's start."""

from __future__ import annotations

import re
from collections.abc import Iterator

from indexer.entities.patterns import Span
from indexer.entities.truecase import ORDINARY, one_person, reading

_WORD = re.compile(r"(?<![\w@#/.-])[А-ЯЁ][а-яё]+(?:-[А-Яа-яё]+)*(?![\w-])")
# Share of first-name (place) parses that is enough without a model.
GIVEN = 0.9
PLACE = 0.95


def dictionary_names(cased: str) -> Iterator[Span]:
    """First names with the surnames beside them as PER, places as LOC.

    Args:
        cased: a truecased text.

    Yields:
        Spans from left to right, never overlapping.
    """
    words = list(_WORD.finditer(cased))
    number = 0
    while number < len(words):
        word = words[number]
        read = reading(word.group().lower())
        following = words[number + 1] if number + 1 < len(words) else None
        number += 1
        beside = following is not None and cased[word.end() : following.start()] == " "
        if beside and following and one_person(read, reading(following.group().lower())):
            number += 1
            yield Span(word.start(), following.end(), "PER")
            continue
        if not read.known or read.ordinary or word.group().lower() in ORDINARY:
            continue
        if read.given >= GIVEN and len(word.group()) > 2:
            yield Span(word.start(), word.end(), "PER")
        elif read.place >= PLACE and not read.person:
            yield Span(word.start(), word.end(), "LOC")

"""Capitals where a lower-cased chat line lacks them: slovnet was trained on edited news and leans on case.

Only lower-case Cyrillic words change, each code point to one code point, so offsets stay. Driven by the name
tags of pymorphy3: a word is a name by itself when nearly all its parses are, and beside another name when it
agrees with that in gender, number and case.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple

from indexer.text.aliases import stop_words
from indexer.text.lemmas import analyser

_WORD = re.compile(r"(?<![^\W_])[А-ЯЁа-яё]+(?:-[А-ЯЁа-яё]+)*(?![^\W_])")
_PERSON = ("Name", "Surn", "Patr")
_NAME_TAGS = (*_PERSON, "Geox", "Orgn")
# Share of name parses that makes a lone lower-case word a name, and one beside an agreeing name.
# Tuned on the lower-cased development part of factRuEval, where .5–.8 differ by less than .01.
ALONE = 0.75
BESIDE = 0.1
# Share of person parses that makes a surname or patronymic sure enough to turn роман before it into a name.
SURE = 0.85
# Dictionary names that chat uses as ordinary words.
ORDINARY = frozenset(
    {
        "роза",
        "лев",
        "вера",
        "надежда",
        "любовь",
        "слава",
        "майя",
        "роман",
        "рома",
        "гена",
        "ваш",
        "мир",
        "пока",
        "рая",
        "пол",
        "том",
        "мила",
        "лада",
        "кит",
        "март",
        "баба",
        "дед",
        "мама",
        "папа",
        "бог",
        "рок",
        "жму",
    }
)
_PLACE = frozenset(
    {
        "нижний",
        "верхний",
        "великий",
        "новый",
        "старый",
        "северный",
        "южный",
        "западный",
        "восточный",
        "большой",
        "малый",
        "белый",
        "красный",
        "чёрный",
        "центральный",
    }
)
_SMALL = frozenset({"на", "де", "ла", "ле", "фон", "ван", "и", "под", "аль", "эль"})


# Bounded, and only from the border of a word: linear in hostile text.
_SHOUT = re.compile(r"(?<![А-ЯЁа-яё])(?:[А-ЯЁ]{1,40}[\s,.!?:;–—-]{1,4}){3,60}[А-ЯЁ]{2,40}(?![А-ЯЁа-яё])")


class Reading(NamedTuple):
    """What the dictionary says of a word.

    Attributes:
        share: share of name parses, 0–1.
        person: share of first names, surnames and patronymics.
        given: share of first names.
        place: share of places.
        forms: (gender, number, case) of its person parses.
        places: (gender, number, case) of its parses as a place.
        short: it is an abbreviation written in capitals (США, МВД).
        known: the dictionary has the word.
        ordinary: its likeliest lemma is an ordinary word of chat as well.
        surname: an unknown word that may be a foreign surname.
    """

    share: float
    person: float
    given: float
    place: float
    forms: frozenset[tuple[str | None, str | None, str | None]]
    places: frozenset[tuple[str | None, str | None, str | None]]
    short: bool
    known: bool
    ordinary: bool
    surname: bool


@lru_cache(maxsize=30_000)
def reading(word: str) -> Reading:
    """The reading of a lower-case Cyrillic word."""
    parses = analyser().parse(word)
    known = any(parse.is_known for parse in parses)
    parses = [parse for parse in parses if parse.is_known] or parses
    total = sum(parse.score for parse in parses) or 1.0
    share = person = given = place = short = 0.0
    forms, places = set(), set()
    for parse in parses:
        tag = parse.tag
        if any(mark in tag for mark in _NAME_TAGS):
            share += parse.score
            short += parse.score if "Abbr" in tag else 0.0
        if "Geox" in tag:
            place += parse.score
            places.add((tag.gender, tag.number, tag.case))
        if any(mark in tag for mark in _PERSON):
            person += parse.score
            given += parse.score if "Name" in tag else 0.0
            forms.add((tag.gender, tag.number, tag.case))
    if word in stop_words() or len(word) < 2:
        share = person = given = place = 0.0
    return Reading(
        share / total,
        person / total,
        given / total,
        place / total,
        frozenset(forms),
        frozenset(places),
        short > total / 2,
        known,
        word in ORDINARY or parses[0].normal_form in ORDINARY,
        not known and len(word) > 3 and parses[0].tag.POS in ("NOUN", "ADJF"),
    )


def _lone(word: str, read: Reading) -> bool:
    if not read.known or (len(word) < 3 and not read.short):
        return False
    return read.share >= ALONE and not read.ordinary


def one_person(left: Reading, right: Reading) -> bool:
    """One of two neighbours is a first name for sure, the other agrees with it or is a foreign surname."""
    if left.given >= ALONE and right.surname:
        return True
    if max(left.given, right.given) < ALONE and (right.person < SURE or left.given == 0):
        return False
    if left.given and right.person >= SURE:
        return bool(left.forms & right.forms)
    return min(left.person, right.person) >= BESIDE and bool(left.forms & right.forms)


@lru_cache(maxsize=10_000)
def _sides(word: str) -> frozenset[tuple[str | None, str | None]]:
    """(number, case) of a word that is an adjective of place names (Нижний, Северная, Новые), else empty."""
    parses = [
        parse for parse in analyser().parse(word) if "ADJF" in parse.tag and parse.normal_form in _PLACE
    ]
    return frozenset((parse.tag.number, parse.tag.case) for parse in parses)


def _part_of_place(word: str, right: Reading) -> bool:
    return bool(_sides(word) & {(number, case) for _, number, case in right.places})


_OPENS = re.compile(r"(?:^|[\n.!?…])[\s\-–—*•>#\d.)]*$")
_SURNAME = re.compile(r"(?:[оеё]в|[иы]н)$")


def is_ordinary(text: str, start: int, end: int) -> bool:
    """Whether a stretch is one word that the dictionary knows for no name, and no capital says otherwise.

    The model takes the verbs and headings that open the lines of a chat for names (Соль, Придумай).

    Args:
        text: the text as it was written.
        start: where the word begins.
        end: where it ends.
    """
    word = text[start:end]
    if not _WORD.fullmatch(word) or (word.isupper() and len(word) > 1) or _SURNAME.search(word):
        return False
    read = reading(word.lower())
    if not read.known or read.share:
        return False
    return word.islower() or _OPENS.search(text[max(0, start - 20) : start]) is not None


def _capital(word: str, short: bool) -> str:
    if short:
        return word.upper()
    return "-".join(part if part in _SMALL else part[:1].upper() + part[1:] for part in word.split("-"))


def _calmed(text: str) -> str:
    """The text with shouted stretches of four words and more in small letters."""
    return _SHOUT.sub(lambda match: match.group().lower(), text)


def truecased(text: str) -> str:
    """A copy of the text with capitals on its lower-case names.

    Args:
        text: any text.

    Returns:
        A text of exactly the same length; equal to the input where no lower-case name was seen.
    """
    text = _calmed(text)
    words = list(_WORD.finditer(text))
    lower = [match.group().islower() for match in words]
    if not any(lower):
        return text
    reads = [reading(match.group().lower()) for match in words]
    names = [
        not low or _lone(match.group(), read) for match, low, read in zip(words, lower, reads, strict=True)
    ]
    for i in range(len(words) - 1):
        if text[words[i].end() : words[i + 1].start()] != " " or not (lower[i] or lower[i + 1]):
            continue
        left, right = reads[i], reads[i + 1]
        if one_person(left, right) or (
            lower[i] and right.share >= ALONE and not right.person and _part_of_place(words[i].group(), right)
        ):
            names[i] = names[i + 1] = True
    parts: list[str] = []
    at = 0
    for match, low, name, read in zip(words, lower, names, reads, strict=True):
        if low and name:
            capital = _capital(match.group(), read.short)
            if len(capital) == len(match.group()):
                parts += [text[at : match.start()], capital]
                at = match.end()
    return "".join([*parts, text[at:]])

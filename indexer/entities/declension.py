"""What a Russian word may be: its gender, case and nominative, by dictionary or by the endings of names."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any, NamedTuple

from indexer.text.lemmas import analyser

_CONSONANTS = "бвгджзйклмнпрстфхцчшщь"
CASES = ("nomn", "gent", "datv", "accs", "ablt", "loct")
_SURNAME = re.compile(r"^(.{2,}(?:ов|ев|ёв|ин|ын))(а|у|ым|ом|е|ой|)$")
# Endings of surnames in -ов and -ин: (gender, case, ending of the nominative).
_ENDINGS: dict[str, tuple[tuple[str, str, str], ...]] = {
    "": (("masc", "nomn", ""),),
    "а": (("masc", "gent", ""), ("masc", "accs", ""), ("femn", "nomn", "а")),
    "у": (("masc", "datv", ""), ("femn", "accs", "а")),
    "ым": (("masc", "ablt", ""),),
    "ом": (("masc", "ablt", ""),),
    "е": (("masc", "loct", ""),),
    "ой": tuple(("femn", case, "а") for case in ("gent", "datv", "ablt", "loct")),
}
# Endings of names that no dictionary has (Хайнца, Маехары), by the ordinary declensions.
_FOREIGN = re.compile(r"^(.+?[бвгджзйклмнпрстфхцчшщ])(а|у|ом|ем|е|ы|ой|)$")
_DECLENSION: dict[str, tuple[tuple[str, str, str], ...]] = {
    "": (("masc", "nomn", ""), *(("femn", case, "") for case in CASES)),
    "а": (("masc", "gent", ""), ("masc", "accs", ""), ("femn", "nomn", "а")),
    "у": (("masc", "datv", ""), ("femn", "accs", "а")),
    "ом": (("masc", "ablt", ""),),
    "ем": (("masc", "ablt", ""),),
    "е": (("masc", "loct", ""), ("femn", "datv", "а"), ("femn", "loct", "а")),
    "ы": (("femn", "gent", "а"), ("masc", "gent", "а")),
    "ой": tuple(("femn", case, "а") for case in ("gent", "datv", "ablt", "loct")),
}
_ADJECTIVE = re.compile(r"^(.{2,}[сц]к)(ий|ого|ому|им|ом|ая|ой|ую)$")
_ADJECTIVE_ENDINGS: dict[str, tuple[tuple[str, str, str], ...]] = {
    "ий": (("masc", "nomn", "ий"),),
    "ого": (("masc", "gent", "ий"), ("masc", "accs", "ий")),
    "ому": (("masc", "datv", "ий"),),
    "им": (("masc", "ablt", "ий"),),
    "ом": (("masc", "loct", "ий"),),
    "ая": (("femn", "nomn", "ая"),),
    "ую": (("femn", "accs", "ая"),),
    "ой": tuple(("femn", case, "ая") for case in ("gent", "datv", "ablt", "loct")),
}
# Names that share forms with a name that is far commoner.
_RARE = frozenset(
    {
        "юлий",
        "марий",
        "анастасий",
        "викторий",
        "клавдий",
        "лилий",
        "наталий",
        "софий",
        "ксений",
        "анне",
        "ян",
        "павля",
    }
)
PERSONAL = {"Name": 1.0, "Patr": 1.0, "Surn": 1.0}


class Reading(NamedTuple):
    """One way to read a word: its agreement features, likelihood and nominative."""

    gender: str | None
    number: str | None
    case: str
    kind: str
    score: float
    nominative: str


@lru_cache(maxsize=50_000)
def readings_of(word: str) -> tuple[Reading, ...]:
    """Readings of a lower-case Cyrillic word as noun or adjective, likeliest first."""
    parses = analyser().parse(word)
    known = any(parse.is_known for parse in parses)
    found = []
    for parse in parses:
        tag = parse.tag
        if (known and not parse.is_known) or tag.POS not in ("NOUN", "ADJF", "PRTF") or tag.case is None:
            continue
        case = {"loc2": "loct", "gen2": "gent", "acc2": "accs", "voct": "nomn"}.get(tag.case, tag.case)
        score = parse.score
        kinds = [mark for mark in ("Name", "Surn", "Patr", "Geox", "Orgn") if mark in tag]
        kind = kinds[0] if kinds else "noun" if tag.POS == "NOUN" else "adjective"
        if kind in ("Name", "Surn") and parse.normal_form in _RARE:
            score *= 0.1
        gender = None if "ms-f" in tag or "Ms-f" in tag or "GNdr" in tag else tag.gender
        found.append(Reading(gender, tag.number, case, kind, score, _nominative(parse, word)))
    if not known and word[-1] in _CONSONANTS:
        found.insert(0, Reading("masc", "sing", "nomn", "noun", 1.0, word))
    return tuple(found)


@lru_cache(maxsize=50_000)
def personal_readings_of(word: str) -> tuple[Reading, ...]:
    """Readings of a word of a person's name: the dictionary's, else by its ending."""
    surname = _made(_SURNAME, _ENDINGS, word, 0.3) or _made(_ADJECTIVE, _ADJECTIVE_ENDINGS, word, 0.3)
    # A woman's surname that ends in a consonant does not inflect: Людмилу Зенькович.
    fixed = tuple(Reading("femn", "sing", case, "Surn", 0.01, word) for case in CASES)
    if analyser().word_is_known(word):
        weak = tuple(reading._replace(score=0.02) for reading in surname)
        return (*readings_of(word), *weak, *(fixed if word[-1] in _CONSONANTS else ()))
    made = surname or _made(_FOREIGN, _DECLENSION, word, 0.3)
    # What ends in another vowel rarely inflects: Пелоси, Раттке, Зурабишвили.
    score = 0.5 if word[-1] in "иоэю" and not surname else 0.05 if made else 0.1
    kept = tuple(Reading(None, "sing", case, "Surn", score, word) for case in CASES)
    return (*made, *kept) if made else (*readings_of(word), *kept)


def _made(
    shape: re.Pattern[str], endings: dict[str, tuple[tuple[str, str, str], ...]], word: str, score: float
) -> tuple[Reading, ...]:
    """Readings of a word by its ending alone."""
    match = shape.match(word)
    if match is None:
        return ()
    stem, ending = match.groups()
    return tuple(
        Reading(gender, "sing", case, "Surn", score, stem + nominative)
        for gender, case, nominative in endings[ending]
    )


def _nominative(parse: Any, word: str) -> str:
    if "Fixd" in parse.tag:
        return word
    grammemes = {"nomn", parse.tag.number or "sing"}
    if parse.tag.number != "plur" and parse.tag.gender and "ms-f" not in parse.tag:
        grammemes.add(parse.tag.gender)
    form = parse.inflect(grammemes) or parse.inflect({"nomn"})
    if form is None:
        return word
    nominative = str(form.word)
    # The dictionary restores ё in first names (Артём); elsewhere the writer's spelling stays.
    if "ё" not in word and "Name" not in parse.tag and "е" in word:
        nominative = nominative.replace("ё", "е")
    return nominative

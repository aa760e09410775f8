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
_FOREIGN = re.compile(r"^(.+?[бвгджзйклмнпрстфхцчшщ])(а|у|ом|ем|е|ы|ой|ь|)$")
_DECLENSION: dict[str, tuple[tuple[str, str, str], ...]] = {
    "": (("masc", "nomn", ""),),
    "ь": (("masc", "nomn", "ь"),),
    "а": (("masc", "gent", ""), ("masc", "accs", ""), ("femn", "nomn", "а")),
    "у": (("masc", "datv", ""), ("femn", "accs", "а")),
    "ом": (("masc", "ablt", ""),),
    "ем": (("masc", "ablt", ""),),
    "е": (("masc", "loct", ""), ("femn", "datv", "а"), ("femn", "loct", "а")),
    "ы": (("femn", "gent", "а"), ("masc", "gent", "а")),
    "ой": tuple(("femn", case, "а") for case in ("gent", "datv", "ablt", "loct")),
}
# Men whose names end in -а: Олегу Дерипаске, Булатом Окуджавой.
_MEN_IN_A: dict[str, tuple[tuple[str, str, str], ...]] = {
    "а": (("masc", "nomn", "а"),),
    "ы": (("masc", "gent", "а"),),
    "е": (("masc", "datv", "а"), ("masc", "loct", "а")),
    "у": (("masc", "accs", "а"),),
    "ой": (("masc", "ablt", "а"),),
}
# Surnames in -а by their shape: Japanese ones (Маэхара, Накамура) and those in -ска (Дерипаска).
_IN_A = re.compile(r"^(?:[бгджзйкмнрстхцчш]?[аиоуыэюя]|н(?=[бгджзкрстчш])){2,}[бвгджзкмнрт]?[ая]$|ска$")
# Foreign surnames that never inflect: Гелашвили, Мирзазаде, Блашке, Седых.
_FIXED = re.compile(r"(?:дзе|заде|швили|[тшнрлдц]ке|нко|[ыи]х|иа|уа)$")
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
# First names of men that the dictionary lacks, by their stems.
_MEN = frozenset(
    [
        "илон",
        "логан",
        "лиам",
        "итан",
        "карлос",
        "фриц",
        "йохан",
        "олаф",
        "керем",
        "ержан",
        "бауыржан",
        "шерзод",
        "темур",
        "дилан",
        "аарон",
    ]
)
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
        "марку",
        "больший",
        # and those of Аля, Галя, Коля, Лиля, Маня, Саня, Толя, Витя
        "ала",
        "гала",
        "кола",
        "лила",
        "мана",
        "сана",
        "тола",
        "вит",
    }
)
# Surnames that stand before a noun as its adjective: Воробьёвы горы, Патриаршего, Мишкин дом.
_POSSESSIVE = re.compile(r"^(.{2,}(?:ов|ев|ёв|ин|ын))(ы|ых|ым|ыми|а|ой|у|о|ом|)$")
_POSSESSIVE_ENDINGS: dict[str, tuple[tuple[str | None, str, str, str], ...]] = {
    "ы": ((None, "plur", "nomn", "ы"), (None, "plur", "accs", "ы")),
    "ых": ((None, "plur", "gent", "ы"), (None, "plur", "loct", "ы")),
    "ым": ((None, "plur", "datv", "ы"), ("masc", "sing", "ablt", ""), ("neut", "sing", "ablt", "о")),
    "ыми": ((None, "plur", "ablt", "ы"),),
    "а": (("femn", "sing", "nomn", "а"), ("masc", "sing", "gent", ""), ("neut", "sing", "gent", "о")),
    "ой": tuple(("femn", "sing", case, "а") for case in ("gent", "datv", "ablt", "loct")),
    "у": (("femn", "sing", "accs", "а"), ("masc", "sing", "datv", ""), ("neut", "sing", "datv", "о")),
    "о": (("neut", "sing", "nomn", "о"), ("neut", "sing", "accs", "о")),
    "ом": (("masc", "sing", "loct", ""), ("neut", "sing", "loct", "о")),
    "": (("masc", "sing", "nomn", ""), ("masc", "sing", "accs", "")),
}
# Unknown words as places and organisations, likeliest first: Тусоне → Тусон, Итакой → Итака.
_PLACE = re.compile(r"^(.*(?:[бвгджзклмнпрстфхцчшщ](?=[еоуы])|[аоуыэ](?=[ею])))(е|ом|у|ой|ы|ем|ю)$")
_PLACE_ENDINGS: dict[str, tuple[tuple[str, str, str, float], ...]] = {
    "е": (("masc", "loct", "", 0.6), ("femn", "loct", "а", 0.3), ("femn", "datv", "а", 0.1)),
    "ом": (("masc", "ablt", "", 1.0),),
    "у": (("femn", "accs", "а", 0.5), ("masc", "datv", "", 0.5)),
    "ой": tuple(("femn", case, "а", 0.3) for case in ("gent", "datv", "ablt", "loct")),
    "ы": (("femn", "gent", "а", 0.6),),
    "ем": (("masc", "ablt", "", 1.0),),
    "ю": (("masc", "datv", "", 0.6), ("femn", "accs", "а", 0.4)),
}
# Unknown words that do not inflect: Хабомаи, Цетинье, Токай-мару.
_STIFF = re.compile(r"(?:[аеоуэ]и|[ьи]е|[аеиоуэюы][оуэю]|[оэю]|[бвдзлмнпрстфц]и)$")
# Clusters that no masculine name ends in: Подгорице, Будве.
_FEMININE = re.compile(r"(?:иц|[бгджзклмнпрстфхцчш]в|[бвгджзлмнпрфхцчшйаеиоуыэюя]к)$")
# Endings of oblique cases and adjectives; an unknown word with one is rarely a nominative in a consonant.
_OBLIQUE_TAIL = re.compile(r"(?:[оеиы]й|[аяоеыи]м|[аяыи]х)$")
PERSONAL = {"Name": 1.0, "Patr": 1.0, "Surn": 1.0}


class Reading(NamedTuple):
    """One way to read a word: its agreement features, likelihood and nominative."""

    gender: str | None
    number: str | None
    case: str
    kind: str
    score: float
    nominative: str


@lru_cache(maxsize=10_000)
def readings_of(word: str) -> tuple[Reading, ...]:
    """Readings of a lower-case Cyrillic word as noun or adjective, likeliest first."""
    parses = analyser().parse(word)
    known = any(parse.is_known for parse in parses)
    found = []
    for parse in parses:
        tag = parse.tag
        if (known and not parse.is_known) or tag.POS not in ("NOUN", "ADJF", "PRTF") or tag.case is None:
            continue
        case = {"loc2": "loct", "gen2": "gent", "acc2": "accs"}.get(tag.case, tag.case)
        score = parse.score
        kinds = [mark for mark in ("Name", "Surn", "Patr", "Geox", "Orgn") if mark in tag]
        kind = kinds[0] if kinds else "noun" if tag.POS == "NOUN" else "adjective"
        if kind in ("Name", "Surn", "adjective") and parse.normal_form in _RARE:
            score *= 0.1
        if kind == "noun" and tag.case in ("loc2", "gen2"):
            score *= 0.3  # в лесу is no name
        gender = None if "ms-f" in tag or "Ms-f" in tag or "GNdr" in tag else tag.gender
        found.append(Reading(gender, tag.number, case, kind, score, _nominative(parse, word)))
    if not known and word[-1] in _CONSONANTS and not _OBLIQUE_TAIL.search(word):
        found.insert(0, Reading("masc", "sing", "nomn", "noun", 1.0, word))
    return tuple(found)


@lru_cache(maxsize=10_000)
def place_readings_of(word: str, organisation: bool = False) -> tuple[Reading, ...]:
    """Readings of a word of a place or an organisation: the dictionary's, else by its ending.

    Unknown organisations are rather masculine (Роструду), places in -у rather feminine (в Итаку).
    """
    readings = readings_of(word)
    if analyser().word_is_known(word) or any(reading.kind == "adjective" for reading in readings):
        return readings
    match = _PLACE.match(word)
    if match:
        stem, ending = match.groups()
        # Тарасовке is a Тарасовка, Витебске a Витебск.
        small = ending == "е" and _FEMININE.search(stem)
        soft = {"": "й", "а": "я"} if stem[-1] in "аоуыэ" else {}  # в Чиангмае
        return tuple(
            Reading(
                gender,
                "sing",
                case,
                "noun",
                score * (2.0 if organisation and gender == "masc" else 1.0),
                stem + soft.get(nominative, nominative),
            )
            for gender, case, nominative, score in _PLACE_ENDINGS[ending]
            if not small or gender == "femn"
        )
    if _STIFF.search(word):
        return tuple(Reading(None, "sing", case, "noun", 1.0, word) for case in CASES)
    return readings


@lru_cache(maxsize=10_000)
def possessive_readings_of(word: str) -> tuple[Reading, ...]:
    """Readings of a surname as the adjective of the noun after it (Воробьёвых гор)."""
    match = _POSSESSIVE.match(word)
    if match is None:
        return ()
    stem, ending = match.groups()
    return tuple(
        Reading(gender, number, case, "adjective", 0.3, stem + nominative)
        for gender, number, case, nominative in _POSSESSIVE_ENDINGS[ending]
    )


@lru_cache(maxsize=10_000)
def personal_readings_of(word: str) -> tuple[Reading, ...]:
    """Readings of a word of a person's name: the dictionary's, else by its ending."""
    surname = _made(_SURNAME, _ENDINGS, word, 0.3) or _made(_ADJECTIVE, _ADJECTIVE_ENDINGS, word, 0.3)
    if surname and word.endswith("ском"):  # Илоном Маском
        surname += (Reading("masc", "sing", "ablt", "Surn", 0.05, word[:-2]),)
    # A woman's name that ends in a consonant does not inflect: Людмилу Зенькович, Марлен Ларюэль.
    fixed = tuple(Reading("femn", "sing", case, "Surn", 0.01, word) for case in CASES)
    made = _made(_FOREIGN, _DECLENSION, word, 0.9)
    if made and word.startswith(made[0].nominative) and made[0].nominative in _MEN:
        return tuple(reading for reading in made if reading.gender == "masc")
    if analyser().word_is_known(word):
        readings = readings_of(word)
        named = any(reading.kind in PERSONAL for reading in readings)
        weak = tuple(reading._replace(score=0.02 if named else 0.3) for reading in surname)
        if not surname and not named and any(reading.kind == "noun" for reading in readings):  # Тиму Куку
            weak = _made(_FOREIGN, _DECLENSION, word, 0.05)
        if word[-1] not in _CONSONANTS:
            return (*readings, *weak)
        return (*readings, *weak, Reading("masc", "sing", "nomn", "Surn", 0.02, word), *fixed)
    made = surname or (
        *_made(_FOREIGN, _DECLENSION, word, 0.3),
        *_made(_FOREIGN, _MEN_IN_A, word, 0.4 if _IN_A.search(word) else 0.1),
    )
    # What ends in another vowel rarely inflects: Пелоси, Раттке, Зурабишвили.
    score = 0.5 if not surname and (word[-1] in "иоэ" or _FIXED.search(word)) else 0.05 if made else 0.1
    kept = tuple(Reading(None, "sing", case, "Surn", score, word) for case in CASES)
    if word[-1] in _CONSONANTS and not surname:
        kept = tuple(reading._replace(gender="femn", score=0.15) for reading in kept)
    return (*made, *kept) if made else (*readings_of(word), *kept)


def _made(
    shape: re.Pattern[str], endings: dict[str, tuple[tuple[str, str, str], ...]], word: str, score: float
) -> tuple[Reading, ...]:
    """Readings of a word by its ending alone."""
    match = shape.match(word)
    if match is None:
        return ()
    stem, ending = match.groups()
    only = "femn" if ending == "е" and endings is _DECLENSION and _FEMININE.search(stem) else None  # Ромке
    return tuple(
        Reading(
            gender,
            "sing",
            case,
            "Surn",
            score,
            stem + nominative.replace("а", "я" if stem[-1] == "й" else "а"),
        )
        for gender, case, nominative in endings.get(ending, ())
        if only in (None, gender)
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
    if "ADJF" in parse.tag and nominative[:4] != word[:4]:  # Высшей школы is no Высочайшая
        forms = [str(other.word) for other in parse.lexeme if grammemes <= other.tag.grammemes]
        nominative = next((other for other in forms if other[:4] == word[:4]), nominative)
    # The dictionary restores ё in first names (Артём); elsewhere the writer's spelling stays.
    if "ё" not in word and "Name" not in parse.tag and "е" in word:
        nominative = nominative.replace("ё", "е")
    return nominative

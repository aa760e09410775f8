"""The readable nominative of a name: gender and case agreement for persons, head and adjectives for the rest.

By per-word lemma .79 of persons, .93 of places and .82 of organisations come out right; by agreement .91, .95
and .96 (`bench/entities.py` over norm_dev).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import NamedTuple

from indexer.entities.declension import (
    CASES,
    PERSONAL,
    Reading,
    personal_readings_of,
    place_readings_of,
    possessive_readings_of,
)
from indexer.entities.demonyms import place_of
from indexer.text.lemmas import analyser

_WORD = re.compile(r"[А-ЯЁа-яё]+(?:[-‐‑][А-ЯЁа-яё]+)*")
_OBLIQUE = {
    "gent": (
        "у",
        "от",
        "до",
        "из",
        "без",
        "для",
        "около",
        "после",
        "против",
        "кроме",
        "с",
        "со",
        "ради",
        "вокруг",
    ),
    "datv": ("к", "ко", "по", "благодаря", "согласно"),
    "accs": ("про", "через", "в", "во", "на", "за", "сквозь"),
    "ablt": ("с", "со", "над", "под", "перед", "между", "за"),
    "loct": ("в", "во", "на", "о", "об", "обо", "при"),
}
# Share that a case keeps when the word before does not govern it, and when that word's own case differs.
_UNGOVERNED = 0.02
_APART = 0.4
# What a word without a fitting parse costs.
_UNFIT = 0.001
# How much likelier a word is a name here than in running text.
_KINDS = {"Geox": 20.0, "Orgn": 20.0, "Name": 3.0, "Surn": 2.0}
# Parts of names that never inflect before another part.
PARTICLES = frozenset(
    [
        "аль",
        "эль",
        "ибн",
        "бин",
        "бен",
        "фон",
        "цу",
        "дер",
        "ден",
        "ван",
        "де",
        "ди",
        "да",
        "дю",
        "дель",
        "делла",
        "дес",
        "ла",
        "ле",
        "лас",
        "лос",
        "эр",
        "эс",
        "ас",
        "аш",
        "сан",
        "санта",
        "санто",
        "сен",
        "сент",
        "нью",
        "лонг",
        "милли",
        "ель",
        "оф",
        "энд",
    ]
)
# Words that qualify the next without inflecting: Национальной Медиа Группы.
_PREFIXED = frozenset(
    [
        "медиа",
        "интернет",
        "бизнес",
        "веб",
        "онлайн",
        "пресс",
        "шоу",
        "арт",
        "поп",
        "рок",
        "евро",
        "мега",
        "эко",
        "нано",
        "авто",
        "теле",
        "фото",
        "промо",
    ]
)
_ABBREVIATION = re.compile(r"^([А-ЯЁ]{2,})(?:-?[а-яё]{1,2})?$")


def _recased(form: str, like: str) -> str:
    """The form with the capitals of the surface; letters past the common prefix are small."""
    if like.isupper() and len(like) > 1:
        return form.upper()
    parts, shapes = form.split("-"), re.split("[-‐‑]", like)
    if len(parts) == len(shapes):
        return "-".join(
            part[:1].upper() + part[1:] if shape[:1].isupper() else part
            for part, shape in zip(parts, shapes, strict=True)
        )
    return form[:1].upper() + form[1:] if like[:1].isupper() else form


@lru_cache(maxsize=50_000)
def _prior(before: str) -> dict[str, float]:
    """How likely each case is after a word: governed by a preposition, or agreeing with a person word."""
    governed = {case for case, words in _OBLIQUE.items() if before in words}
    if governed:
        return {case: 1.0 if case in governed else _UNGOVERNED for case in CASES}
    if before:
        own = {
            parse.tag.case
            for parse in analyser().parse(before)
            if parse.is_known and "NOUN" in parse.tag and "anim" in parse.tag and parse.score > 0.05
        }
        if own:
            return {case: 1.0 if case in own else _APART for case in CASES}
    return {}


def _person(words: Sequence[str], prior: dict[str, float]) -> list[str]:
    """Nominatives of a person's words under the gender and case that fit them best together."""
    best, chosen = -1.0, list(words)
    lists = [personal_readings_of(word) for word in words]
    for gender in ("masc", "femn"):
        for case in CASES:
            score, forms = prior.get(case, 1.0), []
            for place, (word, readings) in enumerate(zip(words, lists, strict=True)):
                if len(words) > 1 and word in PARTICLES:
                    forms.append(word)
                    continue
                # Кать, глянь: people are called by the first name alone.
                cases = (case, "voct") if case == "nomn" and not place else (case,)
                fit = [
                    (reading.score * PERSONAL.get(reading.kind, 0.1), reading)
                    for reading in readings
                    if reading.case in cases and reading.gender in (gender, None) and reading.number != "plur"
                ]
                weight, reading = max(fit, key=lambda pair: pair[0], default=(_UNFIT, None))
                score *= weight
                forms.append(reading.nominative if reading else word)
            if score > best * 1.0001:
                best, chosen = score, forms
    return chosen


class _Word(NamedTuple):
    """A word of a place or an organisation: in small letters, whether it has a capital, its readings."""

    text: str
    capital: bool
    readings: tuple[Reading, ...]

    @property
    def known(self) -> bool:
        return bool(analyser().word_is_known(self.text))


def _phrase(words: Sequence[_Word], prior: dict[str, float]) -> list[str]:
    """Nominatives of the head noun of a place or organisation and of the adjectives before it."""
    adjectives: list[tuple[Reading, ...]] = []
    for head, word in enumerate(words):
        following = words[head + 1] if head + 1 < len(words) else None
        qualifying = _qualifying(word, following, first=head == 0)
        if qualifying is not None:
            adjectives.append(qualifying)
            continue
        case, forms = _agreed(words[:head], adjectives, word, prior)
        rest = words[head + 1 :]
        if len(rest) > 1 and rest[0].text == "и":  # Боснии и Герцеговине
            return [*forms, "и", *_phrase(rest[1:], dict.fromkeys(CASES, _UNFIT) | {case: 1.0})]
        return [*forms, *(other.text for other in rest)]
    # Adjectives alone: Английский (канал), Тверская.
    if len(words) > 1 or not adjectives[0]:
        return [word.text for word in words]
    return [max(adjectives[0], key=_weight(prior)).nominative]


def _qualifying(word: _Word, following: _Word | None, *, first: bool) -> tuple[Reading, ...] | None:
    """Readings of a word that qualifies the head after it, none for one that does not inflect; else None."""
    if following and (word.text in PARTICLES or (not first and word.text in _PREFIXED)):
        return ()
    nouns = [reading for reading in word.readings if reading.kind != "adjective"]
    adjectives = tuple(reading for reading in word.readings if reading.kind == "adjective")
    if not nouns and adjectives:
        return adjectives
    if following is None:
        return None
    if adjectives and _sum(adjectives) > _sum(nouns):
        return adjectives
    if first and following.capital and not word.known and word.text[-1] in "бвгджзклмнпрстфхцчш":
        return ()  # Яндекс Маркета
    # Дзержинского театра is a theatre, not a Dzerzhinsky; Воробьёвых гор are hills.
    heads = {(r.gender, r.number, r.case) for r in following.readings if r.kind == "noun"}
    possible = adjectives or possessive_readings_of(word.text)
    agreeing = tuple(r for r in possible if any(_agree(r, *head) for head in heads))
    return agreeing or None


def _agree(adjective: Reading, gender: str | None, number: str | None, case: str) -> bool:
    if (adjective.number, adjective.case) != (number, case):
        return False
    return number == "plur" or gender is None or adjective.gender in (gender, None)


def _agreed(
    before: Sequence[_Word], adjectives: Sequence[tuple[Reading, ...]], head: _Word, prior: dict[str, float]
) -> tuple[str, list[str]]:
    """The case of the head, and it and the words before it in the nominative, as they agree best."""
    best, chosen, case = -1.0, [word.text for word in (*before, head)], "nomn"
    kinds = _KINDS if head.capital and head.known else {}
    for noun in head.readings:
        if noun.kind == "adjective" or noun.case == "voct":
            continue
        score = noun.score * prior.get(noun.case, 1.0) * kinds.get(noun.kind, 1.0)
        forms = []
        for word, readings in zip(before, adjectives, strict=True):
            fit = [reading for reading in readings if _agree(reading, noun.gender, noun.number, noun.case)]
            adjective = max(fit, key=lambda reading: reading.score, default=None)
            score *= adjective.score if adjective else _UNFIT if readings else 1.0
            forms.append(adjective.nominative if adjective else word.text)
        if score > best * 1.0001:
            best, chosen, case = score, [*forms, noun.nominative], noun.case
    return case, chosen


def _weight(prior: dict[str, float]) -> Callable[[Reading], float]:
    def weight(reading: Reading) -> float:
        return reading.score * prior.get(reading.case, 1.0) * (2.0 if reading.gender == "masc" else 1.0)

    return weight


def _sum(readings: Sequence[Reading]) -> float:
    return sum(reading.score for reading in readings)


@lru_cache(maxsize=100_000)
def readable(surface: str, type: str, before: str = "") -> str:
    """The nominative of a name as a reader would write it.

    Args:
        surface: the name as it stands in the (truecased) text.
        type: PER, LOC or ORG; other types come back with white space squeezed.
        before: the lower-case word before it, whose case it shares or which governs it; may be empty.

    Returns:
        The name in the nominative, with the capitals of the surface; words that are no Russian stay.
    """
    surface = " ".join(surface.split())
    if type not in ("PER", "LOC", "ORG"):
        return surface
    if type == "LOC" and (place := place_of(surface)):
        return place
    matches = [match for match in _WORD.finditer(surface) if len(match.group()) > 1 or type != "PER"]
    if type != "PER":
        # Only what stands before Latin words, digits or an inner quotation belongs to the head.
        limit = re.search(r"(?<=\S)\s*[«\"“„(]|[A-Za-z0-9]", surface)
        matches = [match for match in matches if limit is None or match.start() < limit.start()]
        for number, match in enumerate(matches):
            if _ABBREVIATION.match(match.group()):
                kept = _ABBREVIATION.sub(r"\1", match.group()) if number == 0 else match.group()
                if number == 0:
                    return surface[: match.start()] + kept + surface[match.end() :]
                matches = matches[:number]
                break
    if not matches:
        return surface
    words = [re.sub("[‐‑]", "-", match.group().lower()) for match in matches]
    if type == "PER":
        forms = _person(words, _prior(before))
    else:
        capitals = [match.group()[0].isupper() for match in matches]
        described = [
            _Word(word, capital, place_readings_of(word, type == "ORG"))
            for word, capital in zip(words, capitals, strict=True)
        ]
        forms = _phrase(described, _prior(before))
    parts: list[str] = []
    at = 0
    for match, word, form in zip(matches, words, forms, strict=True):
        own = match.group()
        parts += [surface[at : match.start()], own if form == word else _recased(form, own)]
        at = match.end()
    return "".join([*parts, surface[at:]])

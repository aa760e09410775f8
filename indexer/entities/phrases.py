"""The nominative of a place or an organisation: its head noun and the adjectives that agree with it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from indexer.entities.declension import CASES, Reading, possessive_readings_of
from indexer.text.lemmas import analyser

# What a word without a fitting parse costs.
UNFIT = 0.001
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


class Word(NamedTuple):
    """A word of a place or an organisation: in small letters, whether it has a capital, its readings."""

    text: str
    capital: bool
    readings: tuple[Reading, ...]

    @property
    def known(self) -> bool:
        """Whether the dictionary has the word."""
        return bool(analyser().word_is_known(self.text))


def phrase(words: Sequence[Word], prior: dict[str, float]) -> list[str]:
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
            return [*forms, "и", *phrase(rest[1:], dict.fromkeys(CASES, UNFIT) | {case: 1.0})]
        return [*forms, *(other.text for other in rest)]
    # Adjectives alone: Английский (канал), Тверская.
    if len(words) > 1 or not adjectives[0]:
        return [word.text for word in words]
    return [max(adjectives[0], key=_weight(prior)).nominative]


def _qualifying(word: Word, following: Word | None, *, first: bool) -> tuple[Reading, ...] | None:
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
        return ()  # Тинькофф Банка
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
    before: Sequence[Word], adjectives: Sequence[tuple[Reading, ...]], head: Word, prior: dict[str, float]
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
            score *= adjective.score if adjective else UNFIT if readings else 1.0
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

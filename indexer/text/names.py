"""The merge key of a name: one key for all its inflections, the same on the index and on the query side."""

from __future__ import annotations

import re
from functools import cache, lru_cache
from typing import Any

from indexer.text.aliases import canonical, table
from indexer.text.lemmas import analyser
from indexer.text.normal import normal

# `+` and `#` tell C, C++ and C# apart, the currency tells $5 from 5 ₽.
_WORD = re.compile(r"[^\W_]+(?:[-‐‑][^\W_]+)*[+#]*|[$€₽£]")
_CYRILLIC = re.compile(r"^[а-я]+(?:-[а-я]+)*$")
# A Russian ending or an English possessive hung on a Latin word: OpenAI'а, Docker-ом, Anthropic’s.
_TAIL = re.compile(r"(?<=[a-z0-9])(?:['’`‐‑-][а-я]{1,3}|['’`]s)(?![^\W_])")
_SURNAMES = (
    (re.compile(r"^(.{2,}(?:ов|ев|ин|ын))(?:а|у|ым|ом|е|ой)?$"), ""),
    (re.compile(r"^(.{2,}[сц]к)(?:ий|ого|ому|им|ом|ая|ой|ую)$"), "ий"),
)
# Маковского is a surname and a town: one lemma for both; больший and большой share most forms; Павле is
# rather a Павел than a Павля.
_NEUTER = re.compile(r"(?<=[сц]к)(?:ое|ая)$")
_TWINS = {
    "больший": "большой",
    "павля": "павел",
    # A rare name, and the common one whose forms it shares.
    "ала": "аля",
    "алеш": "алеша",
    "валери": "валерий",
    "вит": "витя",
    "гала": "галя",
    "гог": "гога",
    "дан": "даня",
    "данил": "данила",
    "игор": "игорь",
    "кола": "коля",
    "коста": "костя",
    "лех": "леха",
    "лила": "лиля",
    "мана": "маня",
    "марке": "марк",
    "марку": "марк",
    "рустика": "рустик",
    "сана": "саня",
    "сереж": "сережа",
    "тима": "тим",
    "тола": "толя",
    "толика": "толик",
    "фай": "фая",
}
_CASE = re.compile(r"(?<=..)(?:[ая]ми|[аоея]м|[ая]х|[ое]й)$")
_VOWELS = re.compile(r"[аеиоуыэюяьй]+$")
# Света is oftener a Светлана than the light.
_FORMS = {"света": "света", "свете": "света"}
_NAME_TAGS = ("Name", "Surn", "Patr", "Geox")
# How much likelier a word is a name here than in running text: only names are given keys.
_NAME_BONUS = 20.0
# What stands after one of these inside a name does not inflect: Ростов-на-Дону, Комсомольск-на-Амуре.
_GOVERNORS = frozenset({"на", "под", "при", "по", "в", "за", "из", "над", "для", "об", "о", "к"})


@lru_cache(maxsize=30_000)
def _lemma(word: str) -> str:
    """The one lemma that stands for a Cyrillic word in a key."""
    if word in _FORMS:
        return _FORMS[word]
    parses = [parse for parse in analyser().parse(word) if parse.is_known]
    if not parses:
        return _guessed(word)
    weights: dict[str, float] = {}
    for parse in parses:
        weight = parse.score * (0.2 if parse.tag.number == "plur" else 1.0)
        weight *= _NAME_BONUS if any(mark in parse.tag for mark in _NAME_TAGS) else 1.0
        weight *= 0.02 if "Fixd" in parse.tag else 1.0  # Вале, Юли: rather a Валя and a Юля
        lemma = _folded(parse)
        weights[lemma] = weights.get(lemma, 0.0) + weight
    best = max(sorted(weights), key=weights.__getitem__)
    return _TWINS.get(best) or _NEUTER.sub("ий", best)


def stem(word: str) -> str:
    """What all cases of a Cyrillic name that the dictionary lacks share: хайнц, хайнца, хайнцем.

    A guess of the lemma would differ from case to case (хайнец, хайнцема); a stem does not, and a query has
    the same.

    Args:
        word: a word in normal form.
    """
    bare = _CASE.sub("", word)
    bare = _VOWELS.sub("", bare)
    return bare if len(bare) > 2 else word


def _guessed(word: str) -> str:
    """What stands for a word that the dictionary lacks: by a surname's ending, else its stem."""
    for ending, restored in _SURNAMES:
        found = ending.match(word)
        if found:
            return found.group(1) + restored
    return stem(word)


@cache
def _slang() -> dict[str, str]:
    """Stem → canonical name of the slang forms that the dictionary lacks (фигмой, постгрю)."""
    forms = ((form, name) for form, name in table().items() if _CYRILLIC.match(form))
    return {stem(form): name for form, name in forms if not analyser().word_is_known(form)}


def slang(word: str) -> str | None:
    """The canonical name behind a slang word in any case, or None; for words that the dictionary lacks."""
    if len(word) < 4 or not _CYRILLIC.match(word) or analyser().word_is_known(word):
        return None
    return _slang().get(stem(word))


def _folded(parse: Any) -> str:
    """The lemma, with Александра folded to Александр and Евгения to Евгений.

    The forms of such pairs can't be told apart by the word alone.
    """
    name = normal(parse.normal_form)
    if "Name" not in parse.tag or parse.tag.gender != "femn" or name[-1:] not in "ая":
        return name
    for twin in (name[:-1], name[:-1] + "й"):
        for other in analyser().parse(twin):
            man = other.is_known and "Name" in other.tag and other.tag.gender == "masc"
            if man and normal(other.normal_form) == twin:
                return twin
    return name


def _words(word: str, fixed: bool) -> list[str]:
    if len(word) == 1 or not _CYRILLIC.match(word):
        return re.split("[-‐‑]", word)
    if fixed:
        return word.split("-")
    if "-" not in word or analyser().word_is_known(word):
        return _lemma(word).split("-")
    parts = word.split("-")
    return [
        part if len(part) == 1 or (place and parts[place - 1] in _GOVERNORS) else _lemma(part)
        for place, part in enumerate(parts)
    ]


def name_words(text: str) -> list[str]:
    """The words that keys are made of, in normal form and order; C++ and ростове-на-дону are one each.

    A query that looks for names joins runs of these by a blank and asks `name_key`, so that `C++` stays C++.
    """
    return _WORD.findall(_TAIL.sub("", " ".join(normal(text).split())))


@lru_cache(maxsize=50_000)
def name_key(text: str) -> str:
    """The merge key of a name in any inflection, spelling of ё, case, or known slang form.

    Each Cyrillic word is brought to one lemma chosen without context: a parse as first name, surname,
    patronymic or place beats others, names of men and women that share forms (Александра) fall together,
    then the likelier parse wins. Petrov and Petrova share a key, as their oblique forms do. Latin words stay
    as they are.

    Args:
        text: the name as found in a message or typed in a query; any string.

    Returns:
        Lemmas in normal form joined by single spaces; empty only for a text of white space.
    """
    form = " ".join(normal(text).split())
    bare = _TAIL.sub("", form)
    key = _plain(bare)
    # By the words as written, then by their lemmas; the canonical name is not looked up again.
    known = canonical(bare) or canonical(key) or slang(bare)
    return (_plain(normal(known)) if known is not None else key) or form


@lru_cache(maxsize=200_000)
def written_key(text: str) -> str:
    """As `name_key`, without slang and twins: питер stays питер. For names that a person has split off."""
    form = " ".join(normal(text).split())
    return _plain(_TAIL.sub("", form)) or form


def _plain(bare: str) -> str:
    words: list[str] = []
    before = ""
    for word in _WORD.findall(bare):
        words += _words(word, fixed=bool(words) and before in _GOVERNORS)
        before = word
    return " ".join(words)

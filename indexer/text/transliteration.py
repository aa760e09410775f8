"""Russian written in Latin letters, read back: every reading that a lexicon holds, likelier ones first.

People mix the systems (ISO 9, BGN/PCGN, GOST 7.79, that of passports) and what they make up: a letter has
several readings, and the words that exist decide. A walk through the lexicon drops at once what begins no
word, so that all systems are tried together.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from importlib.resources import files
from typing import Any, Protocol, TypeVar

from indexer.text.lemmas import analyser

# Latin letters → (Cyrillic letters, cost). Cost 0 is what some system writes, 1 what people leave out or
# mix up, 2 what a few do.
_READINGS: dict[str, tuple[tuple[str, int], ...]] = {
    "a": (("а", 0),),
    "b": (("б", 0),),
    "c": (("ц", 0), ("к", 1), ("с", 2)),
    "d": (("д", 0),),
    "e": (("е", 0), ("э", 1)),
    "f": (("ф", 0),),
    "g": (("г", 0),),
    "h": (("х", 0),),
    "i": (("и", 0), ("й", 1)),
    "j": (("й", 0), ("ж", 1)),
    "k": (("к", 0),),
    "l": (("л", 0),),
    "m": (("м", 0),),
    "n": (("н", 0),),
    "o": (("о", 0),),
    "p": (("п", 0),),
    "q": (("к", 1),),
    "r": (("р", 0),),
    "s": (("с", 0),),
    "t": (("т", 0),),
    "u": (("у", 0), ("ю", 1)),
    "v": (("в", 0),),
    "w": (("в", 1), ("ш", 2)),
    "x": (("кс", 0), ("х", 0)),
    "y": (("ы", 0), ("й", 0), ("и", 2)),
    "z": (("з", 0),),
    "'": (("ь", 0), ("ъ", 0), ("", 1)),
    "ch": (("ч", 0),),
    "dj": (("дж", 0),),
    "eh": (("э", 0),),
    "ia": (("я", 1), ("ья", 1)),
    "ie": (("ье", 1),),
    "iu": (("ю", 1), ("ью", 1)),
    "ij": (("ый", 1),),
    "iy": (("ый", 1),),
    "ja": (("я", 0),),
    "je": (("е", 0), ("э", 1)),
    "jo": (("е", 0),),
    "ju": (("ю", 0),),
    "kh": (("х", 0),),
    "sh": (("ш", 0), ("щ", 1)),
    "ts": (("ц", 0),),
    "tz": (("ц", 0),),
    "ya": (("я", 0),),
    "ye": (("е", 0),),
    "yo": (("е", 0),),
    "yu": (("ю", 0),),
    "zh": (("ж", 0),),
    "sch": (("щ", 0),),
    "shh": (("щ", 0),),
    "shch": (("щ", 0), ("сч", 1)),
}
# Cyrillic letters → (Latin letters, cost): the same of names that come from Latin scripts, by their sound.
_SPELLINGS: dict[str, tuple[tuple[str, int], ...]] = {
    "а": (("a", 0), ("u", 1)),
    "б": (("b", 0), ("bb", 0)),
    "в": (("v", 0), ("w", 0)),
    "г": (("g", 0), ("h", 1), ("gg", 0)),
    "д": (("d", 0), ("dd", 0)),
    "е": (("e", 0), ("ye", 0), ("ie", 1), ("a", 1)),
    "ж": (("zh", 0), ("j", 0), ("g", 1)),
    "з": (("z", 0), ("s", 1), ("zz", 0)),
    "и": (("i", 0), ("y", 0), ("e", 1), ("ee", 1), ("ea", 1)),
    "й": (("y", 0), ("i", 0), ("j", 0)),
    "к": (("k", 0), ("c", 0), ("ck", 0), ("cc", 0), ("q", 1), ("ch", 1)),
    "л": (("l", 0), ("ll", 0)),
    "м": (("m", 0), ("mm", 0)),
    "н": (("n", 0), ("nn", 0)),
    "о": (("o", 0), ("a", 1), ("au", 1)),
    "п": (("p", 0), ("pp", 0)),
    "р": (("r", 0), ("rr", 0)),
    "с": (("s", 0), ("c", 0), ("ss", 0)),
    "т": (("t", 0), ("th", 0), ("tt", 0)),
    "у": (("u", 0), ("oo", 0), ("w", 1), ("ou", 1)),
    "ф": (("f", 0), ("ph", 0), ("ff", 0)),
    "х": (("h", 0), ("kh", 0), ("ch", 0)),
    "ц": (("c", 0), ("ts", 0), ("tz", 0), ("z", 1)),
    "ч": (("ch", 0), ("tch", 0)),
    "ш": (("sh", 0), ("sch", 0), ("ch", 1)),
    "щ": (("shch", 0), ("sch", 0)),
    "ъ": (("", 0),),
    "ы": (("y", 0), ("i", 0)),
    "ь": (("", 0),),
    "э": (("e", 0), ("a", 1)),
    "ю": (("u", 0), ("yu", 0), ("ju", 0), ("ew", 1)),
    "я": (("ya", 0), ("ia", 0), ("ja", 0), ("a", 1)),
    "дж": (("j", 0), ("g", 0)),
    "кс": (("x", 0),),
    "ай": (("i", 1), ("y", 1)),
    "ей": (("a", 1), ("ay", 0), ("ai", 1)),
}
_LONGEST_GROUP = 4
# The end of an adjective: novy, dostoevsky, chaikovski.
_ENDINGS = {"y": (("ый", 1), ("ий", 1)), "i": (("ий", 1),)}
_CONSONANTS = frozenset("бвгджзклмнпрстфхцчшщ")
_SOFT = (("ь", 1), ("ъ", 2))

# Places of the lexicon that one word may touch: a few hundred are usual, and a made-up word ends here.
_STEPS = 3_000

_Place = TypeVar("_Place")
_Table = Mapping[str, Sequence[tuple[str, int]]]
_Follow = Callable[[str, int, str], Iterator[tuple[int, str, int]]]


class Lexicon(Protocol[_Place]):
    """Words, walked letter by letter."""

    @property
    def root(self) -> _Place:
        """Where every walk begins."""

    def step(self, place: _Place, letter: str) -> _Place | None:
        """Where the words stand that go on with a letter; None where there are none."""

    def ends(self, place: _Place) -> bool:
        """Whether the letters so far are a word."""


class Dictionary:
    """The words that pymorphy3 knows, about five million forms, with ё as е."""

    root: tuple[int, ...] = (0,)

    def __init__(self) -> None:
        words: Any = analyser().dictionary.words
        self._follow = words.dct.follow_bytes
        # A form's key ends with this and what is known of the form.
        self._end = b"\x01"

    def step(self, place: tuple[int, ...], letter: str) -> tuple[int, ...] | None:
        """See `Lexicon.step`."""
        forms = ("е", "ё") if letter == "е" else (letter,)
        found = (self._follow(form.encode(), at) for at in place for form in forms)
        return tuple(at for at in found if at) or None

    def ends(self, place: tuple[int, ...]) -> bool:
        """See `Lexicon.ends`."""
        return any(self._follow(self._end, at) for at in place)


@cache
def dictionary() -> Dictionary:
    """The dictionary of this process; loaded on first use."""
    return Dictionary()


@cache
def english_words() -> frozenset[str]:
    """Common English words, some of which read as Russian ones by chance (code: коде)."""
    lines = files("indexer.text").joinpath("data", "english.txt").read_text("utf-8").splitlines()
    return frozenset(word for line in lines for word in line.partition("#")[0].split())


def readings(word: str, lexicon: Lexicon[Any]) -> list[tuple[int, str]]:
    """The words of a lexicon that a Latin word may stand for.

    Args:
        word: Latin letters and apostrophes, in the normal form.
        lexicon: in the normal form.

    Returns:
        (cost, Cyrillic word), cheapest first; see `_READINGS`.
    """
    return _walked(word, lexicon, _russian)


def plain(word: str) -> str:
    """A Latin word letter by letter in Cyrillic, by the longest groups, whether it is a word or not."""
    read, at = "", 0
    while at < len(word):
        size = next(
            size for size in range(_LONGEST_GROUP, 0, -1) if size == 1 or word[at : at + size] in _READINGS
        )
        read += _READINGS.get(word[at : at + size], ((word[at], 0),))[0][0]
        at += size
    return read


def spellings(word: str, lexicon: Lexicon[Any]) -> list[tuple[int, str]]:
    """The Latin words of a lexicon that a Cyrillic word may spell by their sound: докер, кубернетес.

    Args:
        word: Cyrillic letters, in the normal form.
        lexicon: in the normal form.

    Returns:
        (cost, Latin word), cheapest first.
    """
    return _walked(word, lexicon, _latin)


def _walked(word: str, lexicon: Lexicon[Any], follow: _Follow) -> list[tuple[int, str]]:
    best: dict[str, int] = {}
    steps = 0
    open_ends: list[tuple[int, str, int, Any]] = [(0, "", 0, lexicon.root)]
    while open_ends and steps < _STEPS:
        at, read, cost, place = open_ends.pop()
        if at == len(word) and lexicon.ends(place):
            best[read] = min(cost, best.get(read, cost))
        for size, letters, more in follow(word, at, read):
            steps += 1
            further = _led(lexicon, place, letters)
            if further is not None:
                open_ends.append((at + size, read + letters, cost + more, further))
    return sorted((cost, read) for read, cost in best.items())


def _russian(word: str, at: int, read: str) -> Iterator[tuple[int, str, int]]:
    """What may be read next: how many Latin letters, as what, at which cost."""
    yield from _groups(_READINGS, word, at)
    if at == len(word) - 1:
        for letters, cost in _ENDINGS.get(word[at], ()):
            yield 1, letters, cost
    if read and read[-1] in _CONSONANTS and word[at - 1] != "'":
        for letters, cost in _SOFT:
            yield 0, letters, cost


def _latin(word: str, at: int, read: str) -> Iterator[tuple[int, str, int]]:
    yield from _groups(_SPELLINGS, word, at)
    if at == len(word) and read[-1:] != "e":
        yield 0, "e", 1  # silent: апдейт, update


def _groups(table: _Table, word: str, at: int) -> Iterator[tuple[int, str, int]]:
    for size in range(1, min(_LONGEST_GROUP, len(word) - at) + 1):
        for letters, cost in table.get(word[at : at + size], ()):
            yield size, letters, cost


def _led(lexicon: Lexicon[Any], place: Any, letters: str) -> Any:
    for letter in letters:
        place = lexicon.step(place, letter)
        if place is None:
            return None
    return place

"""The head of a message in a WhatsApp export: as the phone's locale has it, so read off the whole file.

Android writes `12.02.19, 14:22 - `, iOS `[01.03.2025, 9:00:01] `; order, separators, clock and words between
them are the locale's. One export holds one layout; a text of several exports may hold several.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, timedelta, tzinfo

from indexer.archives.times import midnight, parse_time

# Invisible marks that WhatsApp puts around heads, names, numbers and its own words.
MARKS = "\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\ufeff"
_SPACE = f"[ \t\xa0\u1680\u2000-\u200a\u202f\u205f\u3000{MARKS}]"
_BETWEEN = rf"({_SPACE}{{0,2}}[./\-年년月월]{_SPACE}{{0,2}}|{_SPACE})"
_DATE = rf"(\d{{1,4}}){_BETWEEN}(\d{{1,2}}){_BETWEEN}(\d{{1,4}})"
_CLOCK = r"(\d{1,2})[:.](\d\d)(?:[:.](\d\d))?"
# A comma, `г.`, `klo`, `à`, AM or PM; no digits and nothing that a text would rather hold.
_WORDS = r"([^\d\n\[\]()<>\"'«»:;/\\|@#-]{%s}?)"
_END = rf"(?(1)\]|{_SPACE}{{0,2}}[-–—])(?:{_SPACE}|(?=\n)|\Z)"
_DATE_FIRST = re.compile(rf"\n[{MARKS}]*(\[)?{_DATE}{_WORDS % '1,14'}{_CLOCK}{_WORDS % '0,12'}{_END}")
_CLOCK_FIRST = re.compile(rf"\n[{MARKS}]*(\[)?{_CLOCK}{_WORDS % '1,14'}{_DATE}{_WORDS % '0,12'}{_END}")

_MERIDIEM = {
    **dict.fromkeys(("am", "a", "vorm", "πμ", "öö", "上午", "午前", "오전", "ص", "дп", "утра", "ночи"), 0),
    **dict.fromkeys(("sa", "fm", "ap", "pg", "dop", "пробед", "проб", "पूर्वाह्न"), 0),
    **dict.fromkeys(("pm", "p", "nachm", "μμ", "ös", "下午", "午後", "오후", "م", "пп", "дня", "вечера"), 12),
    **dict.fromkeys(("ch", "em", "ip", "ptg", "odp", "слоб", "अपराह्न"), 12),
}
# Words of other locales around the clock; any other word must stand in most heads of the file.
_USUAL = frozenset(
    {"", "г", "р", "в", "о", "ч", "год", "klo", "kl", "à", "às", "at", "um", "om", "u", "h", "hs", "uhr"}
    | {"ore", "alle", "ob", "日", "일", "saat", "a las", "στις", "г ч"}
)

_ORDERS = {"dmy": (0, 1, 2), "mdy": (1, 0, 2), "ymd": (2, 1, 0), "ydm": (1, 2, 0)}
# Where this many heads stand, a layout of less than a hundredth of them is a quotation in a text.
_MANY = 100
_MOST_LAYOUTS = 500
_DAY_MS = 86_400_000

_Date = tuple[str, str, str]
_Order = tuple[int, int, int]
# What tells one layout from another: bracket, what stands between day and month, the words before and after
# the clock, whether seconds are missing, and how many digits the first number has.
_Key = tuple[str | None, str, str, str, bool, int]
_Found = tuple[_Key, _Date, str, str, str | None]


class Layout:
    """Learns the heads of a file in a first pass and reads them in a second.

    The order of the date is the one under which fewest dates are impossible or go backwards; among equals the
    one that makes the talk shortest (three dates at least); else by custom: day first, but month first for
    `2/12/19, 2:25 PM` as phones in the USA write it, and never month first with dots.
    """

    def __init__(self, zone: tzinfo, clock_first: bool) -> None:
        self._zone = zone
        self._clock_first = clock_first
        self._pattern = _CLOCK_FIRST if clock_first else _DATE_FIRST
        self._forms: dict[_Key, _Form] = {}
        self._dates: dict[_Shape, _Dates] = {}
        self._decided = False
        self._day: tuple[_Date, _Order, int | None, bool] = (("", "", ""), (0, 0, 0), None, False)

    def learn(self, text: str) -> Iterator[int]:
        r"""Take a piece of the first pass, which begins with a `\n`; where the heads in it end."""
        for match in self._pattern.finditer(text):
            found = _found(match, self._clock_first)
            form = self._forms.get(found[0]) or self._new_form(found[0])
            if form is not None:
                form.dates.take(found[1], form)
                yield match.end()

    def read(self, text: str) -> Iterator[tuple[int, int, int | None]]:
        """(begin, end, time in UTC ms or None) of the heads in a piece of the second pass."""
        if not self._decided:
            self._decide()
        for match in self._pattern.finditer(text):
            found = _found(match, self._clock_first)
            form = self._forms.get(found[0])
            if form is not None and form.order is not None:
                yield match.start(), match.end(), self._at(found, form.order, form.meridiem)

    def _decide(self) -> None:
        self._decided = True
        total = sum(dates.count for dates in self._dates.values())
        orders: dict[_Shape, _Order | None] = {}
        for shape, dates in self._dates.items():
            usual = dates.count * 100 >= total or total < _MANY
            most = dates.count * 2 > total
            orders[shape] = dates.order() if most or (usual and not shape.odd) else None
        for form in self._forms.values():
            form.order = orders[form.shape]

    def _new_form(self, key: _Key) -> _Form | None:
        if len(self._forms) >= _MOST_LAYOUTS:
            return None
        meridiem = meridiem_of(key)
        shape = _Shape.of(key, meridiem)
        if shape not in self._dates:
            self._dates[shape] = _Dates(shape)
        form = self._forms[key] = _Form(shape, self._dates[shape], meridiem, "AM" in key[3] or "PM" in key[3])
        return form

    def _at(self, found: _Found, order: _Order, meridiem: int | None) -> int | None:
        date_ = found[1]
        hour, minute, second = int(found[2]), int(found[3]), int(found[4] or 0)
        if meridiem is not None and hour <= 12:
            hour = hour % 12 + meridiem
        if hour > 23 or minute > 59 or second > 59:
            return None
        if self._day[0] != date_ or self._day[1] != order:
            self._day = (date_, order, *_beginning(date_, order, self._zone))
        begins, plain = self._day[2], self._day[3]
        if begins is None:
            return None
        if plain:
            return begins + (hour * 3600 + minute * 60 + second) * 1000
        day = _calendar(date_, order)
        return parse_time(f"{day} {hour:02}:{minute:02}:{second:02}", self._zone)


@dataclass(frozen=True, slots=True)
class _Shape:
    """What all heads of one layout share."""

    bracket: bool
    separator: str
    year_first: bool
    words: str
    seconds: bool
    odd: bool

    @staticmethod
    def of(key: _Key, meridiem: int | None) -> _Shape:
        bracket, between, before, after, bare, digits = key
        words = (_plain(before), _plain(after))
        known = meridiem is not None or all(word in _USUAL for word in words)
        return _Shape(
            bracket is not None,
            between.strip(f"{MARKS} \xa0\u202f") or " ",
            digits == 4,
            "" if meridiem is not None else " ".join(words),
            not bare,
            not known,
        )


class _Form:
    """One way to write a head of a layout (AM and PM are two), with what was decided about it."""

    __slots__ = ("american", "dates", "meridiem", "order", "shape")

    def __init__(self, shape: _Shape, dates: _Dates, meridiem: int | None, american: bool) -> None:
        self.shape, self.dates, self.meridiem, self.american = shape, dates, meridiem, american
        self.order: _Order | None = None


def _found(match: re.Match[str], clock_first: bool) -> _Found:
    if clock_first:
        bracket, hour, minute, second, before, a, between, b, _, c, after = match.groups()
        before, after = after, before  # AM and PM stand beside the clock
    else:
        bracket, a, between, b, _, c, before, hour, minute, second, after = match.groups()
    return (bracket, between, before, after, second is None, len(a)), (a, b, c), hour, minute, second


def heads(text: str) -> list[tuple[int, int]]:
    r"""(begin, end) of what may be heads in the first lines of a file, after a `\n`, to tell the format."""
    pattern = _CLOCK_FIRST if clock_first(text) else _DATE_FIRST
    return [match.span() for match in pattern.finditer(text)]


def clock_first(text: str) -> bool:
    """Whether most heads in the first lines of a file have the clock before the date (Vietnamese)."""
    return len(_CLOCK_FIRST.findall(text)) > len(_DATE_FIRST.findall(text))


def meridiem_of(key: _Key) -> int | None:
    """What the words around the clock add to its hours: 0, 12, or None for a clock of 24 hours."""
    for words in (key[3], key[2]):
        found = _MERIDIEM.get(_plain(words).removeprefix("日").removeprefix("일").strip())
        if found is not None:
            return found
    return None


def _plain(words: str) -> str:
    """The letters alone; `am` also behind what a wrong encoding made of the space before it."""
    found: list[str] = _LETTERS.findall(words.casefold())
    for word in ("".join(found), *found[-1:]):
        if word in _MERIDIEM:
            return word
    return " ".join(found)


_LETTERS = re.compile(r"[^\W\d_]+")


class _Dates:
    """The dates of one layout, tried in every order that is possible."""

    def __init__(self, shape: _Shape) -> None:
        self._shape = shape
        self.count = 0
        self._last: _Date | None = None
        self._runs = 0
        self._scores = {
            order: [0, 0, 0] for order in (("ymd", "ydm") if shape.year_first else ("dmy", "mdy"))
        }
        self._american = True

    def take(self, found: _Date, form: _Form) -> None:
        self.count += 1
        if found == self._last:
            return
        self._last = found
        self._runs += 1
        a, b, c = found
        if self.count == 1 and not self._shape.year_first and len(c) <= 2:
            self._scores["ymd"] = [0, 0, 0]
        if a[0] == "0" or b[0] == "0" or len(c) == 4 or not form.american:
            self._american = False
        for order, score in self._scores.items():
            _count(score, _ordinal(found, _ORDERS[order]))

    def order(self) -> _Order:
        fewest = min(faults for faults, _, _ in self._scores.values())
        tied = [order for order in self._by_custom() if self._scores[order][0] == fewest]
        if self._shape.separator != "/" and "mdy" in tied[1:]:
            tied.remove("mdy")
        if self._runs >= 3:
            shortest = min(self._scores[order][1] for order in tied)
            tied = [order for order in tied if self._scores[order][1] <= 2 * shortest]
        return _ORDERS[tied[0]]

    def _by_custom(self) -> Iterator[str]:
        orders = ("mdy", "dmy", "ymd") if self._american else ("dmy", "mdy", "ymd", "ydm")
        return (order for order in (*orders, "ydm") if order in self._scores)


def _count(score: list[int], day: int | None) -> None:
    """Add a date to a score of faults, days gone through, and the date before."""
    faults, gone, before = score
    if day is None:
        score[0] = faults + 1
        return
    if before:
        score[0] = faults + (day < before)
        score[1] = gone + abs(day - before)
    score[2] = day


def _calendar(found: _Date, order: _Order) -> date | None:
    day, month, year = (int(found[place]) for place in order)
    year += 2000 if year < 100 else 0
    if not 2009 <= year < 2100:  # WhatsApp is of 2009
        return None
    try:
        return date(year, month, day)
    except ValueError:
        return None


def _ordinal(found: _Date, order: _Order) -> int | None:
    day = _calendar(found, order)
    return None if day is None else day.toordinal()


def _beginning(found: _Date, order: _Order, zone: tzinfo) -> tuple[int | None, bool]:
    """When the day begins, UTC ms, and whether its clock is not set forth or back."""
    day = _calendar(found, order)
    if day is None:
        return None, False
    begins, ends = midnight(day, zone), midnight(day + timedelta(days=1), zone)
    return begins, begins is not None and ends is not None and ends - begins == _DAY_MS

"""Times that a query names ("в марте", "8 мая 2023", "вчера"): the windows that dated evidence may fall into.

Day to +7 days, month + 7 days, year (docs/architecture.md): people tell of a thing some days after it.
"""

from __future__ import annotations

import re
from datetime import date, datetime, timedelta, tzinfo

_DAY = timedelta(days=1)
_LATER = timedelta(days=7)

_MONTH_STEMS = (
    *("январ", "феврал", "март", "апрел", "ма[йяею]", "июн", "июл", "август"),
    *("сентябр", "октябр", "ноябр", "декабр"),
)
_ENGLISH_MONTHS = (
    *("january", "february", "march", "april", "may", "june", "july", "august"),
    *("september", "october", "november", "december"),
)
# "may" and "march" are also ordinary words: they count only beside a number or after in, of, since …
_MONTH = "|".join(
    [f"(?P<ru{n}>{stem}[а-я]{{0,3}})" for n, stem in enumerate(_MONTH_STEMS, 1)]
    + [f"(?P<en{n}>{name})" for n, name in enumerate(_ENGLISH_MONTHS, 1)]
)
_ISO = re.compile(r"\b(\d{4})-(\d{2})(?:-(\d{2}))?\b")
_DOTTED = re.compile(r"\b(\d{1,2})\.(\d{1,2})(?:\.(\d{4}|\d{2}))?\b")
_NAMED = re.compile(
    rf"(?:\b(?P<day>\d{{1,2}})(?:-?го|st|nd|rd|th)?\s+(?:of\s+)?)?(?P<cue>\b(?:в|с|за|до|к|in|of|since|by)\s+)?"
    rf"\b(?:{_MONTH})\b(?:\s+(?P<late>\d{{1,2}})(?:st|nd|rd|th)?\b(?!\d))?(?:,?\s+(?P<year>\d{{4}}))?"
)
_YEAR = re.compile(r"(?:\b(?:в|за|с|in|of|since)\s+)(\d{4})\b(?!-)")
_RELATIVE = (
    (re.compile(r"\bпозавчера\b"), -2, 1),
    (re.compile(r"\bвчера\b|\byesterday\b"), -1, 1),
    (re.compile(r"\bсегодня\b|\btoday\b"), 0, 1),
    (re.compile(r"\b(?:на\s+)?прошлой\s+неделе\b|\blast\s+week\b"), -14, 14),
    (re.compile(r"\b(?:на\s+)?этой\s+неделе\b|\bthis\s+week\b"), -7, 8),
    (re.compile(r"\b(?:в\s+)?прошлом\s+месяце\b|\blast\s+month\b"), -62, 62),
)

Window = tuple[int, int]


def windows(query: str, zone: tzinfo, now: datetime, newest: int | None) -> list[Window]:
    """Windows of UTC ms, half-open, that a query names.

    Args:
        query: any text.
        zone: the zone that its days are meant in.
        now: for "вчера" and the like.
        newest: time of the newest message: a month without a year is its last one before that.
    """
    text = query.casefold().replace("ё", "е")
    today = now.astimezone(zone).date()
    anchor = datetime.fromtimestamp(newest / 1000, zone).date() if newest is not None else today
    found = [
        *(
            _span(zone, today + shift * _DAY, days * _DAY)
            for pattern, shift, days in _RELATIVE
            if pattern.search(text)
        ),
        *_iso(text, zone),
        *_dotted(text, zone, anchor),
        *_named(text, zone, anchor),
    ]
    if not found:
        found = [
            _year(zone, int(match[1])) for match in _YEAR.finditer(text) if 1970 <= int(match[1]) <= 2199
        ]
    return found


def _span(zone: tzinfo, start: date, length: timedelta) -> Window:
    begin = datetime(start.year, start.month, start.day, tzinfo=zone)
    return int(begin.timestamp() * 1000), int((begin + length).timestamp() * 1000)


def _year(zone: tzinfo, year: int) -> Window:
    return _span(zone, date(year, 1, 1), timedelta(days=366))


def _window(zone: tzinfo, year: int, month: int, day: int | None) -> list[Window]:
    try:
        start = date(year, month, day or 1)
        return [_span(zone, start, (_DAY if day else 31 * _DAY) + _LATER)]
    except (ValueError, OverflowError):
        return []


def _iso(text: str, zone: tzinfo) -> list[Window]:
    return [
        window
        for match in _ISO.finditer(text)
        for window in _window(zone, int(match[1]), int(match[2]), int(match[3]) if match[3] else None)
    ]


def _dotted(text: str, zone: tzinfo, anchor: date) -> list[Window]:
    found: list[Window] = []
    for match in _DOTTED.finditer(text):
        day, month, year = int(match[1]), int(match[2]), match[3]
        if year is None and len(match[2]) < 2:
            continue  # 3.5 is a number, 03.05 a day
        full = int(year) + (2000 if int(year) < 100 else 0) if year else _last_year(anchor, month, day)
        found += _window(zone, full, month, day)
    return found


def _named(text: str, zone: tzinfo, anchor: date) -> list[Window]:
    found: list[Window] = []
    for match in _NAMED.finditer(text):
        name = next(key for key, value in match.groupdict().items() if value and key[:2] in ("ru", "en"))
        month, late = int(name[2:]), match["late"]
        day = int(match["day"] or late or 0) or None
        if name in ("en3", "en5", "ru5") and not (day or match["cue"] or match["year"]):
            continue
        year = int(match["year"]) if match["year"] else _last_year(anchor, month, day or 1)
        found += _window(zone, year, month, day)
    return found


def _last_year(anchor: date, month: int, day: int) -> int:
    return anchor.year if (month, day) <= (anchor.month, anchor.day) else anchor.year - 1

"""Times as exports write them, to UTC milliseconds; what can't be one is None, never "now"."""

from __future__ import annotations

import math
import re
from datetime import date, datetime, tzinfo
from decimal import Decimal

# 2200-01-01: past it a number is a broken time, not a message from the future.
LATEST = 7_258_118_400_000
_NUMBER = re.compile(r"[+-]?\d{1,20}(?:\.\d*)?")
_DAY = re.compile(r"(?:19|20)\d{6}")


def parse_time(value: object, zone: tzinfo) -> int | None:
    """A time in any of the forms seen: s, ms, µs or ns since 1970 (also as text), or ISO 8601.

    Args:
        value: number, text or anything else a broken record may hold.
        zone: the zone of ISO times that name none.

    Returns:
        UTC ms, or None for null, zero, negative, past 2200, or not a time.
    """
    if isinstance(value, bool):
        return None
    if isinstance(value, int):
        return _from_number(float(value)) if abs(value) < 10**20 else None
    if isinstance(value, float | Decimal):
        return _from_number(float(value))
    if isinstance(value, str):
        if len(value) == 10 and value.isascii() and value.isdecimal():
            return _in_range(int(value) * 1000)  # seconds since 2001, the usual case
        text = value.strip()
        if _NUMBER.fullmatch(text) and not _DAY.fullmatch(text):
            return _from_number(float(text))
        return _from_iso(text, zone)
    return None


def _from_number(value: float) -> int | None:
    if not math.isfinite(value) or value <= 0:
        return None
    # Seconds reach 1e11 in the year 5138, milliseconds passed it in 1973; likewise for µs and ns.
    for bound, factor in ((1e11, 1e3), (1e14, 1.0), (1e17, 1e-3), (1e20, 1e-6)):
        if value < bound:
            return _in_range(round(value * factor))
    return None


def _from_iso(text: str, zone: tzinfo) -> int | None:
    if not 8 <= len(text) <= 64:
        return None
    try:
        moment = datetime.fromisoformat(text.replace(" UTC", "+00:00"))
        if moment.tzinfo is None:
            moment = moment.replace(tzinfo=zone)
        return _in_range(round(moment.timestamp() * 1000))
    except (ValueError, OverflowError, OSError):
        return None


def _in_range(ms: int) -> int | None:
    return ms if 0 < ms < LATEST else None


def midnight(day: date, zone: tzinfo) -> int | None:
    """The beginning of a day in the zone, UTC ms."""
    try:
        return _in_range(round(datetime(day.year, day.month, day.day, tzinfo=zone).timestamp() * 1000))
    except (ValueError, OverflowError, OSError):
        return None

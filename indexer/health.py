"""Whether a source still tells what it used to: a tool that changed its format must not go unnoticed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

from indexer.accounting import Account

Ailment = Literal["silent", "unknown", "unrecognised", "quiet"]

# More than this share of a file's records was not understood; a single broken line is an accident.
UNKNOWN_SHARE = 0.05
FEWEST_UNKNOWN = 2

# A new file smaller than this may well hold a header alone.
SMALL = 1024

DAY_MS = 24 * 3600 * 1000

# The usual gap is the longest between the last days of talk: of so many days, and no shorter than this.
RECENT_DAYS = 60
FEWEST_DAYS = 5
SHORTEST_GAP = 2

# A finding ends a run with exit 3 for so long; later it is told without one.
NEWS_MS = 7 * DAY_MS

_LOOK = "look whether the tool changed its format, and report it"


@dataclass(frozen=True, slots=True)
class Finding:
    """What is wrong with a source.

    Attributes:
        place: the file, or for a source that has gone quiet its kind and the name of its archive.
        ailment: silent, unknown, unrecognised or quiet.
        sentence: what is wrong, with its numbers and the remedy.
        noticed: when it was found first, UTC ms.
    """

    place: str
    ailment: Ailment
    sentence: str
    noticed: int

    def is_news(self, now: int) -> bool:
        """Whether it still ends a run with exit 3."""
        return now - self.noticed < NEWS_MS


def of_file(
    place: str, size: int, now: Account, before: tuple[int, Account] | None, changed: int, at: int
) -> Finding | None:
    """What is wrong with a chat source that was just read.

    Args:
        place: the file, relative to its archive.
        size: its bytes.
        now: what it brought.
        before: its bytes and what it brought when it was read last, or None for a new file.
        changed: messages of it that were edited.
        at: UTC ms of this run.
    """
    if now.unknown >= FEWEST_UNKNOWN and now.unknown > UNKNOWN_SHARE * now.records:
        share = f"{now.unknown:,} of {now.records:,} records ({now.unknown / now.records:.0%})"
        return Finding(place, "unknown", f"{place}: {share} were not understood; {_LOOK}.", at)
    if before is None:
        if size >= SMALL and not now.understood:
            return Finding(place, "silent", f"{place}: {size:,} bytes gave 0 messages; {_LOOK}.", at)
        return None
    grown = size - before[0]
    if grown > 0 and not changed and now.understood <= before[1].understood:
        return Finding(
            place, "silent", f"{place}: it grew by {grown:,} bytes and gave 0 new messages; {_LOOK}.", at
        )
    return None


def unrecognised(place: str, kind: str, at: int) -> Finding:
    """A file that was read before fits no reader any more."""
    return Finding(
        place, "unrecognised", f"{place}: it was read as {kind} and fits no reader now; {_LOOK}.", at
    )


def of_rhythm(place: str, days: Sequence[int], now: int, noticed: int | None) -> Finding | None:
    """Whether a living source has gone quiet past its usual gap.

    Args:
        place: how it is named.
        days: numbers of the UTC days on which it said something, since 1970, ascending.
        now: UTC ms.
        noticed: when it was found quiet first, or None.
    """
    recent = list(days)[-RECENT_DAYS:]
    if len(recent) < FEWEST_DAYS:
        return None
    usual = max(SHORTEST_GAP, *(later - earlier for earlier, later in pairwise(recent)))
    quiet = now // DAY_MS - recent[-1]
    if quiet <= usual:
        return None
    sentence = (
        f"{place}: nothing new for {quiet} days, its longest gap was {usual};"
        " look whether the tool still writes there."
    )
    return Finding(place, "quiet", sentence, now if noticed is None else noticed)

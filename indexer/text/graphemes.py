"""Where a text may be cut without tearing a grapheme (an emoji family, й written as и and a breve)."""

from __future__ import annotations

import unicodedata

import regex

_CLUSTER = regex.compile(r"\X")
_LOOK_BACK = 256


def _plain(before: str, after: str) -> bool:
    # Letters, digits, punctuation and spaces of the common scripts never join across a code point border.
    return before < "\u0300" and after < "\u0300" and before != "\r"


def is_boundary(text: str, position: int) -> bool:
    """Whether a cut before `text[position]` leaves every grapheme whole."""
    if position <= 0 or position >= len(text):
        return True
    before, after = text[position - 1], text[position]
    if _plain(before, after):
        return True
    joins = unicodedata.category(after) in ("Mn", "Me", "Mc") or after == "\u200d"
    if joins and unicodedata.category(before)[0] in "LMNPS":  # nothing joins to a line end or a control
        return False
    start = max(0, position - _LOOK_BACK)
    anchor = max(text.rfind(" ", start, position - 1), text.rfind("\n", start, position - 1))
    start = anchor if anchor >= 0 else start
    at = start
    for cluster in _CLUSTER.finditer(text, start, min(len(text), position + _LOOK_BACK)):
        at = cluster.end()
        if at >= position:
            break
    return at == position


def boundary_at_or_before(text: str, position: int, floor: int) -> int:
    """The last boundary in `(floor, position]`, or `floor` where one cluster fills the whole range."""
    while position > floor and not is_boundary(text, position):
        position -= 1
    return position


def boundary_at_or_after(text: str, position: int, ceiling: int) -> int:
    """The first boundary in `[position, ceiling)`, else `ceiling`."""
    while position < ceiling and not is_boundary(text, position):
        position += 1
    return position

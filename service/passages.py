"""Hits that overlap, read as one passage: windows share messages at their borders, shown here once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from schemas.http import ChatRef, Hit, MessageRef

# Shorter agreements happen by chance ("кот" + "тот"); windows overlap by about 100 characters.
MIN_OVERLAP = 10


@dataclass(frozen=True, slots=True)
class Line:
    """What one message contributes: its id (empty if unknown), author, role and text."""

    message_id: str
    author: str | None
    role: str
    text: str


@dataclass(frozen=True, slots=True)
class Passage:
    """A stretch of one talk.

    Attributes:
        ids: the hits that it stands for, best first.
        chat: the talk.
        at: earliest time of these hits as ISO 8601, or None.
        lines: its messages in the order of the talk, each once.
    """

    ids: tuple[str, ...]
    chat: ChatRef
    at: str | None
    lines: tuple[Line, ...]


def passages(hits: Sequence[Hit]) -> list[Passage]:
    """Stitch hits that share a message of the same chat; the best hit of each says where it stands."""
    found: list[Passage] = []
    for hit in hits:
        new = Passage((hit.id,), hit.chat, hit.at, lines_of_hit(hit))
        same = [old for old in found if _shared(old, new)]
        if not same:
            found.append(new)
            continue
        whole = stitched(same[0], new)
        for other in same[1:]:  # this hit bridges passages that were apart
            whole = stitched(whole, other)
        found = [whole if old is same[0] else old for old in found if old not in same[1:]]
    return found


def lines_of_hit(hit: Hit) -> tuple[Line, ...]:
    """A hit with the neighbours that were asked for, in the order of the talk."""
    before = [lines_of(near.text, near.messages) for near in hit.before or []]
    after = [lines_of(near.text, near.messages) for near in hit.after or []]
    lines: tuple[Line, ...] = ()
    for part in (*before, lines_of(hit.text, hit.messages), *after):
        lines = follow(lines, part)
    return lines


def lines_of(text: str, messages: Sequence[MessageRef]) -> tuple[Line, ...]:
    """Split a text by its messages' spans; without messages it is one line."""
    if not messages:
        return (Line("", None, "", text),)
    return tuple(
        Line(
            message.id,
            message.author,
            message.role,
            text[message.span[0] : message.span[1]].removeprefix(f"{message.author}: "),
        )
        for message in messages
    )


def stitched(first: Passage, second: Passage) -> Passage:
    """Two passages that share a message as one; the ids of the first lead."""
    lines = (
        follow(first.lines, second.lines)
        if precedes(first.lines, second.lines)
        else follow(second.lines, first.lines)
    )
    times = [at for at in (first.at, second.at) if at is not None]
    return replace(first, ids=first.ids + second.ids, at=min(times, default=None), lines=lines)


def precedes(first: Sequence[Line], second: Sequence[Line]) -> bool:
    """Whether the first of two overlapping stretches begins earlier in the talk."""
    ours, theirs = first[0], second[0]
    inside = any(line.message_id == theirs.message_id for line in first)
    around = any(line.message_id == ours.message_id for line in second)
    if inside != around:
        return inside
    # Both begin in the same message: pieces of a long one.
    return overlap(ours.text, theirs.text) >= overlap(theirs.text, ours.text)


def follow(earlier: tuple[Line, ...], later: tuple[Line, ...]) -> tuple[Line, ...]:
    """Append a later stretch; messages that both hold appear once."""
    lines = list(earlier)
    places = {line.message_id: place for place, line in enumerate(lines) if line.message_id}
    for line in later:
        place = places.get(line.message_id)
        if place is None:
            lines.append(line)
        else:
            lines[place] = replace(line, text=joined(lines[place].text, line.text))
    return tuple(lines)


def joined(earlier: str, later: str) -> str:
    """Two pieces of one message's text, what both hold once; a gap between them is shown as `…`."""
    if later in earlier:
        return earlier
    if earlier in later:
        return later
    shared = overlap(earlier, later)
    return earlier + later[shared:] if shared >= MIN_OVERLAP else f"{earlier} … {later}"


def overlap(earlier: str, later: str) -> int:
    """Length of the longest end of `earlier` that `later` begins with."""
    longest = min(len(earlier), len(later))
    return next((size for size in range(longest, 0, -1) if earlier.endswith(later[:size])), 0)


def _shared(one: Passage, other: Passage) -> bool:
    if one.chat.id != other.chat.id:
        return False
    return not {line.message_id for line in one.lines if line.message_id}.isdisjoint(
        line.message_id for line in other.lines
    )

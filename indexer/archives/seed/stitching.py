"""Overlapping chunks of one text, put together to that text again."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

# What neighbours usually share. Where a text repeats itself several overlaps fit, and the nearest is taken.
_USUAL = 100

# Fewer equal characters are chance ("и" ends one chunk and begins the next), unless they are a whole chunk.
_LEAST = 10

# How far back an overlap is looked for: bounds the work on a text that is made to hurt.
_REACH = 4_000


def stitched(chunks: Iterable[str]) -> tuple[str, tuple[tuple[int, int], ...]]:
    """The text that was cut into these chunks.

    Args:
        chunks: none of them empty, in order. Neighbours overlap, or do not: then a newline stands between.

    Returns:
        The text, and for each chunk its span `[start, end)` in it: what lies there is that chunk exactly.
    """
    parts: list[str] = []
    spans: list[tuple[int, int]] = []
    length, tail = 0, ""
    for chunk in chunks:
        shared = _shared(tail, chunk)
        fresh = chunk[shared:] if shared or not parts else f"\n{chunk}"
        parts.append(fresh)
        length += len(fresh)
        # The chunk ends where the text now ends: an overlap is always a suffix of what was there.
        spans.append((length - len(chunk), length))
        tail = (tail + fresh)[-_REACH:]
    return "".join(parts), tuple(spans)


def _shared(tail: str, chunk: str) -> int:
    return min(_overlaps(tail, chunk), key=lambda shared: abs(shared - _USUAL), default=0)


def _overlaps(tail: str, chunk: str) -> Iterator[int]:
    """Lengths of the suffixes of a text that begin a chunk."""
    begin = chunk[:_LEAST]
    at = tail.find(begin, max(0, len(tail) - len(chunk)))
    while at >= 0:
        if chunk.startswith(tail[at:]):
            yield len(tail) - at
        at = tail.find(begin, at + 1)

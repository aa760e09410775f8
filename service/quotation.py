"""The few words of a chunk that show two names together."""

from __future__ import annotations

from collections.abc import Sequence

from indexer.stores import StoredChunk
from indexer.stores.generation import Generation

LONGEST = 300

_GAP = " … "
_Span = tuple[int, int]


def quotations(
    generation: Generation, wanted: Sequence[tuple[str | None, tuple[int, int]]]
) -> list[str | None]:
    """What each evidence says around two entities.

    Args:
        generation: whose chunks.
        wanted: (chunk id or None, the two entities' ids).

    Returns:
        At most 300 characters each, in one line; None where the chunk is not there.
    """
    rows = generation.store.chunk_rows([chunk_id for chunk_id, _ in wanted if chunk_id is not None])
    chunks = generation.store.chunks(list(rows.values()))
    return [
        _quoted(generation, chunks[rows[chunk_id]], entities) if chunk_id and chunk_id in rows else None
        for chunk_id, entities in wanted
    ]


def _quoted(generation: Generation, chunk: StoredChunk, entities: tuple[int, int]) -> str:
    named: dict[int, list[_Span]] = {}
    for span in generation.graph.spans(chunk.chunk_id, entities):
        for row in generation.store.message_rows([(span.chat_id, span.message_id)]):
            for piece in chunk.pieces:
                start = piece.start + span.start - piece.message_start
                if piece.message == row and piece.start <= start < piece.end:
                    end = min(piece.end, start + span.end - span.start)
                    named.setdefault(span.entity, []).append((start, end))
    one, other = (named.get(entity, []) for entity in entities)
    return _around(chunk.text, _nearest(one, other))


def _nearest(one: Sequence[_Span], other: Sequence[_Span]) -> list[_Span]:
    """The two spans that stand nearest to each other; one where the other name does not stand there."""
    if not one or not other:
        return list(one[:1] or other[:1])
    first, second = min(((a, b) for a in one for b in other), key=lambda both: abs(both[0][0] - both[1][0]))
    return sorted([first, second])


def _around(text: str, spans: Sequence[_Span]) -> str:
    start, end = (spans[0][0], max(span[1] for span in spans)) if spans else (0, 0)
    if end - start <= LONGEST - 2:
        return _window(text, start, end, LONGEST)
    room = (LONGEST - len(_GAP)) // len(spans)
    return _GAP.join(_window(text, *span, room).strip("…") for span in spans)


def _window(text: str, start: int, end: int, room: int) -> str:
    """At most `room` characters around a span, cut between words, with … where something was cut."""
    room -= 2
    end = min(end, start + room)
    first = max(0, min(start - (room - (end - start)) // 2, len(text) - room))
    last = min(len(text), first + room)
    if first > 0 and not text[first - 1].isspace():
        gap = next((at for at in range(first, start) if text[at].isspace()), start)
        first = gap
    if last < len(text) and not text[last].isspace():
        last = next((at for at in range(last, end, -1) if text[at - 1].isspace()), end)
    shown = " ".join(text[first:last].split())
    return ("…" if first > 0 else "") + shown + ("…" if last < len(text) else "")

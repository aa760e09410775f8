"""Where one message stands in a search: leg by leg, its rank, and what kept it off the page."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field, replace
from typing import Any, Literal

import numpy as np

from indexer.stores import Unit
from indexer.stores.generation import Generation
from service.evidence import Asked, Findings, gather
from service.hits import ChunkHits, MessageHits
from service.paging import Page, collect, ranked

Loss = Literal["none", "filter", "no_match", "copy", "limit"]

# Results that are shown above a message.
_ABOVE = 3


@dataclass(frozen=True, slots=True)
class Result:
    """A hit that stands above: its place from 1, its id, score (0–1) and text."""

    place: int
    id: str
    score: float
    text: str


@dataclass(frozen=True, slots=True)
class Standing:
    """One message (or its best chunk) in one search.

    Attributes:
        unit: chunk or message.
        id: of the message, or of the chunk that stands for it; None where it is in no chunk.
        score: 0–1.
        rank: among all that match, before copies are merged, from 1; None where it is not among them.
        place: in the list of results, from 1; None where it is not in it.
        lost: what kept it off the page: nothing, the filter, no leg that found it, a copy or another window
            of it that stands higher, or the limit.
        copy_of: the id of the hit that it was merged into.
        legs: as `explain` tells them.
        above: the results before it, or before what it was merged into.
    """

    unit: Unit
    id: str | None
    score: float = 0.0
    rank: int | None = None
    place: int | None = None
    lost: Loss = "no_match"
    copy_of: str | None = None
    legs: dict[str, Any] = field(default_factory=dict)
    above: tuple[Result, ...] = ()

    def as_json(self) -> dict[str, Any]:
        """Plain data for JSON."""
        return asdict(self)


def standing(generation: Generation, asked: Asked, message: int, unit: Unit) -> Standing:
    """Follow one message through one search.

    Args:
        generation: open.
        asked: the search; its unit is replaced.
        message: the row of the message.
        unit: what is ranked.
    """
    asked = replace(asked, request=asked.request.model_copy(update={"unit": unit}))
    findings = gather(generation, asked)
    rows, scores = ranked(findings)
    row = message if unit == "message" else _best_chunk(generation, findings, message)
    if row is None:
        return Standing(unit, None)
    id_, chat, text = _stored(generation, unit, row)
    at = np.flatnonzero(rows == row)
    known = Standing(unit, id_, legs=_legs(generation, asked, findings, (row, message), text))
    if not len(at):
        kept = bool(generation.store.mask(asked.keep, unit)[row])
        return replace(known, lost="no_match" if kept else "filter")
    rank = int(at[0]) + 1
    known = replace(known, rank=rank, score=round(float(scores[rank - 1]), 6))
    request = asked.request
    # Of so many results at most one less stands before it: it is taken, or merged, never cut off.
    whole = replace(asked, request=request.model_copy(update={"offset": 0, "limit": rank}))
    page = collect(generation, whole, findings)
    order = [held for held, _ in page.rows]
    holder = row if row in order else _holder(generation, unit, page, row, (id_, chat))
    place = order.index(holder) + 1 if holder in order else None
    if row not in order:
        copy_of = _stored(generation, unit, holder)[0] if holder is not None else None
        return replace(known, lost="copy", copy_of=copy_of, above=_above(generation, unit, page, place))
    last = request.offset + request.limit
    inside = place is not None and place <= last
    return replace(
        known,
        place=place,
        lost="none" if inside else "limit",
        above=_above(generation, unit, page, place),
    )


def chunks_of(generation: Generation, message: int) -> list[int]:
    """Rows of the chunks that hold a message."""
    held_by, held = generation.store.membership()
    return [int(row) for row in held_by[held == message]]


def _best_chunk(generation: Generation, findings: Findings, message: int) -> int | None:
    total = findings.rows.total()
    found = chunks_of(generation, message)
    return max(found, key=lambda row: (bool(findings.can_hit[row]), float(total[row])), default=None)


def _legs(
    generation: Generation, asked: Asked, findings: Findings, rows: tuple[int, int], text: str
) -> dict[str, Any]:
    row, message = rows
    if asked.request.unit == "chunk":
        return ChunkHits(generation, asked, findings, ()).explain(row, row, text)
    giver = int(findings.giver[row]) if findings.giver is not None else 0
    # No chunk gave it anything: one that holds it still tells how far off its meaning is.
    giver = giver or next(iter(chunks_of(generation, message)), 0)
    return MessageHits(generation, asked, findings, ()).explain(row, giver, text)


def _stored(generation: Generation, unit: Unit, row: int) -> tuple[str, str, str]:
    """Id, chat and text of a row."""
    if unit == "message":
        message = generation.store.messages([row])[row]
        return message.message_id, message.chat_id, message.text
    chunk = generation.store.chunks([row])[row]
    return chunk.chunk_id, chunk.chat_id, chunk.text


def _holder(generation: Generation, unit: Unit, page: Page, row: int, place: tuple[str, str]) -> int | None:
    """The row that a row was merged into: a copy of its text, or another window of its message."""
    for holder, copies in page.also.items():
        if any((copy.id, copy.chat) == place for copy in copies):
            return holder
    if unit == "message":
        return None
    (piece, *_) = generation.store.chunks([row])[row].pieces
    windows = set(chunks_of(generation, piece.message))
    near = [held for held, _ in page.rows if held in windows]
    return near[0] if near else None


def _above(generation: Generation, unit: Unit, page: Page, place: int | None) -> tuple[Result, ...]:
    if place is None:
        return ()
    first = max(0, place - 1 - _ABOVE)
    found: list[Result] = []
    for at, (row, score) in enumerate(page.rows[first : place - 1], first + 1):
        id_, _, text = _stored(generation, unit, row)
        found.append(Result(at, id_, round(score, 6), text))
    return tuple(found)

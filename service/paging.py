"""From ranked rows to a page: one hit a passage, copies of a text merged, cut to offset and limit."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

import numpy as np

from indexer.stores import StoredChunk
from indexer.stores.generation import Generation
from schemas.http import Duplicate, Hit
from service.evidence import Asked, Findings
from service.hits import ChunkHits, MessageHits, text_key
from service.query import shown_time
from service.ranking import Array, Ids

# A score that is shown as more than 0; a word of half the archive gives less.
_LEAST = 1e-6

# Scores are shown with six places: a `min_score` taken from an answer keeps the hit that it was taken from.
_ROUNDING = 6e-7


def ranked(findings: Findings, least: float = 0.0) -> tuple[Ids, Array]:
    """Rows and scores of every possible hit, best first; equal scores in the order of the talk."""
    total = findings.rows.total()
    rows = np.flatnonzero(findings.can_hit & (total >= max(least - _ROUNDING, _LEAST)))
    rows = rows[np.argsort(-total[rows], kind="stable")]
    return rows, total[rows]


class Page:
    """Collects hits in rank order; knows which passages and texts it already holds.

    Attributes:
        rows: row and score of each hit.
        also: by row of a hit, the copies of its text.
    """

    def __init__(self, wanted: int) -> None:
        self.wanted = wanted
        self.rows: list[tuple[int, float]] = []
        self._by_text: dict[str, int] = {}
        self._long_messages: set[tuple[str, int]] = set()
        self.also: dict[int, list[Duplicate]] = {}

    @property
    def full(self) -> bool:
        """Whether nothing more is wanted."""
        return len(self.rows) >= self.wanted

    def take(
        self,
        row: int,
        score: float,
        text: str,
        copy: Callable[[], Duplicate],
        window_of: tuple[str, int] | None = None,
    ) -> None:
        """Add a row, unless it is another window of a message or another copy of a text that is there."""
        if window_of is not None:
            if window_of in self._long_messages:
                return
            self._long_messages.add(window_of)
        key = text_key(text)
        if key is not None and key in self._by_text:
            self.also.setdefault(self._by_text[key], []).append(copy())
        elif not self.full:
            if key is not None:
                self._by_text[key] = row
            self.rows.append((row, score))


def page(generation: Generation, asked: Asked, findings: Findings) -> list[Hit]:
    """The hits that a request asks for: merged, cut to offset and limit, with context and explanation."""
    request = asked.request
    collected = collect(generation, asked, findings)
    shown = collected.rows[request.offset :]
    build = MessageHits if request.unit == "message" else ChunkHits
    return build(generation, asked, findings, shown).hits(collected.also)


def collect(generation: Generation, asked: Asked, findings: Findings) -> Page:
    """The rows of a page and of all before it, merged."""
    request = asked.request
    rows, scores = ranked(findings, request.min_score)
    collected = Page(request.offset + request.limit)
    step = max(50, 2 * collected.wanted)
    for start in range(0, len(rows), step):
        # Lists of a step alone: of all rows they would take longer than the legs.
        order = list(
            zip(rows[start : start + step].tolist(), scores[start : start + step].tolist(), strict=True)
        )
        _collect(generation, request.unit, order, collected)
        # Copies of a shown text have nearly its score: they stand in the same step.
        if collected.full:
            break
    return collected


def _collect(generation: Generation, unit: str, order: Sequence[tuple[int, float]], collected: Page) -> None:
    rows = [row for row, _ in order]
    if unit == "message":
        messages = generation.store.messages(rows)
        for row, score in order:
            message = messages[row]
            collected.take(
                row, score, message.text, partial(_duplicate, message.message_id, message.chat_id, message.at)
            )
        return
    chunks = generation.store.chunks(rows)
    for row, score in order:
        chunk = chunks[row]
        collected.take(
            row,
            score,
            chunk.text,
            partial(_duplicate, chunk.chunk_id, chunk.chat_id, chunk.first_at),
            _long_message(chunk),
        )


def _duplicate(id_: str, chat: str, at: int | None) -> Duplicate:
    return Duplicate(id=id_, chat=chat, at=shown_time(at))


def _long_message(chunk: StoredChunk) -> tuple[str, int] | None:
    """A window over one message shares it with other windows: the message is the passage."""
    return (chunk.chat_id, chunk.pieces[0].message) if len(chunk.pieces) == 1 else None

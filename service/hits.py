"""From ranked rows to hits: one a passage, duplicates merged, spans exact, explained leg by leg."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Any

import numpy as np

from indexer.stores import StoredChunk, StoredMessage
from indexer.stores.generation import Generation
from indexer.text.lemmas import terms
from indexer.text.normal import normal
from schemas.http import ChatRef, Duplicate, Hit, MessageRef, Neighbour
from service.evidence import Asked, Findings
from service.query import shown_time
from service.ranking import Array, Ids

# A score that is shown as more than 0; a word of half the archive gives less.
_LEAST = 1e-6

# Scores are shown with six places: a `min_score` taken from an answer keeps the hit that it was taken from.
_ROUNDING = 6e-7

# The longest message that is returned whole; of a longer one its best window.
MESSAGE_CHARACTERS = 2_000

# Shorter equal texts ("да", "ок") are no duplicates but talk.
_DUPLICATE_CHARACTERS = 20

# A word in the display text, with combining marks (й may stand decomposed there).
_WORD = re.compile(r"(?:[^\W_][\u0300-\u036f]*)+")


def ranked(findings: Findings, least: float = 0.0) -> tuple[Ids, Array]:
    """Rows and scores of every possible hit, best first; equal scores in the order of the talk."""
    total = findings.rows.total()
    rows = np.flatnonzero(findings.can_hit & (total >= max(least - _ROUNDING, _LEAST)))
    rows = rows[np.argsort(-total[rows], kind="stable")]
    return rows, total[rows]


class _Page:
    """Collects hits in rank order; knows which passages and texts it already holds."""

    def __init__(self, wanted: int) -> None:
        self.wanted = wanted
        self.rows: list[tuple[int, float]] = []
        self._by_text: dict[str, int] = {}
        self._long_messages: set[tuple[str, int]] = set()
        self.also: dict[int, list[Duplicate]] = {}

    @property
    def full(self) -> bool:
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
        key = normal(text)
        if len(text) >= _DUPLICATE_CHARACTERS and key in self._by_text:
            self.also.setdefault(self._by_text[key], []).append(copy())
            return
        if not self.full:
            self._by_text.setdefault(key, row)
            self.rows.append((row, score))


def page(generation: Generation, asked: Asked, findings: Findings) -> list[Hit]:
    """The hits that a request asks for: merged, cut to offset and limit, with context and explanation."""
    request = asked.request
    rows, scores = ranked(findings, request.min_score)
    collected = _Page(request.offset + request.limit)
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
    shown = collected.rows[request.offset :]
    build = _MessageHits if request.unit == "message" else _ChunkHits
    hits = build(generation, asked, findings, shown).hits(collected.also)
    return hits


def _collect(generation: Generation, unit: str, order: Sequence[tuple[int, float]], collected: _Page) -> None:
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


class _Hits:
    def __init__(
        self, generation: Generation, asked: Asked, findings: Findings, shown: Sequence[tuple[int, float]]
    ) -> None:
        self.generation = generation
        self.asked = asked
        self.findings = findings
        self.shown = shown
        self.query_terms = {
            (term.word): {*term.raw, *(token for tokens in term.lemmas for token in tokens)}
            for term in asked.terms
        }

    def highlights(self, text: str) -> list[tuple[int, int]]:
        """Spans of the words that the query's terms match."""
        wanted = set().union(*self.query_terms.values()) if self.query_terms else set()
        return [
            (match.start(), match.end())
            for match in _WORD.finditer(text)
            if not wanted.isdisjoint((normal(match[0]), *terms(normal(match[0]))))
        ]

    def matched_terms(self, text: str) -> list[str]:
        """The query's words that stand in a text, in any inflection."""
        held = {
            form for match in _WORD.finditer(text) for form in (normal(match[0]), *terms(normal(match[0])))
        }
        return [word for word, forms in self.query_terms.items() if not held.isdisjoint(forms)]

    def explain(self, row: int, chunk: int, text: str) -> dict[str, Any]:
        """What each leg gave; the contributions sum to the score."""
        findings = self.findings
        evidence = findings.rows
        explained: dict[str, Any] = {}
        for leg in evidence.legs:
            contribution = round(evidence.share(leg, row), 6)
            explained[leg] = {"contribution": contribution}
            scores = evidence.legs[leg]
            if leg in ("vector", "text", "entities") and scores[row] > 0:
                explained[leg]["rank"] = int((scores > scores[row]).sum()) + 1
        if "text" in explained:
            explained["text"]["bm25"] = round(float(findings.bm25[row]), 4)
            explained["text"]["terms"] = self.matched_terms(text)
        if "vector" in explained and chunk and findings.space[chunk] >= 0:
            space = self.asked.vectors[int(findings.space[chunk])].info.space
            explained["vector"]["space"] = space.name
            explained["vector"]["similarity"] = round(float(findings.cosines[chunk]), 4)
        elif "vector" in explained:
            del explained["vector"]
        if "entities" in explained:
            explained["entities"]["matched"] = [
                findings.entities[number].name for number in findings.named.get(chunk, [])
            ]
        return explained

    def message_refs(self, chunk: StoredChunk, messages: dict[int, StoredMessage]) -> list[MessageRef]:
        """The messages of a chunk with their spans in its text."""
        return [
            MessageRef(
                id=messages[piece.message].message_id,
                author=messages[piece.message].author,
                role=messages[piece.message].role,
                at=shown_time(messages[piece.message].at),
                span=(piece.start, piece.end),
            )
            for piece in chunk.pieces
        ]


def messages_of(generation: Generation, chunks: Iterable[StoredChunk]) -> dict[int, StoredMessage]:
    """All messages that some chunks hold, by row."""
    return dict(generation.store.messages([piece.message for chunk in chunks for piece in chunk.pieces]))


class _ChunkHits(_Hits):
    def hits(self, also: dict[int, list[Duplicate]]) -> list[Hit]:
        columns, count = self.generation.store.columns, self.asked.request.context
        around = {row: _around(row, columns.before, columns.after, count) for row, _ in self.shown}
        rows = {row for row, _ in self.shown} | {
            near for both in around.values() for side in both for near in side
        }
        chunks = self.generation.store.chunks(sorted(rows))
        messages = messages_of(self.generation, chunks.values())
        names = self.generation.graph.names_in([chunks[row].chunk_id for row, _ in self.shown])
        return [
            self._hit(row, score, dict(chunks), messages, names, around[row], also.get(row, []))
            for row, score in self.shown
        ]

    def _hit(
        self,
        row: int,
        score: float,
        chunks: dict[int, StoredChunk],
        messages: dict[int, StoredMessage],
        names: dict[str, list[str]],
        around: tuple[list[int], list[int]],
        also: list[Duplicate],
    ) -> Hit:
        chunk, request = chunks[row], self.asked.request
        neighbours = [
            [
                Neighbour(
                    id=chunks[near].chunk_id,
                    text=chunks[near].text,
                    at=shown_time(chunks[near].first_at),
                    messages=self.message_refs(chunks[near], messages),
                )
                for near in side
            ]
            for side in around
        ]
        return Hit(
            id=chunk.chunk_id,
            score=round(score, 6),
            text=chunk.text,
            highlights=self.highlights(chunk.text) if request.highlight else None,
            chat=ChatRef(id=chunk.chat_id, title=chunk.chat_title),
            source=chunk.source,
            at=shown_time(chunk.first_at),
            messages=self.message_refs(chunk, messages),
            entities=names.get(chunk.chunk_id, []),
            before=neighbours[0] if request.context else None,
            after=neighbours[1] if request.context else None,
            also=[*_repeated(chunk, messages), *also],
            explain=self.explain(row, row, chunk.text) if request.explain else None,
        )


def _repeated(chunk: StoredChunk, messages: dict[int, StoredMessage]) -> list[Duplicate]:
    """Messages inside one window that repeat an earlier one of it."""
    seen: set[str] = set()
    repeated: list[Duplicate] = []
    for message in (messages[piece.message] for piece in chunk.pieces):
        key = normal(message.text)
        if len(message.text) >= _DUPLICATE_CHARACTERS and key in seen:
            repeated.append(Duplicate(id=message.message_id, chat=chunk.chat_id, at=shown_time(message.at)))
        seen.add(key)
    return repeated


def _around(row: int, before: Any, after: Any, count: int) -> tuple[list[int], list[int]]:
    sides: tuple[list[int], list[int]] = ([], [])
    for side, step in zip(sides, (before, after), strict=True):
        at = row
        for _ in range(count):
            at = int(step[at])
            if not at:
                break
            side.append(at)
    sides[0].reverse()
    return sides


class _MessageHits(_Hits):
    def hits(self, also: dict[int, list[Duplicate]]) -> list[Hit]:
        store, count = self.generation.store, self.asked.request.context
        givers = {row: self._giver(row) for row, _ in self.shown}
        chunks = store.chunks([giver for giver in givers.values() if giver])
        near = {row: _messages_around(self.generation, row, count) for row, _ in self.shown}
        wanted = {row for row, _ in self.shown} | {
            other for both in near.values() for side in both for other in side
        }
        messages = store.messages(sorted(wanted))
        names = self.generation.graph.names_in([chunk.chunk_id for chunk in chunks.values()])
        return [
            self._hit(
                row, score, chunks.get(givers[row]), dict(messages), names, near[row], also.get(row, [])
            )
            for row, score in self.shown
        ]

    def _giver(self, row: int) -> int:
        return int(self.findings.giver[row]) if self.findings.giver is not None else 0

    def _hit(
        self,
        row: int,
        score: float,
        chunk: StoredChunk | None,
        messages: dict[int, StoredMessage],
        names: dict[str, list[str]],
        near: tuple[list[int], list[int]],
        also: list[Duplicate],
    ) -> Hit:
        message, request = messages[row], self.asked.request
        text = _shown_text(message, chunk)
        sides = [[_message_neighbour(messages[other]) for other in side] for side in near]
        mentioned = names.get(chunk.chunk_id, []) if chunk else []
        return Hit(
            id=message.message_id,
            score=round(score, 6),
            text=text,
            highlights=self.highlights(text) if request.highlight else None,
            chat=ChatRef(id=message.chat_id, title=message.chat_title),
            source=message.source,
            at=shown_time(message.at),
            messages=[_message_ref(message, text)],
            entities=mentioned,
            before=sides[0] if request.context else None,
            after=sides[1] if request.context else None,
            also=also,
            explain=self.explain(row, self._giver(row), text) if request.explain else None,
        )


def _shown_text(message: StoredMessage, chunk: StoredChunk | None) -> str:
    if len(message.text) <= MESSAGE_CHARACTERS:
        return message.text
    for piece in chunk.pieces if chunk else ():
        if piece.message == message.id and chunk:
            return chunk.text[piece.start : piece.end]
    return message.text[:MESSAGE_CHARACTERS]


def _message_ref(message: StoredMessage, text: str) -> MessageRef:
    return MessageRef(
        id=message.message_id,
        author=message.author,
        role=message.role,
        at=shown_time(message.at),
        span=(0, len(text)),
    )


def _message_neighbour(message: StoredMessage) -> Neighbour:
    text = message.text[:MESSAGE_CHARACTERS]
    return Neighbour(
        id=message.message_id, text=text, at=shown_time(message.at), messages=[_message_ref(message, text)]
    )


def _messages_around(generation: Generation, row: int, count: int) -> tuple[list[int], list[int]]:
    chats = generation.store.columns.message_chat
    before = [at for at in range(max(1, row - count), row) if chats[at] == chats[row]]
    after = [at for at in range(row + 1, min(len(chats), row + count + 1)) if chats[at] == chats[row]]
    return before, after

"""Ranked rows as hits: exact spans, highlights, context, and an explanation leg by leg."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from indexer.stores import StoredChunk, StoredMessage
from indexer.stores.generation import Generation
from indexer.text.lemmas import terms
from indexer.text.normal import normal
from schemas.http import ChatRef, Duplicate, Hit, MessageRef, Neighbour
from service.evidence import Asked, Findings
from service.joining import MESSAGE_CHARACTERS, Joined, joined_windows
from service.query import shown_time
from service.talk import around, message_refs, messages_of, neighbours

# Shorter equal texts ("да", "ок") are no duplicates but talk.
DUPLICATE_CHARACTERS = 20

# Legs that grade; a date or an author fits or does not.
_RANKED = ("vector", "text", "entities", "neighbours", "message_text", "phrase", "answer")

# Legs that take away are told where they do.
_DISCOUNTS = ("question", "speaker")

# A word in the display text, with combining marks (й may stand decomposed there).
_WORD = re.compile(r"(?:[^\W_][\u0300-\u036f]*)+")


def text_key(text: str) -> str | None:
    """What copies of a text share, whatever their case, accents and blanks; None where it is too short."""
    return " ".join(normal(text).split()) if len(text) >= DUPLICATE_CHARACTERS else None


class _Hits:
    def __init__(
        self, generation: Generation, asked: Asked, findings: Findings, shown: Sequence[tuple[int, float]]
    ) -> None:
        self.generation = generation
        self.asked = asked
        self.findings = findings
        self.shown = shown
        self.query_terms = {term.word: term.forms for term in asked.terms}

    def highlights(self, text: str) -> list[tuple[int, int]]:
        """Spans of the words that the query's terms match."""
        wanted = frozenset().union(*self.query_terms.values())
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
        for leg, scores in evidence.legs.items():
            if leg in _DISCOUNTS and not scores[row]:
                continue
            # Finer than the score: seven rounded parts must still sum to it within a millionth.
            explained[leg] = {"contribution": round(evidence.share(leg, row), 9)}
            if leg in _RANKED and scores[row] > 0:
                explained[leg]["rank"] = int((scores > scores[row]).sum()) + 1
        if "text" in explained:
            explained["text"]["bm25"] = round(float(findings.bm25[row]), 4)
            explained["text"]["terms"] = self.matched_terms(text)
        if "message_text" in explained:
            explained["message_text"] |= {key: explained["text"][key] for key in ("bm25", "terms")}
        if "vector" in explained and chunk and findings.space[chunk] >= 0:
            info = self.asked.vectors[int(findings.space[chunk])].info
            explained["vector"]["space"] = info.space.name
            alone = self.asked.request.mode == "vector" or not self.asked.terms
            explained["vector"]["weight"] = 1.0 if alone else info.weight
            explained["vector"]["similarity"] = round(float(findings.cosines[chunk]), 4)
        elif "vector" in explained:
            del explained["vector"]
        if "entities" in explained:
            explained["entities"]["matched"] = [
                findings.entities[number].name for number in findings.named.get(chunk, [])
            ]
        return explained


class ChunkHits(_Hits):
    """Hits of `unit=chunk`."""

    def hits(self, also: dict[int, list[Duplicate]]) -> list[Hit]:
        """The shown rows in order; `also` holds the merged copies of a row."""
        count = self.asked.request.context
        share = self.asked.weights.joining
        shown = joined_windows(self.generation, self.findings, share, [row for row, _ in self.shown])
        near = {row: self._around(passage, count) for row, passage in shown.items()}
        rows = {other for both in near.values() for side in both for other in side}
        chunks = dict(self.generation.store.chunks(sorted(rows)))
        chunks |= {row: passage.chunk for row, passage in shown.items()}
        messages = messages_of(self.generation, chunks.values())
        names = self.generation.graph.names_in([id_ for passage in shown.values() for id_ in passage.ids])
        mentioned = {
            row: list(dict.fromkeys(name for id_ in passage.ids for name in names.get(id_, ())))
            for row, passage in shown.items()
        }
        return [
            self._hit(row, score, chunks, messages, mentioned[row], near[row], also.get(row, []))
            for row, score in self.shown
        ]

    def _around(self, passage: Joined, count: int) -> tuple[list[int], list[int]]:
        before, _ = around(self.generation, passage.rows[0], count, 0)
        _, after = around(self.generation, passage.rows[-1], 0, count)
        return before, after

    def _hit(
        self,
        row: int,
        score: float,
        chunks: dict[int, StoredChunk],
        messages: dict[int, StoredMessage],
        mentioned: list[str],
        near: tuple[list[int], list[int]],
        also: list[Duplicate],
    ) -> Hit:
        chunk, request = chunks[row], self.asked.request
        before, after = (neighbours([chunks[other] for other in side], messages) for side in near)
        return Hit(
            id=chunk.chunk_id,
            score=round(score, 6),
            text=chunk.text,
            highlights=self.highlights(chunk.text) if request.highlight else None,
            chat=ChatRef(id=chunk.chat_id, title=chunk.chat_title),
            source=chunk.source,
            at=shown_time(chunk.first_at),
            messages=message_refs(chunk, messages),
            entities=mentioned,
            before=before if request.context else None,
            after=after if request.context else None,
            also=[*_repeated(chunk, messages), *also],
            explain=self.explain(row, row, chunk.text) if request.explain else None,
        )


def _repeated(chunk: StoredChunk, messages: dict[int, StoredMessage]) -> list[Duplicate]:
    """Messages inside one window that repeat an earlier one of it."""
    seen: set[str] = set()
    repeated: list[Duplicate] = []
    for message in (messages[piece.message] for piece in chunk.pieces):
        key = text_key(message.text)
        if key is not None and key in seen:
            repeated.append(Duplicate(id=message.message_id, chat=chunk.chat_id, at=shown_time(message.at)))
        elif key is not None:
            seen.add(key)
    return repeated


class MessageHits(_Hits):
    """Hits of `unit=message`."""

    def hits(self, also: dict[int, list[Duplicate]]) -> list[Hit]:
        """The shown rows in order; `also` holds the merged copies of a row."""
        store, count = self.generation.store, self.asked.request.context
        givers = {row: self._giver(row) for row, _ in self.shown}
        chunks = store.chunks([giver for giver in givers.values() if giver])
        near = {row: around(self.generation, row, count, count, "message") for row, _ in self.shown}
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

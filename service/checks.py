"""What a new generation must show before it is published; injected into the build."""

from __future__ import annotations

from datetime import UTC, datetime

from indexer.stores.generation import Check, Generation
from indexer.stores.manifest import Manifest
from schemas.http import SearchRequest
from service.search import search

# A generation that lost more than a fifth of its messages is more likely a fault than a clean-up.
_SHRINK = 0.8

_SAMPLE = 12


def shrink_guard(generation: Generation, previous: Manifest | None) -> str | None:
    """The new generation must not hold under 80 % of the last one's messages."""
    if previous is None:
        return None
    before, now = previous.counts["messages"], generation.manifest.counts["messages"]
    if now < before * _SHRINK:
        return f"The new generation holds {now} messages, under 80 % of the last one's {before}."
    return None


def finds_itself(generation: Generation, previous: Manifest | None) -> str | None:
    """A chunk searched by its own words must be among the ten best hits, by words alone."""
    size = generation.store.size("chunk")
    rows = sorted({1 + number * size // _SAMPLE for number in range(_SAMPLE)} & set(range(1, size + 1)))
    roles = ["user", "assistant", "tool", "system", "summary", "note", "instruction"]
    for chunk in generation.store.chunks(rows).values():
        request = SearchRequest(q=chunk.text[:600], mode="text", role=roles, limit=10)
        answer = search(generation, request, (), UTC, datetime.now(UTC))
        same = [
            hit
            for hit in answer.hits
            if hit.text == chunk.text or _shares_message(hit, chunk.pieces, generation)
        ]
        if not same:
            return f"The chunk {chunk.chunk_id} is not found by its own words."
    return None


def _shares_message(hit: object, pieces: object, generation: Generation) -> bool:
    from schemas.http import Hit

    assert isinstance(hit, Hit)
    held = {message.id for message in hit.messages}
    stored = generation.store.messages([piece.message for piece in pieces])  # type: ignore[attr-defined]
    return any(message.message_id in held for message in stored.values())


CHECKS: tuple[Check, ...] = (shrink_guard, finds_itself)

"""Chunks as the talk they stand in: their messages with exact spans, and what comes before and after."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from indexer.stores import Ids, StoredChunk, StoredMessage, Unit
from indexer.stores.generation import Generation
from schemas.http import ChatRef, ChunkAnswer, IndexInfo, MessageRef, Neighbour
from schemas.problems import RequestError
from service.query import shown_time


def around(
    generation: Generation, row: int, before: int, after: int, unit: Unit = "chunk"
) -> tuple[list[int], list[int]]:
    """Rows of the chunks or messages before and after one, in the order of the talk."""
    earlier, later = generation.store.neighbours(unit)
    return _walk(row, earlier, before)[::-1], _walk(row, later, after)


def _walk(row: int, step: Ids, count: int) -> list[int]:
    found: list[int] = []
    for _ in range(count):
        row = int(step[row])
        if not row:
            break
        found.append(row)
    return found


def messages_of(generation: Generation, chunks: Iterable[StoredChunk]) -> dict[int, StoredMessage]:
    """All messages that some chunks hold, by row."""
    return dict(generation.store.messages([piece.message for chunk in chunks for piece in chunk.pieces]))


def message_refs(chunk: StoredChunk, messages: Mapping[int, StoredMessage]) -> list[MessageRef]:
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


def neighbours(chunks: Sequence[StoredChunk], messages: Mapping[int, StoredMessage]) -> list[Neighbour]:
    """Chunks as they are shown beside another one."""
    return [
        Neighbour(
            id=chunk.chunk_id,
            text=chunk.text,
            at=shown_time(chunk.first_at),
            messages=message_refs(chunk, messages),
        )
        for chunk in chunks
    ]


def chunk_answer(
    generation: Generation, chunk_id: str, before: int, after: int, index: IndexInfo
) -> ChunkAnswer:
    """One chunk with its neighbours in the talk.

    Raises:
        RequestError: not_found.
    """
    row = generation.store.chunk_rows([chunk_id]).get(chunk_id)
    if row is None:
        raise RequestError(
            "not_found",
            f"There is no chunk {chunk_id[:64]} in generation {generation.name}.",
            "ids of chunks change with their text; message ids stay",
        )
    sides = around(generation, row, before, after)
    chunks = generation.store.chunks([row, *sides[0], *sides[1]])
    messages = messages_of(generation, chunks.values())
    chunk = chunks[row]
    return ChunkAnswer(
        id=chunk.chunk_id,
        text=chunk.text,
        chat=ChatRef(id=chunk.chat_id, title=chunk.chat_title),
        source=chunk.source,
        at=shown_time(chunk.first_at),
        messages=message_refs(chunk, messages),
        entities=generation.graph.names_in([chunk_id]).get(chunk_id, []),
        before=neighbours([chunks[near] for near in sides[0]], messages),
        after=neighbours([chunks[near] for near in sides[1]], messages),
        index=index,
    )

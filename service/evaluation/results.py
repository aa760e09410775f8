"""A ranked list as the measure sees it: results, and in them stretches of messages."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from indexer.stores import Ids, Store, StoredChunk, StoredMessage, Unit
from service.joining import MESSAGE_CHARACTERS


@dataclass(frozen=True, slots=True)
class Stretch:
    """Part of a message as it is returned.

    Attributes:
        message: its row in the store.
        start: first code point, inside the message's own text.
        end: one past the last.
        beside: characters that are returned with it and are not its text: a name, a line break.
    """

    message: int
    start: int
    end: int
    beside: int = 0


Result = tuple[Stretch, ...]


@dataclass(frozen=True, slots=True)
class Ranked:
    """What a system answers to one query, best first.

    Attributes:
        results: hits; a chunk's messages stand in the order of the talk.
        confidence: how sure the system is that there is an answer; comparable between its own answers only.
    """

    results: Sequence[Result]
    confidence: float = 0.0


class Reader:
    """Results by row, read from a store once each.

    Args:
        store: of the generation that is asked.
    """

    def __init__(self, store: Store) -> None:
        self._store = store
        self._chunks: dict[int, Result] = {}
        self._messages: dict[int, Result] = {}
        self._lengths: dict[int, int] = {}

    def length(self, message: int) -> int:
        """Code points of a message's text."""
        if message not in self._lengths:
            self._read_messages([message])
        return self._lengths[message]

    def results(self, rows: Iterable[int], unit: Unit) -> list[Result]:
        """Whole chunks, or whole messages, by row."""
        wanted = list(rows)
        known = self._chunks if unit == "chunk" else self._messages
        missing = [row for row in wanted if row not in known]
        if missing and unit == "chunk":
            found = self._store.chunks(missing)
            self._chunks |= {row: chunk_result(found[row]) for row in missing}
        elif missing:
            self._read_messages(missing)
        return [known[row] for row in wanted]

    def messages(self, rows: Iterable[int], givers: Ids) -> list[Result]:
        """Messages as hits show them: one that is too long is its window in the chunk that speaks for it."""
        return [
            self._window(result[0], int(givers[result[0].message]))
            if result[0].end > MESSAGE_CHARACTERS
            else result
            for result in self.results(rows, "message")
        ]

    def part(self, row: int, shown: str) -> Result:
        """A message of which only this text is shown."""
        whole = self.results([row], "message")[0]
        if len(shown) == whole[0].end:
            return whole
        start = max(0, self._store.messages([row])[row].text.find(shown))
        return (Stretch(row, start, start + len(shown)),)

    def _window(self, whole: Stretch, giver: int) -> Result:
        chunk = self.results([giver], "chunk")[0] if giver else ()
        own = [replace(stretch, beside=0) for stretch in chunk if stretch.message == whole.message]
        return (own[0] if own else replace(whole, end=MESSAGE_CHARACTERS),)

    def _read_messages(self, rows: Sequence[int]) -> None:
        for row, message in self._store.messages(rows).items():
            self._lengths[row] = len(message.text)
            self._messages[row] = message_result(message)


def chunk_result(chunk: StoredChunk) -> Result:
    """The messages of a chunk, with the names and line breaks between them."""
    stretches, before = [], 0
    for piece in chunk.pieces:
        length = piece.end - piece.start
        stretches.append(
            Stretch(piece.message, piece.message_start, piece.message_start + length, piece.start - before)
        )
        before = piece.end
    return tuple(stretches)


def message_result(message: StoredMessage) -> Result:
    """A message by itself."""
    return (Stretch(message.id, 0, len(message.text)),)

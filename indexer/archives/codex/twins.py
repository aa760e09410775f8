"""Texts that Codex writes twice, as an item of the model and as an event of the screen: one message."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass

from schemas.records import Dropped, Message, Record

# Both copies are written within one step; the lines between them are counters and events.
WINDOW = 24


@dataclass(slots=True)
class _Waiting:
    line: int
    record: Record
    open: bool


class Twins:
    """Holds a message of the screen back until its twin had time to come; memory is a window of lines.

    The model's item wins wherever it stands, and each of the two counts once: a person may say "да" twice.
    """

    def __init__(self) -> None:
        self._line = 0
        self._waiting: deque[_Waiting] = deque()
        self._unmatched: deque[tuple[int, str, str]] = deque()

    def step(self) -> Iterator[Record]:
        """Begin a line; yields what has waited long enough."""
        self._line += 1
        while self._unmatched and self._unmatched[0][0] < self._line - WINDOW:
            self._unmatched.popleft()
        yield from self._ready(self._line - WINDOW)

    def take(self, record: Record, screen: bool = False) -> None:
        """Take a record of the current line; `screen` for a message that may have a twin among the items."""
        if not isinstance(record, Message):
            self._waiting.append(_Waiting(self._line, record, open=False))
            return
        told = (record.role, record.text)
        if screen:
            self._screen(record, told)
            return
        for waiting in self._waiting:
            held = waiting.record
            if waiting.open and isinstance(held, Message) and (held.role, held.text) == told:
                waiting.record, waiting.open = Dropped("repeat", len(held.text)), False
                break
        else:
            self._unmatched.append((self._line, *told))
        self._waiting.append(_Waiting(self._line, record, open=False))

    def rest(self) -> Iterator[Record]:
        """Yield all that still waits."""
        yield from self._ready(self._line + 1)

    def _screen(self, message: Message, told: tuple[str, str]) -> None:
        for unmatched in self._unmatched:
            if unmatched[1:] == told:
                self._unmatched.remove(unmatched)
                repeat = Dropped("repeat", len(message.text))
                self._waiting.append(_Waiting(self._line, repeat, open=False))
                return
        self._waiting.append(_Waiting(self._line, message, open=True))

    def _ready(self, before: int) -> Iterator[Record]:
        while self._waiting and (not self._waiting[0].open or self._waiting[0].line < before):
            yield self._waiting.popleft().record

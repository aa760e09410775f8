"""Takes a broken result.json up again at the next message: one bad byte must not cost the years after it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Literal

# Telegram Desktop writes the keys of messages and chats in this order. The quotes are bare: no text of a
# message can look like one, since there they are escaped.
_MESSAGE = re.compile(rb'\{\s*"id":\s*-?\d+,\s*"type":\s*"(?:message|service|unsupported)"')
_CHAT = re.compile(
    rb'\{\s*(?:"name":\s*(?:null|"[^"\\]*(?:\\.[^"\\]*)*"),\s*)?"type":\s*"[a-z_]+",\s*'
    rb'"id":\s*-?\d+,\s*"messages":\s*\['
)
# Longer than any beginning of a message or chat; what is kept of a piece in case one is cut by its end.
_TAIL = 8 * 1024

Beginning = Literal["message", "chat"]


class Resumable:
    """The pieces of a JSON stream, which can go on past a fault at the next message or chat.

    Attributes:
        done: how many messages were completed since the current piece was given; the caller counts.
        inside: whether a message was open when it was given; the caller says.
    """

    def __init__(self, chunks: Iterator[bytes]) -> None:
        self._chunks = chunks
        self._piece = b""
        self._opener = b""
        self._floor = 0
        self.done = 0
        self.inside = False
        self.open = False

    def pieces(self) -> Iterator[bytes]:
        """The rest of the stream, from where `resume` left it."""
        if self._opener:
            yield self._opener
            self.done, self.inside, self.open = 0, False, False
            yield self._piece
        for chunk in self._chunks:
            self._piece, self._floor = chunk, 0
            self.done, self.inside = 0, self.open
            yield chunk

    def resume(self, openers: dict[Beginning, bytes]) -> Beginning | None:
        """Go to the next beginning past the messages that are done.

        Args:
            openers: the beginnings that may be taken up, each with the JSON that must come before it.

        Returns:
            What was found, or None when the stream ends without one.

        Raises:
            OSError: the stream can't be read on.
        """
        at = self._past_done()
        while True:
            found = min(
                (
                    (match.start(), kind)
                    for kind, pattern in (("message", _MESSAGE), ("chat", _CHAT))
                    if (match := pattern.search(self._piece, at))
                ),
                default=None,
            )
            if found is not None:
                start, kind = found
                if kind in openers:
                    self._piece, self._floor = self._piece[start:], 1
                    self._opener = openers[kind]
                    return kind
                at = start + 1
                continue
            chunk = next(self._chunks, None)
            if chunk is None:
                return None
            self._piece, at = self._piece[max(at, len(self._piece) - _TAIL) :] + chunk, 0

    def _past_done(self) -> int:
        skipped = self.done - self.inside
        if skipped <= 0:
            return self._floor
        ends = [match.end() for match in _MESSAGE.finditer(self._piece)]
        return max(self._floor, ends[skipped - 1] if skipped <= len(ends) else len(self._piece))

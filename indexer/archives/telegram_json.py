"""Telegram Desktop's JSON as it is really written, turned into JSON and into one record at a time."""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator
from typing import Any, BinaryIO

_STEP = 1 << 16
# A pair of backslashes is consumed as one escape, so that `C:\\x0C` stays what it is.
_ESCAPE = re.compile(rb"\\(?:x([0-9a-fA-F]{2})|.)", re.DOTALL)
_BEGUN = re.compile(rb"x[0-9a-fA-F]?|")
_CONTROLS = bytes(code for code in range(0x20) if code not in b"\t\n\r")
_TO_SPACE = bytes(0x20 if code in _CONTROLS else code for code in range(256))


class Repair:
    r"""A stream of UTF-8 JSON from what the exporter wrote; counts the control characters it replaced.

    The exporter writes a control character as `\xHH`, which is not JSON: it becomes a space, any other
    `\xHH` becomes `\u00HH`. Bytes that are no UTF-8 become U+FFFD.
    """

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream
        self.controls = 0

    def chunks(self) -> Iterator[bytes]:
        """The repaired content in pieces."""
        decoder = codecs.getincrementaldecoder("utf-8")("replace")
        held, first = b"", True
        while data := self._stream.read(_STEP):
            text = decoder.decode(data)
            if first:
                text, first = text.removeprefix("\ufeff"), False
            data = held + self._spaced(text.encode("utf-8", "replace"))
            cut = len(data) - _open_escape(data)
            data, held = data[:cut], data[cut:]
            yield self._unescaped(data)
        yield held + decoder.decode(b"", final=True).encode()

    def _spaced(self, data: bytes) -> bytes:
        spaced = data.translate(_TO_SPACE)
        if spaced != data:
            self.controls += sum(data.count(code) for code in _CONTROLS)
        return spaced

    def _unescaped(self, data: bytes) -> bytes:
        return _ESCAPE.sub(self._escape, data) if b"\\x" in data else data

    def _escape(self, match: re.Match[bytes]) -> bytes:
        code = match.group(1)
        if code is None:
            return match.group()
        if int(code, 16) < 0x20 or int(code, 16) == 0x7F:
            self.controls += 1
            return b" "
        return b"\\u00" + code


def _open_escape(data: bytes) -> int:
    """How many bytes at the end belong to an escape that is not complete yet."""
    for width in range(3):
        body = data[: len(data) - width]
        if _BEGUN.fullmatch(data[len(body) :]) and (len(body) - len(body.rstrip(b"\\"))) % 2:
            return width + 1
    return 0


MAX_DEPTH = 64


class Builder:
    """Builds one value from parser events; what is nested deeper than MAX_DEPTH is left out."""

    def __init__(self) -> None:
        self.value: Any = None
        self._stack: list[tuple[Any, str | None]] = []
        self._key: str | None = None
        self._too_deep = 0

    def feed(self, event: str, value: Any) -> bool:
        """Take an event; True when the value is complete."""
        if event == "map_key":
            if not self._too_deep:
                self._key = value
            return False
        if event in ("end_map", "end_array"):
            if self._too_deep:
                self._too_deep -= 1
                return False
            _, self._key = self._stack.pop()
            return not self._stack
        opens = event in ("start_map", "start_array")
        if self._too_deep or (opens and len(self._stack) >= MAX_DEPTH):
            self._too_deep += opens
            return False
        made: Any = {} if event == "start_map" else [] if event == "start_array" else value
        if self._stack:
            holder = self._stack[-1][0]
            if isinstance(holder, dict):
                holder[self._key] = made
            else:
                holder.append(made)
        else:
            self.value = made
        if opens:
            self._stack.append((made, self._key))
        return not self._stack


class BrokenJson(ValueError):
    """The JSON can't be followed past this point."""


def parse_events(chunks: Iterator[bytes]) -> Iterator[tuple[str, str, Any]]:
    """(prefix, event, value) of a JSON stream; all that came before a fault is given before it is raised.

    Prefixes are as ijson writes them (`chats.list.item.id`), down to PATH_DEPTH levels; ijson's own grow with
    the nesting, so that 500 KB of open brackets took gigabytes.

    Raises:
        BrokenJson: a syntax error, or the end in the middle.
        OSError: the stream can't be read on.
    """
    here = ""
    # Of every open container: its own prefix, and that of its elements (None for a map: its keys tell).
    stack: list[tuple[str, str | None]] = []
    for event, value in _basic_events(chunks):
        if event == "map_key":
            own = stack[-1][0]
            yield own, event, value
            here = _deeper(own, value, len(stack))
        elif event in ("start_map", "start_array"):
            yield here, event, value
            elements = _deeper(here, "item", len(stack) + 1) if event == "start_array" else None
            stack.append((here, elements))
            here = elements or ""
        elif event in ("end_map", "end_array"):
            own, _ = stack.pop()
            yield own, event, value
            here = (stack[-1][1] or "") if stack else ""
        else:
            yield here, event, value


PATH_DEPTH = 7
_TOO_DEEP = "…"


def _deeper(prefix: str, part: str, depth: int) -> str:
    if depth > PATH_DEPTH:
        return _TOO_DEEP
    return f"{prefix}.{part}" if prefix else part


def _basic_events(chunks: Iterator[bytes]) -> Iterator[tuple[str, Any]]:
    import ijson

    found = ijson.sendable_list()
    parser = ijson.basic_parse_coro(found)
    fault: Exception | None = None
    pieces = iter(chunks)
    ended = False
    while not ended and fault is None:
        try:
            piece = next(pieces, None)
            if piece is None:
                ended = True
                parser.close()
            elif piece:
                parser.send(piece)
        except (ijson.JSONError, ValueError, ArithmeticError) as error:
            fault = BrokenJson("ends early" if ended else "broken")
            fault.__cause__ = error
        except OSError as error:
            fault = error
        yield from found
        del found[:]
    if fault is not None:
        raise fault

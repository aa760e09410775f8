"""Records out of one big JSON document, a window of it in memory at a time, going on past what is broken.

An export of 200 MB is one object. Its structure is walked by hand as far as the records that a reader wants;
each of these is decoded by the standard library, so that a stream costs little more than `json.load` of the
whole. After a fault the walk goes on at the next beginning of a record: one bad byte must not cost the years
after it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from indexer.archives.json_text import Text

# A record longer than this is skipped; so is what has no record's beginning for so long.
MAX_ITEM = 64 * 1024 * 1024
# A file with more faults than this is no export any more.
MAX_FAULTS = 1_000
# Containers nested deeper than this, on the way to the records, are passed over as one value.
MAX_DEPTH = 8
_STEP = 1 << 18
# Longer than any beginning of a record; kept of a window in case one is cut by its end.
_TAIL = 8 * 1024

BROKEN = "broken JSON after this record"
ENDS_EARLY = "the file ends in the middle"
TOO_DEEP = "JSON nested too deeply"
TOO_LONG = f"a record longer than {MAX_ITEM >> 20} MB"
TOO_MANY = f"more than {MAX_FAULTS} faults in one file"
LEGACY = "not UTF-8, read as windows-1251"


@dataclass(frozen=True, slots=True)
class Layout:
    """Where the records of a format stand, as paths: keys joined by dots, `item` for an element of a list.

    Attributes:
        items: paths of the records, e.g. `{"messages.item"}`; `{"item"}` for a list of records.
        fields: paths of values around them that are wanted (decoded whole: small ones only).
        opens: paths of objects whose beginning is wanted.
        begins: how something that may be gone on at after a fault begins in the text, and its path. A path of
            `items` stands for whichever of them was read last.
    """

    items: frozenset[str]
    fields: frozenset[str] = frozenset()
    opens: frozenset[str] = frozenset()
    begins: Mapping[str, re.Pattern[str]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Item:
    """A record, whatever it is: broken exports hold numbers and strings in place of objects."""

    path: str
    value: Any


@dataclass(frozen=True, slots=True)
class Value:
    """A wanted value beside the records."""

    path: str
    value: Any


@dataclass(frozen=True, slots=True)
class Opened:
    """A wanted object begins; `again` after a fault, when it may be the one before."""

    path: str


@dataclass(frozen=True, slots=True)
class Fault:
    """The JSON could not be followed; what comes next is behind the gap."""

    reason: str


class _Broken(ValueError):
    pass


class _Window:
    """The part of the text that is in memory, and a place in it."""

    def __init__(self, steps: Iterator[str]) -> None:
        self._steps = steps
        self.text, self.at, self.ended = "", 0, False

    def more(self, keep: int | None = None) -> bool:
        """Read on, at least as much as is kept (from `keep`, else from the place); False at the end."""
        start = self.at if keep is None else keep
        parts, size, wanted = [self.text[start:]], 0, max(_STEP, len(self.text) - start)
        while size < wanted and not self.ended:
            step = next(self._steps, None)
            if step is None:
                self.ended = True
            else:
                parts.append(step)
                size += len(step)
        self.text, self.at = "".join(parts), self.at - start
        return size > 0

    def peek(self) -> str:
        """The next character that means something, or "" at the end of the text."""
        while True:
            self.at = _SPACE.match(self.text, self.at).end()  # type: ignore[union-attr]
            if self.at < len(self.text):
                return self.text[self.at]
            if not self.more():
                return ""

    def value(self) -> Any:
        """Decode the value at the place and go past it.

        Raises:
            _Broken: it is none, or longer than MAX_ITEM.
        """
        while True:
            try:
                value, end = _DECODE(self.text, self.at)
            except RecursionError:
                raise _Broken(TOO_DEEP) from None
            except json.JSONDecodeError as error:
                if self.ended or not self._may_be_cut(error):
                    raise _Broken(BROKEN) from None
            except ValueError:  # a number of more digits than Python converts
                raise _Broken(BROKEN) from None
            else:
                # A number may go on behind the window.
                if end < len(self.text) or self.ended or isinstance(value, dict | list | str):
                    self.at = end
                    return value
            if len(self.text) - self.at > MAX_ITEM:
                raise _Broken(TOO_LONG)
            self.more()

    def _may_be_cut(self, error: json.JSONDecodeError) -> bool:
        return error.msg.startswith("Unterminated string") or error.pos >= len(self.text) - 16

    def find(self, patterns: Mapping[str, re.Pattern[str]], start: int) -> str | None:
        """Go to the earliest match from `start` on; the name of its pattern, or None at the end."""
        while True:
            found = min(
                ((match.start(), name) for name, pattern in patterns.items()
                 if (match := pattern.search(self.text, start))),
                default=None,
            )  # fmt: skip
            if found is not None:
                self.at = found[0]
                return found[1]
            keep = max(start, len(self.text) - _TAIL)
            self.at = keep
            if not self.more(keep):
                return None
            start = 0


_SPACE = re.compile(r"[ \t\r\n]*")
_DECODE = json.JSONDecoder(strict=False).raw_decode


def walk(text: Text, layout: Layout) -> Iterator[Item | Value | Opened | Fault]:
    """The records of a document in their order, and what is wanted around them.

    Raises:
        OSError: the stream can't be read on; all that came before was given.
    """
    yield from _Walk(text, layout).run()


class _Walk:
    def __init__(self, text: Text, layout: Layout) -> None:
        self._text, self._layout = text, layout
        self._window = _Window(text.steps())
        # Of every open container: its path, and whether it is a list.
        self._stack: list[tuple[str, bool]] = []
        self._begun = 0  # where the record or the structure that is being read began
        self._list = next(iter(layout.items)).rpartition(".")[0]  # path of the list that was read last
        self._told = False

    def run(self) -> Iterator[Item | Value | Opened | Fault]:
        for _ in range(MAX_FAULTS):
            try:
                yield from self._follow()
                return
            except _Broken as error:
                yield Fault(str(error))
                path = self._resume(str(error))
            if path is None:
                return
            if path in self._layout.opens:
                continue  # the walk itself tells of it
        yield Fault(TOO_MANY)

    def _follow(self) -> Iterator[Item | Value | Opened | Fault]:
        window, stack = self._window, self._stack
        if not stack and window.peek():
            yield from self._value("")
        if self._text.legacy and not self._told:
            self._told = True
            yield Fault(LEGACY)
        while stack:
            path, is_list = stack[-1]
            sign = window.peek()
            if sign == ",":
                window.at += 1
            elif sign == ("]" if is_list else "}"):
                window.at += 1
                stack.pop()
            elif not sign:
                raise _Broken(ENDS_EARLY)
            elif is_list:
                yield from self._value(f"{path}.item" if path else "item")
            else:
                yield from self._value(self._key(path))
        if window.peek():
            raise _Broken(BROKEN)

    def _key(self, path: str) -> str:
        window = self._window
        key = window.value() if window.peek() == '"' else None
        if not isinstance(key, str) or window.peek() != ":":
            raise _Broken(BROKEN if window.peek() else ENDS_EARLY)
        window.at += 1
        return f"{path}.{key}" if path else key

    def _value(self, path: str) -> Iterator[Item | Value | Opened]:
        window, layout = self._window, self._layout
        sign = window.peek()
        if path in layout.items:
            self._list = path.rpartition(".")[0]
            yield Item(path, self._decoded())
        elif path in layout.fields:
            yield Value(path, self._decoded())
        elif sign in ("{", "[") and len(self._stack) < MAX_DEPTH:
            if sign == "{" and path in layout.opens:
                yield Opened(path)
            window.at += 1
            self._stack.append((path, sign == "["))
        else:
            self._decoded()

    def _decoded(self) -> Any:
        try:
            return self._window.value()
        except _Broken as error:
            if str(error) == BROKEN and self._window.ended and self._cut():
                raise _Broken(ENDS_EARLY) from None
            raise

    def _cut(self) -> bool:
        """Whether a record that could not be decoded reaches to the end of the file."""
        window = self._window
        return not any(pattern.search(window.text, window.at + 1) for pattern in self._layout.begins.values())

    def _resume(self, reason: str) -> str | None:
        """Go on at the next beginning behind the fault; its path, or None when there is none."""
        window, layout = self._window, self._layout
        path = window.find(layout.begins, window.at + 1)
        if path is None:
            return None
        if path in layout.items:
            path = f"{self._list}.item".lstrip(".")
        self._stack[:] = _containers(path)
        return path


def _containers(path: str) -> list[tuple[str, bool]]:
    """The open containers around a path, outermost first."""
    found: list[tuple[str, bool]] = []
    here = ""
    for part in path.split("."):
        found.append((here, part == "item"))
        here = f"{here}.{part}" if here else part
    return found

"""A window that moves over the text of one big JSON document, and the values that are decoded out of it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

# A record longer than this is skipped; so is what has no record's beginning for so long.
MAX_ITEM = 64 * 1024 * 1024
_STEP = 1 << 18
# Longer than any beginning of a record; kept of a window in case one is cut by its end.
_TAIL = 8 * 1024
# Where the last record of a window is looked for: longer than nearly all.
_LAST = 64 * 1024

BROKEN = "broken JSON after this record"
TOO_DEEP = "JSON nested too deeply"
TOO_LONG = f"a record longer than {MAX_ITEM >> 20} MB"

_SPACES = " \t\r\n"
_AFTER = frozenset({"", ",", "]", "}", *_SPACES})
_SPACE = re.compile(f"[{_SPACES}]*")
_DECODE = json.JSONDecoder(strict=False).raw_decode


class Broken(ValueError):
    """The JSON can't be followed; the sentence says why."""


class Window:
    """The part of the text that is in memory, and a place in it."""

    def __init__(self, steps: Iterator[str]) -> None:
        self._steps = steps
        self.text, self.at, self.ended = "", 0, False
        self._fault: OSError | None = None
        self.reads = 0

    def more(self, keep: int | None = None) -> bool:
        """Read on, at least as much as is kept (from `keep`, else from the place); False at the end."""
        start = self.at if keep is None else keep
        parts, size, wanted = [self.text[start:]], 0, max(_STEP, len(self.text) - start)
        while size < wanted and not self.ended and self._fault is None:
            step = self._step()
            if step is not None:
                parts.append(step)
                size += len(step)
        self.text, self.at = "".join(parts), self.at - start
        self.reads += 1
        if not size and self._fault is not None:
            raise self._fault
        return size > 0

    def _step(self) -> str | None:
        """The next step; a fault of the stream waits until what came before it is used up."""
        try:
            step = next(self._steps, None)
        except OSError as error:
            self._fault = error
            return None
        self.ended = step is None
        return step

    def ahead(self) -> None:
        """Read on where a beginning at the place may be cut by the end of the window."""
        while len(self.text) - self.at < _TAIL and self.more():
            pass

    def peek(self) -> str:
        """The next character that means something, or "" at the end of the text."""
        while True:
            self.at = _SPACE.match(self.text, self.at).end()  # type: ignore[union-attr]
            if self.at < len(self.text):
                return self.text[self.at]
            if not self.more():
                return ""

    def value(self, other: re.Pattern[str] | None = None) -> Any:
        """Decode the value at the place and go past it.

        Args:
            other: the beginning of what can't be inside the value.

        Raises:
            Broken: it is none, or longer than MAX_ITEM.
        """
        while True:
            try:
                value, end = _DECODE(self.text, self.at)
            except RecursionError:
                raise Broken(TOO_DEEP) from None
            except json.JSONDecodeError as error:
                if self.ended or not self._may_be_cut(error) or self._holds(other, len(self.text)):
                    raise Broken(BROKEN) from None
            except ValueError:  # a number of more digits than Python converts
                raise Broken(BROKEN) from None
            else:
                if self._holds(other, end):
                    raise Broken(BROKEN)
                if isinstance(value, dict | list | str):
                    self.at = end
                    return value
                # A number may go on behind the window, also where it stops now: `1.5` is cut to `1.`.
                if end + 2 < len(self.text) or self.ended:
                    if self.text[end : end + 1] not in _AFTER:
                        raise Broken(BROKEN)
                    self.at = end
                    return value
            if len(self.text) - self.at > MAX_ITEM:
                raise Broken(TOO_LONG)
            self.more()

    def values(self, beginning: re.Pattern[str]) -> list[Any]:
        """The elements of a list from the place on, up to the last that begins in the window.

        One call for all takes two thirds of the time of one for each. Empty where that does not work: `value`
        then finds out why.
        """
        text, at = self.text, self.at
        starts = [match.start() for match in beginning.finditer(text, max(at + 1, len(text) - _LAST))]
        end = text.rfind(",", at, starts[-1]) if starts else -1
        if end < 0 or text[end + 1 : starts[-1]].strip(_SPACES):
            return []
        joined = f"[{text[at:end]}]"
        try:
            found, stop = _DECODE(joined)
        except (ValueError, RecursionError):
            return []
        # Where the list was closed on the way, go to its bracket.
        self.at = end if stop == len(joined) else at + stop - 2
        return found if isinstance(found, list) else []

    def _holds(self, other: re.Pattern[str] | None, end: int) -> bool:
        return other is not None and other.search(self.text, self.at + 1, end) is not None

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

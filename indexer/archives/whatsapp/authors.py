"""Who wrote a message of a WhatsApp export: what stands before the colon, learnt from the whole file."""

from __future__ import annotations

from typing import NamedTuple

from indexer.archives.whatsapp.layout import MARKS
from indexer.archives.wording import label

_LONGEST = 100
_MOST = 10_000
# Messages that must agree before `A: B` is taken for one name.
_ENOUGH = 3
_UNMARKED = str.maketrans(dict.fromkeys(MARKS))


class _Seen:
    __slots__ = ("count", "marked", "second")

    def __init__(self, second: str | None, marked: bool) -> None:
        self.count, self.second, self.marked = 1, second, marked


class _Known(NamedTuple):
    name: str | None
    length: int
    for_group: bool


class Authors:
    """Learns the names of a file in a first pass and splits its messages in a second.

    A line without a colon has no author: WhatsApp itself speaks. Where every message of `A` goes on with
    `B: `, three at least, the name is `A: B`. An opened quotation mark before the colon belongs to a group's
    name in a system line (`Иван создал группу «Дача: план»`).
    """

    def __init__(self) -> None:
        self._seen: dict[str, _Seen] = {}
        self._known: dict[str, _Known] = {}

    def learn(self, text: str, begin: int) -> None:
        """Take the message that begins there, after its head."""
        at = _colon(text, begin)
        if at is None:
            return
        name = text[begin:at]
        seen = self._seen.get(name)
        marked = text[at + 2 : at + 3] == "\u200e"
        if seen is None:
            if len(self._seen) < _MOST:
                self._seen[name] = _Seen(_second(text, at), marked)
            return
        seen.count += 1
        if seen.second is not None and _second(text, at) != seen.second:
            seen.second = None
        if not marked:
            seen.marked = False

    def split(self, text: str) -> tuple[str | None, str, bool]:
        """Author (None for a system line), text, and whether that is a group, which never speaks itself."""
        at = _colon(text, 0)
        if at is None:
            # Without a space after it a colon ends a name only where the name is known: `Иван:.`
            at = text.find(":", 0, _LONGEST)
            if at < 1 or text[:at] not in self._seen:
                return None, text, False
        raw = text[:at]
        known = self._known.get(raw) or self._resolve(raw)
        if known.name is None:
            return None, text, False
        return known.name, text[known.length + 1 :].removeprefix(" "), known.for_group

    def _resolve(self, raw: str) -> _Known:
        seen = self._seen.get(raw)
        count = 1 if seen is None else seen.count
        full = raw
        if seen is not None and seen.second is not None and count >= _ENOUGH:
            full = f"{raw}: {seen.second}"
        known = _Known(_name(full, count), len(full), seen is not None and seen.marked)
        if len(self._known) < _MOST:
            self._known[raw] = known
        return known


def _colon(text: str, begin: int) -> int | None:
    """Where the first line of the message that begins there has the colon after its author."""
    at = text.find(": ", begin + 1, begin + _LONGEST + 2)
    if at < 0 or "\n" in text[begin:at]:
        end = text.find("\n", begin, begin + _LONGEST + 2)
        end = len(text) if end < 0 else end
        at = end - 1 if end - begin <= _LONGEST and text[begin + 1 : end].endswith(":") else -1
    return None if at < 0 else at


def _second(text: str, at: int) -> str | None:
    end = text.find(": ", at + 3, at + 2 + _LONGEST)
    return text[at + 2 : end] if end > 0 and "\n" not in text[at:end] else None


def _name(raw: str, count: int) -> str | None:
    if count < _ENOUGH and _opened(raw):
        return None
    name = raw.translate(_UNMARKED).strip()
    if name[:1] == "~" and name[1:2].isspace():
        name = name[1:]  # so WhatsApp marks who is not in the contacts
    return label(name)


def _opened(raw: str) -> bool:
    """Whether a quotation is opened and not closed."""
    if raw.count('"') % 2 or raw.rfind("«") > raw.rfind("»"):
        return True
    closed = raw.rfind("”")
    return raw.rfind("„") > max(raw.rfind("“"), closed) if "„" in raw else raw.rfind("“") > closed

"""Records out of one big JSON document, a window of it in memory at a time, going on past what is broken.

An export of 200 MB is one object. Its structure is walked by hand as far as the records that a reader wants;
each of these is decoded by the standard library, so that a stream costs little more than `json.load` of the
whole. After a fault the walk goes on at the next beginning of a record: one bad byte must not cost the years
after it.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Generator, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from indexer.archives.json_text import Text
from indexer.archives.json_window import BROKEN, TOO_DEEP, TOO_LONG, Broken, Window

# A file with more faults than this is no export any more.
MAX_FAULTS = 1_000
# Containers nested deeper than this, on the way to the records, are passed over as one value.
MAX_DEPTH = 8

ENDS_EARLY = "the file ends in the middle"
TOO_MANY = f"more than {MAX_FAULTS} faults in one file"
LEGACY = "not UTF-8, read as windows-1251"
MISNAMED = "records under a damaged key"
__all__ = [
    "BROKEN",
    "ENDS_EARLY",
    "LEGACY",
    "MISNAMED",
    "TOO_DEEP",
    "TOO_LONG",
    "TOO_MANY",
    "Fault",
    "Item",
    "Layout",
    "Opened",
    "Value",
    "walk",
]


@dataclass(frozen=True, slots=True)
class Layout:
    """Where the records of a format stand, as paths: keys joined by dots, `item` for an element of a list.

    Attributes:
        items: paths of the records, e.g. `{"messages.item"}`; `{"item"}` for a list of records, `mapping.*`
            for the values of an object whatever their keys.
        fields: paths of values around them that are wanted (decoded whole: small ones only).
        opens: paths of objects and lists whose beginning is wanted.
        begins: how something that may be gone on at after a fault begins in the text, by its path. A path of
            `items` stands for whichever of them was read last; it is gone on at only where its list is open,
            or where nothing of `opens` was met: else a record would be taken for one of another object's.
        anywhere: go on at a record wherever it begins: the reader itself can tell whose it is.
        aside: paths of lists whose elements look like records and are none.
        flat: nothing inside a record or beside it begins like one: where something does, a bracket was lost.
            Records of an object whose own beginning was lost are told to be of one more object.
    """

    items: frozenset[str]
    fields: frozenset[str] = frozenset()
    opens: frozenset[str] = frozenset()
    begins: Mapping[str, re.Pattern[str]] = field(default_factory=dict)
    anywhere: bool = False
    aside: frozenset[str] = frozenset()
    flat: bool = False


@dataclass(frozen=True, slots=True)
class Item:
    """A record, whatever it is: broken exports hold numbers and strings in place of objects.

    So it may also stand at a path of `opens` or of a list on the way, in place of what was to begin there.
    """

    path: str
    value: Any


@dataclass(frozen=True, slots=True)
class Value:
    """A wanted value beside the records."""

    path: str
    value: Any


@dataclass(frozen=True, slots=True)
class Opened:
    """A wanted object or list begins."""

    path: str


@dataclass(frozen=True, slots=True)
class Fault:
    """The JSON could not be followed; what comes next is behind the gap."""

    reason: str


def walk(text: Text, layout: Layout) -> Iterator[Item | Value | Opened | Fault]:
    """The records of a document in their order, and what is wanted around them.

    Raises:
        OSError: the stream can't be read on; all that came before was given.
    """
    yield from _Walk(text, layout).run()


class _Walk:
    def __init__(self, text: Text, layout: Layout) -> None:
        self._text, self._layout = text, layout
        self._window = Window(text.steps())
        # Of every open container: its path, and whether it is a list.
        self._stack: list[tuple[str, bool]] = []
        self._lists = frozenset(path.rpartition(".")[0] for path in layout.items)
        self._maps = frozenset(path[:-2] for path in layout.items if path.endswith(".*"))
        self._signs = _signs(layout)
        self._list = min(self._lists, key=len)  # path of the list of records that was opened last
        self._opened = False  # whether something of `opens` was met
        beginnings = [pattern for path, pattern in layout.begins.items() if path in layout.items]
        self._beginning = beginnings[0] if beginnings else None
        self._tried = -1  # the window that was decoded at once as far as it could be
        self._told = False

    def run(self) -> Iterator[Item | Value | Opened | Fault]:
        for _ in range(MAX_FAULTS):
            try:
                yield from self._follow()
                return
            except Broken as error:
                yield Fault(str(error))
            if not (yield from self._resume()):
                return
        yield Fault(TOO_MANY)

    def _follow(self) -> Iterator[Item | Value | Opened | Fault]:
        window, stack = self._window, self._stack
        if not stack and (sign := window.peek()):
            if sign not in "[{":
                raise Broken(BROKEN)
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
                raise Broken(ENDS_EARLY)
            elif not is_list:
                yield from self._stray(path)
                yield from self._value(self._key(stack[-1][0]))
            elif path in self._lists and self._beginning is not None and self._tried != window.reads:
                self._tried = window.reads
                for value in window.values(self._beginning):
                    yield Item(f"{path}.item".lstrip("."), value)
            else:
                yield from self._value(f"{path}.item".lstrip("."))
        if window.peek():
            raise Broken(BROKEN)

    def _stray(self, path: str) -> Iterator[Fault]:
        """Where a record with a key begins outside of its object, take the place for that object."""
        window = self._window
        for place, pattern in self._layout.begins.items():
            if place.endswith(".*") and path not in self._maps:
                window.ahead()
                if pattern.match(window.text, window.at):
                    self._stack[:] = _containers(place)
                    yield Fault(MISNAMED)
                    return

    def _key(self, path: str) -> str:
        window = self._window
        key = self._decoded() if window.peek() == '"' else None
        if not isinstance(key, str) or window.peek() != ":":
            raise Broken(BROKEN if window.peek() else ENDS_EARLY)
        window.at += 1
        return f"{path}.{key}" if path else key

    def _value(self, path: str) -> Iterator[Item | Value | Opened | Fault]:
        window, layout = self._window, self._layout
        sign = window.peek()
        if path in layout.items or (self._maps and self._stack and self._stack[-1][0] in self._maps):
            yield Item(path, self._decoded(self._beginning if layout.flat else None))
        elif path in layout.fields:
            yield Value(path, self._decoded())
        elif sign == "[" and path in layout.opens and path.rpartition(".")[2] == "item":
            yield Fault(MISNAMED)  # a list in place of its element: what is in it may be sound
            window.at += 1
            self._stack.append((path.removesuffix("item").removesuffix("."), True))
        elif sign != self._signs.get(path, sign):
            yield Item(path, self._decoded())
        elif sign in ("{", "[") and len(self._stack) < MAX_DEPTH:
            if path in layout.opens:
                if layout.flat and sign == "{" and self._begins():
                    # A lost bracket: what is behind the records of an object is read as one beside it.
                    self._stack[:] = _containers(f"{self._near(path)}.item")
                    yield Fault(BROKEN)
                    return
                self._opened |= sign == "{"
                yield Opened(path)
            if path in self._lists:
                self._list = path
            window.at += 1
            self._stack.append((path, sign == "["))
            if sign == "[" and path not in self._signs and path not in layout.aside:
                yield from self._renamed(path)
        else:
            self._decoded()

    def _renamed(self, path: str) -> Iterator[Fault]:
        """Give a list whose key is damaged the name that its first element tells."""
        window, parts = self._window, path.split(".")
        if window.peek() != "{":
            return
        window.ahead()
        begins, text = self._layout.begins, window.text
        met = {place for place, pattern in begins.items() if pattern.match(text, window.at)}
        place = self._place_of(met, parts)
        if place is not None:
            known = place.rpartition(".")[0]
            self._stack[:] = _containers(place)
            self._list = known if known in self._lists else self._list
            yield Fault(MISNAMED)

    def _place_of(self, met: set[str], parts: list[str]) -> str | None:
        """The path of what begins in a list of another name, or None where nothing does."""
        if not met.isdisjoint(self._layout.items):
            met |= self._layout.items
        lists = {place: place.split(".")[:-1] for place in sorted(met) if place.endswith("item")}
        if parts in lists.values():
            return None
        for place, named in lists.items():
            if len(named) == len(parts) and _differing(named, parts) == 1:
                return place
            if self._layout.anywhere and named[-1:] == parts[-1:]:
                return place
        near = f"{self._near('.'.join(parts))}.item"
        return near if self._layout.flat and near in lists else None

    def _begins(self) -> bool:
        """Whether a record begins at the place."""
        self._window.ahead()
        return self._beginning is not None and bool(self._beginning.match(self._window.text, self._window.at))

    def _near(self, path: str) -> str:
        """The list of records that a path is the nearest to; never one outside of what was opened."""
        lists = {one for one in self._lists if not self._opened or one.rpartition(".")[0]} or self._lists
        return max(sorted(lists), key=lambda one: (_shared(one, path), one == self._list))

    def _decoded(self, other: re.Pattern[str] | None = None) -> Any:
        try:
            return self._window.value(other)
        except Broken as error:
            if str(error) == BROKEN and self._window.ended and self._cut():
                raise Broken(ENDS_EARLY) from None
            raise

    def _cut(self) -> bool:
        """Whether a record that could not be decoded reaches to the end of the file."""
        window = self._window
        return not any(pattern.search(window.text, window.at + 1) for pattern in self._layout.begins.values())

    def _resume(self) -> Generator[Opened, None, bool]:
        """Go on at the next beginning behind the fault; False when there is none.

        Yields:
            An object whose own beginning was lost, where a record of it is the next that begins.
        """
        window, layout = self._window, self._layout
        begins, lost = layout.begins, self._opened and all(path not in self._lists for path, _ in self._stack)
        if lost and not layout.anywhere and not layout.flat:
            begins = {path: pattern for path, pattern in begins.items() if path in layout.opens}
        path = window.find(begins, window.at + 1)
        if path is None:
            return False
        if path in layout.items and not path.endswith(".*"):
            if lost and layout.flat:
                self._list = self._near(self._stack[-1][0] if self._stack else "")
                yield Opened(self._list.rpartition(".")[0])
            path = f"{self._list}.item".lstrip(".")
        self._stack[:] = _containers(path)
        return True


def _signs(layout: Layout) -> dict[str, str]:
    """How the lists on the way to what is wanted begin, and `opens`; not what may be of either kind."""
    found: dict[str, set[str]] = {}
    for path in layout.items | layout.fields | layout.opens:
        here = ""
        for part in path.split("."):
            found.setdefault(here, set()).add("[" if part == "item" else "{")
            here = f"{here}.{part}" if here else part
    wanted = {path: signs for path, signs in found.items() if path in layout.opens or "[" in signs}
    return dict.fromkeys(layout.opens, "{") | {
        path: next(iter(signs)) for path, signs in wanted.items() if len(signs) == 1
    }


def _shared(one: str, other: str) -> int:
    """How many parts two paths have in common at their beginning."""
    pairs = zip(one.split("."), other.split("."), strict=False)
    return sum(1 for _ in itertools.takewhile(lambda pair: pair[0] == pair[1], pairs))


def _differing(one: list[str], other: list[str]) -> int:
    return sum(part != beside for part, beside in zip(one, other, strict=True))


def _containers(path: str) -> list[tuple[str, bool]]:
    """The open containers around a path, outermost first."""
    found: list[tuple[str, bool]] = []
    here = ""
    for part in path.split("."):
        found.append((here, part == "item"))
        here = f"{here}.{part}" if here else part
    return found

"""Exports of conversations as one big JSON document: one conversation in memory at a time.

A turn is understood as soon as it is read and its raw form is let go: what a model's page shows beside a turn
(search results, tokens) is many times the talk. A byte that is broken costs its turn. What comes after it may
belong to the same conversation or, if the beginning of the next one is gone, to that one: the ids tell.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from indexer.archives.files import ArchiveFile
from indexer.archives.json_items import LEGACY, MISNAMED, Fault, Item, Layout, Opened, Value, walk
from indexer.archives.json_shape import shape_of
from indexer.archives.json_text import Text
from indexer.archives.lines import unreadable
from schemas.records import Dropped, Role, Skipped


@dataclass(frozen=True, slots=True)
class Form:
    """How a format writes a conversation; the document is one, or a list of them.

    Attributes:
        turns: where its turns stand: `mapping.*`, `chat_messages.item`.
        fields: keys of the values beside them that are wanted.
        begin: how a conversation begins in the text.
        turn_begin: how a turn begins (of `….*` with its key).
        required: a conversation that does not say where its turns stand is broken.
    """

    turns: str
    fields: frozenset[str]
    begin: re.Pattern[str]
    turn_begin: re.Pattern[str]
    required: bool = True

    def layout(self, prefix: str) -> Layout:
        """The layout of a document whose conversations stand at a prefix: `item.`, or nothing."""
        turns = prefix + self.turns
        begins = {turns: self.turn_begin}
        if prefix:
            begins[prefix[:-1]] = self.begin
        return Layout(
            items=frozenset({turns}),
            fields=frozenset(prefix + key for key in self.fields),
            opens=frozenset({prefix[:-1], turns.rpartition(".")[0]}),
            begins=begins,
            anywhere=True,
        )


class Said(NamedTuple):
    """A message whose conversation is not known yet.

    Attributes:
        id: unique in the conversation; a part of a turn has the turn's id, `/` and a name.
        role: who spoke.
        text: the display text.
        at: when, UTC ms, or None: then it is that of the turn, or of the turn before.
        author: the display name, or None.
        edited: when the text was last changed, UTC ms, or None.
        meta: small extras, strings only.
    """

    id: str
    role: Role
    text: str
    at: int | None = None
    author: str | None = None
    edited: int | None = None
    meta: Mapping[str, str] = {}


@dataclass(frozen=True, slots=True)
class Turn:
    """One node of a conversation, understood.

    Attributes:
        id: unique in the conversation.
        parent: the id of the turn before it; None where the source names none.
        rooted: the source says that there is none before it.
        children: ids of the turns after it, where the source lists them.
        at: when it was said, UTC ms, or None.
        records: what it says, and what of it was left out.
        copied_from: the chat whose history this talk repeats, where this turn tells.
    """

    id: str
    parent: str | None
    rooted: bool = False
    children: tuple[str, ...] = ()
    at: int | None = None
    records: tuple[Said | Dropped | Skipped, ...] = ()
    copied_from: str | None = None


@dataclass(slots=True)
class Conversation:
    """A conversation as far as it could be read.

    Attributes:
        fields: the wanted values that are there, by key.
        turns: in the order of the file.
        opened: whether it says where its turns stand.
    """

    fields: dict[str, Any] = field(default_factory=dict)
    turns: list[Turn] = field(default_factory=list)
    opened: bool = False

    def continued_by(self, other: Conversation) -> bool:
        """Whether what came after a fault belongs to this conversation still."""
        if any(self.fields.get(key, value) != value for key, value in other.fields.items()):
            return False
        known = _links(self.turns)
        linked = any(turn.parent or turn.children for turn in (*self.turns, *other.turns))
        return not self.turns or not linked or not known.isdisjoint(_links(other.turns))


def _links(turns: list[Turn]) -> set[str]:
    return {id for turn in turns for id in (turn.id, turn.parent, *turn.children) if id is not None}


def _is_node(value: Any) -> bool:
    """Whether a value is a turn that stands inside another one, for want of a bracket."""
    return isinstance(value, dict) and "message" in value and "parent" in value


# Makes a turn of its key in the mapping (None in a list) and its raw value.
Take = Callable[[str | None, Any, str], Turn | Skipped]


def conversations(file: ArchiveFile, form: Form, take: Take) -> Iterator[Conversation | Skipped | Dropped]:
    """The conversations of a file in its order, and what could not be followed.

    Args:
        file: the export.
        form: how its format writes a conversation.
        take: makes a turn of its key (None in a list), its raw value and its place; what it raises is
            counted as a turn that is not understood.
    """
    text: Text | None = None
    empty = True
    fault: Skipped | None = None
    group: _Group | None = None
    try:
        shape = shape_of(file.head)
        prefix = "item." if shape is not None and shape.is_list else ""
        group = _Group(file.name, prefix, form, take)
        with file.open() as stream:
            text = Text(stream)
            for event in walk(text, form.layout(prefix)):
                empty = False
                yield from group.take(event)
    except OSError as error:
        fault = unreadable(file.name, error)
    if group is not None:
        yield from group.end()
    if fault is not None:
        yield fault
    elif empty:
        yield Skipped(file.name, "a file without conversations", "")
    if text is not None and text.controls:
        yield Dropped("control_character", text.controls, text.controls)


class _Group:
    """Puts turns and fields together to conversations."""

    def __init__(self, name: str, prefix: str, form: Form, take: Take) -> None:
        self._name, self._prefix, self._form, self._take = name, prefix, form, take
        self._list = f"{prefix}{form.turns}".rpartition(".")[0]
        self._turns = f"{self._list}."
        self._before: Conversation | None = None
        self._now: Conversation | None = None
        self._torn = False
        self._told = False  # a fault is told once, until something was read again
        self._read = 0
        self._place = name

    def take(self, event: Item | Value | Opened | Fault) -> Iterator[Conversation | Skipped | Dropped]:
        """Take the next event; what is complete by it."""
        if isinstance(event, Fault):
            yield from self._fault(event.reason)
        elif isinstance(event, Opened) and event.path != self._list:
            yield from self.end()
            self._now = Conversation()
        elif isinstance(event, Item) and not event.path.startswith(self._turns):
            if event.path != self._list:
                yield Skipped(self._name, "a conversation that is no object", "")
        else:
            if self._torn or self._now is None:
                yield from self._settled()
                self._before, self._now = self._now, Conversation()
                self._torn = False
            key = event.path.removeprefix(self._turns)
            if isinstance(event, Opened):
                self._now.opened = True
            elif isinstance(event, Item) and key in self._form.fields and not isinstance(event.value, dict):
                self._now.fields[key] = event.value  # a bracket too few: it stands among the turns
            elif isinstance(event, Value):
                self._now.fields[event.path.removeprefix(self._prefix)] = event.value
            else:
                yield from self._turn(self._now, key, event.value)

    def end(self) -> Iterator[Conversation | Skipped | Dropped]:
        """The conversation that is open, if one is."""
        yield from self._settled()
        now, torn = self._now, self._torn
        self._now, self._torn = None, False
        if now is None:
            return
        if self._form.required and not torn and not now.turns:
            if now.opened:
                yield Dropped("empty", 0)
            else:
                yield Skipped(self._name, "a conversation without its messages", "")
        yield now

    def _turn(self, now: Conversation, key: str, value: Any) -> Iterator[Skipped]:
        waiting: list[tuple[str | None, Any]] = [(None if key == "item" else key, value)]
        while waiting:
            own, raw = waiting.pop()
            self._read += 1
            self._told = False
            place = f"{self._name}#{self._read}"
            try:
                turn = self._take(own, raw, place)
            except Exception as error:
                turn = Skipped(place, "a message that is not understood", type(error).__name__)
            if isinstance(turn, Skipped):
                yield turn
            else:
                self._place = f"{self._name}#{turn.id}"
                now.turns.append(turn)
            if own is not None and isinstance(raw, dict):
                waiting += [(inner, one) for inner, one in raw.items() if _is_node(one)]

    def _fault(self, reason: str) -> Iterator[Skipped]:
        if reason == LEGACY:
            yield Skipped(self._name, reason, "save the file as UTF-8")
            return
        if reason != MISNAMED:
            self._torn = self._now is not None
        if not self._told:
            yield Skipped(self._place, reason, "what could be read was kept; export the chats again")
        self._told = True

    def _settled(self) -> Iterator[Conversation]:
        """Join what was read after a fault to what was read before it, or let that go for itself."""
        before, now = self._before, self._now
        self._before = None
        if before is None or now is None:
            return
        if before.continued_by(now):
            before.fields.update(now.fields)
            before.turns.extend(now.turns)
            before.opened |= now.opened
            self._now = before
        else:
            yield before

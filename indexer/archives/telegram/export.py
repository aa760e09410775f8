"""Telegram Desktop's `result.json`: one chat, or a full export with its chats and left chats."""

from __future__ import annotations

import io
import re
from collections.abc import Iterator
from typing import Any

from indexer.archives.files import ArchiveFile, ReadOptions
from indexer.archives.identity import source_id
from indexer.archives.json_items import ENDS_EARLY, LEGACY, Fault, Item, Layout, Opened, Value, walk
from indexer.archives.json_text import Text
from indexer.archives.lines import unreadable
from indexer.archives.telegram.chat import Chat
from indexer.archives.telegram.message import records_of
from indexer.archives.telegram.migration import migrations
from schemas.records import Dropped, Record, Skipped

CHAT_TYPES = frozenset(
    {"saved_messages", "replies", "verification_codes", "personal_chat", "bot_chat", "private_group"}
    | {"private_supergroup", "public_supergroup", "private_channel", "public_channel"}
)
MESSAGE_TYPES = frozenset({"message", "service", "unsupported"})
_EXPORT_KEYS = frozenset(
    {"about", "personal_information", "contacts", "frequent_contacts", "sessions", "web_sessions"}
    | {"other_data", "chats", "left_chats"}
)
# Where chats stand: the file itself, or the two lists of a full export.
_HOLDERS = frozenset({"chats", "left_chats", "chats.list", "left_chats.list"})
_MANY = frozenset({"chats.list.item", "left_chats.list.item"})
_CHATS = ("", *sorted(_MANY))
_FIELDS = {f"{chat}.{key}".lstrip("."): key for chat in _CHATS for key in ("name", "type", "id")}
# Telegram Desktop writes the keys of messages and chats in this order. The quotes are bare: no text of a
# message can look like one, since there they are escaped.
_MESSAGE = re.compile(r'\{\s*(?:"id":\s*-?[0-9]+,\s*)?"type":\s*"(?:message|service|unsupported)"', re.ASCII)
_CHAT = re.compile(
    r'\{\s*(?:"name":\s*(?:null|"[^"\\]*(?:\\.[^"\\]*)*"),\s*)?"type":\s*(?:null|"[a-z_]+"),\s*'
    r'"id":\s*-?[0-9]+,\s*"messages":\s*\[',
    re.ASCII,
)
_LISTS = frozenset(f"{chat}.messages".lstrip(".") for chat in _CHATS)
_LAYOUT = Layout(
    items=frozenset(f"{path}.item" for path in _LISTS),
    fields=frozenset(_FIELDS),
    opens=_MANY | _LISTS | _HOLDERS | {"personal_information", "contacts"},
    begins={"messages.item": _MESSAGE, "chats.list.item": _CHAT},
    aside=frozenset({"profile_music"}),
    flat=True,
)
_HEAD = Layout(
    items=_LAYOUT.items,
    fields=_LAYOUT.fields | {"about"},
    opens=_LAYOUT.opens | (_EXPORT_KEYS - {"about"}) | {"guild", "channel"},
)


def is_export(head: bytes) -> bool:
    """True when the head shows Telegram Desktop's chat, messages or export keys, however it is cut."""
    if not head.removeprefix(b"\xef\xbb\xbf").lstrip().startswith(b"{"):
        return False
    if not any(key in head for key in (b'"messages"', b'"chats"', b'"personal_information"')):
        return False
    keys: set[str] = set()
    chat_type: object = None
    for found in walk(Text(io.BytesIO(head)), _HEAD):
        if isinstance(found, Item):
            return _is_message(found.value) and not keys & {"guild", "channel"}
        if isinstance(found, Value) and _FIELDS.get(found.path) == "type":
            chat_type = found.value
        elif isinstance(found, Opened | Value):
            keys.add(found.path)
    known = chat_type in CHAT_TYPES if isinstance(chat_type, str) else False
    if known and b'"messages"' in head:
        return True
    return len(keys & _EXPORT_KEYS) >= 2 and (known or "personal_information" in keys)


def _is_message(raw: object) -> bool:
    kind = raw.get("type") if isinstance(raw, dict) else None
    return isinstance(kind, str) and kind in MESSAGE_TYPES


def read_export(file: ArchiveFile, options: ReadOptions) -> Iterator[Record]:
    """Yield the messages chat by chat, in the order of the file; a fault costs its message.

    Raises:
        OSError: the file can't be opened.
    """
    chats = _Chats(file, options)
    with file.open() as stream:
        text = Text(stream)
        try:
            yield from chats.records(text)
        except OSError as error:
            yield unreadable(file.name, error)
        if text.controls:
            yield Dropped("control_character", text.controls, text.controls)


class _Chats:
    """Goes through the chats of a file and remembers where it is."""

    def __init__(self, file: ArchiveFile, options: ReadOptions) -> None:
        self._file, self._zone = file, options.zone
        self._grown = migrations(file, _LAYOUT)
        self._number = 0
        self._chat = Chat(file.name, file.stem, None, self._grown)
        self._met: set[str] = set()  # paths of what was opened
        self._odd: set[str] = set()  # paths of what should have been opened and is something else
        self._complete = True  # whether the chat of a full export had its messages
        self._listed = False  # whether the chat's list of messages was opened
        self._last: Any = None  # the message that was read last
        self._read, self._told = 0, -1  # messages read, and how many had been when a fault was told last

    def records(self, text: Text) -> Iterator[Record]:
        for found in walk(text, _LAYOUT):
            if isinstance(found, Item):
                yield from self._item(found)
            elif isinstance(found, Value):
                self._chat.learn(_FIELDS[found.path], found.value)
            elif isinstance(found, Opened):
                yield from self._opened(found.path)
            else:
                yield from self._fault(found)
        yield from self._end()

    def _item(self, found: Item) -> Iterator[Record]:
        if found.path not in _LAYOUT.items:
            self._odd.add(found.path)
            self._complete |= found.path in _LISTS
            yield Skipped(
                self._place(), "no list of messages or chats where one is to be", f"at {found.path}"
            )
            return
        self._read += 1
        self._last = found.value
        self._chat.read += 1
        yield from records_of(found.value, self._chat, self._zone)

    def _opened(self, path: str) -> Iterator[Record]:
        self._met.add(path)
        if path in _MANY:
            yield from self._closed()
            self._number += 1
            self._complete = False
            self._chat = Chat(self._file.name, self._file.stem, self._number, self._grown)
        self._complete |= path in _LISTS
        self._listed |= path in _LISTS

    def _closed(self) -> Iterator[Record]:
        """What is to be said of the chat that ends."""
        if self._complete and self._listed and not self._chat.read:
            yield Dropped("empty_chat", 0)
        self._listed = False
        if not self._complete:
            yield Skipped(self._chat.place(None), "a chat without its messages", "export the chat again")

    def _end(self) -> Iterator[Record]:
        yield from self._closed()
        for holder in ("chats", "left_chats"):
            if holder in self._met and f"{holder}.list" not in self._met | self._odd:
                yield Skipped(f"{self._file.name}#{holder}", "no list of chats", "export the chats again")
        if not self._met & (_HOLDERS | _LISTS) and not self._odd:
            if self._met:
                yield Dropped("support_file", 0)  # an export of contacts alone
            else:
                yield Skipped(self._file.name, "no messages and no chats", "")

    def _fault(self, fault: Fault) -> Iterator[Skipped]:
        if fault.reason == LEGACY:
            yield Skipped(self._file.name, LEGACY, "save the file as UTF-8")
        elif self._told < self._read or fault.reason == ENDS_EARLY:
            # Faults on end are one: what was read between them would tell.
            self._told = self._read
            yield Skipped(self._place(), fault.reason, "what could be read was kept; export the chat again")

    def _place(self) -> str:
        """That of the message that was read last."""
        if not self._read:
            return self._file.name
        return self._chat.place(source_id(self._last.get("id")) if isinstance(self._last, dict) else None)

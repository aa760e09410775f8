"""Telegram Desktop's `result.json`: one chat, or a full export with its chats and left chats."""

from __future__ import annotations

import io
from collections.abc import Iterator
from typing import Any

from indexer.archives.files import ArchiveFile, ReadOptions
from indexer.archives.identity import source_id
from indexer.archives.lines import unreadable
from indexer.archives.telegram_json import BrokenJson, Builder, Repair, parse_events
from indexer.archives.telegram_message import Chat, safely
from indexer.archives.telegram_recovery import Beginning, Resumable
from schemas.records import Dropped, Record, Skipped

CHAT_TYPES = frozenset(
    {"saved_messages", "personal_chat", "bot_chat", "private_group", "private_supergroup"}
    | {"public_supergroup", "private_channel", "public_channel"}
)
MESSAGE_TYPES = frozenset({"message", "service", "unsupported"})
_EXPORT_KEYS = frozenset(
    {"about", "personal_information", "profile_pictures", "profile_music", "stories", "contacts"}
    | {"frequent_contacts", "sessions", "web_sessions", "other_data", "chats", "left_chats"}
)
# Where chats stand: the file itself, or the two lists of a full export.
_CHATS = ("", "chats.list.item", "left_chats.list.item")
# A file with more faults than this is no export any more.
MAX_FAULTS = 1_000


class Telegram:
    """Reads result.json as a stream: a file of 100 MB is one object."""

    name = "telegram"

    def fits(self, file: ArchiveFile) -> bool:
        """True when the head shows Telegram Desktop's chat, messages or export keys."""
        head = file.head
        if not head.removeprefix(b"\xef\xbb\xbf").lstrip().startswith(b"{"):
            return False
        if not any(key in head for key in (b'"messages"', b'"chats"', b'"personal_information"')):
            return False
        return _looks_like_telegram(head)

    def read(self, file: ArchiveFile, options: ReadOptions) -> Iterator[Record]:
        """Yield the messages chat by chat, in the order of the file; a fault costs its message."""
        controls = 0
        try:
            with file.open() as stream:
                repair = Repair(stream)
                for record in _recovered(_Walk(file, repair), options):
                    controls = repair.controls
                    yield record
                controls = repair.controls
        except OSError as error:
            yield unreadable(file.name, error)
        if controls:
            yield Dropped("control_character", controls, controls)


def _recovered(walk: _Walk, options: ReadOptions) -> Iterator[Record]:
    told = 0  # messages that had been read when the last fault was told: a fault is told once
    for _ in range(MAX_FAULTS):
        try:
            for place, chat, raw in walk.messages():
                yield from safely(raw, chat, place, options)
            return
        except BrokenJson as error:
            early = str(error) == "ends early"
            if told < walk.read or not walk.faults:
                reason = "the file ends in the middle" if early else "broken JSON after this message"
                yield Skipped(walk.place, reason, "what could be read was kept; export the chat again")
            told = walk.read
            if early or not walk.resume():
                return
    yield Skipped(walk.place, f"more than {MAX_FAULTS} faults in one file", "export the chat again")


_STARTS = frozenset(prefix for prefix in _CHATS if prefix)
_LISTS = frozenset(f"{prefix}.messages".lstrip(".") for prefix in _CHATS)
_ITEMS = frozenset(f"{prefix}.item" for prefix in _LISTS)
_FIELDS = {f"{prefix}.{key}".lstrip("."): key for prefix in _CHATS for key in ("name", "type", "id")}


class _Walk:
    """Goes through a file's messages and remembers where it is, so that it can go on past a fault.

    Attributes:
        place: of the last message that was read, or the file.
        read: how many messages were read.
        faults: how often it was resumed.
    """

    def __init__(self, file: ArchiveFile, repair: Repair) -> None:
        self.place, self.read, self.faults = file.name, 0, 0
        self._file = file
        self._stream = Resumable(repair.chunks())
        self._number = 0
        self._chat = Chat(file.stem, None)
        self._within = False
        self._keeps_chat = False

    def messages(self) -> Iterator[tuple[str, Chat, Any]]:
        """(place, chat, raw message) of every element of a `messages` list.

        Raises:
            BrokenJson: the JSON can't be followed; `resume` may find a way on.
            OSError: the stream can't be read on.
        """
        builder: Builder | None = None
        for prefix, event, value in parse_events(self._stream.pieces()):
            if builder is None:
                if prefix not in _ITEMS:
                    self._around(prefix, event, value)
                    continue
                builder = Builder()
                self._stream.open = True
            if builder.feed(event, value):
                raw, builder = builder.value, None
                self._stream.open = False
                self._stream.done += 1
                self.read += 1
                self._chat.read += 1
                self.place = self._place(raw)
                yield self.place, self._chat, raw

    def resume(self) -> bool:
        """Go to the next message of this chat or the next chat; False when there is none."""
        self.faults += 1
        openers: dict[Beginning, bytes] = {}
        if self._number or not self._within:
            openers["chat"] = b'{"chats": {"list": ['
        if self._within:
            openers["message"] = b'{"chats": {"list": [{"messages": [' if self._number else b'{"messages": ['
        kind = self._stream.resume(openers)
        self._keeps_chat = kind == "message"
        return kind is not None

    def _around(self, prefix: str, event: str, value: Any) -> None:
        if prefix in _STARTS and event == "start_map":
            if not self._keeps_chat:
                self._number += 1
                self._chat = Chat(self._file.stem, self._number)
            self._keeps_chat = False
        elif prefix in _LISTS:
            self._within = event == "start_array"
        elif prefix in _FIELDS and event in ("string", "number", "null"):
            self._chat.fields[_FIELDS[prefix]] = value

    def _place(self, raw: Any) -> str:
        own = source_id(raw.get("id")) if isinstance(raw, dict) else None
        record = own or str(self._chat.read)
        return (
            f"{self._file.name}#{self._chat.id}/{record}" if self._number else f"{self._file.name}#{record}"
        )


def _looks_like_telegram(head: bytes) -> bool:
    """Judge by the keys and the first message that the head shows, however it is cut."""
    keys: set[str] = set()
    chat_type: object = None
    items = {f"{prefix}.messages.item.type".lstrip(".") for prefix in _CHATS}
    try:
        for prefix, event, value in parse_events(Repair(io.BytesIO(head)).chunks()):
            if prefix == "" and event == "map_key":
                keys.add(value)
            elif prefix in items and value in MESSAGE_TYPES:
                return not keys & {"guild", "channel"}
            elif prefix in ("type", "chats.list.item.type", "left_chats.list.item.type"):
                chat_type = value
    except (BrokenJson, OSError):
        pass
    if "messages" in keys and chat_type in CHAT_TYPES:
        return True
    return len(keys & _EXPORT_KEYS) >= 2 and ("personal_information" in keys or chat_type in CHAT_TYPES)

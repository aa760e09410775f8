"""Discord channels as DiscordChatExporter writes them in JSON: one file a channel, or a part of one."""

from __future__ import annotations

import io
import re
from collections.abc import Iterator

from indexer.archives.discord.message import Chat, safely
from indexer.archives.discord.text import Names
from indexer.archives.files import ArchiveFile, ReadOptions
from indexer.archives.identity import source_id
from indexer.archives.json_items import LEGACY, Fault, Item, Layout, Value, walk
from indexer.archives.json_text import Text
from indexer.archives.lines import unreadable
from indexer.archives.wording import label
from schemas.records import Dropped, Record, Skipped

# The exporter writes these three first of every message; authors, embeds and channels begin otherwise.
_LAYOUT = Layout(
    items=frozenset({"messages.item"}),
    fields=frozenset({"guild", "channel", "messageCount"}),
    begins={
        "messages.item": re.compile(
            r'\{\s*"id"\s*:\s*"[^"]{0,40}"\s*,\s*"type"\s*:\s*"?[^",]{0,60}"?\s*,\s*"timestamp"\s*:'
        ),
        "channel": re.compile(r'"channel"\s*:\s*\{\s*"id"'),
    },
)
_HINT = "what could be read was kept; export the channel again"


class Discord:
    """Reads a channel's file as a stream."""

    name = "discord"

    def fits(self, file: ArchiveFile) -> bool:
        """True when the file begins with a guild and a channel."""
        head = file.head
        if b"guild" not in head.replace(b"\x00", b""):
            return False
        known: set[str] = set()
        for found in walk(Text(io.BytesIO(head)), _LAYOUT):
            if not isinstance(found, Value) or not isinstance(found.value, dict):
                break
            known.add(found.path)
        return known >= {"guild", "channel"}

    def read(self, file: ArchiveFile, options: ReadOptions) -> Iterator[Record]:
        """Yield the messages in the order of the file, then what is odd about the whole of it."""
        reading = _Reading(file, options)
        try:
            yield from reading.records()
        except OSError as error:
            yield unreadable(file.name, error)
        yield from reading.oddities()


class _Reading:
    def __init__(self, file: ArchiveFile, options: ReadOptions) -> None:
        self._file, self._options, self._place = file, options, file.name
        self._promised: object = None
        self._controls = 0
        self.chat = Chat(file.stem, Names(options.zone))

    def records(self) -> Iterator[Record]:
        """What a walk finds.

        Raises:
            OSError: the file can't be read on.
        """
        with self._file.open() as stream:
            text = Text(stream)
            for found in walk(text, _LAYOUT):
                self._controls = text.controls
                if isinstance(found, Item):
                    yield from self._message(found)
                elif isinstance(found, Value):
                    self._take(found)
                elif isinstance(found, Fault):
                    legacy = found.reason == LEGACY
                    hint = "save it as UTF-8" if legacy else _HINT
                    yield Skipped(self._file.name if legacy else self._place, found.reason, hint)

    def oddities(self) -> Iterator[Record]:
        """What is odd about the file as a whole."""
        chat, promised = self.chat, self._promised
        if isinstance(promised, int) and not isinstance(promised, bool) and promised != chat.read:
            hint = f"it tells {promised}, {chat.read} were read; export the channel again"
            yield Skipped(self._file.name, "other messages than its messageCount tells", hint[:200])
        if chat.bare * 2 > chat.typed:
            hint = f"{chat.bare} of {chat.typed} are empty: give the bot its Message Content Intent"
            yield Skipped(self._file.name, "an export with no message content", hint)
        if self._controls:
            yield Dropped("control_character", self._controls, self._controls)

    def _message(self, found: Item) -> list[Record]:
        self.chat.read += 1
        own = source_id(found.value.get("id")) if isinstance(found.value, dict) else None
        self._place = f"{self._file.name}#{own[:40] if own else self.chat.read}"
        return safely(found.value, self.chat, self._place, self._options)

    def _take(self, found: Value) -> None:
        if found.path == "messageCount":
            self._promised = found.value
        elif isinstance(found.value, dict):
            if found.path == "guild":
                self.chat.guild = found.value
            else:
                self.chat.channel = found.value
                own, name = source_id(found.value.get("id")), label(found.value.get("name"))
                if own is not None and name is not None:
                    self.chat.names.channels[own] = name

"""Readers: one class a format, found by content, each listed in READERS.

To add one: write `indexer/archives/<name>.py` (or a folder, where it has several parts) with a class that
satisfies `Reader`, list an instance in READERS (before every reader that would also take its files), and put
a small sample into `tests/indexer/archives/samples/<name>/`. The conformance tests run over the dict, so the
new reader is tested the moment it is listed. Heavy imports belong inside the methods that need them.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol

from indexer.archives.chatgpt import ChatGpt
from indexer.archives.claude_ai import ClaudeAi
from indexer.archives.claude_code import ClaudeCode
from indexer.archives.codex import Codex
from indexer.archives.discord import Discord
from indexer.archives.discovery import discover
from indexer.archives.files import ArchiveFile, ReadOptions
from indexer.archives.identity import derived_id
from indexer.archives.irrelevance import ignored
from indexer.archives.jsonl import Jsonl
from indexer.archives.lcm import Lcm
from indexer.archives.markdown import Markdown
from indexer.archives.nearest import nearest
from indexer.archives.openclaw import OpenClaw
from indexer.archives.slack import Slack
from indexer.archives.telegram import Telegram
from indexer.archives.vk import Vk
from indexer.archives.whatsapp import WhatsApp
from schemas.records import Record, Skipped


class Reader(Protocol):
    """Reads one format.

    Attributes:
        name: the `source` of its messages, one word.
    """

    @property
    def name(self) -> str:
        """The `source` of its messages, one word."""
        ...

    def fits(self, file: ArchiveFile) -> bool:
        """Whether the file is of this format, judged by content (`file.head`), cheaply.

        Raises:
            OSError: the file can't be opened.
        """
        ...

    def read(self, file: ArchiveFile, options: ReadOptions) -> Iterator[Record]:
        """Yield the file's messages in the order of the talk, what was skipped and what was dropped.

        Streams: memory holds ids, never the file. Raises nothing: what can't be read is a Skipped.
        """
        ...


# In the order of asking: the most specific first.
READERS: dict[str, Reader] = {
    reader.name: reader
    for reader in (
        OpenClaw(),
        Lcm(),
        ClaudeCode(),
        Codex(),
        ChatGpt(),
        ClaudeAi(),
        Slack(),
        Discord(),
        Telegram(),
        Vk(),
        WhatsApp(),
        Jsonl(),
        Markdown(),
    )
}


def reader_of(file: ArchiveFile) -> Reader | None:
    """The first reader that the file fits, or None."""
    for reader in READERS.values():
        try:
            if reader.fits(file):
                return reader
        except OSError:
            return None
    return None


def unknown(file: ArchiveFile) -> Skipped:
    """What to count for a file that no reader fits: what it looks like, and what it lacks of that."""
    try:
        hint = nearest(file)
    except OSError:
        hint = None
    return Skipped(file.name, "unknown format", hint or f"known formats: {', '.join(READERS)}")


__all__ = [
    "READERS",
    "ArchiveFile",
    "ReadOptions",
    "Reader",
    "derived_id",
    "discover",
    "ignored",
    "reader_of",
    "unknown",
]

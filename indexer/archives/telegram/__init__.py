"""Telegram Desktop's exports: `result.json`, one chat or all of them, and the pages `messages*.html`."""

from __future__ import annotations

import io
from collections.abc import Iterator

from indexer.archives.files import ArchiveFile, ReadOptions
from indexer.archives.lines import unreadable, utf8
from indexer.archives.telegram.export import is_export, read_export
from indexer.archives.telegram.html import is_page, read_page
from schemas.records import Record


def _head(file: ArchiveFile) -> bytes:
    """The beginning of a file as UTF-8, whatever its BOM tells."""
    return b"".join(utf8(io.BytesIO(file.head)))


class Telegram:
    """Reads both forms as streams: a `result.json` of 200 MB is one object."""

    name = "telegram"

    def fits(self, file: ArchiveFile) -> bool:
        """True when the head shows a page of the export, or the JSON's chat, messages or export keys."""
        head = _head(file)
        return is_export(head) or is_page(head)

    def read(self, file: ArchiveFile, options: ReadOptions) -> Iterator[Record]:
        """Yield the messages chat by chat, in the order of the file; a fault costs its message."""
        try:
            read = read_page if _head(file).lstrip().startswith(b"<") else read_export
            yield from read(file, options)
        except OSError as error:
            yield unreadable(file.name, error)

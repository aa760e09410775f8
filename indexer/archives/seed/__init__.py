"""`chat_vectors.db` of an older index: chunks with the vectors that were paid for, and their own boundaries.

This reader is not listed in READERS: a build would take the texts without their vectors, and nothing in the
file says which model made those. `letopis import seed` asks, and reads with it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import UTC
from typing import Any

import apsw

from indexer.archives.databases import has_tables, opened
from indexer.archives.files import ArchiveFile, ReadOptions
from indexer.archives.lines import unreadable
from indexer.archives.openclaw.cleaning import cleaned
from indexer.archives.seed.stitching import stitched
from indexer.archives.seed.table import SeedTable
from indexer.archives.times import parse_time
from indexer.archives.wording import says_something
from schemas.records import Dropped, Message, Record, Role, Skipped

_ROLES: dict[str, Role] = {
    "user": "user",
    "human": "user",
    "assistant": "assistant",
    "ai": "assistant",
    "model": "assistant",
    "system": "system",
    "tool": "tool",
    "toolresult": "tool",
    "thinking": "thinking",
    "reasoning": "thinking",
    "summary": "summary",
}
_KEPT_BY: dict[Role, str] = {"tool": "tool_result", "thinking": "thinking"}
_DAMAGED = "a damaged page of the database"
_ANEW = "the other rows were read; restore the database from a backup"


class Seed:
    """Puts the messages together from their chunks; `Message.windows` are the chunks as they were."""

    name = "seed"

    def fits(self, file: ArchiveFile) -> bool:
        """True for a database with a table `chunks` that holds texts."""
        return has_tables(file, chunks=frozenset({"text"}))

    def read(self, file: ArchiveFile, options: ReadOptions) -> Iterator[Record]:
        """Yield the messages in the order in which the index met them."""
        try:
            with opened(file) as connection:
                table = SeedTable(connection, file)
                for after in table.sort():
                    yield Skipped(f"{file.name}#{after}", _DAMAGED, _ANEW)
                for chat_id, message_id, places in table.messages():
                    yield from _message(table, file.name, chat_id, message_id, places, options)
        except OSError as error:
            yield unreadable(file.name, error)
        except (apsw.Error, UnicodeError) as error:
            yield Skipped(file.name, "the database can't be read on", f"{type(error).__name__}: {_ANEW}")


def _message(
    table: SeedTable,
    name: str,
    chat_id: str,
    message_id: str,
    places: Sequence[tuple[Any, int]],
    options: ReadOptions,
) -> Iterator[Record]:
    chunks: dict[tuple[Any, str], None] = {}  # a chunk that two models embedded stands there twice
    roles: list[str] = []
    times: list[str] = []
    for index, number in places:
        try:
            found = table.chunk(number)
        except (apsw.CorruptError, apsw.IOError):
            yield Skipped(f"{name}#{number}", _DAMAGED, _ANEW)
            continue
        if found is not None:
            text, role, created_at = found
            roles.append(role)
            times.append(created_at)
            if text:
                chunks.setdefault((index, text))
    text, windows = stitched(text for _, text in chunks)
    told = next(filter(None, roles), "")
    role = _ROLES.get(told.strip().lower().replace("_", ""), "note")
    noise = _noise(role, text, options)
    if noise is not None:
        yield Dropped(noise, len(text))
        return
    yield Message(
        chat_id=chat_id,
        id=message_id,
        source=Seed.name,
        role=role,
        text=text,
        place=f"{name}#{places[0][1]}",
        at=next((at for at in (parse_time(time, UTC) for time in times) if at is not None), None),
        windows=windows,
        meta={"role": told[:40]} if role == "note" and told not in ("", "note") else {},
    )


def _noise(role: Role, text: str, options: ReadOptions) -> str | None:
    """Why the whole message is left out; a part of it never is, since its vectors are of the whole."""
    kept = {"tool": options.tool_results, "thinking": options.thinking}
    if not kept.get(role, True):
        return _KEPT_BY[role]
    if not says_something(text):
        return "empty"
    return cleaned(role, text).noise

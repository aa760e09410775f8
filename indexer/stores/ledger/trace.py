"""One message followed through `ledger.db`, read beside whatever indexer is at work: no lock, no write."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any, Self
from urllib.parse import quote

import apsw

from indexer.stores.database import row, rows, user_version
from schemas.problems import DatabaseError
from schemas.sql import ledger as sql

# Messages of one id, or that hold one text, that are told apart.
_MOST = 20

_MESSAGE = "SELECT key, chat_id, id, source, role, agent, author, at, text, place FROM message"


@dataclass(frozen=True, slots=True)
class SeenIn:
    """An archive file that holds a message.

    Attributes:
        path: relative to its archive.
        kind: the reader's name.
        gone: whether it was missing when the archives were read last.
        messages: how many it held then.
        skipped: records of it that were not understood.
        dropped: records of it that were left out by rule, by kind.
    """

    path: str
    kind: str
    gone: bool
    messages: int
    skipped: int = 0
    dropped: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Traced:
    """A message as the ledger keeps it; times are UTC ms, `place` is file and record in its archive."""

    key: int
    chat_id: str
    id: str
    source: str
    role: str
    agent: str | None
    author: str | None
    at: int | None
    text: str
    place: str


class Trace:
    """`ledger.db` of a data folder, open for reading.

    Raises:
        DatabaseError: it was written by another version, or can't be read.
    """

    def __init__(self, path: Path) -> None:
        # Without a log beside it nobody writes; reading it as it stands leaves no side files behind, which
        # another user's build could not open.
        alone = "" if path.with_name(f"{path.name}-wal").exists() else "&immutable=1"
        try:
            self._db = apsw.Connection(
                f"file:{quote(str(path))}?mode=ro{alone}",
                flags=apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI,
            )
        except apsw.Error as error:
            raise _unreadable(path, error) from None
        try:
            self._db.set_busy_timeout(5000)
            found = user_version(self._db)
        except apsw.Error as error:
            self._db.close()
            raise _unreadable(path, error) from None
        if found != sql.VERSION:
            self._db.close()
            raise DatabaseError(
                f"{path.name} has schema version {found}, this program reads {sql.VERSION}.",
                "update letopis"
                if found > sql.VERSION
                else "run `letopis build`, which brings it up to date",
            )

    def close(self) -> None:
        """Close the database."""
        self._db.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def message(self, chat_id: str, message_id: str) -> Traced | None:
        """One message, or None."""
        found = row(self._db, f"{_MESSAGE} WHERE (chat_id, id) = (?, ?)", (chat_id, message_id))
        return Traced(*found) if found else None

    def called(self, text: str) -> list[Traced]:
        """The messages of any chat that have this id, else this text, else hold it; at most 20."""
        for condition, value in (
            ("id = ?", text),
            ("hash = ?", hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()),
            ("instr(text, ?)", text),
        ):
            statement = f"{_MESSAGE} WHERE {condition} ORDER BY chat_id, position LIMIT {_MOST}"
            found = rows(self._db, statement, (value,))
            if found:
                return [Traced(*values) for values in found]
        return []

    def files(self, key: int) -> list[SeenIn]:
        """The archive files that hold a message, with what was left out of each."""
        found = rows(
            self._db,
            """SELECT f.path, f.kind, f.gone, f.messages, f.report FROM sighting o
               JOIN source f ON f.id = o.source WHERE o.message = ? ORDER BY f.path""",
            (key,),
        )
        return [
            SeenIn(path, kind, bool(gone), messages, *_left_out(report))
            for path, kind, gone, messages, report in found
        ]

    def forgotten(self, text: str, chats: Sequence[str] = ()) -> tuple[str, str] | None:
        """(chat, id) of a forgotten message that has this id or exactly this text, or None.

        Args:
            text: an id or a text.
            chats: of these chats alone, by id; of any where empty.
        """
        found = row(
            self._db,
            """SELECT chat_id, id FROM forgotten WHERE (id = ?1 OR hash = ?2)
                 AND (?3 = '[]' OR chat_id IN (SELECT value FROM json_each(?3))) ORDER BY id = ?1 DESC""",
            (text, hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest(), json.dumps(list(chats))),
        )
        return (str(found[0]), str(found[1])) if found else None

    def chats(self) -> list[tuple[str, str | None]]:
        """(id, title) of every chat."""
        return rows(self._db, "SELECT id, title FROM chat ORDER BY id")

    def knew(self, chat_id: str) -> bool:
        """Whether a message of this chat was forgotten."""
        return row(self._db, "SELECT 1 FROM forgotten WHERE chat_id = ? LIMIT 1", (chat_id,)) is not None


def _left_out(report: str) -> tuple[int, dict[str, int]]:
    known: dict[str, Any] = json.loads(report)
    dropped = {
        str(kind): int(counts["records"])
        for kind, counts in known.get("dropped", {}).items()
        if isinstance(counts, Mapping)
    }
    return int(known.get("unknown", len(known.get("skipped", ())))), dropped


def _unreadable(path: Path, error: apsw.Error) -> DatabaseError:
    return DatabaseError(
        f"{path.name} can't be read: {error}.",
        "run `letopis doctor`; with --data a copy of the data folder can be looked at",
    )

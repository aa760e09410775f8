"""Taking in one archive file: staged whole, merged with what other files said, the newest edit winning."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from dataclasses import astuple, fields

import apsw

from indexer.stores.database import row, rows
from indexer.stores.ledger.copies import Copies
from indexer.stores.ledger.forgetting import LEAVE_OUT
from indexer.stores.ledger.meta import Meta
from indexer.stores.ledger.sources import NOTES, SourceFile
from schemas.records import Message

_KEPT = (
    *("source", "role", "author", "author_id", "session", "agent", "side_branch", "at", "edited", "sort_at"),
    *("position", "reply_to", "origin", "copied_from", "windows", "meta", "text", "hash", "place"),
)
_STAGED = ("chat_id", "id", *_KEPT, "title")

# What a reader of the index can see of a message; a copy that differs in nothing of it changes nothing.
_SEEN = (
    *("hash", "role", "author", "author_id", "session", "agent", "side_branch", "at", "sort_at"),
    *("reply_to", "windows", "meta"),
)


def _of(table: str, names: Iterable[str]) -> str:
    return ", ".join(f"{table}.{name}" for name in names)


_STAGE = (
    f"INSERT INTO staged VALUES ({', '.join('?' * len(_STAGED))}) ON CONFLICT DO UPDATE SET "
    + ", ".join(f"{name} = excluded.{name}" for name in _KEPT if name != "position")
    + " WHERE coalesce(excluded.edited, 0) >= coalesce(edited, 0)"
)

# The copy of this file counts where no other file holds the message, or where it is the newer one: by the
# time of the edit, else of the export's last message, else of the file itself.
_WINS = """
    coalesce(s.edited, :recency) > message.recency
    OR NOT EXISTS (SELECT 1 FROM sighting o WHERE o.message = message.key)
    OR coalesce(s.edited, :recency) = message.recency
       AND :mtime_ns >= (SELECT max(f.mtime_ns) FROM sighting o JOIN source f ON f.id = o.source
                         WHERE o.message = message.key)
"""


class Absorption:
    """One file on its way into the ledger; the caller holds the transaction.

    Args:
        db: the ledger.
        meta: is told of changed chats.
        file: what is read.
        partial: only a part of it is given; what was read of it before stays.
    """

    def __init__(self, db: apsw.Connection, meta: Meta, file: SourceFile, partial: bool = False) -> None:
        self._partial = partial
        self._db = db
        self._meta = meta
        self._file = file

    def take(self, messages: Iterable[tuple[Message, bytes]], report: Callable[[], str]) -> dict[str, int]:
        """Stage, merge and count; see `Ledger.absorb`."""
        source = self._source()
        last_at = self._stage(source, messages)
        counts = self._merge(source, last_at)
        self._db.execute(
            "UPDATE source SET messages = ?, last_at = ?, report = ?, gone = 0 WHERE id = ?",
            (counts["read"], last_at, report() or "{}", source),
        )
        if counts["new"] or counts["changed"] or counts["removed"]:
            self._meta.touch()
        return counts

    def _source(self) -> int:
        names = [field.name for field in fields(self._file)]
        updates = ", ".join(f"{name} = excluded.{name}" for name in names)
        found = row(
            self._db,
            f"""INSERT INTO source ({", ".join(names)}, messages, report)
                VALUES (?, ?, ?, ?, ?, ?, ?, 0, '{{}}')
                ON CONFLICT DO UPDATE SET {updates} RETURNING id""",
            astuple(self._file),
        )
        return int(found[0])

    def _stage(self, source: int, messages: Iterable[tuple[Message, bytes]]) -> int | None:
        self._db.execute(
            f"CREATE TEMP TABLE IF NOT EXISTS staged ({', '.join(_STAGED)}, UNIQUE (chat_id, id))"
        )
        self._db.execute("DELETE FROM staged")
        known: dict[tuple[str, str | None], int] = {}
        latest: int | None = None
        # Files come one after another, so that undated talks of two files do not interleave.
        for position, (message, digest) in enumerate(messages, source << 32):
            talk = (message.chat_id, message.session)
            sort_at = known[talk] = message.at if message.at is not None else known.get(talk, 0)
            if message.at is not None:
                latest = message.at if latest is None else max(latest, message.at)
            self._db.execute(_STAGE, _row(message, digest, sort_at, position))
        return latest

    def _merge(self, source: int, last_at: int | None) -> dict[str, int]:
        db = self._db
        read = int(db.execute("SELECT count(*) FROM staged").get)
        before: list[tuple[int]] = []
        if not self._partial:
            before = rows(db, "DELETE FROM sighting WHERE source = ? RETURNING message", (source,))
        self._leave_out_forgotten()
        copies, moved = Copies(db, source, last_at).join()
        self._chats()
        duplicate = copies + int(
            db.execute(
                """SELECT count(*) FROM staged s JOIN message m USING (chat_id, id)
                   WHERE EXISTS (SELECT 1 FROM sighting o WHERE o.message = m.key)"""
            ).get
        )
        mtime = self._file.mtime_ns // 1_000_000
        recency = {
            "recency": last_at if last_at is not None else mtime,
            "mtime_ns": self._file.mtime_ns,
        }
        changed = self._update(recency)
        new = db.execute(
            f"""INSERT INTO message (chat_id, id, {", ".join(_KEPT)}, recency)
                SELECT chat_id, id, {", ".join(_KEPT)}, coalesce(edited, :recency) FROM staged WHERE true
                ORDER BY position ON CONFLICT DO NOTHING RETURNING chat_id""",
            recency,
        ).fetchall()
        db.execute(
            "INSERT OR IGNORE INTO sighting SELECT ?, m.key FROM staged s JOIN message m USING (chat_id, id)",
            (source,),
        )
        removed = self._drop_absent([key for (key,) in before]) if self._file.kind == NOTES else 0
        self._meta.stale({str(chat) for (chat,) in (*changed, *new)} | moved)
        if moved:
            self._meta.touch()
        return {
            "read": read,
            "new": len(new),
            "changed": len(changed),
            "duplicate": duplicate,
            "removed": removed,
        }

    def _leave_out_forgotten(self) -> None:
        """Forgotten messages stay forgotten, in whatever file and under whatever id they come back."""
        for statement in LEAVE_OUT:
            self._db.execute(statement)

    def _chats(self) -> None:
        # The title stays as first seen: a renamed chat must not have its whole history embedded again.
        self._db.execute(
            """INSERT INTO chat (id, title, source)
               SELECT chat_id,
                      (SELECT title FROM staged t WHERE t.chat_id = s.chat_id AND title IS NOT NULL
                       ORDER BY position LIMIT 1),
                      source
               FROM staged s GROUP BY chat_id HAVING position = min(position)
               ON CONFLICT DO UPDATE SET title = excluded.title, stale = 1
               WHERE title IS NULL AND excluded.title IS NOT NULL"""
        )

    def _update(self, recency: dict[str, int]) -> list[tuple[object, ...]]:
        changed = self._db.execute(
            f"""UPDATE message SET ({", ".join(_KEPT)}, recency) =
                  ({_of("s", _KEPT)}, coalesce(s.edited, :recency))
                FROM staged s WHERE s.chat_id = message.chat_id AND s.id = message.id
                  AND ({_of("s", _SEEN)}) IS NOT ({_of("message", _SEEN)}) AND ({_WINS})
                RETURNING chat_id""",
            recency,
        ).fetchall()
        # Where the copies agree, the newer one still vouches for the text against an older, third copy.
        self._db.execute(
            f"""UPDATE message SET (position, place, edited, recency) =
                  (s.position, s.place, s.edited, max(message.recency, coalesce(s.edited, :recency)))
                FROM staged s WHERE s.chat_id = message.chat_id AND s.id = message.id AND ({_WINS})""",
            recency,
        )
        return changed

    def _drop_absent(self, before: list[int]) -> int:
        found = rows(
            self._db,
            """DELETE FROM message WHERE key IN (SELECT value FROM json_each(?1))
                 AND NOT EXISTS (SELECT 1 FROM sighting o WHERE o.message = message.key) RETURNING chat_id""",
            (json.dumps(before),),
        )
        self._meta.stale({str(chat) for (chat,) in found})
        return len(found)


def _row(
    message: Message, digest: bytes, sort_at: int, position: int
) -> tuple[str | int | bytes | None, ...]:
    return (
        *(message.chat_id, message.id, message.source, message.role, message.author, message.author_id),
        *(message.session, message.agent, message.side_branch, message.at, message.edited, sort_at, position),
        *(message.reply_to, message.origin, message.copied_from, json.dumps(message.windows)),
        *(json.dumps(dict(message.meta), ensure_ascii=False, sort_keys=True), message.text),
        *(digest, message.place, message.chat_title),
    )

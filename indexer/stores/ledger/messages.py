"""Messages: the talks in their order, and what was dropped or forgotten of them."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator

import apsw

from indexer.stores.database import row, rows, transaction
from indexer.stores.ledger.meta import Meta
from indexer.stores.ledger.sources import NOTES
from schemas.records import Message

# A chat's talk: sessions by their first message, then time, then the place in the file.
_TALK = """
    SELECT m.chat_id, m.id, m.source, m.role, m.text, m.place, m.at, c.title, m.author, m.author_id,
           m.session, m.edited, m.reply_to, m.agent, m.side_branch, m.meta,
           m.origin, m.copied_from, m.windows,
           min(m.sort_at) OVER (PARTITION BY m.session, m.side_branch) AS begun
    FROM message m JOIN chat c ON c.id = m.chat_id
    WHERE m.chat_id = ?
    ORDER BY begun, m.session, m.side_branch, m.sort_at, m.position, m.id
"""


class Messages:
    """All messages of all chats."""

    def __init__(self, db: apsw.Connection, meta: Meta) -> None:
        self._db = db
        self._meta = meta

    def count(self) -> int:
        """How many messages the ledger holds."""
        return int(self._db.execute("SELECT count(*) FROM message").get)

    def chats(self) -> list[tuple[str, str | None, str]]:
        """(id, title, source) of every chat that has messages, in a stable order."""
        return rows(
            self._db,
            """SELECT id, title, source FROM chat
               WHERE EXISTS (SELECT 1 FROM message m WHERE m.chat_id = chat.id) ORDER BY id""",
        )

    def talk(self, chat_id: str) -> Iterator[Message]:
        """The messages of one chat in the order of the talk."""
        for values in rows(self._db, _TALK, (chat_id,)):
            (chat, id_, source, role, text, place, at, title, author, author_id) = values[:10]
            (session, edited, reply_to, agent, side_branch, meta) = values[10:16]
            (origin, copied_from, windows) = values[16:19]
            yield Message(
                chat_id=chat,
                id=id_,
                source=source,
                role=role,
                text=text,
                place=place,
                at=at,
                chat_title=title,
                author=author,
                author_id=author_id,
                session=session,
                edited=edited,
                reply_to=reply_to,
                agent=agent,
                side_branch=bool(side_branch),
                origin=origin,
                copied_from=copied_from,
                windows=tuple((start, end) for start, end in json.loads(windows)),
                meta=json.loads(meta),
            )

    def windows(self, chat_id: str, message_id: str) -> list[list[int]] | None:
        """The imported boundaries of one message, empty where it has none; None for an unknown message."""
        found = row(
            self._db, "SELECT windows FROM message WHERE (chat_id, id) = (?, ?)", (chat_id, message_id)
        )
        return None if found is None else list(json.loads(found[0]))

    def drop_unseen(self) -> int:
        """Drop the messages that stand in no file that is still there, and the lost files (`--mirror`)."""
        return self._drop("gone", "true")

    def drop_gone_notes(self) -> int:
        """A deleted note file takes its messages along; a chat source that vanishes keeps them."""
        return self._drop(f"gone AND kind = '{NOTES}'", f"source = '{NOTES}'")

    def _drop(self, lost_sources: str, droppable: str) -> int:
        # The rows of the files go as well: a file that comes back unchanged must be read again.
        with transaction(self._db):
            lost = rows(self._db, f"SELECT id FROM source WHERE {lost_sources}")
            self._db.executemany("DELETE FROM sighting WHERE source = ?", lost)
            self._db.executemany("DELETE FROM source WHERE id = ?", lost)
            return self._delete(
                f"{droppable} AND NOT EXISTS (SELECT 1 FROM sighting o WHERE o.message = message.key)", ()
            )

    def rewrite(self, clean: Callable[[str], str]) -> int:
        """Pass every stored text through a newer redactor; sources that are gone can't be read anew.

        Returns:
            How many texts changed. Vectors and mentions of the old ones go.
        """
        with transaction(self._db):
            changed = [
                (fresh, hashlib.sha256(fresh.encode()).digest(), key, chat, old)
                for key, chat, text, old in rows(self._db, "SELECT key, chat_id, text, hash FROM message")
                if (fresh := clean(text)) != text
            ]
            # Spans of the old text mean nothing in the new one.
            self._db.executemany(
                "UPDATE message SET text = ?, hash = ?, windows = '[]' WHERE key = ?",
                (values[:3] for values in changed),
            )
            self._db.executemany("DELETE FROM extraction WHERE hash = ?", ((old,) for *_, old in changed))
            if changed:
                self._meta.stale({chat for _, _, _, chat, _ in changed})
                self._meta.touch()
        return len(changed)

    def _delete(self, condition: str, values: tuple[str | None, ...]) -> int:
        found = rows(self._db, f"DELETE FROM message WHERE {condition} RETURNING chat_id", values)
        if found:
            self._meta.stale({str(chat) for (chat,) in found})
            self._meta.touch()
        return len(found)

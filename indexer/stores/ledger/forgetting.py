"""Forgetting: messages that must go, whatever was made of them, and never come back from any file.

A forgotten message is kept as its ids and the hash of its text, so that a copy of it under another id (a
store's, a fork's, a resumed session's) is known when a later build meets it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import apsw

from indexer.stores.database import row, rows, transaction
from indexer.stores.ledger.copies import STORED_WITHIN
from indexer.stores.ledger.meta import Meta
from indexer.text.normal import normal
from schemas.problems import NoMatch

# Set while forgotten text may still stand in vectors (until the chunks are cut anew) and in generations.
PURGE = "purge"
FORGOTTEN = "forgotten"
DUE, DONE = "due", "done"

# Tool results, thinking and attachments of a message carry its id and a slash before their own.
_BELONGS = "(?2 IS NULL OR {table}.id = ?2 OR substr({table}.id, 1, length(?2) + 1) = ?2 || '/')"
_CONDITION = (
    f"(?1 IS NULL OR message.chat_id = ?1) AND {_BELONGS.format(table='message')}"
    " AND (?3 IS NULL OR ?3 IN (message.author, message.author_id))"
)

# Staged messages of a file that were forgotten: by the rule itself, or as copies of forgotten ones.
LEAVE_OUT = (
    """DELETE FROM staged WHERE EXISTS (SELECT 1 FROM tombstone t WHERE
         (t.chat_id IS NULL OR t.chat_id = staged.chat_id)
         AND (t.message_id IS NULL OR t.message_id = staged.id
              OR substr(staged.id, 1, length(t.message_id) + 1) = t.message_id || '/')
         AND (t.author IS NULL OR t.author IN (staged.author, staged.author_id)))""",
    f"""DELETE FROM staged WHERE EXISTS
          (SELECT 1 FROM forgotten f WHERE f.origin = staged.origin AND f.source = staged.source)
        OR EXISTS (SELECT 1 FROM forgotten f WHERE f.hash = staged.hash AND f.role = staged.role
          AND (f.chat_id = staged.copied_from
               OR f.chat_id = staged.chat_id AND f.source <> staged.source
               AND coalesce(abs(f.at - staged.at), 0) <= {STORED_WITHIN}))""",
)


@dataclass(frozen=True, slots=True)
class Rule:
    """What is to be forgotten: what all given values match.

    Attributes:
        chat_id: the talk.
        message_id: one message, with what belongs to it.
        author: a display name or an author id, exactly as the messages carry it.
    """

    chat_id: str | None = None
    message_id: str | None = None
    author: str | None = None

    def __post_init__(self) -> None:
        if self.chat_id is None and self.message_id is None and self.author is None:
            raise ValueError("forgetting needs a chat, a message or an author")

    @property
    def values(self) -> tuple[str | None, str | None, str | None]:
        """As parameters of a statement."""
        return self.chat_id, self.message_id, self.author


@dataclass(frozen=True, slots=True)
class Extent:
    """What a rule reaches, and what it does not.

    Attributes:
        messages: how many would go.
        chats: ids of their talks.
        files: (path relative to its archive, reader, messages) of the archive files that hold them and stay.
        copies: messages of an equal text that stay, since they are others' or stand in other talks.
        spaces: names of the spaces of paid providers that were sent a text with them.
    """

    messages: int
    chats: tuple[str, ...]
    files: tuple[tuple[str, str, int], ...]
    copies: int
    spaces: tuple[str, ...]


class Forgetting:
    """Tombstones, and what they cover."""

    def __init__(self, db: apsw.Connection, meta: Meta) -> None:
        self._db = db
        self._meta = meta

    def chat_of(self, name: str) -> str:
        """The id of a talk that is given by its id or its title.

        Raises:
            NoMatch: there is none, or several have this title.
        """
        if row(self._db, "SELECT 1 FROM message WHERE chat_id = ? LIMIT 1", (name,)):
            return name
        titled = [
            str(id_)
            for id_, title in rows(self._db, "SELECT id, title FROM chat WHERE title IS NOT NULL")
            if normal(str(title)) == normal(name)
        ]
        return _only(
            titled, f"chat {name!r}", "--chat takes an id or a whole title; `letopis archives` lists them"
        )

    def author_of(self, name: str) -> list[str]:
        """The author ids (or, where the source has none, the names as written) of a person.

        Raises:
            NoMatch: nobody is called so, or several people are.
        """
        found = rows(self._db, "SELECT DISTINCT author, author_id FROM message WHERE author IS NOT NULL")
        if any(id_ == name for _, id_ in found):
            return [name]
        called = [(str(author), id_) for author, id_ in found if normal(str(author)) == normal(name)]
        ids = sorted({str(id_) for _, id_ in called if id_})
        nameless = sorted({author for author, id_ in called if not id_})
        if ids:
            return [_only(ids, f"author {name!r}", "name one of the ids with --author"), *nameless]
        if not nameless:
            _only([], f"author {name!r}", "--author takes an id or a whole name")
        return nameless

    def extent(self, rules: Sequence[Rule]) -> Extent:
        """What the rules reach together."""
        self._gather(rules)
        chats = rows(
            self._db, "SELECT DISTINCT chat_id FROM message JOIN doomed USING (key) ORDER BY chat_id"
        )
        files = rows(
            self._db,
            """SELECT f.path, f.kind, count(*) FROM sighting o JOIN doomed d ON d.key = o.message
               JOIN source f ON f.id = o.source GROUP BY f.id ORDER BY f.path""",
        )
        copies = row(
            self._db,
            """SELECT count(*) FROM message m WHERE m.key NOT IN (SELECT key FROM doomed) AND m.hash IN
                 (SELECT hash FROM message JOIN doomed USING (key))""",
        )
        spaces = rows(
            self._db,
            """SELECT DISTINCT s.provider, s.model FROM chunk c, json_each(c.pieces) p
               JOIN message m ON m.chat_id = c.chat_id AND m.id = p.value ->> 0
               JOIN doomed d ON d.key = m.key
               JOIN vector v ON v.hash = c.hash JOIN space s ON s.id = v.space
               WHERE c.chat_id IN (SELECT chat_id FROM message JOIN doomed USING (key))
                 AND s.provider NOT IN ('local', 'hash') ORDER BY 1, 2""",
        )
        return Extent(
            messages=int(row(self._db, "SELECT count(*) FROM doomed")[0]),
            chats=tuple(str(chat) for (chat,) in chats),
            files=tuple((str(path), str(kind), int(count)) for path, kind, count in files),
            copies=int(copies[0]),
            spaces=tuple(f"{provider}/{model}" for provider, model in spaces),
        )

    def _gather(self, rules: Sequence[Rule]) -> None:
        self._db.execute("CREATE TEMP TABLE IF NOT EXISTS doomed (key INTEGER PRIMARY KEY)")
        self._db.execute("DELETE FROM doomed")
        for rule in rules:
            self._db.execute(
                f"INSERT OR IGNORE INTO doomed SELECT key FROM message WHERE {_CONDITION}", rule.values
            )

    def forget(self, at: int, rules: Sequence[Rule]) -> int:
        """Remove what the rules match and keep it from ever coming back.

        What was made of it goes too: names now, vectors and generations with the next publication.

        Args:
            at: UTC ms, kept with the tombstones.
            rules: what to forget.

        Returns:
            How many messages went.
        """
        db = self._db
        with transaction(db):
            db.executemany(
                "INSERT INTO tombstone VALUES (?, ?, ?, ?)", ((*rule.values, at) for rule in rules)
            )
            self._gather(rules)
            db.execute(
                """INSERT OR IGNORE INTO forgotten SELECT chat_id, id, source, role, origin, hash, at
                   FROM message JOIN doomed USING (key)"""
            )
            db.execute("DELETE FROM sighting WHERE message IN (SELECT key FROM doomed)")
            found = rows(
                db, "DELETE FROM message WHERE key IN (SELECT key FROM doomed) RETURNING chat_id, hash"
            )
            chats = {str(chat) for chat, _ in found}
            # Their chunks are cut anew; a crash before that must not leave the text in them.
            db.executemany("DELETE FROM chunk WHERE chat_id = ?", ((chat,) for chat in chats))
            # An equal text may stay elsewhere, with what was made of it.
            db.executemany(
                """DELETE FROM extraction WHERE hash = ?1
                   AND NOT EXISTS (SELECT 1 FROM message WHERE hash = ?1)""",
                {(digest,) for _, digest in found},
            )
            if found:
                self._meta.stale(chats)
                self._meta.put(PURGE, DUE)
                self._meta.put(FORGOTTEN, DUE)
                self._meta.touch()
        return len(found)

    @property
    def due(self) -> bool:
        """Whether something was forgotten that generations on disk may still hold."""
        return self._meta.get(FORGOTTEN) == DUE

    def done(self) -> None:
        """No generation holds it any more; the titles of empty talks and the log's pages go as well."""
        self._db.execute(
            "DELETE FROM chat WHERE NOT EXISTS (SELECT 1 FROM message m WHERE m.chat_id = chat.id)"
        )
        self._meta.put(FORGOTTEN, DONE)
        self._db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()


def _only(found: list[str], what: str, remedy: str) -> str:
    if len(found) == 1:
        return found[0]
    if not found:
        raise NoMatch(f"There is no {what} in the index.", remedy)
    listed = ", ".join(found[:10])
    raise NoMatch(f"{len(found)} talks or people match {what}: {listed}.", remedy)

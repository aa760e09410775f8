"""One message, whatever it is called: copies that stand under another id or in another talk.

A store and the transcript that it was made of (lcm.db and OpenClaw's JSONL) name the same message
differently; a resumed session or a fork repeats the history of the talk that it came from. Such a copy is a
sighting of the message that the ledger holds, never a second message.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Iterable, Iterator
from typing import NamedTuple

import apsw

from indexer.stores.database import rows

# A store takes a message in when its turn is over, which may be hours after it was said.
STORED_WITHIN = 24 * 3600 * 1000
# A fork keeps the times of what it repeats, to the second.
REPEATED_WITHIN = 1000
# A fork of a fork of a fork …
GENERATIONS = 10


class _Said(NamedTuple):
    """What tells a message from others of a talk: its row, who spoke, the text's hash and when."""

    row: int
    role: str
    hash: bytes
    at: int | None


class Copies:
    """The staged messages of one file that the ledger already holds under another name.

    Args:
        db: the ledger; the file's messages stand in its temporary table `staged`.
        source: the row of the file.
        last_at: time of the file's newest message, UTC ms, or None.
    """

    def __init__(self, db: apsw.Connection, source: int, last_at: int | None) -> None:
        self._db = db
        self._source = source
        self._last_at = last_at

    def join(self) -> tuple[int, set[str]]:
        """Take the copies out of `staged` and note where they were seen.

        Returns:
            How many there were, and the chats that lost messages to the talk that said them first.
        """
        self._once_a_file()
        new_talks = {
            str(chat)
            for (chat,) in rows(
                self._db,
                """SELECT chat_id FROM (SELECT DISTINCT chat_id FROM staged) s
                   WHERE NOT EXISTS (SELECT 1 FROM message m WHERE m.chat_id = s.chat_id)""",
            )
        }
        found = 0
        moved: set[str] = set()
        for pairs in (self._of_origin(), self._of_other_stores(), self._of_forks(new_talks)):
            for staged, message in pairs:
                chat = self._settle(staged, message, new_talks)
                if chat is None:
                    found += 1
                else:
                    moved.add(chat)
        return found, moved

    def _once_a_file(self) -> None:
        self._db.execute(
            # A talk that repeats no other is the older one.
            """DELETE FROM staged WHERE rowid IN
                 (SELECT row FROM (SELECT rowid AS row, row_number() OVER
                    (PARTITION BY source, origin, hash ORDER BY copied_from IS NOT NULL, rowid) AS n
                  FROM staged WHERE origin IS NOT NULL) WHERE n > 1)"""
        )

    def _settle(self, staged: int, message: int, new_talks: set[str]) -> str | None:
        """Note the sighting; the message goes to the talk of this file where that one is the older."""
        db = self._db
        chat, last_at = rows(
            db,
            """SELECT m.chat_id, (SELECT min(f.last_at) FROM sighting o JOIN source f ON f.id = o.source
                                  WHERE o.message = m.key)
               FROM message m WHERE m.key = ?""",
            (message,),
        )[0]
        own = rows(db, "SELECT chat_id, copied_from FROM staged WHERE rowid = ?", (staged,))[0]
        older = own[0] in new_talks and own[1] != chat and own[0] != chat
        if older and (last_at is None or self._last_at is None or self._last_at >= last_at):
            older = bool(
                rows(db, "SELECT 1 FROM message WHERE key = ? AND copied_from = ?", (message, own[0]))
            )
        if older:
            db.execute(
                f"""UPDATE message SET ({_HOME}) = (SELECT {_HOME} FROM staged WHERE rowid = ?)
                    WHERE key = ?""",
                (staged, message),
            )
        else:
            db.execute("DELETE FROM staged WHERE rowid = ?", (staged,))
            db.execute("INSERT OR IGNORE INTO sighting VALUES (?, ?)", (self._source, message))
        return str(chat) if older else None

    def _of_origin(self) -> list[tuple[int, int]]:
        """By an id that is unique over all talks of the source; other words under it are another message."""
        return [
            (int(staged), int(message))
            for staged, message in rows(
                self._db,
                f"""SELECT s.rowid, min(m.key) FROM staged s JOIN message m ON m.origin = s.origin
                      AND m.source = s.source AND m.hash = s.hash
                    WHERE s.origin IS NOT NULL AND {_UNKNOWN} GROUP BY s.rowid""",
            )
        ]

    def _of_other_stores(self) -> Iterator[tuple[int, int]]:
        """By talk, speaker and text, where another program's copy of the same talk was read."""
        talks = rows(
            self._db,
            """SELECT chat_id, source FROM (SELECT DISTINCT chat_id, source FROM staged) s WHERE EXISTS
                 (SELECT 1 FROM message m WHERE m.chat_id = s.chat_id AND m.source < s.source) OR EXISTS
                 (SELECT 1 FROM message m WHERE m.chat_id = s.chat_id AND m.source > s.source)""",
        )
        for chat, source in talks:
            held = self._held("m.chat_id = ? AND m.source <> ?", (chat, source))
            yield from _paired(self._unknown(str(chat)), held, STORED_WITHIN, repeats=False)

    def _of_forks(self, new_talks: set[str]) -> Iterator[tuple[int, int]]:
        """By speaker, text and time, where a talk begins with what another one said."""
        for chat, parent in rows(
            self._db, "SELECT DISTINCT chat_id, copied_from FROM staged WHERE copied_from IS NOT NULL"
        ):
            ancestors = self._ancestors(str(parent), str(chat))
            held = [said for talk in ancestors for said in self._held("m.chat_id = ?", (talk,))]
            yield from _paired(self._unknown(str(chat)), held, REPEATED_WITHIN, repeats=True)
        for chat in sorted(new_talks):
            held = list(self._held("m.copied_from = ?", (chat,)))
            if held:
                yield from _paired(self._unknown(chat), held, REPEATED_WITHIN, repeats=True)

    def _ancestors(self, parent: str, chat: str) -> list[str]:
        """The parent and what it was copied from itself, the oldest first."""
        found = [parent]
        while len(found) < GENERATIONS:
            above = rows(
                self._db,
                "SELECT copied_from FROM message WHERE chat_id = ? AND copied_from IS NOT NULL LIMIT 1",
                (found[0],),
            )
            if not above or above[0][0] in (*found, chat):
                break
            found.insert(0, str(above[0][0]))
        return found

    def _held(self, condition: str, values: tuple[object, ...]) -> Iterator[_Said]:
        sql = f"""SELECT m.key, m.role, m.hash, m.at FROM message m
                  WHERE {condition} ORDER BY m.sort_at, m.position"""
        return (_Said(*values) for values in rows(self._db, sql, values))

    def _unknown(self, chat: str) -> list[_Said]:
        sql = f"""SELECT s.rowid, s.role, s.hash, s.at FROM staged s
                  WHERE s.chat_id = ? AND {_UNKNOWN} ORDER BY s.position"""
        return [_Said(*values) for values in rows(self._db, sql, (chat,))]


_HOME = "chat_id, id, session, agent, side_branch, copied_from, position, place"
_UNKNOWN = "NOT EXISTS (SELECT 1 FROM message k WHERE k.chat_id = s.chat_id AND k.id = s.id)"


def _paired(
    staged: Iterable[_Said], held: Iterable[_Said], within: int, repeats: bool
) -> Iterator[tuple[int, int]]:
    """Pairs of equal messages, one to one and in order.

    Args:
        staged: of the file, in order.
        held: of the ledger, in order.
        within: how far their times may be apart, ms; unknown times are near everything.
        repeats: the file repeats the history: until something new is said, times do not matter.
    """
    waiting: dict[tuple[str, bytes], deque[_Said]] = defaultdict(deque)
    for said in held:
        waiting[said.role, said.hash].append(said)
    unbroken = repeats
    for said in staged:
        equal = waiting.get((said.role, said.hash))
        match = (
            next((one for one in equal if unbroken or _near(one.at, said.at, within)), None)
            if equal
            else None
        )
        if match is None or equal is None:
            unbroken = False
            continue
        equal.remove(match)
        yield said.row, match.row


def _near(one: int | None, two: int | None, within: int) -> bool:
    return one is None or two is None or abs(one - two) <= within

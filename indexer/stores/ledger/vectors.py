"""Vector spaces and the vectors in them, kept by the hash of the embedded text: never paid twice."""

from __future__ import annotations

import json
from collections.abc import Collection, Sequence
from typing import NamedTuple

import apsw
import numpy as np
from numpy.typing import NDArray

from indexer.stores.database import row, rows, transaction
from indexer.stores.ledger.meta import Meta
from indexer.text.normal import normal
from schemas.records import Space

Floats = NDArray[np.float32]


class Held(NamedTuple):
    """A space that holds vectors of present chunks.

    Attributes:
        id: its row.
        space: its identity.
        covered: chunks that have a vector in it.
    """

    id: int
    space: Space
    covered: int


class Vectors:
    """float32 vectors of length 1, by (space, sha256 of the embedded text).

    Attributes:
        providers: whose spaces count in this run, or None for all. Others stay kept, since they are paid for.
            An imported space counts beside its provider's own one, whoever takes part.
    """

    def __init__(self, db: apsw.Connection, meta: Meta) -> None:
        self._db = db
        self._meta = meta
        self.providers: Collection[str] | None = None

    def space_id(self, space: Space) -> int:
        """The row of a space, made on first use."""
        identity = (space.provider, space.model, space.dims, space.prefix_version)
        self._db.execute(
            """INSERT INTO space (provider, model, dims, prefix_version) VALUES (?, ?, ?, ?)
               ON CONFLICT DO NOTHING""",
            identity,
        )
        found = row(
            self._db,
            "SELECT id FROM space WHERE (provider, model, dims, prefix_version) = (?, ?, ?, ?)",
            identity,
        )
        return int(found[0])

    def use(self, space: int, provider: str) -> None:
        """From now on this is the provider's space: an older one could not be asked any more."""
        key = f"space {provider}"
        if self._meta.get(key) != str(space):
            with transaction(self._db):
                self._meta.put(key, str(space))
                self._meta.touch()

    def spaces(self) -> list[Held]:
        """Every space in use with vectors of present chunks, in the order of first use."""
        found = rows(
            self._db,
            """SELECT s.id, s.provider, s.model, s.dims, s.prefix_version,
                      (SELECT count(*) FROM chunk c
                       WHERE EXISTS (SELECT 1 FROM vector v WHERE v.space = s.id AND v.hash = c.hash))
               FROM space s ORDER BY s.id""",
        )
        held = [Held(id_, Space(*identity), covered) for id_, *identity, covered in found if covered]
        return [one for one in held if one.space.bare or self._counts(one.id, one.space.provider)]

    def own(self) -> list[Held]:
        """The spaces of `spaces` that builds fill: all but the imported ones, which excuse no other."""
        return [held for held in self.spaces() if not held.space.bare]

    def _counts(self, space: int, provider: str) -> bool:
        used = self._meta.get(f"space {provider}")
        return used in (None, str(space)) and (self.providers is None or provider in self.providers)

    def neighbours(self, space: Space, space_id: int, count: int) -> tuple[Floats, Floats]:
        """Vectors of neighbouring chunks of one session, spread evenly over the archive.

        Args:
            space: for its dims.
            space_id: its row.
            count: the most pairs.

        Returns:
            Two arrays (n, dims), n ≤ count: chunks, and the chunk that follows each.
        """
        found = rows(
            self._db,
            """WITH pair AS (
                 SELECT a.hash AS one, b.hash AS two, row_number() OVER (ORDER BY a.chat_id, a.ordinal) AS n,
                        count(*) OVER () AS total
                 FROM chunk a JOIN chunk b ON b.chat_id = a.chat_id AND b.ordinal = a.ordinal + 1
                   AND b.session IS a.session AND b.hash <> a.hash
                 WHERE EXISTS (SELECT 1 FROM vector v WHERE v.space = ?1 AND v.hash = a.hash)
                   AND EXISTS (SELECT 1 FROM vector v WHERE v.space = ?1 AND v.hash = b.hash))
               SELECT v.vector, w.vector FROM pair
               JOIN vector v ON v.space = ?1 AND v.hash = pair.one
               JOIN vector w ON w.space = ?1 AND w.hash = pair.two
               WHERE (n - 1) % max(1, (total + ?2 - 1) / ?2) = 0 ORDER BY n""",
            (space_id, count),
        )
        chunks, followers = (
            np.frombuffer(b"".join(pair[side] for pair in found), "<f4").reshape(len(found), space.dims)
            for side in (0, 1)
        )
        return chunks, followers

    def largest(self, space: Space, space_id: int, chats: int, count: int) -> list[Floats]:
        """Vectors of the largest chats, spread evenly over each; a text that comes again counts once.

        Args:
            space: for its dims.
            space_id: its row.
            chats: the most chats.
            count: the most vectors of a chat.

        Returns:
            By chat an array (n, dims), n ≤ count, larger chats first.
        """
        found = rows(
            self._db,
            """WITH text AS (
                 SELECT chat_id, hash, min(ordinal) AS ordinal FROM chunk c
                 WHERE EXISTS (SELECT 1 FROM vector v WHERE v.space = ?1 AND v.hash = c.hash)
                 GROUP BY chat_id, hash),
               held AS (
                 SELECT chat_id, hash, row_number() OVER (PARTITION BY chat_id ORDER BY ordinal) AS n,
                        count(*) OVER (PARTITION BY chat_id) AS total FROM text),
               chosen AS (SELECT chat_id FROM held GROUP BY chat_id ORDER BY count(*) DESC, chat_id LIMIT ?2)
               SELECT h.chat_id, v.vector FROM held h
               JOIN chosen USING (chat_id) JOIN vector v ON v.space = ?1 AND v.hash = h.hash
               WHERE (h.n - 1) % max(1, (h.total + ?3 - 1) / ?3) = 0
               ORDER BY h.total DESC, h.chat_id, h.n""",
            (space_id, chats, count),
        )
        by_chat: dict[str, list[bytes]] = {}
        for chat, vector in found:
            by_chat.setdefault(chat, []).append(vector)
        return [
            np.frombuffer(b"".join(vectors), "<f4").reshape(len(vectors), space.dims)
            for vectors in by_chat.values()
        ]

    def pending(self, space: int, leave_out: Sequence[str] = (), unless: Sequence[int] = ()) -> list[bytes]:
        """Hashes of the chunk texts without a vector in a space, newest chats first, not quarantined.

        Args:
            space: the row of the space.
            leave_out: chat ids, chat titles (in any case) and source names that must not be sent there.
            unless: better spaces; a text that has a vector in one of them needs no fallback.
        """
        found = rows(
            self._db,
            """SELECT c.hash FROM chunk c
               JOIN (SELECT chat_id, max(coalesce(last_at, 0)) AS newest FROM chunk GROUP BY chat_id) n
                 ON n.chat_id = c.chat_id
               WHERE NOT EXISTS (SELECT 1 FROM vector v WHERE v.space = ?1 AND v.hash = c.hash)
                 AND NOT EXISTS (SELECT 1 FROM quarantine q WHERE q.space = ?1 AND q.hash = c.hash)
                 AND NOT EXISTS (SELECT 1 FROM vector b WHERE b.hash = c.hash
                                 AND b.space IN (SELECT value FROM json_each(?3)))
                 AND c.chat_id NOT IN (SELECT value FROM json_each(?2))
               GROUP BY c.hash ORDER BY max(n.newest) DESC, min(c.chat_id), min(c.ordinal)""",
            (space, json.dumps(self.chats_of(leave_out)), json.dumps(list(unless))),
        )
        return [digest for (digest,) in found]

    def chats_of(self, names: Sequence[str]) -> list[str]:
        """Chat ids that are meant by chat ids, chat titles (in any case) and source names."""
        if not names:
            return []
        exact, titles = set(names), {normal(name) for name in names}
        return [
            id_
            for id_, title, source in rows(self._db, "SELECT id, title, source FROM chat")
            if id_ in exact or source in exact or (title is not None and normal(title) in titles)
        ]

    def texts(self, hashes: Sequence[bytes]) -> list[str]:
        """The text to embed of each hash, in the same order."""
        found: list[str] = []
        for digest in hashes:
            header, text = row(self._db, "SELECT header, text FROM chunk WHERE hash = ? LIMIT 1", (digest,))
            found.append(f"{header}\n{text}" if header else text)
        return found

    def keep(self, space: int, hashes: Sequence[bytes], vectors: NDArray[np.float32]) -> int:
        """Commit one batch: float32, one row a hash; returns how many of them the space had not yet."""
        floats = np.ascontiguousarray(vectors, dtype="<f4")
        with transaction(self._db):
            before = self._db.total_changes()
            self._db.executemany(
                "INSERT INTO vector VALUES (?, ?, ?) ON CONFLICT DO NOTHING",
                ((space, digest, vector.tobytes()) for digest, vector in zip(hashes, floats, strict=True)),
            )
            new = self._db.total_changes() - before
            if new:
                self._meta.touch()
        return new

    def disown(self, space: int, hashes: Sequence[bytes]) -> int:
        """Take vectors out of the other imported spaces that hold the very same numbers.

        The same vector can't be of two models: who imports it again by another name mends the first one.
        """
        with transaction(self._db):
            before = self._db.total_changes()
            self._db.executemany(
                """DELETE FROM vector WHERE hash = ?2 AND space IN
                     (SELECT o.id FROM space o JOIN space s ON s.id = ?1 AND s.dims = o.dims AND s.id <> o.id
                      WHERE o.prefix_version = 0)
                   AND vector = (SELECT v.vector FROM vector v WHERE v.space = ?1 AND v.hash = ?2)""",
                ((space, digest) for digest in hashes),
            )
            gone = self._db.total_changes() - before
            if gone:
                self._meta.touch()
        return gone

    def drop(self, space: int) -> int:
        """Give the vectors of an imported space up; returns how many went."""
        with transaction(self._db):
            found = rows(self._db, "DELETE FROM vector WHERE space = ? RETURNING 1", (space,))
            self._meta.touch()
        return len(found)

    def find(self, space: int, digest: bytes) -> bytes | None:
        """The float32 bytes of a vector, or None."""
        found = row(self._db, "SELECT vector FROM vector WHERE space = ? AND hash = ?", (space, digest))
        return bytes(found[0]) if found else None

    def purge(self) -> int:
        """Drop the vectors of texts that are in no chunk, as forgetting demands; returns how many went."""
        with transaction(self._db):
            found = rows(
                self._db,
                """DELETE FROM vector
                   WHERE NOT EXISTS (SELECT 1 FROM chunk c WHERE c.hash = vector.hash) RETURNING 1""",
            )
            self._db.execute(
                """DELETE FROM quarantine
                   WHERE NOT EXISTS (SELECT 1 FROM chunk c WHERE c.hash = quarantine.hash)"""
            )
        return len(found)

    def quarantine(self, space: int, digest: bytes, reason: str) -> None:
        """Never send this text to this space again."""
        self._db.execute(
            "INSERT INTO quarantine VALUES (?, ?, ?) ON CONFLICT DO NOTHING", (space, digest, reason)
        )

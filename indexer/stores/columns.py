"""What stands in memory of every chunk and message: enough to filter and to walk without asking SQL."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property

import apsw
import numpy as np
from numpy.typing import NDArray

from indexer.stores import NO_TIME, Ids, Mask, Unit
from indexer.stores.database import rows
from indexer.text.lemmas import lemmas
from indexer.text.normal import normal, tokens
from schemas.records import QUIET_ROLES, Filter


class Columns:
    """Dense arrays by id (index 0 unused), read once when a generation is opened."""

    def __init__(self, db: apsw.Connection) -> None:
        self.chats = rows(db, "SELECT id, chat_id, title, source FROM chat ORDER BY id")
        self._load_messages(db)
        members = np.array(
            rows(db, "SELECT chunk, message, end - start FROM chunk_message ORDER BY chunk, start"), np.int64
        ).reshape(-1, 3)
        self.member_chunk: Ids = members[:, 0].copy()
        self.member_message: Ids = members[:, 1].copy()
        self._member_length = members[:, 2].astype(np.float64)
        self._load_chunks(db)

    def _load_messages(self, db: apsw.Connection) -> None:
        self._authors: dict[tuple[str | None, str | None], int] = {}
        self._kinds: dict[tuple[str, str, str | None], int] = {}
        found = rows(db, "SELECT chat, author, author_id, role, source, agent, at FROM message ORDER BY id")
        self.messages = len(found)
        self.message_chat = _column((row[0] for row in found), len(found), np.int32)
        self.message_author = _column(
            (self._authors.setdefault((row[1], row[2]), len(self._authors)) for row in found),
            len(found),
            np.int32,
        )
        self._kind = _column(
            (self._kinds.setdefault(row[3:6], len(self._kinds)) for row in found), len(found), np.int32
        )
        self.message_at = _column(
            (NO_TIME if row[6] is None else row[6] for row in found), len(found), np.int64
        )
        self._is_worker = _column((row[5] is not None for row in found), len(found), np.int8)
        self.message_before, self.message_after = _linked(self.message_chat, self._is_worker)

    def _load_chunks(self, db: apsw.Connection) -> None:
        found = rows(db, "SELECT chat, session, first_at, last_at FROM chunk ORDER BY id")
        self.chunks = len(found)
        sessions: dict[tuple[int, str | None], int] = {}
        session = _column(
            (sessions.setdefault(row[:2], len(sessions)) for row in found), len(found), np.int64
        )
        self.chunk_chat = _column((row[0] for row in found), len(found), np.int32)
        self.chunk_first = _column(
            (NO_TIME if row[2] is None else row[2] for row in found), len(found), np.int64
        )
        self.chunk_last = _column(
            (NO_TIME if row[3] is None else row[3] for row in found), len(found), np.int64
        )
        is_worker = np.zeros(len(found) + 1, np.int8)  # no chunk holds both talks
        is_worker[self.member_chunk] = self._is_worker[self.member_message]
        self.before, self.after = _linked(session, is_worker)

    @cached_property
    def alone(self) -> Ids:
        """By chunk the only message that it holds; 0 where it holds several."""
        held = np.bincount(self.member_chunk, minlength=self.chunks + 1)
        only = np.zeros(self.chunks + 1, np.int64)
        only[self.member_chunk] = self.member_message
        return np.where(held == 1, only, 0)

    def authors(self) -> list[tuple[str | None, str | None, int]]:
        """(name, id, code) of every author."""
        return [(name, id_, code) for (name, id_), code in self._authors.items()]

    @cached_property
    def author_lemmas(self) -> frozenset[str]:
        """Every lemma of every word of an author's name."""
        return frozenset(
            lemma
            for name, _, _ in self.authors()
            if name
            for token in tokens(name)
            for lemma in lemmas(token)
        )

    @cached_property
    def _length(self) -> NDArray[np.float64]:
        """Of the text of every chunk's messages, at least 1."""
        return np.maximum(np.bincount(self.member_chunk, self._member_length, self.chunks + 1), 1)

    def share(self, messages: Mask) -> NDArray[np.float32]:
        """How much of each chunk's text some messages hold, 0–1."""
        lengths = self._member_length * messages[self.member_message]
        held = np.bincount(self.member_chunk, lengths, self.chunks + 1)
        return (held / self._length).astype(np.float32)

    def mask(self, keep: Filter, unit: Unit) -> Mask:
        """Which messages a filter keeps, or which chunks hold one of them; index 0 is False."""
        messages = self._message_mask(keep)
        if unit == "message":
            return messages
        chunks = np.zeros(self.chunks + 1, np.bool_)
        chunks[self.member_chunk[messages[self.member_message]]] = True
        return chunks

    def _message_mask(self, keep: Filter) -> Mask:
        mask = np.ones(self.messages + 1, np.bool_)
        mask[0] = False
        if keep.chats:
            mask &= _among(self.message_chat, self._chat_codes(keep.chats))
        if keep.authors:
            mask &= _among(self.message_author, self._author_codes(keep.authors))
        mask &= _among(self._kind, self._kind_codes(keep))
        if keep.since is not None or keep.until is not None:
            mask &= self.message_at != NO_TIME
        if keep.since is not None:
            mask &= self.message_at >= keep.since
        if keep.until is not None:
            mask &= self.message_at <= keep.until
        mask[0] = False
        return mask

    def _chat_codes(self, wanted: tuple[str, ...]) -> list[int]:
        codes: list[int] = []
        for name in wanted:
            exact = [int(row[0]) for row in self.chats if row[1] == name]
            codes += exact or [int(row[0]) for row in self.chats if row[2] and normal(row[2]) == normal(name)]
        return codes

    def _author_codes(self, wanted: tuple[str, ...]) -> list[int]:
        codes: list[int] = []
        for name in wanted:
            exact = [code for (_, id_), code in self._authors.items() if id_ == name]
            codes += exact or [
                code
                for (author, _), code in self._authors.items()
                if author and normal(author) == normal(name)
            ]
        return codes

    def _kind_codes(self, keep: Filter) -> list[int]:
        return [
            code
            for (role, source, agent), code in self._kinds.items()
            if (role in keep.roles if keep.roles else role not in QUIET_ROLES)
            and (agent or "main") in (keep.agents or ("main",))
            and (not keep.sources or source in keep.sources)
        ]


def _column(values: Iterable[int], count: int, kind: type[np.signedinteger]) -> NDArray[np.signedinteger]:
    return np.concatenate((np.zeros(1, kind), np.fromiter(values, kind, count)))


def _linked(talk: NDArray[np.signedinteger], kind: NDArray[np.signedinteger]) -> tuple[Ids, Ids]:
    """For every row the nearest one before and after it of its kind, inside one stretch of its talk.

    Args:
        talk: its number, by row; index 0 unused.
        kind: by row; rows of another kind are passed over.

    Returns:
        Rows by row, 0 where there is none.
    """
    stretch = np.cumsum(np.append(True, talk[1:] != talk[:-1]))
    order = 1 + np.lexsort((kind[1:], stretch[1:]))
    one, two = order[:-1], order[1:]
    linked = (stretch[one] == stretch[two]) & (kind[one] == kind[two])
    before, after = np.zeros(len(talk), np.int64), np.zeros(len(talk), np.int64)
    before[two[linked]] = one[linked]
    after[one[linked]] = two[linked]
    return before, after


def _among(column: NDArray[np.signedinteger], codes: list[int]) -> Mask:
    return np.isin(column, np.array(codes, dtype=column.dtype))

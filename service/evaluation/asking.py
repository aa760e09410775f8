"""One index, asked: its generation, the vectors of the queries, and the gold as rows of its store."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, tzinfo
from functools import cached_property, lru_cache, partial

import numpy as np

from indexer.stores import Ids, Unit
from indexer.stores.generation import Generation
from schemas.http import Mode, SearchRequest
from service.evaluation.judged import JudgedQuery, JudgedSet
from service.evaluation.remembering import remembering
from service.evaluation.results import Reader
from service.evidence import Asked, QueryVector, asked_of
from service.query import filter_of
from service.ranking import WEIGHTS, Weights
from service.repair import repaired

# Results that a system is asked for: more than the largest budget of characters holds.
DEPTH: Mapping[Unit, int] = {"chunk": 50, "message": 100}

_BATCH = 5_000


@dataclass(frozen=True, slots=True)
class Question:
    """A judged query with what it takes to ask it.

    Attributes:
        judged: as written.
        gold: length of each gold message by its row; empty where nothing answers it.
        vectors: in the spaces that take part, better ones first.
        pooled: whether every chat is searched.
    """

    judged: JudgedQuery
    gold: Mapping[int, int]
    vectors: Sequence[QueryVector]
    pooled: bool = False

    @property
    def chats(self) -> list[str]:
        """The filter."""
        if self.judged.among:
            return list(self.judged.among)
        return [self.judged.chat] if self.judged.chat is not None and not self.pooled else []


class Subject:
    """A generation that is measured.

    Args:
        generation: open.
        zone: for days that a query names.
        now: that it is asked at; None is the time of the newest message.
    """

    def __init__(self, generation: Generation, zone: tzinfo, now: datetime | None = None) -> None:
        self._store = generation.store
        self._now = now
        self.generation = replace(generation, store=remembering(generation.store))
        self.zone = zone
        self.reader = Reader(self.generation.store)
        # A query is read once, however many systems are asked.
        self.repaired = lru_cache(maxsize=None)(partial(repaired, store=self.generation.store))

    @cached_property
    def now(self) -> datetime:
        """Not the clock's, so that "last week" means the same on every day of measuring."""
        if self._now is not None:
            return self._now
        newest = int(self.generation.store.times()[1].max(initial=0)) or self.generation.manifest.built_at
        return datetime.fromtimestamp(newest / 1000, UTC)

    def session(self, message: int) -> int:
        """The number of a message's session."""
        return int(self._sessions[message])

    def request(self, question: Question, unit: Unit, mode: Mode = "hybrid") -> SearchRequest:
        """The search of a question."""
        return SearchRequest(
            q=question.judged.text, mode=mode, unit=unit, limit=DEPTH[unit], chat=question.chats
        )

    def asked(
        self, question: Question, unit: Unit, mode: Mode = "hybrid", weights: Weights = WEIGHTS
    ) -> Asked:
        """The same, understood, for the parts of the ranking."""
        request = self.request(question, unit, mode)
        vectors = question.vectors if mode in ("hybrid", "vector") else ()
        keep = filter_of(request, self.zone, self.now)
        repair = self.repaired(request.q)
        return asked_of(request, keep, vectors, self.zone, self.now, weights, repair)

    def gold(self, judged: JudgedSet) -> list[dict[int, int]]:
        """The gold messages of each query, by row, with their lengths; unknown ids are left out."""
        return [{row: self.reader.length(row) for row in self._rows_of(query)} for query in judged.queries]

    def _rows_of(self, query: JudgedQuery) -> Sequence[int]:
        if query.chat is None:
            return [row for id_ in query.relevant for row in self._by_id.get(id_, ())]
        return self.generation.store.message_rows([(query.chat, id_) for id_ in query.relevant])

    @cached_property
    def _by_id(self) -> dict[str, list[int]]:
        """Rows by message id, for queries that name no chat."""
        store = self._store  # a store that remembers would keep every text of the archive
        found: dict[str, list[int]] = {}
        for start in range(1, store.size("message") + 1, _BATCH):
            rows = range(start, min(start + _BATCH, store.size("message") + 1))
            for row, message in store.messages(rows).items():
                found.setdefault(message.message_id, []).append(row)
        return found

    @cached_property
    def _sessions(self) -> Ids:
        """By message; chunks that follow each other are of one session."""
        store = self.generation.store
        before, _ = store.neighbours("chunk")
        first = np.arange(len(before))
        for chunk in np.flatnonzero(before):  # in the order of the talk: the one before is settled
            first[chunk] = first[before[chunk]]
        sessions = np.zeros(store.size("message") + 1, np.int64)
        chunks, messages = store.membership()
        sessions[messages] = first[chunks]
        return sessions

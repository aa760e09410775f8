"""A store that answers once: twenty rankings of one query ask it the same things."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from indexer.stores import RAW_WEIGHT, Ids, Scores, Store, StoredChunk, StoredMessage, Term, TextScores, Unit
from schemas.records import Filter

# A query asks its words in two units and three weights, its neighbouring words pair by pair, and its cosines
# space by space.
_TEXTS, _NEAR, _COSINES = 12, 8, 4


class Remembering:
    """The same answers as the store's, from memory where they were asked before.

    Args:
        store: of an immutable generation.
    """

    def __init__(self, store: Store) -> None:
        self._store = store
        self._chunks: dict[int, StoredChunk] = {}
        self._messages: dict[int, StoredMessage] = {}
        self._text = lru_cache(_TEXTS)(store.text)
        self._cosines = lru_cache(_COSINES)(self._asked_cosines)
        self.near = lru_cache(_NEAR)(store.near)

    def __getattr__(self, name: str) -> Any:
        # All else is in memory already.
        return getattr(self._store, name)

    def text(
        self, terms: Sequence[Term], keep: Filter, unit: Unit, raw_weight: float = RAW_WEIGHT
    ) -> TextScores:
        """See `Store.text`."""
        return self._text(tuple(terms), keep, unit, raw_weight)

    def cosines(self, space: int, vector: NDArray[np.float32], keep: Filter) -> tuple[Ids, Scores]:
        """See `Store.cosines`."""
        return self._cosines(space, vector.tobytes(), keep)

    def _asked_cosines(self, space: int, vector: bytes, keep: Filter) -> tuple[Ids, Scores]:
        return self._store.cosines(space, np.frombuffer(vector, np.float32), keep)

    def chunks(self, ids: Sequence[int]) -> Mapping[int, StoredChunk]:
        """See `Store.chunks`."""
        missing = [id_ for id_ in ids if id_ not in self._chunks]
        if missing:
            self._chunks |= self._store.chunks(missing)
        return {id_: self._chunks[id_] for id_ in ids}

    def messages(self, ids: Sequence[int]) -> Mapping[int, StoredMessage]:
        """See `Store.messages`."""
        missing = [id_ for id_ in ids if id_ not in self._messages]
        if missing:
            self._messages |= self._store.messages(missing)
        return {id_: self._messages[id_] for id_ in ids}


def remembering(store: Store) -> Store:
    """The store, remembered."""
    return cast(Store, Remembering(store))

"""What a query names, as evidence: entities, authors, times."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from indexer.stores import NO_TIME, Mask, Unit
from indexer.stores.generation import Generation
from indexer.stores.graph import StoredEntity
from indexer.text.lemmas import lemmas
from indexer.text.normal import tokens
from schemas.http import Mode
from schemas.records import Filter
from service.dates import Window
from service.ranking import Array

# Names of a filter that may be misspelt; the body of a request holds thousands.
_FORGIVEN_NAMES = 8


def entity_scores(
    generation: Generation, entities: Sequence[StoredEntity], size: int
) -> tuple[Array, dict[int, list[int]]]:
    """How much of what a query names stands in each chunk, weighted by rarity, 0–1.

    Args:
        generation: open.
        entities: that the query names.
        size: length of the result.

    Returns:
        Scores by chunk, and by chunk the numbers of the `entities` that stand there themselves.
    """
    scores, possible = np.zeros(size, np.float32), 0.0
    named: dict[int, list[int]] = {}
    for number, entity in enumerate(entities):
        rarity = _rarity(entity, size)
        possible += rarity
        rows = generation.graph.chunk_rows(entity.id)
        scores[rows] += np.float32(rarity)
        for row in rows:
            named.setdefault(row, []).append(number)
    return (scores / np.float32(possible) if possible > 0 else scores), named


def entities_of(generation: Generation, query: str, mode: Mode) -> list[StoredEntity]:
    """The entities that a query names, as far as the mode asks for names; beside other legs without authors.

    Whom the query names as a speaker is the author leg's evidence; the talk of two people names both of them
    everywhere, and counting that cost LoCoMo .010 of recall@5 (chunks) and .014 (messages).
    """
    if mode not in ("hybrid", "entities"):
        return []
    entities = generation.graph.named_in(query, generation.store.knows)
    if mode == "entities" or not entities:
        return entities
    words = generation.store.author_lemmas()
    return [
        entity for entity in entities if all(words.isdisjoint(lemmas(token)) for token in tokens(entity.name))
    ]


def _rarity(entity: StoredEntity, size: int) -> float:
    """From 1 for a name in one chunk down to almost 0 for one in every chunk."""
    return max(0.05, math.log((size + 1) / (entity.chunks + 1)) / math.log(size + 1)) if size > 1 else 1.0


def entity_mask(generation: Generation, keep: Filter, unit: Unit) -> Mask:
    """Which chunks or messages mention one of the filter's entities; all of them without such a filter."""
    mask = np.full(generation.store.size(unit) + 1, not keep.entities)
    graph = generation.graph
    for entity in (
        found
        for place, name in enumerate(keep.entities)
        for found in graph.by_name(name, forgiving=place < _FORGIVEN_NAMES)
    ):
        if unit == "chunk":
            mask[generation.graph.chunk_rows(entity.id)] = True
        else:
            mask[generation.store.message_rows(generation.graph.message_ids(entity.id))] = True
    return mask


def newest(generation: Generation) -> int | None:
    """The time of the newest chunk, UTC ms; None where no time is known."""
    latest = int(generation.store.times()[1].max(initial=0))
    return latest if latest > 0 else None


def inside(generation: Generation, dated: Sequence[Window]) -> Mask:
    """Which chunks fall into one of some windows of time."""
    first, last = generation.store.times()
    found = np.zeros(len(first), np.bool_)
    for begin, end in dated:
        found |= (last >= begin) & (first < end) & (first > NO_TIME)
    found[0] = False
    return found


def spoken_by_named(generation: Generation, query: str) -> Mask | None:
    """Which messages are of an author whom the query names; None where it names none."""
    store = generation.store
    asked = {lemma for token in tokens(query) for lemma in lemmas(token)}
    if asked.isdisjoint(store.author_lemmas()):
        return None
    codes = [
        code
        for name, _, code in store.authors()
        if name and any(len(token) > 2 and not asked.isdisjoint(lemmas(token)) for token in tokens(name))
    ]
    if not codes:
        return None
    spoke = np.isin(store.message_authors(), codes)
    spoke[0] = False
    return spoke

"""The legs of one search: what vectors, words and names say of every chunk or message."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime, tzinfo

import numpy as np
from numpy.typing import NDArray

from indexer.stores import Mask, SpaceInfo, Term, Unit
from indexer.stores.generation import Generation
from indexer.stores.graph import StoredEntity
from indexer.text.lemmas import lemmas
from indexer.text.normal import tokens
from schemas.http import SearchRequest
from schemas.records import AGENTS, ROLES, Filter
from service import ranking
from service.dates import windows
from service.query import terms_of
from service.ranking import WEIGHTS, Array, Evidence, Ids, SpaceScores, Weights

_RELATED_NAMES = 5

# Names of a filter that may be misspelt; the body of a request holds thousands.
_FORGIVEN_NAMES = 8


@dataclass(frozen=True, slots=True)
class QueryVector:
    """The query in one space of the generation."""

    info: SpaceInfo
    vector: NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Asked:
    """One search, understood.

    Attributes:
        request: as asked.
        keep: the filter.
        terms: of the lexical leg.
        vectors: of the spaces that take part, better ones first.
        zone: for days that the query names.
        now: for days relative to it.
        weights: of the parts of the ranking.
    """

    request: SearchRequest
    keep: Filter
    terms: Sequence[Term]
    vectors: Sequence[QueryVector]
    zone: tzinfo
    now: datetime
    weights: Weights = WEIGHTS


@dataclass(slots=True)
class Findings:
    """Evidence by chunk (and by message where they are asked for), and what explains it.

    Attributes:
        chunks: evidence by chunk.
        messages: evidence by message, for `unit=message`.
        giver: for each message the chunk that speaks for it.
        bm25: by row of the asked unit.
        cosines: by chunk; NaN where no vector took part.
        space: by chunk: index into the asked vectors, −1 for none.
        entities: that the query names.
        named: by chunk: numbers of `entities` mentioned there.
        can_hit: rows that may be returned at all.
    """

    chunks: Evidence
    messages: Evidence | None
    giver: Ids | None
    bm25: Array
    cosines: Array
    space: NDArray[np.int8]
    entities: list[StoredEntity]
    named: dict[int, list[int]] = field(default_factory=dict)
    can_hit: Mask = field(default_factory=lambda: np.zeros(0, np.bool_))

    @property
    def rows(self) -> Evidence:
        """The evidence of the asked unit."""
        return self.messages if self.messages is not None else self.chunks


def gather(generation: Generation, asked: Asked) -> Findings:
    """Ask every leg that the mode wants and weigh what they say."""
    store, mode, weigh = generation.store, asked.request.mode, asked.weights
    size = store.size("chunk") + 1
    mask = store.mask(asked.keep, "chunk") & _entity_mask(generation, asked.keep, "chunk")
    entities = (
        generation.graph.named_in(asked.request.q, store.knows) if mode in ("hybrid", "entities") else []
    )
    if mode == "hybrid":
        entities = _without_authors(generation, entities)
    names, named = _entity_scores(generation, entities, size, weigh.related)
    scores, bm25 = np.zeros(size, np.float32), np.zeros(size, np.float32)
    if mode in ("hybrid", "text"):
        found = store.text(asked.terms, asked.keep, "chunk", weigh.raw)
        bm25[found.ids] = found.bm25
        kept = mask[found.ids]
        scores = ranking.lexical(
            found.ids[kept], found.bm25[kept], found.upper_bound, size, weigh.upper_bound
        )
    vectors, weights, cosines, space = _vector_scores(generation, asked, mask, size)
    if mode == "vector":
        weights = np.ones(size, np.float32)
    elif mode == "hybrid" and not asked.terms:
        weights = np.where(space >= 0, np.float32(1), np.float32(0))
    text = scores * (1 - weights)
    dense = vectors * weights
    chunks = Evidence(maximum=1.0)
    if mode == "entities":
        chunks.legs["entities"] = names * mask
    else:
        chunks.legs["text"] = text
        chunks.legs["vector"] = dense
        near = ranking.smoothed(text + dense, *store.neighbours("chunk"), weigh.smoothing)
        chunks.legs["neighbours"] = near * mask
        chunks.maximum += weigh.smoothing
        if entities:
            chunks.legs["entities"] = np.float32(weigh.entity) * names * mask
            chunks.maximum += weigh.entity
        first, last = store.times()
        dated = windows(asked.request.q, asked.zone, asked.now, _newest(last))
        if dated:
            inside = _dated(first, last, dated) & mask
            chunks.legs["date"] = np.float32(weigh.date) * inside
            chunks.maximum += weigh.date
    findings = Findings(chunks, None, None, bm25, cosines, space, entities, named)
    base = chunks.legs["entities"] if mode == "entities" else text + dense
    if mode == "hybrid" and entities:
        base = base + chunks.legs["entities"]
    findings.can_hit = mask & (base > 0)
    if asked.request.unit == "message":
        _by_message(generation, asked, findings)
    return findings


def _vector_scores(
    generation: Generation, asked: Asked, mask: Mask, size: int
) -> tuple[Array, Array, Array, NDArray[np.int8]]:
    cosines = np.full(size, np.nan, np.float32)
    searched: list[SpaceScores] = []
    for query in asked.vectors:
        everything = Filter(roles=ROLES, agents=AGENTS)
        ids, every = generation.store.cosines(query.info.id, query.vector, everything)
        kept = mask[ids]
        floor = query.info.space.provider in ("local", "hash")
        searched.append(SpaceScores(ids[kept], every[kept], every, query.info.weight, floor))
    scores, weights, space = ranking.dense(searched, size, asked.weights.floor)
    for at, own in enumerate(searched):
        used = space[own.ids] == at
        cosines[own.ids[used]] = own.cosines[used]
    return scores, weights, cosines, space


def _by_message(generation: Generation, asked: Asked, findings: Findings) -> None:
    store, mode, weigh = generation.store, asked.request.mode, asked.weights
    size = store.size("message") + 1
    mask = store.mask(asked.keep, "message") & _entity_mask(generation, asked.keep, "message")
    held_by, held = store.membership()
    chunk_total = np.sum(list(findings.chunks.legs.values()), axis=0, dtype=np.float32)
    best, giver = ranking.by_message(
        np.where(findings.can_hit, chunk_total, np.float32(0)), held_by, held, size
    )
    evidence = Evidence(
        legs={name: leg[giver] * (giver > 0) for name, leg in findings.chunks.legs.items()},
        maximum=findings.chunks.maximum,
    )
    bm25 = np.zeros(size, np.float32)
    can_hit = mask & (best > 0)
    if mode in ("hybrid", "text"):
        found = store.text(asked.terms, asked.keep, "message", weigh.raw)
        bm25[found.ids] = found.bm25
        own = ranking.lexical(found.ids, found.bm25, found.upper_bound, size, weigh.upper_bound)
        evidence.legs["message_text"] = np.float32(weigh.message_text) * own * mask
        evidence.maximum += weigh.message_text
        # A word search returns the messages that hold the words, not their neighbours in the window.
        can_hit = mask & (own > 0) if mode == "text" else can_hit | (mask & (own > 0))
    authors = _named_authors(generation, asked.request.q) if mode == "hybrid" else []
    if authors:
        spoke = np.isin(store.message_authors(), authors)
        spoke[0] = False
        evidence.legs["author"] = np.float32(weigh.author) * spoke
        evidence.maximum += weigh.author
    findings.messages, findings.giver, findings.bm25, findings.can_hit = evidence, giver, bm25, can_hit


# --- entities ---------------------------------------------------------------------------------------------


def _entity_scores(
    generation: Generation, entities: Sequence[StoredEntity], size: int, share: float
) -> tuple[Array, dict[int, list[int]]]:
    scores, possible = np.zeros(size, np.float32), 0.0
    named: dict[int, list[int]] = {}
    for number, entity in enumerate(entities):
        rarity = _rarity(entity, size)
        possible += rarity
        own = np.zeros(size, np.float32)
        for other, npmi in generation.graph.neighbours(entity.id, _RELATED_NAMES):
            related = np.float32(share * npmi * _rarity(other, size))
            rows = generation.graph.chunk_rows(other.id)
            own[rows] = np.maximum(own[rows], related)
        rows = generation.graph.chunk_rows(entity.id)
        own[rows] = 1.0
        scores += np.float32(rarity) * own
        for row in rows:
            named.setdefault(row, []).append(number)
    return (scores / np.float32(possible) if possible > 0 else scores), named


def _without_authors(generation: Generation, entities: Sequence[StoredEntity]) -> list[StoredEntity]:
    """The entities that are no author of the archive.

    Whom the query names as a speaker is the author leg's evidence; the talk of two people names both of them
    everywhere, and counting that cost LoCoMo .010 of recall@5 (chunks) and .014 (messages).
    """
    if not entities:
        return []
    words = generation.store.author_lemmas()
    return [
        entity for entity in entities if all(words.isdisjoint(lemmas(token)) for token in tokens(entity.name))
    ]


def _rarity(entity: StoredEntity, size: int) -> float:
    """From 1 for a name in one chunk down to almost 0 for one in every chunk."""
    return max(0.05, math.log((size + 1) / (entity.chunks + 1)) / math.log(size + 1)) if size > 1 else 1.0


def _entity_mask(generation: Generation, keep: Filter, unit: Unit) -> Mask:
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


# --- dates and authors ------------------------------------------------------------------------------------


def _newest(last: NDArray[np.int64]) -> int | None:
    newest = int(last.max(initial=0))
    return newest if newest > 0 else None


def _dated(first: NDArray[np.int64], last: NDArray[np.int64], dated: Sequence[tuple[int, int]]) -> Mask:
    inside = np.zeros(len(first), np.bool_)
    for begin, end in dated:
        inside |= (last >= begin) & (first < end) & (first > np.iinfo(np.int64).min)
    inside[0] = False
    return inside


def _named_authors(generation: Generation, query: str) -> list[int]:
    asked = {lemma for token in tokens(query) for lemma in lemmas(token)}
    if asked.isdisjoint(generation.store.author_lemmas()):
        return []
    return [
        code
        for name, _, code in generation.store.authors()
        if name and any(len(token) > 2 and not asked.isdisjoint(lemmas(token)) for token in tokens(name))
    ]


def asked_of(
    request: SearchRequest,
    keep: Filter,
    vectors: Sequence[QueryVector],
    zone: tzinfo,
    now: datetime,
    weights: Weights = WEIGHTS,
) -> Asked:
    """Bundle a request with what was made of it."""
    return Asked(request, keep, terms_of(request.q), vectors, zone, now, weights)

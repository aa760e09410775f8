"""The legs of one search: what vectors, words and names say of every chunk or message."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime, tzinfo
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from indexer.stores import NO_TIME, Mask, SpaceInfo, Term, TextScores
from indexer.stores.generation import Generation
from indexer.stores.graph import StoredEntity
from schemas.http import SearchRequest
from schemas.records import AGENTS, ROLES, Filter
from service import ranking, recency
from service.addressee import speaker
from service.dates import windows
from service.named import entities_of, entity_mask, entity_scores, inside, newest, spoken_by_named
from service.query import terms_of
from service.question import asks
from service.ranking import WEIGHTS, Array, Evidence, Ids, SpaceScores, Weights
from service.repair import Repair

# Pairs of words that are looked for; a question has a handful.
_PAIRS = 8


# The two sides of a talk with an assistant.
_ASSISTANT = Filter(roles=("assistant",), agents=AGENTS)
_PEOPLE = Filter(roles=tuple(role for role in ROLES if role != "assistant"), agents=AGENTS)


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
        repair: of the query's unknown words; None where they are left as they are.
    """

    request: SearchRequest
    keep: Filter
    terms: Sequence[Term]
    vectors: Sequence[QueryVector]
    zone: tzinfo
    now: datetime
    weights: Weights = WEIGHTS
    repair: Repair | None = None

    @property
    def text(self) -> str:
        """The query as it is understood."""
        return self.request.q if self.repair is None else self.repair.text


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
        spaces: parallel to the asked vectors: the chunks that a space covers, and its cosines.
        words: BM25 of the searched chunks; None where the mode asks no words.
        searched: how many chunks the filter keeps.
        spoke: messages of an author whom the query names; None where it names none or other legs are off.
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
    spaces: list[tuple[Ids, SpaceScores]] = field(default_factory=list)
    words: TextScores | None = None
    searched: int = 0
    spoke: Mask | None = None

    @property
    def rows(self) -> Evidence:
        """The evidence of the asked unit."""
        return self.messages if self.messages is not None else self.chunks


def gather(generation: Generation, asked: Asked) -> Findings:
    """Ask every leg that the mode wants and weigh what they say."""
    store, mode, weigh = generation.store, asked.request.mode, asked.weights
    size = store.size("chunk") + 1
    mask = store.mask(asked.keep, "chunk") & entity_mask(generation, asked.keep, "chunk")
    entities = entities_of(generation, asked.text, mode)
    names, named = entity_scores(generation, entities, size)
    words, bm25, scores = _word_scores(generation, asked, mask, size)
    vectors, weights, cosines, space, spaces = _vector_scores(generation, asked, mask, size)
    if mode == "vector":
        weights = np.ones(size, np.float32)
    elif mode == "hybrid" and not asked.terms:
        weights = np.where(space >= 0, np.float32(1), np.float32(0))
    text, dense = scores * (1 - weights), vectors * weights
    chunks = Evidence(maximum=1.0)
    if mode == "entities":
        chunks.legs["entities"] = names * mask
    else:
        chunks.legs |= {"text": text, "vector": dense}
        near = ranking.smoothed(text + dense, *store.neighbours("chunk"), weigh.smoothing)
        chunks.add("neighbours", near * mask, weigh.smoothing)
        if entities:
            chunks.add("entities", np.float32(weigh.entity) * names * mask, weigh.entity)
        if words is not None and asked.request.unit == "chunk":
            _phrases(generation, asked, chunks, mask)
        dated = windows(asked.text, asked.zone, asked.now, newest(generation))
        if dated:
            chunks.add("date", np.float32(weigh.date) * (inside(generation, dated) & mask), weigh.date)
    findings = Findings(
        *(chunks, None, None, bm25, cosines, space, entities, named),
        spaces=spaces,
        words=words,
        searched=int(mask.sum()),
        spoke=spoken_by_named(generation, asked.text) if mode == "hybrid" else None,
    )
    base = chunks.legs["entities"] if mode == "entities" else text + dense
    if mode == "hybrid" and entities:
        base = base + chunks.legs["entities"]
    findings.can_hit = mask & (base > 0)
    if asked.request.unit == "message":
        _by_message(generation, asked, findings)
    elif mode == "hybrid":
        _who_spoke(generation, asked, findings)
    if mode == "hybrid":
        _recent(generation, asked, findings)
    return findings


def _word_scores(
    generation: Generation, asked: Asked, mask: Mask, size: int
) -> tuple[TextScores | None, Array, Array]:
    """What the words say of the searched chunks (None: not asked), BM25 by chunk, and L by chunk."""
    bm25, weigh = np.zeros(size, np.float32), asked.weights
    if asked.request.mode not in ("hybrid", "text"):
        return None, bm25, np.zeros(size, np.float32)
    found = generation.store.text(asked.terms, asked.keep, "chunk", weigh.raw)
    bm25[found.ids] = found.bm25
    kept = mask[found.ids]
    words = TextScores(found.ids[kept], found.bm25[kept], found.upper_bound)
    return words, bm25, ranking.lexical(words.ids, words.bm25, words.upper_bound, size, weigh.upper_bound)


def _phrases(generation: Generation, asked: Asked, evidence: Evidence, mask: Mask) -> None:
    """Neighbouring words of the query that stand near each other."""
    pairs = list(pairwise(asked.terms))
    if pairs:
        rows = [generation.store.near(*pair) for pair in pairs[:_PAIRS]]
        found = ranking.together(rows, len(pairs), len(mask)) * mask
        evidence.add("phrase", np.float32(asked.weights.phrase) * found, asked.weights.phrase)


def _vector_scores(
    generation: Generation, asked: Asked, mask: Mask, size: int
) -> tuple[Array, Array, Array, NDArray[np.int8], list[tuple[Ids, SpaceScores]]]:
    cosines = np.full(size, np.nan, np.float32)
    searched: list[SpaceScores] = []
    covered: list[Ids] = []
    for query in asked.vectors:
        everything = Filter(roles=ROLES, agents=AGENTS)
        ids, every = generation.store.cosines(query.info.id, query.vector, everything)
        kept = mask[ids]
        floor = query.info.space.provider in ("local", "hash")
        covered.append(ids)
        searched.append(SpaceScores(ids[kept], every[kept], every, query.info.weight, floor))
    scores, weights, space = ranking.dense(searched, size, asked.weights.floor)
    for at, own in enumerate(searched):
        used = space[own.ids] == at
        cosines[own.ids[used]] = own.cosines[used]
    return scores, weights, cosines, space, list(zip(covered, searched, strict=True))


def _who_spoke(generation: Generation, asked: Asked, findings: Findings) -> None:
    """Author and speaker legs of chunks, by what their messages' authors hold of the text."""
    weigh, spoke = asked.weights, findings.spoke
    if spoke is not None:
        share = generation.store.share(spoke)
        findings.chunks.add("author", np.float32(weigh.author_share) * share, weigh.author_share)
    wrong = _wrong_side(generation, asked)
    if wrong is not None:
        findings.chunks.discount("speaker", wrong, weigh.speaker)


def _wrong_side(generation: Generation, asked: Asked) -> Mask | None:
    """Rows without a word of the side that the query asks for; None where the filter keeps but one side.

    What people said of themselves is short and said once, an assistant's answers are long and many: at equal
    evidence they would fill the list.
    """
    store, unit = generation.store, asked.request.unit
    kept = store.mask(asked.keep, "message")
    if not all((kept & store.mask(side, "message")).any() for side in (_ASSISTANT, _PEOPLE)):
        return None
    return ~store.mask(_ASSISTANT if speaker(asked.text) == "assistant" else _PEOPLE, unit)


def _recent(generation: Generation, asked: Asked, findings: Findings) -> None:
    """The newest or the first of equal evidence, where the query asks for it and names no time of its own."""
    direction = recency.wanted(asked.text)
    if direction is None or "date" in findings.chunks.legs:
        return
    first, last = generation.store.times()
    times = last if direction == "newest" else first
    if findings.giver is not None:  # row 0 has the time 0, which is not "unknown"
        times = np.where(findings.giver > 0, times[findings.giver], NO_TIME)
    evidence, weight = findings.rows, asked.weights.recency
    newer = recency.contribution(evidence.summed(), times, findings.can_hit, direction)
    evidence.add("recency", np.float32(weight) * newer, weight)


def _by_message(generation: Generation, asked: Asked, findings: Findings) -> None:
    store, mode, weigh = generation.store, asked.request.mode, asked.weights
    size = store.size("message") + 1
    mask = store.mask(asked.keep, "message") & entity_mask(generation, asked.keep, "message")
    held_by, held = store.membership()
    best, giver = ranking.by_message(
        np.where(findings.can_hit, findings.chunks.summed(), np.float32(0)), held_by, held, size
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
        evidence.add("message_text", np.float32(weigh.message_text) * own * mask, weigh.message_text)
        if mode == "hybrid":
            answers = ranking.answering(own, store.neighbours("message")[0], store.asking())
            evidence.add("answer", np.float32(weigh.answer) * answers * can_hit, weigh.answer)
        # A word search returns the messages that hold the words, not their neighbours in the window.
        can_hit = mask & (own > 0) if mode == "text" else can_hit | (mask & (own > 0))
    if mode == "hybrid":
        _who_said(generation, asked, evidence, findings.spoke)
    findings.messages, findings.giver, findings.bm25, findings.can_hit = evidence, giver, bm25, can_hit


def _who_said(generation: Generation, asked: Asked, messages: Evidence, spoke: Mask | None) -> None:
    """Author, question and speaker legs of messages."""
    weigh = asked.weights
    if spoke is not None:
        messages.add("author", np.float32(weigh.author) * spoke, weigh.author)
    if asks(asked.text):
        messages.discount("question", generation.store.asking(), weigh.question)
    wrong = _wrong_side(generation, asked)
    if wrong is not None:
        messages.discount("speaker", wrong, weigh.speaker)


def asked_of(
    request: SearchRequest,
    keep: Filter,
    vectors: Sequence[QueryVector],
    zone: tzinfo,
    now: datetime,
    weights: Weights = WEIGHTS,
    repair: Repair | None = None,
) -> Asked:
    """Bundle a request with what was made of it."""
    terms = terms_of(request.q) if repair is None else terms_of(repair.text, repair.also)
    return Asked(request, keep, terms, vectors, zone, now, weights, repair)

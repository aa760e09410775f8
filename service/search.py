"""The search: one plain function that HTTP, the command line and every other outside only render."""

from __future__ import annotations

import time
from collections.abc import Sequence
from datetime import datetime, tzinfo

from indexer.stores.generation import Generation
from schemas.http import Answer, IndexInfo, SearchRequest
from service.evidence import QueryVector, asked_of, gather
from service.paging import page
from service.query import filter_of, shown_time
from service.ranking import WEIGHTS, Weights
from service.repair import Repair, repaired
from service.sureness import Sureness, sureness


def search(
    generation: Generation,
    request: SearchRequest,
    vectors: Sequence[QueryVector],
    zone: tzinfo,
    now: datetime,
    degraded: Sequence[str] = (),
    stale: Sequence[str] = (),
    weights: Weights = WEIGHTS,
    repair: Repair | None = None,
) -> Answer:
    """Answer one request from one generation.

    Args:
        generation: open; nothing else is asked.
        request: validated.
        vectors: the query in the spaces that take part, better ones first.
        zone: for dates without one.
        now: for relative dates.
        degraded: what could not take part, told in the answer.
        stale: sources that have grown since, told in the answer.
        weights: of the parts of the ranking; an ablation passes its own.
        repair: of the query, where it was needed before; else it is made here.

    Raises:
        RequestError: a filter that is not understood.
    """
    started = time.perf_counter()
    repair = repaired(request.q, generation.store) if repair is None else repair
    asked = asked_of(request, filter_of(request, zone, now), vectors, zone, now, weights, repair)
    hits, sure = [], Sureness()
    if generation.store.size("chunk"):
        findings = gather(generation, asked)
        hits, sure = page(generation, asked, findings), sureness(generation, asked, findings)
    return Answer(
        query=request.model_dump(exclude_defaults=True)
        | {"q": request.q, "mode": request.mode, "limit": request.limit},
        hits=hits,
        answerable=sure.answerable,
        confidence=sure.confidence,
        repaired=dict(repair.changes),
        degraded=list(degraded),
        index=index_info(generation, stale),
        took_ms=round((time.perf_counter() - started) * 1000, 2),
    )


def index_info(generation: Generation, stale: Sequence[str] = ()) -> IndexInfo:
    """Which generation speaks."""
    return IndexInfo(
        generation=generation.name,
        built_at=shown_time(generation.manifest.built_at) or "",
        stale=list(stale),
    )

"""How two names are connected: the ways between them, with the talk that shows each step."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise

from indexer.stores.generation import Generation
from indexer.stores.graph import StoredEdge, StoredEntity
from schemas.http import IndexInfo, PathRef, PathsAnswer, PathStep
from service.names import entity_ref, resolved
from service.query import shown_time
from service.quotation import quotations

# What stands in more than a tenth of the chunks connects everything with everything; in a small archive that
# says nothing.
_HUB_SHARE, _HUB_CHUNKS = 0.1, 10


def paths_answer(generation: Generation, from_: str, to: str, limit: int, index: IndexInfo) -> PathsAnswer:
    """The ways of at most three steps between two names; an empty list where there is none.

    Args:
        generation: whose graph.
        from_: a name in any form, or an entity's id.
        to: another one.
        limit: how many ways at most.
        index: told in the answer.

    Raises:
        RequestError: not_found names the nearest names.
    """
    start, end = resolved(generation, from_, "from"), resolved(generation, to, "to")
    hub = max(_HUB_CHUNKS, _HUB_SHARE * generation.store.size("chunk"))
    connections = generation.graph.connections
    ways = connections.paths(start.id, end.id, limit, hub) if start.id != end.id else []
    entities = generation.graph.entities(sorted({id_ for way in ways for id_ in way}))
    walked = [(way, edges) for way in ways if (edges := connections.steps(way))]
    texts = iter(
        quotations(
            generation,
            [(edge.evidence, (edge.subject, edge.object)) for _, edges in walked for edge in edges],
        )
    )
    return PathsAnswer.model_validate(
        {
            "query": {"from": from_, "to": to, "limit": limit},
            "from": entity_ref(start),
            "to": entity_ref(end),
            "paths": [
                PathRef(
                    steps=[
                        _step(edge, entities, one, other, next(texts))
                        for (one, other), edge in zip(pairwise(way), edges, strict=True)
                    ],
                    weakest=round(min(edge.weight for edge in edges), 4),
                    hub=_has_hub(way, entities, hub),
                )
                for way, edges in walked
            ],
            "index": index,
        }
    )


def _has_hub(way: Sequence[int], entities: Mapping[int, StoredEntity], hub: float) -> bool:
    return any(entities[id_].chunks > hub for id_ in way[1:-1])


def _step(
    edge: StoredEdge, entities: Mapping[int, StoredEntity], one: int, other: int, text: str | None
) -> PathStep:
    return PathStep.model_validate(
        {
            "predicate": edge.predicate,
            # Of these two neither end is the first.
            "reverse": edge.predicate not in ("co_occurs", "together") and edge.subject != one,
            "from": entity_ref(entities[one]),
            "to": entity_ref(entities[other]),
            "count": edge.count,
            "weight": round(edge.weight, 4),
            "npmi": edge.npmi,
            "first_at": shown_time(edge.first_at),
            "last_at": shown_time(edge.last_at),
            "evidence": edge.evidence,
            "text": text,
        }
    )

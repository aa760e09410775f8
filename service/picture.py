"""A picture of what stands around a name: the strongest entities one or two steps away, and their ties."""

from __future__ import annotations

from indexer.stores.connections import Connections
from indexer.stores.generation import Generation
from schemas.http import GraphAnswer, GraphEdge, GraphNode, IndexInfo
from service.names import resolved

# Relations of one entity that may enter a picture at depth 2.
_BRANCHES = 12

# A friend's friend counts half, so that a direct tie of some weight is drawn first.
_FARTHER = 0.5


def graph_answer(
    generation: Generation, entity: str, depth: int, limit: int, index: IndexInfo
) -> GraphAnswer:
    """The strongest nodes around one, and every relation among them.

    Args:
        generation: whose graph.
        entity: a name in any form, or an entity's id.
        depth: 1 or 2 steps.
        limit: nodes at most, the middle included.
        index: told in the answer.

    Raises:
        RequestError: not_found names the nearest names.
    """
    connections = generation.graph.connections
    middle = resolved(generation, entity, "entity")
    depths = _nodes(connections, middle.id, depth, limit)
    entities = generation.graph.entities(list(depths))
    return GraphAnswer(
        query={"entity": entity, "depth": depth, "limit": limit},
        nodes=[
            GraphNode(id=id_, name=node.name, type=node.type, mentions=node.mentions, depth=steps)
            for id_, steps in depths.items()
            if (node := entities.get(id_)) is not None
        ],
        edges=[
            GraphEdge(
                source=edge.subject,
                target=edge.object,
                predicate=edge.predicate,
                weight=round(edge.weight, 4),
                count=edge.count,
                npmi=edge.npmi,
                evidence=edge.evidence,
            )
            for edge in connections.among(list(depths))
            if edge.subject != edge.object
        ],
        index=index,
    )


def _nodes(connections: Connections, middle: int, depth: int, limit: int) -> dict[int, int]:
    """Depth by entity, strongest first; a way's strength is the product of its weights."""
    strength, depths = {middle: 1.0}, {middle: 0}
    for step in range(1, depth + 1):
        edge_of = connections.strongest(
            sorted(strength, key=lambda id_: (-strength[id_], id_))[:limit], limit if step == 1 else _BRANCHES
        )
        known = dict(strength)
        for edge in edge_of:
            for one, other in ((edge.subject, edge.object), (edge.object, edge.subject)):
                if one in known and other not in known:
                    reached = known[one] * edge.weight * (1.0 if step == 1 else _FARTHER)
                    if reached > strength.get(other, 0.0):
                        strength[other], depths[other] = reached, step
    ranked = sorted(depths, key=lambda id_: (-strength[id_], id_))[:limit]
    return {id_: depths[id_] for id_ in ranked}

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from schemas.http import GraphAnswer, IndexInfo
from service.picture import graph_answer
from tests.fakes.graph import Tie, graph_store

INDEX = IndexInfo(generation="000001", built_at="2026-03-18T01:00:00Z")


def drawn(path: Path, ties: list[Tie], depth: int, limit: int) -> GraphAnswer:
    names = sorted({name for one, _, other, *_ in ties for name in (one, other)})
    store = graph_store(path / "graph.db", names, ties)
    generation: Any = SimpleNamespace(name="000001", graph=store)
    try:
        return graph_answer(generation, "Mid", depth, limit, INDEX)
    finally:
        store.close()


TIES: list[Tie] = [
    ("Mid", "co_occurs", "Near", 9, 0.9),
    ("Far", "co_occurs", "Near", 9, 0.9),
    ("Mid", "co_occurs", "Weak", 9, 0.2),
    ("Near", "said_by", "Weak", 9, None),
    ("Far", "co_occurs", "Beyond", 9, 0.9),
]


def test_nodes_stand_by_strength_and_edges_among_them_are_all_there(tmp_path: Path) -> None:
    picture = drawn(tmp_path, TIES, 2, 60)
    assert [(node.name, node.depth) for node in picture.nodes] == [
        *(("Mid", 0), ("Near", 1), ("Far", 2), ("Weak", 1)),
    ]
    names = {node.id: node.name for node in picture.nodes}
    edges = {(names[edge.source], edge.predicate, names[edge.target]) for edge in picture.edges}
    assert edges == {(one, kind, other) for one, kind, other, *_ in TIES if other != "Beyond"}
    weights = [edge.weight for edge in picture.edges]
    assert weights == sorted(weights, reverse=True)


@pytest.mark.parametrize(
    ("depth", "limit", "names"),
    [
        (1, 60, ["Mid", "Near", "Weak"]),
        (1, 2, ["Mid", "Near"]),
        (2, 3, ["Mid", "Near", "Far"]),
        (2, 1, ["Mid"]),
    ],
)
def test_depth_and_limit_bound_it(tmp_path: Path, depth: int, limit: int, names: list[str]) -> None:
    assert [node.name for node in drawn(tmp_path, TIES, depth, limit).nodes] == names

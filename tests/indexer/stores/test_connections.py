from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from indexer.entities.relations import LOOSE as UNRELATED
from indexer.stores.connections import LOOSE
from indexer.stores.graph import GraphStore
from tests.fakes.graph import DAY, Tie, graph_store

Make = Callable[..., GraphStore]


@pytest.fixture
def make(tmp_path: Path) -> Make:
    def made(chunks: list[str], ties: list[Tie] | None = None, **more: dict[str, str]) -> GraphStore:
        return graph_store(tmp_path / "graph.db", chunks, ties or [], **more)  # type: ignore[arg-type]

    return made


def ways(graph: GraphStore, start: str, end: str, most: int = 3, hub: float = 1e9) -> list[str]:
    one, other = (graph.by_name(name)[0].id for name in (start, end))
    found = graph.connections.paths(one, other, most, hub)
    names = {
        id_: entity.name for id_, entity in graph.entities([id_ for way in found for id_ in way]).items()
    }
    return ["-".join(names[id_] for id_ in way) for way in found]


def test_fewest_steps_come_first_then_the_strongest_weakest_one(make: Make) -> None:
    graph = make(
        ["Ada", "Bob", "Cid", "Dan", "Eve"],
        [
            ("Ada", "co_occurs", "Bob", 2, 0.2),
            ("Ada", "co_occurs", "Cid", 9, 0.9),
            ("Bob", "co_occurs", "Cid", 9, 0.3),
            ("Ada", "co_occurs", "Dan", 9, 0.8),
            ("Bob", "co_occurs", "Dan", 9, 0.7),
            ("Ada", "co_occurs", "Eve", 9, 0.9),
        ],
    )
    assert ways(graph, "Ada", "Bob") == ["Ada-Bob", "Ada-Dan-Bob", "Ada-Cid-Bob"]
    assert ways(graph, "Bob", "Ada", most=1) == ["Bob-Ada"]
    assert ways(graph, "Eve", "Bob") == ["Eve-Ada-Bob"]


def test_three_steps_are_the_most_and_no_detour_around_a_shorter_way(make: Make) -> None:
    chain: list[Tie] = [
        ("Ada", "co_occurs", "Bob", 2, 0.5),
        ("Bob", "said_by", "Cid", 2, None),
        ("Cid", "alias_of", "Dan", 2, None),
        ("Dan", "links_to", "Eve", 2, None),
    ]
    graph = make(["Ada", "Bob", "Cid", "Dan", "Eve"], chain)
    assert ways(graph, "Ada", "Dan") == ["Ada-Bob-Cid-Dan"]
    assert ways(graph, "Eve", "Bob") == ["Eve-Dan-Cid-Bob"]
    assert ways(graph, "Ada", "Eve") == []
    assert ways(graph, "Ada", "Cid") == ["Ada-Bob-Cid"]


def test_to_be_named_together_is_a_step_of_any_place(make: Make) -> None:
    graph = make(["Ada,Bob", "Bob,Cid", "Cid,Dan", "Dan,Eve"])
    assert ways(graph, "Ada", "Bob") == ["Ada-Bob"]
    assert ways(graph, "Ada", "Cid") == ["Ada-Bob-Cid"]
    assert ways(graph, "Ada", "Dan") == ["Ada-Bob-Cid-Dan"]
    assert ways(graph, "Ada", "Eve") == []


def test_a_relation_of_the_same_length_beats_being_named_together(make: Make) -> None:
    graph = make(
        ["Ada,Bob", "Bob,Cid", "Ada,Bob", "Bob,Cid", "Dan"],
        [("Ada", "co_occurs", "Dan", 2, 0.11), ("Dan", "co_occurs", "Cid", 2, 0.11)],
    )
    assert ways(graph, "Ada", "Cid") == ["Ada-Dan-Cid", "Ada-Bob-Cid"]


def test_a_day_or_a_sum_connects_nothing(make: Make) -> None:
    graph = make(["Ada,Monday", "Monday,Cid"], types={"Monday": "DATE"})
    assert ways(graph, "Ada", "Cid") == []
    assert ways(graph, "Ada", "Monday") == ["Ada-Monday"]  # asked for, it is an end like any other
    assert set(LOOSE) == UNRELATED


def test_what_stands_everywhere_comes_last(make: Make) -> None:
    chunks = ["Ada,Hub", "Hub,Cid", *["Hub"] * 8, "Ada,Bob", "Bob,Dan", "Dan,Cid"]
    graph = make(chunks)
    assert ways(graph, "Ada", "Cid", hub=5) == ["Ada-Bob-Dan-Cid", "Ada-Hub-Cid"]
    assert ways(graph, "Ada", "Cid", hub=50) == ["Ada-Hub-Cid", "Ada-Bob-Dan-Cid"]


def test_a_step_says_what_it_knows(make: Make) -> None:
    graph = make(["Ada,Bob", "Ada", "Ada,Bob,Cid"], [("Ada", "co_occurs", "Cid", 3, 0.5)])
    ada, bob, cid = (graph.by_name(name)[0].id for name in ("Ada", "Bob", "Cid"))
    (together,) = graph.connections.steps((bob, ada))
    assert (together.predicate, together.subject, together.object) == ("together", bob, ada)
    assert (together.count, together.npmi, together.evidence) == (2, None, "c2")
    assert (together.first_at, together.last_at) == (0, 2 * DAY)
    assert 0 < together.weight < 0.05
    (related,) = graph.connections.steps((cid, ada))
    assert (related.predicate, related.count, related.npmi, related.evidence) == ("co_occurs", 3, 0.5, "c0")
    assert related.weight == pytest.approx(0.375)
    assert graph.connections.together(ada, 977) is None
    assert graph.connections.steps((bob, 977)) == []


def test_a_relation_without_evidence_borrows_that_of_the_talk(make: Make) -> None:
    graph = make(
        ["Ada,Bob", "Cid"], [("Ada", "alias_of", "Bob", 2, None), ("Ada", "alias_of", "Cid", 2, None)]
    )
    ada, bob, cid = (graph.by_name(name)[0].id for name in ("Ada", "Bob", "Cid"))
    borrowed = graph.connections.between(ada, bob)
    assert borrowed is not None
    assert (borrowed.predicate, borrowed.count, borrowed.evidence) == ("alias_of", 2, "c0")
    lone = graph.connections.between(ada, cid)
    assert lone is not None
    assert (lone.predicate, lone.evidence) == ("alias_of", None)


def test_the_strongest_relations_of_a_name_are_bounded_on_each_side(make: Make) -> None:
    ties: list[Tie] = [("Hub", "co_occurs", f"N{at}", 9, at / 100) for at in range(10, 40)]
    graph = make(["Hub", *(f"N{at}" for at in range(10, 40))], ties)
    hub = graph.by_name("Hub")[0].id
    strongest = graph.connections.strongest([hub], 5)
    assert [edge.npmi for edge in strongest] == [0.39, 0.38, 0.37, 0.36, 0.35]
    assert len(graph.connections.among([hub, *(edge.object for edge in strongest)])) == 5
    assert graph.connections.among([]) == []

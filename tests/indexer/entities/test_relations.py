import math
import random
from collections.abc import Sequence

import numpy as np
import pytest

from indexer.entities.cooccurrence import npmi
from indexer.entities.relations import Graph, MessageMentions, Place, Relation, graph_of
from indexer.text.names import name_key
from schemas.records import Mention


def message(
    number: int | str,
    names: Sequence[str],
    chunk: str | list[str] | None = None,
    chat: str = "c1",
    author: str | None = None,
    at: int | None = None,
    title: str | None = None,
) -> MessageMentions:
    """A message whose text is its names, each `Name` or `Name/TYPE`."""
    text, mentions = "", []
    for entry in names:
        name, _, kind = entry.partition("|")
        mentions.append(Mention(len(text), len(text) + len(name), kind or "PER", name, name_key(name)))
        text += name + " "
    chunks = chunk if isinstance(chunk, list) else [chunk or f"k{number}"]
    places = tuple(Place(one, 0, len(text)) for one in chunks)
    return MessageMentions(chat, f"m{number}", text, places, at, tuple(mentions), author, title)


def named(graph: Graph, relation: Relation) -> tuple[str, ...]:
    first = graph.entities[relation.subject - 1].name
    return tuple(sorted((first, relation.object_name)))


def together(graph: Graph) -> dict[tuple[str, ...], Relation]:
    return {named(graph, r): r for r in graph.relations if r.predicate == "co_occurs"}


def test_npmi_agrees_with_a_table_made_by_hand() -> None:
    # 10 messages: a in 4, b in 4, both in 2. pmi = ln(.2 / .16), -ln p = -ln .2
    assert npmi(np.array([2.0]), np.array([4.0]), np.array([4.0]), 10)[0] == pytest.approx(0.13865, abs=1e-5)
    table = npmi(np.array([3.0, 1.0, 5.0]), np.array([3.0, 2.0, 5.0]), np.array([3.0, 5.0, 5.0]), 10)
    assert table.tolist() == pytest.approx([1.0, 0.0, 1.0])  # only together; independent; only together
    assert npmi(np.array([4.0]), np.array([4.0]), np.array([4.0]), 4).tolist() == [1.0]


def test_co_occurrence_in_messages_is_counted_with_times_and_evidence() -> None:
    rows = [message(n, ["Анна", "Казань|LOC"], at=1000 * n) for n in (1, 2, 3)]
    rows += [message(n, ["Борис"], at=1000 * n) for n in range(4, 13)]
    graph = graph_of(rows)
    relation = together(graph)["Анна", "Казань"]
    assert (relation.count, relation.first_at, relation.last_at) == (3, 1000, 3000)
    assert relation.evidence == "k3"
    assert relation.npmi == pytest.approx(1.0)
    assert len(together(graph)) == 1


def test_two_messages_of_one_chunk_count_half_and_once() -> None:
    rows = []
    for n in range(1, 5):
        rows += [message(2 * n, ["Анна", "Анна"], f"k{n}"), message(2 * n + 1, ["Казань|LOC"], f"k{n}")]
    rows += [message(n, ["Борис"]) for n in range(100, 130)]
    relation = together(graph_of(rows))["Анна", "Казань"]
    assert relation.count == 2  # four chunks, half each
    expected = math.log((2 / 38) / (4 / 38) ** 2) / -math.log(2 / 38)
    assert relation.npmi == pytest.approx(expected, abs=1e-4)


def test_overlapping_chunks_do_not_count_twice() -> None:
    rows = [message(n, ["Анна", "Казань|LOC"], [f"k{n}", f"k{n + 1}"]) for n in range(3)]
    rows += [message(n, ["Борис"]) for n in range(100, 110)]
    relation = together(graph_of(rows))["Анна", "Казань"]
    assert relation.count == 3


def test_a_pair_seen_once_and_a_pair_of_chance_are_no_relations() -> None:
    once = [message(1, ["Анна", "Казань|LOC"]), *(message(n, ["Борис"]) for n in range(2, 9))]
    assert together(graph_of(once)) == {}
    everywhere = [message(n, ["Анна", "Тверь|LOC" if n % 2 else "Омск|LOC"]) for n in range(20)]
    assert together(graph_of(everywhere)) == {}


def test_dates_and_sums_relate_to_nothing() -> None:
    rows = [message(n, ["Анна", "2026-01-01|DATE"], at=n) for n in range(5)]
    graph = graph_of([*rows, message(9, ["Борис"])])
    assert together(graph) == {}
    assert {entity.name for entity in graph.entities} == {"Анна", "Борис", "2026-01-01"}


def test_at_most_twenty_of_the_strongest_stay_for_each_entity() -> None:
    rows = []
    for hub in ("Волга|LOC", "Нева|LOC"):
        for n in range(30):
            count = 2 + n
            rows += [message(f"{hub}{n}-{copy}", [hub, f"w{n}|NAME"]) for copy in range(count)]
    # Every w stands with both hubs only, so both count among its strongest; each w has one more friend.
    rows += [message(f"x{n}", ["Борис"]) for n in range(20_000)]
    strong = together(graph_of(rows))
    assert len(strong) == 60  # two partners of each w: nothing is dropped while one end wants it

    crowd = [
        message(f"{a}-{b}-{copy}", [f"q{a}|NAME", f"q{b}|NAME"])
        for a in range(30)
        for b in range(a)
        for copy in (1, 2)
    ]
    crowd += [message(f"y{n}", ["Борис"]) for n in range(20_000)]
    kept = together(graph_of(crowd))
    assert 0 < len(kept) < 30 * 29 / 2
    assert len(kept) <= 30 * 20


def test_type_and_name_are_a_vote() -> None:
    rows = [
        message(1, ["Мирный|LOC"]), message(2, ["Мирный|LOC"]), message(3, ["мирный|PER"]),
        message(4, ["Docker|NAME"]), message(5, ["Docker|NAME"]), message(6, ["docker|ORG"]),
    ]  # fmt: skip
    entities = {entity.key: entity for entity in graph_of(rows).entities}
    assert (entities["мирный"].type, entities["мирный"].name) == ("LOC", "Мирный")
    assert (entities["docker"].type, entities["docker"].name) == ("ORG", "Docker")


def test_a_lone_first_name_joins_the_only_full_name_of_its_talk() -> None:
    rows = [message(1, ["Иван Петров"]), message(2, ["Иван"]), message(3, ["Иван"], chat="c2")]
    graph = graph_of(rows)
    full = next(entity for entity in graph.entities if entity.name == "Иван Петров")
    assert full.mentions == 2
    assert dict(graph.keys)["иван петров"] == full.id
    assert dict(graph.keys)["иван"] != full.id  # another talk's Иван stays himself
    assert (full.id, "Иван", 1) in graph.aliases
    alias = next(relation for relation in graph.relations if relation.predicate == "alias_of")
    assert (graph.entities[alias.subject - 1].name, alias.object) == ("Иван", full.id)


def test_two_full_names_leave_a_lone_one_alone() -> None:
    graph = graph_of([message(1, ["Иван Петров", "Иван Сидоров"]), message(2, ["Иван"])])
    assert {entity.name: entity.mentions for entity in graph.entities} == {
        "Иван": 1,
        "Иван Петров": 1,
        "Иван Сидоров": 1,
    }


def test_the_author_of_a_talk_counts_as_a_full_name() -> None:
    graph = graph_of(
        [message(1, ["Иван"], author="Иван Петров"), message(2, ["Казань|LOC"], author="Иван Петров")]
    )
    assert {entity.key for entity in graph.entities} == {"иван петров", "казань"}
    said = [relation for relation in graph.relations if relation.predicate == "said_by"]
    assert {(relation.subject, relation.object_name) for relation in said if relation.object} == {
        (dict(graph.keys)["казань"], "Иван Петров")
    }


def test_said_by_in_chat_and_links_to_are_exact() -> None:
    rows = [
        message(1, ["Казань|LOC", "https://docs.example.com/a|URL"], author="Оля", title="Рабочий", at=5),
        message(2, ["Казани|LOC", "Казань|LOC"], author="Оля", title="Рабочий", at=7),
        message(3, ["Казань|LOC"], author="Боря", title="Дача"),
    ]
    graph = graph_of(rows)
    kazan = dict(graph.keys)["казань"]
    got = {(r.predicate, r.object_name): r for r in graph.relations if r.subject == kazan}
    assert got["said_by", "Оля"].count == 2
    assert (got["said_by", "Оля"].first_at, got["said_by", "Оля"].last_at) == (5, 7)
    assert got["said_by", "Оля"].evidence == "k2"
    assert got["in_chat", "Дача"].count == 1
    (link,) = [r for r in graph.relations if r.predicate == "links_to"]
    assert link.object_name == "docs.example.com"


def test_a_mention_stands_in_every_chunk_that_holds_it_and_only_there() -> None:
    text = "Анна " + "х" * 95 + " Борис"
    mentions = (Mention(0, 4, "PER", "Анна", "анна"), Mention(101, 106, "PER", "Борис", "борис"))
    places = (Place("k1", 0, 60), Place("k2", 50, 110), Place("k3", 100, 110))
    graph = graph_of([MessageMentions("c", "m", text, places, None, mentions)])
    assert {(graph.entities[m.entity - 1].name, m.chunk_id) for m in graph.mentions} == {
        ("Анна", "k1"), ("Борис", "k2"), ("Борис", "k3"),
    }  # fmt: skip


def test_ids_and_relations_do_not_depend_on_the_order_of_the_talks() -> None:
    draw = random.Random(7)
    talks = [
        [
            message(
                f"{c}-{n}", draw.sample(["Анна", "Борис", "Казань|LOC", "Docker|NAME"], 2), chat=f"c{c}", at=n
            )
            for n in range(6)
        ]
        for c in range(4)
    ]
    forward = graph_of([row for talk in talks for row in talk])
    backward = graph_of([row for talk in reversed(talks) for row in talk])
    assert forward.entities == backward.entities
    assert forward.keys == backward.keys
    edges = [
        {(r.subject, r.predicate, r.object_name, r.count, r.npmi) for r in graph.relations}
        for graph in (forward, backward)
    ]
    assert edges[0] == edges[1]


def test_an_empty_archive_has_an_empty_graph() -> None:
    assert graph_of([]) == Graph((), (), (), (), ())
    assert graph_of([message(1, [])]).relations == ()

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from indexer.stores import generation as generations
from indexer.stores.graph import GraphStore
from tests.fakes.index import published, said

DAY = 86_400
START = 1_772_323_200
TEXTS = (
    "Ставим Docker и Kubernetes на сервер",
    "Docker Compose проще, чем Kubernetes",
    "Docker и Kubernetes снова не дружат",
    "учу C++ по книге",
    "пишите на ops@site.org или @admin",
    "OpenClaw теряет память",
)


@pytest.fixture(scope="module")
def graph(tmp_path_factory: pytest.TempPathFactory) -> Iterator[GraphStore]:
    lines = [
        said(text, f"m{at}", chat=f"c{at}", author="Иван Петров", ts=START + at * DAY)
        for at, text in enumerate(TEXTS)
    ]
    settings = published(tmp_path_factory.mktemp("graph"), lines)
    opened = generations.open_current(settings.data)
    yield opened.graph
    opened.close()


def named(graph: GraphStore, query: str) -> set[str]:
    return {entity.name for entity in graph.named_in(query)}


@pytest.mark.parametrize(
    ("query", "names"),
    [
        ("что в докере?", {"Docker"}),
        ("DOCKER", {"Docker"}),
        ("docker compose", {"Docker Compose"}),  # the longest name wins
        ("docker и кубер", {"Docker", "Kubernetes"}),
        ("k8s", {"Kubernetes"}),
        ("книга про C++", {"C++"}),
        ("OpenClaw-плагин", {"OpenClaw"}),  # a part of a word that is no name as a whole
        ("плагин для OpenClaw'а", {"OpenClaw"}),
        ("кто такой @admin", {"@admin"}),
        ("письмо на ops@site.org вчера", {"ops@site.org"}),
        ("ничего такого", set()),
        ("", set()),
        ("!?", set()),
    ],
)
def test_a_query_names_entities_in_any_form(graph: GraphStore, query: str, names: set[str]) -> None:
    assert named(graph, query) == names


def test_a_pasted_page_is_looked_up_in_part(graph: GraphStore) -> None:
    assert named(graph, "слово " * 60 + "docker") == {"Docker"}
    assert named(graph, "слово-" * 5_000) == set()


@pytest.mark.parametrize("query", ["dock", "Docker", "докером", "doc"])
def test_a_name_is_found_while_it_is_typed(graph: GraphStore, query: str) -> None:
    assert graph.search(query, None, 5)[0].name == "Docker"


def test_the_exact_name_stands_before_longer_ones(graph: GraphStore) -> None:
    assert [entity.name for entity in graph.search("docker", None, 5)] == ["Docker", "Docker Compose"]


def test_what_is_listed_is_limited_and_of_the_asked_type(graph: GraphStore) -> None:
    assert len(graph.search("", None, 2)) == 2
    assert {entity.type for entity in graph.search("", "EMAIL", 10)} == {"EMAIL"}
    mentions = [entity.mentions for entity in graph.search("", None, 50)]
    assert mentions == sorted(mentions, reverse=True)


def test_an_entity_knows_where_when_and_how_often_it_is_named(graph: GraphStore) -> None:
    (docker,) = graph.named_in("docker")
    assert (docker.mentions, docker.chunks) == (2, 2)
    assert (docker.first_at, docker.last_at) == (START * 1000, (START + 2 * DAY) * 1000)
    assert [mention.message_id for mention in graph.newest(docker.id, 5)] == ["m2", "m0"]
    assert sorted(graph.message_ids(docker.id)) == [("c0", "m0"), ("c2", "m2")]
    assert graph.entity(docker.id) == docker
    assert graph.entity(10_000) is None


def test_relations_are_seen_from_both_sides_with_evidence(graph: GraphStore) -> None:
    (docker,) = graph.named_in("docker")
    (kubernetes,) = graph.named_in("kubernetes")
    for one, other in ((docker, kubernetes), (kubernetes, docker)):
        (relation,) = [
            relation
            for relation in graph.relations(one.id, 50)
            if relation.predicate == "co_occurs"
            and relation.other is not None
            and relation.other.id == other.id
        ]
        assert relation.object_name == other.name
        assert relation.count == 2
        assert relation.npmi is not None
        assert -1 <= relation.npmi <= 1
        assert relation.evidence in [mention.chunk_id for mention in graph.newest(docker.id, 5)]


def test_names_of_a_chunk_stand_most_mentioned_first(graph: GraphStore) -> None:
    (docker,) = graph.named_in("docker")
    chunk = graph.newest(docker.id, 5)[-1].chunk_id
    assert graph.names_in([chunk, "c_unknown"])[chunk][:2] == ["Kubernetes", "Docker"]


def test_the_file_holds_no_free_space_of_earlier_builds(tmp_path: Path) -> None:
    settings = published(tmp_path, [said("Docker", "m1")])
    assert (settings.data / "000001" / "entity_graph.db").stat().st_size < 300_000

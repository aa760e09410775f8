from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from indexer.stores.graph import GraphStore
from tests.fakes.graph import graph_store

CHUNKS = (
    *["Docker, Иван Петров"] * 4,
    *["Docker Compose, Kubernetes"] * 3,
    *["PostgreSQL, Мария Кац"] * 2,
    "Иван Сидоров, Казань",
    "Докер Сервис",
    "Seti",
    "Ленинград",
)
FORMS = {
    "Иван Петров": {"Иван Петров": 2, "Ивану": 1, "Ваня": 1},
    "Иван Сидоров": {"Иван Сидоров": 1, "Ваня": 3},
}
TYPES = {"Иван Петров": "PER", "Мария Кац": "PER", "Казань": "LOC"}


@pytest.fixture(scope="module")
def graph(tmp_path_factory: pytest.TempPathFactory) -> Iterator[GraphStore]:
    store = graph_store(tmp_path_factory.mktemp("names") / "graph.db", CHUNKS, forms=FORMS, types=TYPES)
    yield store
    store.close()


def listed(graph: GraphStore, query: str, **more: str) -> list[str]:
    return [entity.name for entity in graph.search(query, more.pop("type_", None), 10, **more)]  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("query", "names"),
    [
        ("docker", ["Docker", "Docker Compose"]),  # the exact name before a longer one
        ("докером", ["Docker", "Docker Compose"]),
        ("compose", ["Docker Compose"]),
        ("kuber", ["Kubernetes"]),
        ("ивану", ["Иван Петров", "Иван Сидоров"]),
        ("ваня", ["Иван Петров", "Иван Сидоров"]),  # one form of two
        ("dcoker", ["Docker", "Docker Compose"]),
        ("doker", ["Docker", "Docker Compose"]),
        ("докре", ["Docker", "Docker Compose"]),
        ("kubirnetis", ["Kubernetes"]),  # two slips in a long word
        ("kabirnetis", []),  # three
        ("петрво", ["Иван Петров"]),
        ("марии кацц", []),  # three letters may be anything
        ("dcoker compsoe", ["Docker Compose"]),
        ("вщслук", ["Docker", "Docker Compose"]),  # docker on Russian keys
        ("лщслук", ["Docker", "Docker Compose"]),  # and with a slip
        ("rfpfym", ["Казань"]),
        ("бармаглот", []),
        ("docker казань", []),  # both stand there, not together
    ],
)
def test_a_name_is_found_exactly_then_in_part_then_by_its_nearest_spelling(
    graph: GraphStore, query: str, names: list[str]
) -> None:
    found = listed(graph, query)
    assert found[: len(names)] == names if names else found == []


def test_a_type_narrows_and_is_no_reason_to_guess(graph: GraphStore) -> None:
    assert listed(graph, "", type_="LOC") == ["Казань"]
    assert listed(graph, "докер", type_="LOC") == []
    assert listed(graph, "казнь", type_="LOC") == ["Казань"]


def test_the_newest_stand_first_where_that_is_asked(graph: GraphStore) -> None:
    assert listed(graph, "", sort="recency")[:2] == ["Ленинград", "Seti"]
    assert listed(graph, "")[:2] == ["Docker", "Иван Петров"]
    assert listed(graph, "ваня", sort="recency") == ["Иван Сидоров", "Иван Петров"]
    assert listed(graph, "иван", sort="recency") == ["Иван Сидоров", "Иван Петров"]


@pytest.mark.parametrize(
    ("name", "names"),
    [
        ("докера", {"Docker"}),
        ("Ивану", {"Иван Петров"}),  # a form that only the texts know
        ("Ваня", {"Иван Петров", "Иван Сидоров"}),
        ("иваном петровым", {"Иван Петров"}),
        ("иван пертов", {"Иван Петров"}),
        ("иваном пертовым", {"Иван Петров"}),
        ("posgresql", {"PostgreSQL"}),
        ("compose", set()),  # a word of a name is no name
        ("docker compose plus", set()),
        ("", set()),
        ("?!", set()),
    ],
)
def test_a_name_means_what_is_called_so_or_else_the_nearest(
    graph: GraphStore, name: str, names: set[str]
) -> None:
    assert {entity.name for entity in graph.by_name(name)} == names


def test_a_correcting_hand_is_not_guessed_for(graph: GraphStore) -> None:
    assert graph.by_name("dcoker", forgiving=False) == []
    assert [entity.name for entity in graph.by_name("Docker", forgiving=False)] == ["Docker"]


@pytest.mark.parametrize(
    ("name", "near"),
    [
        ("compose", ["Docker Compose"]),
        ("dockerr plus", ["Docker", "Docker Compose"]),
        ("kabirnetis", ["Kubernetes"]),
        ("бармаглот", []),
        ("", ["Docker"]),
    ],
)
def test_a_name_that_means_nothing_has_nearest_ones(graph: GraphStore, name: str, near: list[str]) -> None:
    assert [entity.name for entity in graph.names.nearest(name, 3)][: len(near)] == near
    assert near or graph.names.nearest(name, 3) == []


COMMON = {"сервер", "плагин", "декер", "поговорить", "с", "что", "на", "про"}


def named(graph: GraphStore, query: str, known: set[str] = COMMON) -> set[str]:
    return {entity.name for entity in graph.named_in(query, lambda word: word in known)}


@pytest.mark.parametrize(
    ("query", "names"),
    [
        ("что с докерром", {"Docker"}),
        ("что с kuberntes", {"Kubernetes"}),
        ("про ивана пертова", {"Иван Петров"}),
        ("иван петровв и докер", {"Иван Петров", "Docker"}),
        ("docker compsoe на сервер", {"Docker"}),  # the exact name has taken its word
        ("dokcer compose", {"Docker Compose"}),
        ("что с декер", set()),  # stands in the archive: a word, no slip
        ("про докар", {"Docker"}),
        ("про дока", set()),  # too short
        ("казнь на площади", set()),  # a word of the dictionary
        ("kubirnetis", set()),  # two slips are none
        ("kubernetes1 gpt-4o", set()),
        ("spy TV series", set()),  # the stem of series is near Seti, the word is not
    ],
)
def test_a_query_names_an_entity_with_one_slip_in_a_word_that_nobody_wrote(
    graph: GraphStore, query: str, names: set[str]
) -> None:
    assert named(graph, query) == names


def test_without_a_knowledge_of_words_no_slip_is_guessed(graph: GraphStore) -> None:
    assert graph.named_in("что с kuberntes") == []


def test_a_page_of_slips_is_looked_at_in_part(graph: GraphStore) -> None:
    assert named(graph, "kuberntes " + "абвгдежз " * 60) == {"Kubernetes"}
    assert named(graph, "абвгдежз " * 10 + "kuberntes") == set()


@pytest.mark.parametrize(
    "text", ['" OR *', "name:x", "NEAR(a b)", "^a", "{a}", "a AND", "-", "\x00", "a" * 2_000]
)
def test_no_text_is_full_text_syntax(graph: GraphStore, text: str) -> None:
    graph.search(text, None, 5)
    graph.by_name(text)
    graph.names.nearest(text, 3)
    named(graph, text)


def test_a_form_tells_whom_else_it_means(graph: GraphStore) -> None:
    (petrov,) = graph.by_name("иван петров")
    told = {alias.form: alias.others for alias in graph.aliases(petrov.id)}
    assert told == {"Иван Петров": (), "Ивану": (), "Ваня": ("Иван Сидоров",)}


def test_the_keys_of_an_entity_begin_with_its_own(graph: GraphStore) -> None:
    (docker,) = graph.by_name("Docker")
    assert graph.keys(docker.id) == ["docker"]


def test_an_empty_graph_answers(tmp_path: Path) -> None:
    store = graph_store(tmp_path / "graph.db", [])
    assert (
        store.search("docker", None, 5) == store.by_name("docker") == store.names.nearest("docker", 3) == []
    )
    assert store.named_in("docker", lambda _: False) == []
    store.close()

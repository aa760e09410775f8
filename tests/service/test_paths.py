from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from schemas.http import PathsAnswer, SearchRequest
from schemas.problems import RequestError
from service.engine import LiveEngine
from service.quotation import LONGEST
from tests.fakes.index import engine_over, published, said

DAY = 86_400
START = 1_772_323_200  # 2026-03-01
FILLER = "и ещё много слов о погоде, о дороге и о том, что было на ужин у соседей. " * 6


def lines() -> Iterator[dict[str, Any]]:
    talk = [
        "Ставим Docker и Kubernetes на сервер",
        "Docker и Kubernetes снова не дружат",
        "Kubernetes без Terraform не нужен",
        "в Terraform описали весь Grafana",
        "Cassandra стоит одна",
        f"Наш Ansible, {FILLER} а вот Jenkins",
    ]
    for at, text in enumerate(talk):
        yield said(text, f"m{at}", chat=f"c{at}", author="Олег", ts=START + at * DAY)


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LiveEngine]:
    with engine_over(published(tmp_path_factory.mktemp("paths"), lines())) as opened:
        yield opened


def shown(answer: PathsAnswer) -> list[str]:
    return [
        "-".join([path.steps[0].from_.name, *(step.to.name for step in path.steps)]) for path in answer.paths
    ]


def test_two_names_are_connected_with_the_talk_that_shows_each_step(engine: LiveEngine) -> None:
    answer = engine.paths("докером", "terraform", 3)
    assert (answer.from_.name, answer.to.name) == ("Docker", "Terraform")
    assert shown(answer) == ["Docker-Kubernetes-Terraform"]
    first, second = answer.paths[0].steps
    assert (first.predicate, first.count) == ("co_occurs", 2)
    assert first.npmi is not None
    assert (first.first_at, first.last_at) == ("2026-03-01T00:00:00Z", "2026-03-02T00:00:00Z")
    assert (second.predicate, second.count, second.npmi) == ("together", 1, None)
    assert second.text is not None
    assert "Kubernetes без Terraform" in second.text
    assert second.evidence is not None
    assert engine.chunk(second.evidence, 0, 0).text == second.text
    assert answer.paths[0].weakest == second.weight < first.weight


def test_three_steps_lead_and_four_do_not(engine: LiveEngine) -> None:
    assert shown(engine.paths("Docker", "Grafana", 3)) == ["Docker-Kubernetes-Terraform-Grafana"]
    assert engine.paths("Docker", "Cassandra", 3).paths == []


def test_an_end_may_be_an_id_a_slip_or_the_other_end(engine: LiveEngine) -> None:
    docker = engine.entities("docker", None, 1).entities[0]
    assert engine.paths(str(docker.id), " kubernets ", 1).to.name == "Kubernetes"
    same = engine.paths("docker", "докер", 3)
    assert same.from_ == same.to == docker
    assert same.paths == []


def test_an_unknown_name_is_not_found_with_the_nearest_ones(engine: LiveEngine) -> None:
    for call in (
        lambda: engine.paths("Docker", "kabirnetis", 3),
        lambda: engine.graph("kabirnetis", 1, 10),
    ):
        with pytest.raises(RequestError) as caught:
            call()
        assert (caught.value.code, caught.value.status) == ("not_found", 404)
        assert caught.value.hint == "did you mean Kubernetes?"
    with pytest.raises(RequestError) as caught:
        engine.paths("бармаглот", "Docker", 3)
    assert "no name comes near" in caught.value.hint
    assert caught.value.errors[0][0] == "from"


def test_evidence_is_cut_around_both_names_however_far_apart(engine: LiveEngine) -> None:
    (step,) = engine.paths("Ansible", "Jenkins", 1).paths[0].steps
    assert step.text is not None
    assert len(step.text) <= LONGEST
    assert "Ansible" in step.text
    assert "Jenkins" in step.text
    assert " … " in step.text


def test_a_picture_begins_with_its_middle_and_holds_the_ties_of_its_nodes(engine: LiveEngine) -> None:
    picture = engine.graph("докер", 2, 10)
    assert [(node.name, node.depth) for node in picture.nodes][:2] == [("Docker", 0), ("Kubernetes", 1)]
    ids = {node.id for node in picture.nodes}
    assert picture.edges
    for edge in picture.edges:
        assert {edge.source, edge.target} <= ids
        assert 0 <= edge.weight <= 1
        assert edge.evidence is None or engine.chunk(edge.evidence, 0, 0).text
    assert [node.name for node in engine.graph("Cassandra", 1, 10).nodes] == ["Cassandra"]
    assert len(engine.graph("докер", 2, 1).nodes) == 1


@pytest.mark.parametrize("unit", ["chunk", "message"])
@pytest.mark.parametrize(
    ("name", "ids"),
    [
        ("тераформа", {"m2", "m3"}),  # a known form with a slip
        ("Cassandro", {"m4"}),
        ("Terrafrom", {"m2", "m3"}),
        ("kubernets", {"m0", "m1", "m2"}),
        ("ДОКЕРА", {"m0", "m1"}),
        ("бармаглот", set()),
    ],
)
def test_the_filter_takes_any_form_of_a_name(engine: LiveEngine, unit: str, name: str, ids: set[str]) -> None:
    request = SearchRequest.model_validate(
        {"q": "сервер", "mode": "vector", "unit": unit, "entity": name, "limit": 100}
    )
    assert {message.id for hit in engine.search(request).hits for message in hit.messages} == ids


def test_a_filter_of_thousands_of_names_is_answered_in_time(engine: LiveEngine) -> None:
    request = SearchRequest(q="сервер", entity=[f"nezvannoe{at}" for at in range(3_000)])
    assert engine.search(request).hits == []


def test_a_search_forgives_one_slip_in_a_name(engine: LiveEngine) -> None:
    found = engine.search(SearchRequest(q="что там с Kubernets", mode="entities", explain=True)).hits
    assert {message.id for hit in found for message in hit.messages} >= {"m0", "m1", "m2"}
    assert found[0].explain is not None
    assert found[0].explain["entities"]["matched"] == ["Kubernetes"]
    assert engine.search(SearchRequest(q="дружат", mode="entities")).hits == []

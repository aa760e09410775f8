from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from indexer.stores import generation as generations
from indexer.stores.ledger import Ledger
from schemas.http import Answer, SearchRequest
from schemas.problems import IndexCorrupt, IndexMissing, RequestError
from schemas.records import Space
from schemas.settings import Settings
from service.engine import LiveEngine
from tests.fakes.http import ask as http
from tests.fakes.index import archive, build, engine_over, published, said, settings_for

TALK = [
    said("решили хранить граф сущностей в одной базе", "m1", author="Иван", ts=1_772_323_200),
    said("деплой сервера перенесли на пятницу", "m2", author="Мария", ts=1_772_423_200),
]
STATUS = {
    *("generation", "built_at", "counts", "spaces", "entities", "versions", "sources", "last_run", "stale"),
    "health",
    *("degraded", "disk"),
}


def ask(engine: LiveEngine, q: str = "граф сущностей", **more: Any) -> Answer:
    return engine.search(SearchRequest.model_validate({"q": q, **more}))


def with_space(root: Path, space: Space) -> Settings:
    """An index whose chunks also have vectors of a space that this machine may not be able to ask."""
    order = {"order": [space.provider, "hash"], "floor": False}
    settings = published(root, TALK, embedding=order)
    with Ledger(settings.data) as ledger:
        id_ = ledger.vectors.space_id(space)
        hashes = [digest for _, digest in ledger.chunks.of("talk")]
        vectors = np.random.default_rng(1).normal(size=(len(hashes), space.dims)).astype(np.float32)
        ledger.vectors.keep(id_, hashes, vectors / np.linalg.norm(vectors, axis=1, keepdims=True))
    report = build(settings, root / "archive")
    assert report.generation == "000002"
    return settings


GEMINI = Space("gemini", "gemini-embedding-2-preview", 768, 1)


def test_what_could_not_take_part_is_named_and_the_rest_answers(tmp_path: Path) -> None:
    with engine_over(with_space(tmp_path, GEMINI)) as engine:
        answer = ask(engine)
        assert answer.hits
        (sentence,) = answer.degraded
        assert sentence.startswith("vector: gemini unavailable, answered from hash (")


def test_a_search_of_words_alone_misses_nothing(tmp_path: Path) -> None:
    with engine_over(with_space(tmp_path, GEMINI)) as engine:
        for mode in ("text", "entities"):
            assert ask(engine, mode=mode, strict=True).degraded == []


def test_strict_refuses_what_is_not_complete(tmp_path: Path) -> None:
    with engine_over(with_space(tmp_path, GEMINI)) as engine:
        with pytest.raises(RequestError) as caught:
            ask(engine, strict=True)
        assert (caught.value.code, caught.value.status) == ("embedder_unavailable", 503)
        assert "gemini" in caught.value.message


def test_strict_answers_where_everything_takes_part(tmp_path: Path) -> None:
    with engine_over(published(tmp_path, TALK)) as engine:
        assert ask(engine, strict=True).hits


def without_vectors(root: Path) -> Settings:
    settings = settings_for(root / "index")
    private = {"embedding": {"order": ["gemini"], "floor": False}}
    build(settings_for(root / "index", **private), archive(root / "archive", TALK))
    return settings


def test_before_the_first_vector_words_answer_and_it_is_said(tmp_path: Path) -> None:
    with engine_over(without_vectors(tmp_path)) as engine:
        answer = ask(engine)
        assert answer.hits
        assert answer.degraded == [
            "vector: this generation holds no vectors yet, answered from words and names"
        ]


@pytest.mark.parametrize("unit", ["chunk", "message"])
def test_mode_vector_without_any_vector_is_an_error_that_says_so(tmp_path: Path, unit: str) -> None:
    with engine_over(without_vectors(tmp_path)) as engine:
        with pytest.raises(RequestError) as caught:
            ask(engine, mode="vector", unit=unit)
        assert caught.value.code == "embedder_unavailable"


def test_a_source_that_has_grown_is_named(tmp_path: Path) -> None:
    settings = published(tmp_path, TALK)
    with engine_over(settings) as engine:
        assert ask(engine).index.stale == []
    archive(tmp_path / "archive", [*TALK, said("новое", "m3")])
    with engine_over(settings) as engine:
        assert ask(engine).index.stale == ["talk.jsonl has changed since this generation was built"]
        assert engine.status()["stale"] == ask(engine).index.stale


def test_a_source_that_is_gone_is_no_gap(tmp_path: Path) -> None:
    settings = published(tmp_path, TALK)
    (tmp_path / "archive" / "talk.jsonl").unlink()
    with engine_over(settings) as engine:
        assert ask(engine).index.stale == []


def test_the_answer_says_what_was_asked_and_who_answered(tmp_path: Path) -> None:
    with engine_over(published(tmp_path, TALK)) as engine:
        answer = ask(engine, limit=3, chat="talk")
    assert answer.query == {"q": "граф сущностей", "mode": "hybrid", "limit": 3, "chat": ["talk"]}
    assert answer.index.generation == "000001"
    assert answer.index.built_at.endswith("Z")
    assert answer.untrusted
    assert answer.took_ms > 0


def test_status_has_the_shape_of_the_contract(tmp_path: Path) -> None:
    with engine_over(published(tmp_path, TALK)) as engine:
        status = engine.status()
    json.dumps(status)
    assert set(status) == STATUS
    assert status["generation"] == "000001"
    assert {key: status["counts"][key] for key in ("chats", "messages")} == {"chats": 1, "messages": 2}
    (space,) = status["spaces"]
    assert {key: space[key] for key in ("name", "coverage")} == {"name": "hash/hash/64/1", "coverage": 1.0}
    assert status["entities"]["backend"] == "patterns"
    (source,) = status["sources"]
    assert source == {
        "path": "talk.jsonl",
        "kind": "jsonl",
        "messages": 2,
        "last_seen": "2026-03-02T03:46:40Z",
        "health": "ok",
    }
    assert set(status["last_run"]) == {"at", "exit", "new", "left", "spent"}
    assert (status["last_run"]["exit"], status["last_run"]["new"]) == (0, 2)
    assert (status["stale"], status["degraded"]) == ([], [])
    assert status["disk"]["generation_bytes"] > 0
    assert status["disk"]["free_bytes"] > 0


def test_status_names_no_place_of_this_machine(tmp_path: Path) -> None:
    with engine_over(published(tmp_path, TALK)) as engine:
        told = json.dumps(engine.status(), ensure_ascii=False)
    assert str(tmp_path) not in told
    assert os.path.expanduser("~") not in told  # noqa: PTH111


def test_without_a_generation_status_says_so_and_nothing_is_ready(tmp_path: Path) -> None:
    with engine_over(settings_for(tmp_path / "none" / "index")) as engine:
        status = engine.status()
        assert set(status) == STATUS
        assert (status["generation"], status["counts"], status["sources"]) == (None, {}, [])
        (sentence,) = status["degraded"]
        assert "There is no index" in sentence
        assert status["disk"]["generation_bytes"] == 0
        with pytest.raises(IndexMissing):
            engine.ready()
        with pytest.raises(IndexMissing):
            ask(engine)


def test_over_http_a_missing_index_is_a_status_of_200_and_a_ready_of_503(tmp_path: Path) -> None:
    from service.app import create_app

    settings = settings_for(tmp_path / "index")
    with engine_over(settings) as engine:
        app = create_app(engine, settings)
        assert http(app, "GET", "/v1/status").status_code == 200
        assert http(app, "GET", "/v1/status").json()["generation"] is None
        ready = http(app, "GET", "/readyz")
        assert (ready.status_code, ready.json()["code"]) == (503, "index_missing")


def test_a_fault_of_the_next_generation_is_told_by_status(tmp_path: Path) -> None:
    settings = published(tmp_path, TALK)
    with engine_over(settings) as engine:
        (settings.data / "CURRENT").write_text("000005\n")
        engine._live.refresh()
        status = engine.status()
        assert status["generation"] == "000001"
        assert any("000005" in sentence for sentence in status["degraded"])
        assert ask(engine).hits


def test_a_damaged_index_is_told_by_status_too(tmp_path: Path) -> None:
    settings = published(tmp_path, TALK)
    (settings.data / "000001" / "entity_graph.db").write_bytes(b"no database")
    with engine_over(settings) as engine:
        assert engine.status()["generation"] is None
        assert "entity_graph.db" in engine.status()["degraded"][0]
        with pytest.raises(IndexCorrupt):
            ask(engine)


def test_a_damaged_last_run_is_no_fault(tmp_path: Path) -> None:
    settings = published(tmp_path, TALK)
    for text in ("", "[]", '{"at": 1}', "null"):
        (settings.data / generations.LAST_RUN).write_text(text)
        with engine_over(settings) as engine:
            assert engine.status()["last_run"] is None


def test_a_chunk_or_entity_that_is_not_there_is_not_found(tmp_path: Path) -> None:
    with engine_over(published(tmp_path, TALK)) as engine:
        for call in (lambda: engine.chunk("c_none", 0, 0), lambda: engine.entity(977)):
            with pytest.raises(RequestError) as caught:
                call()
            assert caught.value.status == 404


def test_an_entity_is_found_in_any_inflection_with_its_evidence(tmp_path: Path) -> None:
    lines = [
        said("Docker и k8s стоят у Антона", "m1", author="Иван Петров", ts=1_772_323_200),
        said("в докере опять пусто", "m2", author="Мария", ts=1_772_323_300),
    ]
    with engine_over(published(tmp_path, lines)) as engine:
        for q in ("docker", "докера", "ДОКЕР", "dock"):
            assert engine.entities(q, None, 5).entities[0].name == "Docker"
        entity = engine.entity(engine.entities("докер", "NAME", 1).entities[0].id)
        assert entity.mentions >= 1
        assert entity.newest[0].message in ("m1", "m2")
        shown = engine.chunk(entity.newest[0].chunk, 0, 0)
        assert shown.text == entity.newest[0].text
        assert "Docker" in shown.entities
        for relation in entity.relations:
            assert relation.evidence is None or engine.chunk(relation.evidence, 0, 0).text
        assert engine.entities("докер", "LOC", 5).entities == []
        assert engine.entities("?!", None, 5).entities == []
        assert len(engine.entities("", None, 100).entities) >= 2


def test_the_repaired_query_is_what_is_embedded(tmp_path: Path) -> None:
    with engine_over(published(tmp_path, TALK)) as engine:
        meant, *read = (
            [
                (hit.id, hit.explain["vector"])
                for hit in ask(engine, typed, mode="vector", explain=True).hits
                if hit.explain
            ]
            for typed in ("деплой сервера", "deploj servera", "ltgkjq cthdthf")
        )
        assert meant
        assert read == [meant, meant]

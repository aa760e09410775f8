"""Whose talk is searched: the main one, unless the workers' is asked for."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from indexer.archives import ArchiveFile, ReadOptions
from schemas.http import SearchRequest
from schemas.problems import RequestError
from schemas.records import Message
from schemas.settings import Settings
from service.app import create_app
from service.checks import CHECKS
from service.engine import LiveEngine
from tests.fakes.http import ask
from tests.fakes.index import archive, build, engine_over, said, settings_for

MAIN, WORKER = ["m0", "m1", "m2"], ["w0", "w1", "w2"]
AGENTS: list[tuple[list[str], list[str]]] = [
    ([], MAIN),
    (["main"], MAIN),
    (["worker"], WORKER),
    (["main", "worker"], MAIN + WORKER),
]


def session(folder: Path, name: str, ids: list[str], text: str) -> None:
    """A session whose messages are a day apart, so that none shares a chunk with another."""
    entries: list[dict[str, Any]] = [{"type": "session", "version": 3, "id": name}]
    for number, id_ in enumerate(ids):
        message = {
            "role": "user",
            "content": f"{text} {number} про Docker",
            "timestamp": 1_772_996_582_000 + number * 86_400_000,
        }
        parent = ids[number - 1] if number else None
        entries.append({"type": "message", "id": id_, "parentId": parent, "message": message})
    lines = [json.dumps(entry, ensure_ascii=False) for entry in entries]
    (folder / f"{name}.jsonl").write_text("\n".join(lines) + "\n", "utf-8")


def agent_folder(root: Path, main: bool = True) -> Path:
    """An OpenClaw agent: the main session and the one of a sub-agent that it spawned."""
    folder = root / "agents" / "main" / "sessions"
    folder.mkdir(parents=True)
    index = {"agent:main:subagent:7": {"sessionId": "worker", "spawnedBy": "agent:main:main"}}
    (folder / "sessions.json").write_text(json.dumps(index), "utf-8")
    if main:
        session(folder, "main", MAIN, "сервер упал")
    session(folder, "worker", WORKER, "сервер проверен")
    return root


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LiveEngine]:
    root = tmp_path_factory.mktemp("agents")
    settings = settings_for(root / "index")
    build(settings, agent_folder(root / "home"), checks=CHECKS)
    with engine_over(settings) as opened:
        yield opened


@pytest.mark.parametrize(("agents", "ids"), AGENTS)
@pytest.mark.parametrize("unit", ["chunk", "message"])
@pytest.mark.parametrize("mode", ["hybrid", "vector", "text", "entities"])
def test_only_the_talk_that_is_asked_for_is_found(
    engine: LiveEngine, mode: str, unit: str, agents: list[str], ids: list[str]
) -> None:
    request = SearchRequest.model_validate({"q": "Docker", "mode": mode, "unit": unit, "agent": agents})
    hits = engine.search(request).hits
    found = {message.id for hit in hits for message in hit.messages}
    # A vector far from all others is no evidence.
    assert (found and found <= set(ids)) if mode == "vector" else found == set(ids)
    assert {copy.id for hit in hits for copy in hit.also} <= set(ids)


def test_the_key_stands_in_the_answer_as_it_was_asked(engine: LiveEngine) -> None:
    answer = engine.search(SearchRequest(q="сервер", agent=["worker"]))
    assert answer.query["agent"] == ["worker"]


def test_an_agent_that_is_none_is_named(engine: LiveEngine) -> None:
    with pytest.raises(RequestError) as caught:
        engine.search(SearchRequest(q="сервер", agent=["помощник"]))
    assert caught.value.code == "invalid_parameter"
    assert caught.value.errors[0][0] == "agent"


def test_it_is_a_key_of_http_that_may_be_repeated(engine: LiveEngine) -> None:
    app = create_app(engine, Settings())
    for agents, ids in AGENTS:
        query = "".join(f"&agent={agent}" for agent in agents)
        body = ask(app, "GET", f"/v1/search?q=Docker&mode=text&limit=20{query}").json()
        assert sorted(message["id"] for hit in body["hits"] for message in hit["messages"]) == ids
    refused = ask(app, "GET", "/v1/search?q=Docker&agent=nobody")
    assert refused.status_code == 422
    assert refused.json()["errors"][0]["where"] == "agent"


def test_an_index_of_workers_alone_passes_its_checks(tmp_path: Path) -> None:
    settings = settings_for(tmp_path / "index")
    report = build(settings, agent_folder(tmp_path / "home", main=False), checks=CHECKS)
    assert report.generation
    with engine_over(settings) as opened:
        assert not opened.search(SearchRequest(q="сервер")).hits
        assert opened.search(SearchRequest(q="сервер", agent=["worker"])).hits


class Mixed:
    """A reader of one session in which a worker speaks between the lines of the main talk."""

    name = "jsonl"

    def fits(self, file: ArchiveFile) -> bool:
        return True

    def read(self, file: ArchiveFile, options: ReadOptions) -> Iterator[Message]:
        for number, id_ in enumerate(["m0", "w1", "w2", "m3"]):
            yield Message(
                *("talk", id_, "jsonl", "user", f"сервер, запись {id_}", f"{file.name}:{number}"),
                at=1_772_996_582_000 + number * 1000,
                session="s",
                agent="worker" if id_.startswith("w") else None,
            )


@pytest.fixture
def mixed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[LiveEngine]:
    monkeypatch.setattr("indexer.archives.READERS", {"jsonl": Mixed()})
    settings = settings_for(tmp_path / "index")
    build(settings, archive(tmp_path / "archive", [said("строка")]))
    with engine_over(settings) as opened:
        yield opened


@pytest.mark.parametrize("unit", ["chunk", "message"])
@pytest.mark.parametrize(("agents", "near"), [([], {"m0", "m3"}), (["worker"], {"w1", "w2"})])
def test_the_context_of_a_hit_is_of_its_own_talk(
    mixed: LiveEngine, unit: str, agents: list[str], near: set[str]
) -> None:
    request = SearchRequest.model_validate(
        {"q": "сервер", "mode": "text", "unit": unit, "agent": agents, "context": 5}
    )
    hits = mixed.search(request).hits
    assert hits
    for hit in hits:
        beside = [*(hit.before or []), *(hit.after or [])]
        told = {message.id for one in (hit, *beside) for message in one.messages}
        assert told == near


def test_the_neighbours_of_a_chunk_are_of_its_own_talk(mixed: LiveEngine) -> None:
    app = create_app(mixed, Settings())
    first = mixed.search(SearchRequest(q="запись m0", mode="text")).hits[0]
    body = ask(app, "GET", f"/v1/chunks/{first.id}?before=5&after=5").json()
    assert [message["id"] for message in body["messages"]] == ["m0"]
    assert body["before"] == []
    assert [message["id"] for near in body["after"] for message in near["messages"]] == ["m3"]

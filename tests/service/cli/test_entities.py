from __future__ import annotations

import json
from pathlib import Path

import pytest

from .conftest import Run

TALK = (
    "Ставим Docker и Kubernetes на сервер",
    "Docker и Kubernetes снова не дружат",
    "Kubernetes без Terraform не нужен",
    "Cassandra стоит одна",
    "Кто такой Lorem?",
)


@pytest.fixture
def index(work: Path, tmp_path: Path, run: Run) -> Path:
    lines = [
        {"id": f"m{at}", "chat": f"c{at}", "role": "user", "ts": f"2026-03-0{at + 1}T10:00:00Z", "text": text}
        for at, text in enumerate(TALK)
    ]
    path = tmp_path / "talks" / "family.jsonl"
    path.write_text("".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines), "utf-8")
    assert run("build").code == 0
    return work


def test_names_are_listed_in_the_asked_order(index: Path, run: Run) -> None:
    told = run("entities", "list")
    assert told.code == 0
    assert told.out.splitlines()[0].split() == ["1", "NAME", "3×", "Kubernetes", "last", "2026-03-03"]
    newest = run("entities", "list", "--sort", "recency", "--limit", "1", "--json")
    assert [entity["name"] for entity in newest.json["entities"]] == ["Lorem"]
    assert run("entities", "list", "в", "докере", "--json").json["entities"] == []
    assert [entity["name"] for entity in run("entities", "list", "dcoker", "--json").json["entities"]] == [
        "Docker"
    ]
    assert "Next: `letopis entities list`" in run("entities", "list", "бармаглот").out
    assert run("entities", "list", "--limit", "101").code == 2


def test_one_entity_is_shown_by_name_or_id(index: Path, run: Run) -> None:
    told = run("entities", "show", "докера")
    assert told.code == 0
    assert told.out.startswith("Docker  (NAME, id 2, 2 mentions)")
    assert "co_occurs Kubernetes (2, NPMI" in told.out
    assert "| user: Docker и Kubernetes снова не дружат" in told.out
    assert run("entities", "show", "2", "--json").json["name"] == "Docker"
    strange = run("entities", "show", "kabirnetis")
    assert strange.code == 1
    assert strange.err.startswith("letopis: 'kabirnetis' names nothing in generation 000001.")
    assert "Next: did you mean Kubernetes?" in strange.err


def test_two_names_are_connected_step_by_step(index: Path, run: Run) -> None:
    told = run("entities", "path", "docker", "terraform")
    assert told.code == 0
    assert told.out.startswith("Docker → Terraform\n\n[1] Docker — Kubernetes — Terraform\n")
    assert "  Kubernetes together Terraform (1×, last 2026-03-03)" in told.out
    assert "  | user: Kubernetes без Terraform не нужен" in told.out
    found = run("entities", "path", "docker", "terraform", "--json").json
    assert found["from"]["name"] == "Docker"
    assert [step["to"]["name"] for step in found["paths"][0]["steps"]] == ["Kubernetes", "Terraform"]
    assert "nothing connects them" in run("entities", "path", "docker", "cassandra").out
    assert "one entity" in run("entities", "path", "docker", "докер").out


def test_a_merge_is_published_at_once_and_taken_back(index: Path, run: Run) -> None:
    told = run("entities", "merge", "Lorem", "Docker")
    assert told.code == 0
    assert told.out.startswith("Corrected: 'lorem' is 'docker'.")
    assert "generation 000002" in told.out
    assert "`letopis entities undo 1`" in told.out
    assert run("entities", "show", "lorem", "--json").json["name"] == "Docker"
    assert run("entities", "show", "docker", "--json").json["mentions"] == 3
    again = run("entities", "merge", "Lorem", "докер")
    assert again.code == 1
    assert "one entity already" in again.err
    listed = run("entities", "corrections", "--json").json["corrections"]
    assert [(kept["number"], kept["action"], kept["key"], kept["value"]) for kept in listed] == [
        (1, "merge", "lorem", "docker")
    ]
    assert "'lorem' is 'docker'" in run("entities", "corrections").out
    undone = run("entities", "undo", "1")
    assert undone.code == 0
    assert "generation 000003" in undone.out
    assert run("entities", "show", "lorem", "--json").json["name"] == "Lorem"
    assert run("entities", "undo", "7").code == 1


def test_a_name_is_left_out_shown_otherwise_or_split_off(index: Path, run: Run) -> None:
    ignored = run("entities", "ignore", "lorem", "--json").json
    assert (ignored["number"], ignored["action"], ignored["key"]) == (1, "ignore", "lorem")
    assert run("entities", "list", "lorem", "--json").json["entities"] == []
    assert run("entities", "rename", "Cassandra", "Кассандра Приамовна").code == 0
    shown = run("entities", "show", "cassandra", "--json").json
    assert shown["name"] == "Кассандра Приамовна"
    assert run("entities", "show", "кассандра приамовна", "--json").json["id"] == shown["id"]
    hits = run("search", "что стоит у Кассандры Приамовны", "--mode", "entities", "--json").json["hits"]
    assert [hit["messages"][0]["id"] for hit in hits] == ["m3"]
    split = run("entities", "split", "Docker", "--json").json
    assert (split["action"], split["key"], split["value"]) == ("split", "docker", None)


@pytest.mark.parametrize("command", [("merge", "Docker"), ("split",), ("ignore",), ("rename",)])
def test_what_is_to_be_corrected_is_never_guessed(index: Path, run: Run, command: tuple[str, ...]) -> None:
    more = ("нечто",) if command == ("rename",) else ()
    told = run("entities", *command, "kabirnetis", *more)
    assert told.code == 1
    assert told.err.startswith("letopis: There is no name 'kabirnetis' in the index.")
    assert "did you mean Kubernetes?" in told.err
    assert run("entities", command[0], "dcoker", *(more or command[1:])).code == 1
    assert run("entities", "corrections", "--json").json["corrections"] == []


def test_a_name_to_show_must_be_one(index: Path, run: Run) -> None:
    for name in ("", "?!", "x" * 201):
        told = run("entities", "rename", "Docker", name)
        assert told.code == 2
        assert "1 to 200 characters" in told.err


def test_without_an_index_the_commands_say_so(work: Path, run: Run) -> None:
    for command in (["list"], ["show", "x"], ["path", "x", "y"], ["ignore", "x"]):
        told = run("entities", *command, "--json")
        assert (told.code, told.json["code"]) == (1, "index_missing")
    assert run("entities", "corrections").out.startswith("Nothing has been corrected.")
    assert not (work / "index").exists()

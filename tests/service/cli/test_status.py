from __future__ import annotations

from pathlib import Path

from .conftest import Run, talk


def test_status_tells_what_is_served_and_what_the_last_run_did(work: Path, run: Run) -> None:
    run("build")
    told = run("status")
    assert told.code == 0
    assert told.out.startswith("Generation 000001, built ")
    assert "24 messages" in told.out
    assert "hash/hash/64/1: 24, 100% of the chunks" in told.out
    assert "family.jsonl (jsonl): 24 messages, last 2025-01-24" in told.out
    assert "exit 0: 24 new messages" in told.out


def test_json_is_what_http_tells(work: Path, run: Run) -> None:
    run("build")
    told = run("status", "--json").json
    assert {"generation", "counts", "spaces", "sources", "last_run", "stale", "degraded", "disk"} <= set(told)
    assert set(told["last_run"]) == {"at", "exit", "new", "left", "spent"}


def test_without_an_index_status_says_so(work: Path, run: Run) -> None:
    told = run("status")
    assert told.code == 0
    assert told.out.startswith("No index is served.")
    assert "run `letopis build PATH`" in told.out


def test_an_archive_that_has_grown_is_named(work: Path, tmp_path: Path, run: Run) -> None:
    run("build")
    talk(tmp_path / "talks", 30)
    assert "family.jsonl has changed" in run("status").out


def test_generations_are_listed_switched_and_pruned(work: Path, tmp_path: Path, run: Run) -> None:
    assert "no generation yet" in run("generations", "list").out
    run("build")
    talk(tmp_path / "talks", 30)
    run("build")
    listed = run("generations", "list", "--json").json
    assert listed["current"] == "000002"
    assert [(row["name"], row["current"]) for row in listed["generations"]] == [
        ("000001", False),
        ("000002", True),
    ]
    assert run("generations", "list").out.splitlines()[1].startswith("* 000002")

    assert run("generations", "use", "000001").code == 0
    assert run("search", "запись", "--json").json["index"]["generation"] == "000001"

    assert run("generations", "prune", "--keep", "1").code == 0
    left = run("generations", "list", "--json").json["generations"]
    assert [row["name"] for row in left] == ["000001", "000002"]  # the published one stays

    run("generations", "use", "000002")
    assert run("generations", "prune", "--keep", "1", "--json").json == {
        "removed": ["000001"],
        "kept": ["000002"],
    }


def test_a_generation_that_is_not_there_or_damaged_is_not_published(work: Path, run: Run) -> None:
    run("build")
    told = run("generations", "use", "000009")
    assert told.code == 1
    assert told.err == "letopis: There is no generation 000009. Next: choose one of: 000001\n"
    database = work / "index" / "000001" / "chat_vectors.db"
    database.write_bytes(database.read_bytes()[:-1])
    told = run("generations", "use", "000001", "--json")
    assert (told.code, told.json["code"]) == (1, "index_corrupt")
    (work / "index" / "000001" / "manifest.json").write_text("{}", "utf-8")
    assert "can't be read" in run("generations", "list").out

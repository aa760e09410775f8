from __future__ import annotations

from pathlib import Path

from .conftest import Run


def test_forgetting_says_what_went_and_what_stays_where(work: Path, run: Run) -> None:
    assert run("build").code == 0
    told = run("forget", "--chat", "family", "--message", "m3", "--yes")
    assert told.code == 0
    assert told.out.startswith("Forgotten: 1 messages of 1 talks.")
    assert "published generation 000002" in told.out
    assert "removed   generations 000001" in told.out
    assert "in the archive file family.jsonl (jsonl): 1 messages" in told.out
    assert not any(
        hit["id"] == "m3" for hit in run("search", "Ваня", "--unit", "message", "--json").json["hits"]
    )
    assert run("build").code == 0
    assert run("status", "--json").json["counts"]["messages"] == 23


def test_a_dry_run_tells_the_same_and_changes_nothing(work: Path, run: Run) -> None:
    run("build")
    told = run("forget", "--author", "Оля", "--dry-run", "--json")
    assert told.code == 0
    assert told.json["dry_run"] is True
    assert (told.json["messages"], told.json["chats"]) == (12, ["family"])
    assert told.json["remains"]["files"] == [{"path": "family.jsonl", "kind": "jsonl", "messages": 12}]
    assert run("status", "--json").json["counts"]["messages"] == 24


def test_forgetting_nothing_is_a_usage_error_and_a_stranger_is_one_sentence(work: Path, run: Run) -> None:
    run("build")
    told = run("forget")
    assert told.code == 2
    assert "Next: give --chat, --message or --author" in told.err
    told = run("forget", "--chat", "чужой")
    assert told.code == 1
    assert told.err.startswith("letopis: There is no chat 'чужой' in the index.")
    assert told.err.count("\n") == 1

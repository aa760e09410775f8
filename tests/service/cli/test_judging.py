from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import click
import pytest

from service.cli import judging

from .conftest import CONFIG, Run, talk

ASKED = ("search", "кот", "Барсик", "--limit", "3", "--mode", "text", "--judge")


@pytest.fixture
def desk(work: Path, run: Run, monkeypatch: pytest.MonkeyPatch) -> Path:
    assert run("build").code == 0
    (work / "letopis.toml").write_text(f'{CONFIG}[quality]\ngolden = "golden.jsonl"\n', "utf-8")
    monkeypatch.setattr(judging, "at_terminal", lambda: True)
    return work


def says(monkeypatch: pytest.MonkeyPatch, keys: Iterable[str]) -> None:
    left = iter(keys)
    monkeypatch.setattr(click, "prompt", lambda *_, **__: next(left))


def kept(desk: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (desk / "golden.jsonl").read_text("utf-8").splitlines()]


def test_good_hits_become_one_judged_query(desk: Path, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    says(monkeypatch, ["y", "n", ""])
    told = run(*ASKED)
    assert told.code == 0
    assert told.out.endswith("golden.jsonl: 1 relevant messages for this question.\n")
    (line,) = kept(desk)
    assert (line["text"], line["kind"], len(line["relevant"])) == ("кот Барсик", "judged", 1)
    assert "chat" not in line


def test_later_answers_are_merged_and_beat_earlier_ones(
    desk: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    says(monkeypatch, ["y", "", ""])
    run(*ASKED)
    first = kept(desk)[0]["relevant"]
    says(monkeypatch, ["n", "what?", "y", "q"])
    run(*ASKED)
    (line,) = kept(desk)
    assert len(line["relevant"]) == 1
    assert line["relevant"] != first


def test_a_search_of_one_chat_is_kept_with_it(desk: Path, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    says(monkeypatch, ["y", "q"])
    run(*ASKED, "--chat", "family")
    assert kept(desk)[0]["chat"] == "family"


def test_where_nothing_is_good_no_file_is_made(desk: Path, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    says(monkeypatch, ["n", "q"])
    told = run(*ASKED)
    assert told.code == 0
    assert "Nothing was judged good" in told.out
    assert not (desk / "golden.jsonl").exists()


def test_other_lines_of_the_file_stay(desk: Path, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    mine = {"q": "порт", "rel": ["m2"], "kind": "fact", "note": "моя"}
    (desk / "golden.jsonl").write_text(json.dumps(mine) + "\n", "utf-8")
    says(monkeypatch, ["y", "q"])
    run(*ASKED)
    assert kept(desk)[0] == mine
    assert len(kept(desk)) == 2


def test_a_broken_golden_file_is_left_alone(desk: Path, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    (desk / "golden.jsonl").write_text("{broken\n", "utf-8")
    says(monkeypatch, ["y", "q"])
    told = run(*ASKED)
    assert told.code == 2
    assert "Line 1 of golden.jsonl is no judged query" in told.err
    assert (desk / "golden.jsonl").read_text("utf-8") == "{broken\n"


def test_without_a_terminal_it_is_exit_2(work: Path, run: Run) -> None:
    told = run(*ASKED)
    assert told.code == 2
    assert told.err == (
        "letopis: --judge asks a person, and this is no terminal. "
        "Next: run it in a terminal, without --json\n"
    )


def test_without_a_golden_file_the_remedy_is_told(
    work: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(judging, "at_terminal", lambda: True)
    told = run(*ASKED)
    assert told.code == 2
    assert 'golden = "golden.jsonl" under [quality]' in told.err


def test_a_build_with_a_golden_file_that_is_not_there_is_exit_2(desk: Path, run: Run) -> None:
    told = run("build")
    assert told.code == 2
    assert told.err.startswith("letopis: The golden file golden.jsonl can't be read")
    assert run("build", "--force").code == 0


def test_a_refused_build_shows_the_questions_that_got_worse(
    desk: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    from service.golden import GoldenGate

    def refuses(gate: GoldenGate, *_: object) -> str:
        gate.figures["worse"] = [{"text": "кто такой Барсик", "before": 2, "after": None}]
        return "Recall@10 fell."

    monkeypatch.setattr(GoldenGate, "__call__", refuses)
    (desk / "golden.jsonl").write_text('{"text": "кто такой Барсик", "relevant": ["m1"]}\n', "utf-8")
    talk(desk.parent / "talks", 25)
    told = run("build")
    assert told.code == 1
    assert told.err.splitlines()[-3:] == [
        "letopis: Recall@10 fell. Next: look at the report; `letopis build --force` publishes all the same",
        "  before  after  question",
        "       2      –  кто такой Барсик",
    ]
    assert json.loads(run("build", "--json").out)["golden"]["worse"][0]["before"] == 2


def test_a_build_tells_the_golden_figures(desk: Path, run: Run) -> None:
    (desk / "golden.jsonl").write_text('{"text": "кот Барсик", "relevant": ["m1"]}\n', "utf-8")
    talk(desk.parent / "talks", 25)
    told = run("build")
    assert told.code == 0
    assert "golden    recall@10 1.000 (before 1.000) over 1 queries" in told.out

from __future__ import annotations

import json
from pathlib import Path

import pytest

from .conftest import Run

AGENT = [
    {"type": "session", "version": 3, "id": "s1", "timestamp": "2026-03-01T10:00:00Z"},
    {"type": "message", "id": "a1", "parentId": None, "timestamp": "2026-03-01T10:00:00Z",
     "message": {"role": "user", "content": "покажи файлы"}},
    {"type": "message", "id": "a2", "parentId": "a1", "timestamp": "2026-03-01T10:00:05Z",
     "message": {"role": "assistant", "content": [{"type": "thinking", "thinking": "надо вызвать ls"},
                                                  {"type": "text", "text": "Вот они."}]}},
    {"type": "message", "id": "a3", "parentId": "a2", "timestamp": "2026-03-01T10:00:06Z",
     "message": {"role": "toolResult", "toolName": "ls", "content": [{"type": "text", "text": "x" * 500}]}},
]  # fmt: skip


@pytest.fixture
def mixed(work: Path, tmp_path: Path) -> Path:
    folder = tmp_path / "talks"
    lines = "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in AGENT)
    (folder / "session.jsonl").write_text(lines, "utf-8")
    (folder / "odd.json").write_text('[{"sender_id": 1, "text": "Привет", "message.id": 5}]', "utf-8")
    return folder


def test_every_file_is_told_with_its_kind_talks_messages_and_dates(mixed: Path, run: Run) -> None:
    told = run("archives")
    assert told.code == 0
    assert "family.jsonl" in told.out
    row = next(line for line in told.out.splitlines() if "family.jsonl" in line)
    assert row.split()[1:4] == ["jsonl", "1", "24"]
    assert "2025-01-01–2025-01-24" in row


def test_an_unknown_file_is_told_with_the_nearest_kind_and_what_it_lacks(mixed: Path, run: Run) -> None:
    files = run("archives", "--json").json["archives"][0]["files"]
    odd = next(file for file in files if file["path"] == "odd.json")
    assert odd["kind"] is None
    assert "nearest is jsonl (has text; lacks role, content)" in (odd["skipped"]["unknown format"]["hint"])


def test_characters_are_told_by_kind_and_by_what_is_indexed(mixed: Path, run: Run) -> None:
    archive = run("archives", "--json").json["archives"][0]
    assert archive["indexed"].keys() == {"user", "assistant"}
    tool = archive["left_out"]["tool_result"]
    assert (tool["records"], tool["characters"], tool["setting"]) == (1, 500, "tool_results")
    assert archive["left_out"]["thinking"]["characters"] == len("надо вызвать ls")
    shares = [one["share"] for side in ("indexed", "left_out") for one in archive[side].values()]
    assert sum(shares) == pytest.approx(1, abs=0.001)
    assert "tool_result" in run("archives").out


def test_the_switches_move_tool_results_and_thinking_to_the_indexed(
    mixed: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LETOPIS_TOOL_RESULTS", "true")
    monkeypatch.setenv("LETOPIS_THINKING", "true")
    archive = run("archives", "--json").json["archives"][0]
    assert archive["indexed"]["tool"]["characters"] == 500
    assert archive["indexed"]["thinking"]["records"] == 1
    run("build")
    quiet = run("search", "вызвать", "--json").json["hits"]
    assert all("надо вызвать" not in hit["text"] for hit in quiet)
    (found,) = run("search", "вызвать", "--role", "thinking", "--json").json["hits"]
    assert "надо вызвать ls" in found["text"]


def test_a_path_that_is_not_there_is_told_and_exits_1(work: Path, run: Run) -> None:
    told = run("archives", "nowhere")
    assert told.code == 1
    assert "is not there" in told.out


def test_a_build_can_be_narrowed_by_time_and_talk(work: Path, run: Run) -> None:
    told = run("build", "--since", "2025-01-20", "--json")
    assert told.json["messages"]["new"] == 5
    assert run("build", "--chat", "someone else", "--json").json["messages"].get("new", 0) == 0
    assert run("build", "--json").json["messages"]["new"] == 19
    told = run("build", "--since", "yesterday-ish")
    assert told.code == 2
    assert "is no time" in told.err

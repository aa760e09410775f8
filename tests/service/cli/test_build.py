from __future__ import annotations

import fcntl
import json
import subprocess
import sys
from pathlib import Path

import pytest

from .conftest import Run, talk


def test_a_build_tells_in_words_what_it_did(work: Path, run: Run) -> None:
    told = run("build")
    assert told.code == 0
    assert told.out.startswith("Published generation 000001 in ")
    assert "24 in the index (24 new)" in told.out
    assert "hash/hash/64/1: 24 embedded, 0 left" in told.out


def test_stages_are_plain_lines_on_stderr_where_there_is_no_terminal(work: Path, run: Run) -> None:
    lines = run("build").err.splitlines()
    assert lines[0] == "reading …"
    assert "embedding hash: 24 …" in lines
    assert all("\x1b" not in line for line in lines)


def test_nothing_new_publishes_nothing_and_says_so(work: Path, run: Run) -> None:
    run("build")
    told = run("build")
    assert told.code == 0
    assert told.out.startswith("Nothing has changed: generation 000001 stays")


def test_json_is_the_report_alone_on_stdout(work: Path, run: Run) -> None:
    told = run("build", "--json")
    assert told.code == 0
    assert (told.json["exit"], told.json["generation"]) == (0, "000001")
    assert told.json["messages"]["new"] == 24


def test_paths_of_the_command_line_replace_the_archives_and_count_from_the_working_folder(
    work: Path, run: Run
) -> None:
    talk(work / "other", 3)
    assert run("build", "other", "--json").json["messages"]["total"] == 3


def test_without_an_archive_it_is_a_usage_error(work: Path, run: Run) -> None:
    config = work / "letopis.toml"
    config.write_text(config.read_text("utf-8").replace('archives = ["../talks"]\n', ""), "utf-8")
    told = run("build")
    assert told.code == 2
    assert told.err == (
        "letopis: There is no archive to read. "
        "Next: name one: `letopis build PATH`, or set archives in letopis.toml\n"
    )


def test_skipped_records_are_told_by_reason_with_place_and_remedy(
    work: Path, tmp_path: Path, run: Run
) -> None:
    path = tmp_path / "talks" / "family.jsonl"
    path.write_text(path.read_text("utf-8") + '{"id": "m99", "text": "обор\n', "utf-8")
    told = run("build")
    assert told.code == 0
    skipped = [line for line in told.out.splitlines() if line.strip().startswith("skipped")]
    assert len(skipped) == 1
    assert "1 × " in skipped[0]
    assert "family.jsonl:25" in skipped[0]


def test_a_provider_without_a_key_is_named_with_its_sentence(
    work: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LETOPIS_EMBEDDING__ORDER", '["gemini", "hash"]')
    told = run("build")
    assert told.code == 0
    assert told.out.count("set GEMINI_API_KEY to use it") == 1
    assert "no part" in told.out


def test_work_left_is_exit_3_and_the_next_run_goes_on(
    work: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    told = run("build", "--budget-minutes", "0.0000001")
    assert told.code == 3
    assert "The time budget is spent" in told.out
    assert "(exit 3)" in told.out
    assert run("build", "--json").json["spaces"]["hash/hash/64/1"]["embedded"] == 24


def test_an_archive_that_is_gone_is_exit_3_and_told(work: Path, tmp_path: Path, run: Run) -> None:
    told = run("build", "../talks", "../nowhere")
    assert told.code == 3
    assert "nowhere is not there" in told.out


def test_a_busy_data_folder_is_exit_1(work: Path, run: Run) -> None:
    (work / "index").mkdir()
    with (work / "index" / "indexer.lock").open("a") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        told = run("build")
        assert told.code == 1
        assert told.err == (
            "letopis: Another indexer is at work in this data folder. Next: wait for it, or stop it\n"
        )
        failed = run("build", "--json")
    assert failed.json["code"] == "ledger_busy"
    assert failed.json["exit"] == 1


def test_a_shrunken_archive_is_refused_and_force_publishes_it(work: Path, run: Run) -> None:
    talk(work / "note", 40)
    run("build", "note")
    talk(work / "note", 4)
    (work / "note" / "family.jsonl").rename(work / "note" / "other.jsonl")
    told = run("build", "note", "--mirror")
    assert told.code == 1
    assert "under 80 %" in told.err
    assert (work / "index" / "CURRENT").read_text() == "000001\n"
    assert run("build", "note", "--mirror", "--force").code == 0
    assert (work / "index" / "CURRENT").read_text() == "000002\n"


def test_python_m_indexer_is_build_by_another_name(work: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "indexer", "--json"], cwd=work, capture_output=True, text=True
    )
    assert done.returncode == 0
    assert json.loads(done.stdout)["generation"] == "000001"
    again = subprocess.run([sys.executable, "-m", "indexer", "--nonsense"], cwd=work, capture_output=True)
    assert again.returncode == 2

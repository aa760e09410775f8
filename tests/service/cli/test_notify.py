from __future__ import annotations

import json
import shlex
import sys
from pathlib import Path

import pytest

from service.cli.notify import notify

from .conftest import Run


def copying(path: Path) -> str:
    """A command that appends its stdin to a file, one line a run."""
    code = f"import sys; open({str(path)!r}, 'a').write(sys.stdin.read() + chr(10))"
    return f"{shlex.quote(sys.executable)} -c {shlex.quote(code)}"


def told(path: Path) -> list[dict[str, object]]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()] if path.exists() else []


def test_it_is_told_of_a_bad_end_and_of_the_recovery_and_of_nothing_else(
    work: Path, tmp_path: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    box = tmp_path / "box"
    monkeypatch.setenv("LETOPIS_NOTIFY__COMMAND", copying(box))
    assert run("build").code == 0
    assert told(box) == []
    assert run("build", "../talks", "../nowhere").code == 3
    assert run("build").code == 0
    assert run("build").code == 0
    assert [report["exit"] for report in told(box)] == [3, 0]


def test_a_usage_error_is_no_bad_night(
    work: Path, tmp_path: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    box = tmp_path / "box"
    monkeypatch.setenv("LETOPIS_NOTIFY__COMMAND", copying(box))
    monkeypatch.setenv("LETOPIS_ARCHIVES", "[]")
    assert run("build").code == 2
    assert told(box) == []


def test_a_command_that_fails_changes_no_exit_code(
    work: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LETOPIS_NOTIFY__COMMAND", "exit 7")
    done = run("build", "../talks", "../nowhere")
    assert done.code == 3
    assert "notify.command ended with 7" in done.err


def test_a_command_that_hangs_is_ended(capsys: pytest.CaptureFixture[str]) -> None:
    notify("exec sleep 60", 1, None, {}, timeout=0.2)
    assert "took more than" in capsys.readouterr().err


def test_a_crash_of_the_build_is_told_as_well(
    work: Path, tmp_path: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    box = tmp_path / "box"
    monkeypatch.setenv("LETOPIS_NOTIFY__COMMAND", copying(box))
    (work / "index").write_text("a file where the folder should be", "utf-8")
    assert run("build").code == 1
    assert [report["exit"] for report in told(box)] == [1]

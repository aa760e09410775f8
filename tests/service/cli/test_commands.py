from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import apsw
import pytest

from service.cli import COMMANDS, commands
from service.cli.faults import exit_code_of

from .conftest import Run

_IMPORTED = "import sys; sys.argv = ['letopis', '--help']; from service.cli import main; main(); " + (
    "print([name for name in ('numpy', 'pydantic', 'apsw', 'fastapi', 'spacy') if name in sys.modules])"
)


def test_help_names_every_command_and_imports_nothing_heavy() -> None:
    done = subprocess.run([sys.executable, "-c", _IMPORTED], capture_output=True, text=True, check=True)
    assert all(name in done.stdout for name in COMMANDS)
    assert done.stdout.splitlines()[-1] == "[]"


@pytest.mark.parametrize("name", COMMANDS)
def test_every_listed_command_is_there_and_takes_config_data_and_json(name: str, run: Run) -> None:
    group = commands.get_command(
        commands.make_context("letopis", [name, "--help"], resilient_parsing=True), name
    )
    assert group is not None
    groups = {
        "generations": [["list"], ["use"], ["prune"]],
        "import": [["seed"], ["drop"]],
        "eval": [["search"]],
        "entities": [
            *(["list"], ["show"], ["path"], ["merge"], ["split"], ["rename"], ["ignore"]),
            *(["corrections"], ["undo"]),
        ],
    }
    lines = groups.get(name, [[]])
    for extra in lines:
        told = run(name, *extra, "--help")
        assert told.code == 0
        assert all(flag in told.out for flag in ("--config FILE", "--data DIR", "--json"))


def test_the_version_is_that_of_the_distribution(run: Run) -> None:
    assert run("--version").out.startswith("letopis 0.")


def test_no_command_shows_the_help_and_is_a_usage_error(run: Run) -> None:
    told = run()
    assert told.code == 2
    assert "Commands:" in told.err


def test_an_unknown_command_is_one_line_and_exit_2(run: Run) -> None:
    told = run("biuld")
    assert told.code == 2
    assert told.out == ""
    assert told.err.startswith("letopis: No such command 'biuld'")
    assert "Next:" in told.err
    assert told.err.count("\n") == 1


def test_an_unknown_environment_name_is_exit_2_with_the_nearest_name(
    work: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LETOPIS_EMBEDING__ORDER", '["local"]')
    told = run("status")
    assert told.code == 2
    assert told.err == (
        "letopis: Unknown environment name: LETOPIS_EMBEDING__ORDER."
        " Next: did you mean LETOPIS_EMBEDDING__ORDER?\n"
    )


def test_with_json_an_error_is_an_object_on_stdout(work: Path, run: Run) -> None:
    told = run("search", "кот", "--json")
    assert told.code == 1
    assert told.err == ""
    assert set(told.json) == {"code", "message", "hint"}
    assert told.json["code"] == "index_missing"


def test_with_json_a_usage_error_is_an_object_too(work: Path, run: Run) -> None:
    told = run("build", "--json", "--budget-requests", "many")
    assert told.code == 2
    assert told.json["code"] == "usage"


def test_a_config_file_that_is_not_there_is_exit_2(work: Path, run: Run) -> None:
    told = run("status", "--config", "other.toml")
    assert (told.code, told.err.count("\n")) == (2, 1)
    assert "other.toml is not there" in told.err


def test_data_of_the_command_line_counts_from_the_working_folder(
    work: Path, tmp_path: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    monkeypatch.chdir(elsewhere)
    assert run("build", "--config", "../desk/letopis.toml", "--data", "mine").code == 0
    assert (elsewhere / "mine" / "CURRENT").is_file()
    assert not (work / "mine").exists()


def test_a_reader_that_has_had_enough_ends_the_command_without_a_traceback(work: Path, run: Run) -> None:
    assert run("build").code == 0
    command = [sys.executable, "-c", "import sys; from service.cli import main; sys.exit(main())"]
    process = subprocess.Popen(
        [*command, "search", "кот", "--json", "--limit", "100"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        cwd=work,
    )
    assert process.stdout is not None
    assert process.stderr is not None
    process.stdout.close()
    said = process.stderr.read()
    assert process.wait(30) == 1
    assert b"Traceback" not in said
    assert b"Exception ignored" not in said
    process.stderr.close()


def test_a_folder_that_can_not_be_written_is_told_without_a_traceback(work: Path, run: Run) -> None:
    (work / "index").write_text("a file where the folder should be", "utf-8")
    told = run("build")
    assert told.code == 1
    assert "index" in told.err
    assert "Next:" in told.err
    assert str(work) not in told.err
    assert "Traceback" not in told.err


def test_a_bug_shows_where_it_happened_and_is_exit_1(capsys: pytest.CaptureFixture[str]) -> None:
    def broken() -> None:
        raise TypeError("'int' object is not iterable")

    assert exit_code_of(broken, ["--json"]) == 1
    said = capsys.readouterr()
    assert "in broken" in said.err
    assert json.loads(said.out)["code"] == "internal"


def test_a_damaged_database_is_told_without_a_traceback(capsys: pytest.CaptureFixture[str]) -> None:
    def broken() -> None:
        raise apsw.CorruptError("database disk image is malformed")

    assert exit_code_of(broken, []) == 1
    said = capsys.readouterr()
    assert said.err == (
        "letopis: The database can't be used: database disk image is malformed. Next: run `letopis doctor`\n"
    )


def test_ctrl_c_is_exit_1_without_a_traceback(capsys: pytest.CaptureFixture[str]) -> None:
    def interrupted() -> None:
        raise KeyboardInterrupt

    assert exit_code_of(interrupted, []) == 1
    assert capsys.readouterr().err == "letopis: Stopped.\n"

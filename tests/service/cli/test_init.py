from __future__ import annotations

import io
import json
import re
import shutil
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest

from schemas.settings import load

from .conftest import Run, talk


@pytest.fixture
def here(home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty working folder; the bundled model is not asked, a dry run starts no model."""
    folder = tmp_path / "here"
    folder.mkdir()
    monkeypatch.chdir(folder)
    return folder


@pytest.fixture
def agents(home: Path) -> Path:
    """A home folder of someone who uses agents."""
    sample = Path(__file__).parents[2] / "indexer/archives/samples/openclaw"
    shutil.copytree(sample, home / ".openclaw/agents/main/sessions")
    (home / ".claude/projects").mkdir(parents=True)
    (home / "memory").mkdir()
    (home / "memory/2026-03-09.md").write_text("# Заметка\n\nКот ест кролика.\n", "utf-8")
    return home


def written(folder: Path) -> dict[str, Any]:
    return tomllib.loads((folder / "letopis.toml").read_text("utf-8"))


def test_with_yes_it_takes_what_it_finds_and_no_cloud(agents: Path, here: Path, run: Run) -> None:
    told = run("init", "--yes")
    assert told.code == 0
    assert {"~/.openclaw", "~/memory"} <= set(written(here)["archives"])
    assert written(here)["embedding"]["cloud"] is False
    assert "Dry run: nothing was written" in told.out
    assert not (here / "data").exists()


def test_what_it_wrote_is_read_back_and_explained(agents: Path, here: Path, run: Run) -> None:
    run("init", "--yes")
    settings, source = load()
    assert source is not None
    assert agents / ".openclaw" in settings.archives
    text = source.read_text("utf-8")
    assert str(agents) not in text
    # Every key that is only suggested is a real one.
    suggested, count = re.subn(r"(?m)^# (\[[a-z.]+\]|[a-z_]+ = .+)$", r"\1", text)
    assert count > 8
    (here / "suggested.toml").write_text(suggested, "utf-8")
    assert load(here / "suggested.toml")[0].notify.command


def test_it_asks_and_does_as_it_is_told(
    agents: Path, here: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO("n\n" * 5))
    told = run("init")
    assert told.code == 0
    assert written(here)["archives"] == []
    assert "Send texts to the cloud? [y/N]" in told.out
    assert "Next: add one to `archives`" in told.out


def test_nobody_to_ask_is_told_how_to_go_on(
    agents: Path, here: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO(""))
    told = run("init")
    assert told.code == 2
    assert "use --yes" in told.err
    assert not (here / "letopis.toml").exists()


def test_a_settings_file_is_not_overwritten_without_force(here: Path, run: Run) -> None:
    (here / "letopis.toml").write_text("# mine\n", "utf-8")
    told = run("init", "--yes")
    assert told.code == 2
    assert (here / "letopis.toml").read_text("utf-8") == "# mine\n"
    assert run("init", "--yes", "--force").code == 0
    assert written(here)["archives"] == []


def test_archives_and_cloud_of_the_command_line_need_no_question(here: Path, run: Run) -> None:
    talk(here / 'my "talks"', 3)
    told = run("init", "--archive", 'my "talks"', "--cloud", "--data", "store", "--json")
    assert told.code == 0
    assert written(here)["embedding"]["cloud"] is True
    assert [Path(path).name for path in written(here)["archives"]] == ['my "talks"']
    assert Path(written(here)["data"]) == here / "store"
    assert told.json["estimate"]["messages"]["total"] == 3


def test_places_without_a_reader_are_named_as_such(
    agents: Path, here: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    from indexer import archives

    known = {name: reader for name, reader in archives.READERS.items() if not name.startswith("claude")}
    monkeypatch.setattr(archives, "READERS", known)
    told = json.loads(run("init", "--json").out)
    assert told["not_readable"] == ["~/.claude/projects"]
    assert "~/.claude/projects" not in told["archives"]


def test_an_export_of_telegram_and_notes_beside_are_found(home: Path, here: Path, run: Run) -> None:
    sample = Path(__file__).parents[2] / "indexer/archives/samples/telegram/result.json"
    export = home / "Downloads/Telegram Desktop/ChatExport_2026-03-01"
    export.mkdir(parents=True)
    shutil.copy(sample, export)
    (here / "MEMORY.md").write_text("# Память\n\nВсё помню.\n", "utf-8")
    told = run("init", "--json").json
    assert "~/Downloads/Telegram Desktop/ChatExport_2026-03-01" in told["archives"]
    assert any(archive.endswith("MEMORY.md") for archive in told["archives"])
    assert told["estimate"]["messages"]["total"] > 1

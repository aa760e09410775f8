from __future__ import annotations

import json
import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from service.cli import main

SENTENCES = (
    "Переносим серверы в новый дата-центр в субботу ночью",
    "Кот Барсик опять не ест сухой корм",
    "Заказал Docker-образ с PostgreSQL, проверь порт 5432",
    "Встреча с Иваном Петровым переехала на четверг",
    "Билеты в Карелию куплены, едем второго января",
    "Нужно починить бэкап: архив не открывается",
)

CONFIG = """\
data = "index"
archives = ["../talks"]
timezone = "Europe/Moscow"
[embedding]
order = ["hash"]
floor = false
batch_size = 2
[entities]
backend = "patterns"
"""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a command line came to."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


Run = Callable[..., Outcome]


def talk(folder: Path, count: int = 24, name: str = "family.jsonl") -> Path:
    """One message a day, so that none shares a chunk with another."""
    folder.mkdir(exist_ok=True)
    path = folder / name
    lines = [
        {
            "id": f"m{number}",
            "chat": path.stem,
            "author": "Оля" if number % 2 else "Ваня",
            "role": "user",
            "ts": f"2025-{1 + number // 28:02d}-{1 + number % 28:02d}T10:00:00+03:00",
            "text": f"{SENTENCES[number % len(SENTENCES)]}, запись {number}.",
        }
        for number in range(count)
    ]
    path.write_text("".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines), "utf-8")
    return path


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home folder and an environment without anything of the machine's owner."""
    for name in list(os.environ):
        if name.upper().startswith(("LETOPIS_", "GEMINI_", "GOOGLE_", "OLLAMA_")):
            monkeypatch.delenv(name)
    home = tmp_path / "home"
    home.mkdir()
    monkeypatch.setenv("HOME", str(home))
    return home


@pytest.fixture
def work(home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working folder with letopis.toml, and an archive beside it."""
    folder = tmp_path / "desk"
    folder.mkdir()
    (folder / "letopis.toml").write_text(CONFIG, "utf-8")
    talk(tmp_path / "talks")
    monkeypatch.chdir(folder)
    return folder


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Run:
    """Runs a command line in this process."""

    def run(*arguments: str) -> Outcome:
        capsys.readouterr()
        code = main(list(arguments))
        said = capsys.readouterr()
        return Outcome(code, said.out, said.err)

    return run

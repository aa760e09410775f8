"""README.md and README.ru.md: they say the same, and what they show runs as it stands."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

from schemas.settings import load

ROOT = Path(__file__).parents[1]
ENGLISH = (ROOT / "README.md").read_text("utf-8")
RUSSIAN = (ROOT / "README.ru.md").read_text("utf-8")

Block = tuple[str, str]


def blocks(text: str) -> list[Block]:
    """(language, content) of every fenced block."""
    return re.findall(r"^```(\w*)\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)


def shell(holding: str) -> str:
    """The one shell block that holds a text."""
    (found,) = [content for language, content in blocks(ENGLISH) if language == "sh" and holding in content]
    return found


def curls() -> list[str]:
    return [line for line in shell("/v1/search").splitlines() if line]


# --- the two say the same ---------------------------------------------------------------------------------


def test_both_have_the_same_sections() -> None:
    assert [len(level) for level in re.findall(r"^(#+) ", ENGLISH, re.MULTILINE)] == [
        len(level) for level in re.findall(r"^(#+) ", RUSSIAN, re.MULTILINE)
    ]


def test_both_show_the_same_commands() -> None:
    english, russian = blocks(ENGLISH), blocks(RUSSIAN)
    assert [language for language, _ in english] == [language for language, _ in russian]
    picture = english[-1]
    assert picture[0] == "text"
    assert [block for block in english if block != picture] == russian[:-1]


def test_both_name_the_same_files_formats_and_links() -> None:
    for pattern in (r"\]\(docs/[^)]+\)|\]\(LICENSE\)|\]\(CHANGELOG\.md\)", r"`[^`\n]+`"):
        assert sorted(re.findall(pattern, ENGLISH)) == sorted(re.findall(pattern, RUSSIAN))


def test_make_knows_the_shown_targets() -> None:
    makefile = (ROOT / "Makefile").read_text("utf-8")
    for text in (ENGLISH, RUSSIAN):
        for target in re.findall(r"(?:^|`)make ([a-z-]+)", text, re.MULTILINE):
            assert re.search(rf"^{target}:", makefile, re.MULTILINE), target


def test_the_cron_line_is_the_one_of_deploy() -> None:
    assert shell("17 3 * * *") in (ROOT / "deploy" / "crontab").read_text("utf-8")


def test_the_shown_setting_is_valid(tmp_path: Path) -> None:
    (shown,) = [content for language, content in blocks(ENGLISH) if language == "toml"]
    (tmp_path / "letopis.toml").write_text(shown, "utf-8")
    settings, _ = load(tmp_path / "letopis.toml", environment={})
    assert settings.embedding.cloud is True


# --- what is shown runs -----------------------------------------------------------------------------------

LINES = (
    ("Иван", "Что решили по графу сущностей? Предлагаю хранить граф сущностей в SQLite."),
    ("Мария", "Решили: граф сущностей в отдельном файле, строит Иван Петров."),
    ("Иван", "Переезд на новый сервер в субботу, я созвонился с Иваном Петровым из хостинга."),
)


class Home:
    """A home folder with a checkout of the program and a tiny archive beside it."""

    def __init__(self, folder: Path) -> None:
        self.checkout = folder / "letopis"
        self.checkout.mkdir()
        (self.checkout / ".venv").symlink_to(Path(sys.prefix), target_is_directory=True)
        (shown,) = [content for language, content in blocks(ENGLISH) if language == "json"]
        first = json.loads(shown)
        told = [
            first | {"id": str(at), "author": author, "text": text, "ts": f"2026-03-18T1{at}:00:00+03:00"}
            for at, (author, text) in enumerate(LINES)
        ]
        archive = folder / ".openclaw" / "chats.jsonl"
        archive.parent.mkdir()
        archive.write_text(
            shown + "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in told), "utf-8"
        )
        self.archive = archive
        kept = {name: value for name, value in os.environ.items() if not name.startswith("LETOPIS_")}
        for name in ("GEMINI_API_KEY", "GOOGLE_API_KEY", "OLLAMA_HOST"):
            kept.pop(name, None)
        self.environment = kept | {
            "HOME": str(folder),
            "NO_PROXY": "*",
            "no_proxy": "*",
            "LETOPIS_EMBEDDING__ORDER": '["hash"]',
            "LETOPIS_EMBEDDING__FLOOR": "false",
            "LETOPIS_SERVICE__PORT": "0",
        }

    def run(self, script: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            ["/bin/sh", "-euc", script],
            cwd=self.checkout,
            env=self.environment,
            input="\n" * 9,  # a person who presses Enter at each question of `init`
            capture_output=True,
            text=True,
            timeout=120,
        )


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Home:
    """After the first two of the three lines."""
    home = Home(tmp_path_factory.mktemp("home"))
    init, build, serve = shell("letopis init").splitlines()
    assert serve == ".venv/bin/letopis serve"
    for line in (init, build):
        done = home.run(line)
        assert done.returncode == 0, done.stderr
    return home


@pytest.fixture(scope="module")
def url(home: Home) -> Iterator[str]:
    """The third line, running."""
    serve = shell("letopis init").splitlines()[-1].split()
    process = subprocess.Popen(
        serve, cwd=home.checkout, env=home.environment, stderr=subprocess.PIPE, text=True
    )
    try:
        assert process.stderr is not None
        found = (re.search(r"http://\S+", line) for line in process.stderr if "listening on" in line)
        match = next(found)
        assert match is not None
        yield match[0]
    finally:
        process.terminate()
        assert process.wait(20) == 0


def test_three_lines_make_an_index_of_ones_own_archive(home: Home) -> None:
    settings = tomllib.loads((home.checkout / "letopis.toml").read_text("utf-8"))
    assert settings.get("embedding", {}).get("cloud", False) is False
    done = home.run(".venv/bin/letopis search граф сущностей")
    assert "граф сущностей" in done.stdout


def test_the_lines_for_a_key_run_and_cost_nothing_without_a_new_message(home: Home) -> None:
    done = home.run(shell("GEMINI_API_KEY"))
    assert done.returncode == 0, done.stderr
    assert "Nothing has changed" in done.stdout


def test_the_cron_line_runs_and_keeps_what_was_said(home: Home) -> None:
    command = shell("17 3 * * *").split(None, 5)[5]
    assert home.run(command).returncode == 0
    assert "Nothing has changed" in (home.checkout / "build.log").read_text("utf-8")


@pytest.mark.parametrize("line", curls(), ids=range(len(curls())))
def test_each_curl_line_is_answered(home: Home, url: str, line: str) -> None:
    assert line.count("localhost:8077") == 1
    done = home.run(line.replace("localhost:8077", url).replace("curl ", "curl -sS --fail-with-body ", 1))
    assert done.returncode == 0, done.stdout + done.stderr
    if "format=text" in line:
        assert "граф сущностей" in done.stdout
        return
    answer = json.loads(done.stdout)
    assert any(answer.get(key) for key in ("hits", "entities", "paths", "generation"))
    if "author=" in line:
        assert all("Иван" in [told["author"] for told in hit["messages"]] for hit in answer["hits"])
        assert answer["hits"][0]["explain"]


def test_raw_cyrillic_in_a_url_is_a_400_as_told(home: Home, url: str) -> None:
    done = home.run(f"curl -s -o /dev/null -w '%{{http_code}}' '{url}/v1/search?q=привет'")
    assert done.stdout == "400"
    assert "400" in ENGLISH


@pytest.mark.slow
def test_the_shown_answer_is_the_one_from_the_demo_archive(tmp_path: Path) -> None:
    (excerpt, _) = [content for language, content in blocks(ENGLISH) if language == "text"]
    asked, *shown = [line for line in excerpt.splitlines() if line.strip()]
    question = re.search(r"'q=([^']+)' -d limit=(\d+)", asked)
    assert question is not None
    (tmp_path / "letopis.toml").write_text(
        f'data = "index"\narchives = ["{(ROOT / "data" / "demo").as_posix()}"]\n'
        'timezone = "Europe/Moscow"\n[embedding]\norder = ["local"]\n',
        "utf-8",
    )
    letopis = Path(sys.prefix) / "bin" / "letopis"
    answer = ""
    for arguments in (["build"], ["search", "--limit", question[2], question[1]]):
        done = subprocess.run([letopis, *arguments], cwd=tmp_path, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        answer = done.stdout
    patterns = [".*?".join(re.escape(part.strip()) for part in line.split("…")) for line in shown]
    # In the order shown; "…" stands for anything.
    assert re.search(".*?".join(patterns), answer, re.DOTALL), answer

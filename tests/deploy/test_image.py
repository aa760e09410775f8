"""The image: only what the lock names, nobody's privileges, nothing of the working folder but the code."""

from __future__ import annotations

import json
import re
import shlex
import subprocess
import sys
import threading
import time

import pytest

from schemas.problems import IndexMissing
from schemas.settings import Settings
from service.server import serve
from tests.deploy.files import ROOT, commands_of_cli, instructions
from tests.fakes.engine import FakeEngine

DOCKERFILE = (ROOT / "Dockerfile").read_text("utf-8")
ALL = instructions(DOCKERFILE)
START = [at for at, (word, _) in enumerate(ALL) if word == "FROM"]
BUILD, FINAL = ALL[START[0] : START[1]], ALL[START[1] :]


def of(stage: list[tuple[str, str]], word: str) -> list[str]:
    return [rest for found, rest in stage if found == word]


def test_every_install_is_checked_by_hash_or_touches_no_index() -> None:
    installs = [
        line for run in of(ALL, "RUN") for line in re.split(r"&&|;;|;", run) if "pip --python" in line
    ]
    assert len(installs) == 3
    for line in installs:
        assert "--no-deps" in line
        assert "--require-hashes" in line or line.rstrip().endswith("--no-index .")


def test_nothing_for_development_is_installed() -> None:
    assert "dev" not in " ".join(of(BUILD, "COPY") + of(BUILD, "RUN"))
    assert not of(FINAL, "ADD")
    assert [copy for copy in of(FINAL, "COPY") if not copy.startswith("--from=build ")] == []


def test_the_russian_model_comes_from_its_own_releases_by_hash_and_only_when_asked_for() -> None:
    arguments = dict(line.split("=", 1) for line in of(BUILD, "ARG"))
    assert arguments["SPACY_MODEL"] == "0"
    assert re.fullmatch(r"[0-9a-f]{64}", arguments["SPACY_MODEL_SHA256"])
    (run,) = [run for run in of(BUILD, "RUN") if "spacy-models" in run]
    assert "https://github.com/explosion/spacy-models/releases/download/ru_core_news_sm-" in run
    assert "--hash=sha256:${SPACY_MODEL_SHA256}" in run
    assert "--no-index" in run
    for lock in ("requirements.lock", "requirements-dev.lock", "pyproject.toml"):
        assert not re.search(r"(?im)^[\s\"']*ru[-_]core[-_]news", (ROOT / lock).read_text("utf-8"))


@pytest.mark.parametrize(
    ("model", "digest", "ends", "said"),
    [
        ("0", "", 0, ""),
        ("1", "", 1, "SPACY_MODEL_SHA256 is empty"),
        ("yes", "00", 1, "give 0 or 1"),
    ],
)
def test_the_choice_of_model_refuses_what_it_does_not_know(
    model: str, digest: str, ends: int, said: str
) -> None:
    (run,) = [run for run in of(BUILD, "RUN") if "spacy-models" in run]
    environment = {
        "SPACY_MODEL": model,
        "SPACY_MODEL_SHA256": digest,
        "SPACY_MODEL_VERSION": "3.8.0",
        "PATH": "",
    }
    done = subprocess.run(["/bin/sh", "-c", run], env=environment, capture_output=True, text=True)
    assert (done.returncode, said in done.stderr) == (ends, True)


def test_the_process_is_nobody_with_a_fixed_number() -> None:
    assert of(FINAL, "USER") == ["10077:10077"]
    assert any("--uid 10077" in run and "-o letopis" in run for run in of(FINAL, "RUN"))


def test_it_starts_a_command_that_the_cli_has_and_stops_by_a_signal() -> None:
    assert json.loads(of(FINAL, "ENTRYPOINT")[0]) == ["letopis"]
    assert json.loads(of(FINAL, "CMD")[-1])[0] in commands_of_cli()
    assert of(FINAL, "STOPSIGNAL") == ["SIGTERM"]


def test_its_settings_are_ones_that_letopis_knows() -> None:
    pairs = [pair.split("=", 1) for line in of(FINAL, "ENV") for pair in shlex.split(line)]
    given = {name: value for name, value in pairs if name.startswith("LETOPIS_")}
    assert given == {"LETOPIS_DATA": "/data", "LETOPIS_SERVICE__HOST": "0.0.0.0"}


def test_only_named_files_reach_the_build_and_all_that_it_copies_are_there() -> None:
    lines = [
        line for line in (ROOT / ".dockerignore").read_text("utf-8").splitlines() if not line.startswith("#")
    ]
    assert lines[0] == "*"
    allowed = {line[1:] for line in lines if line.startswith("!")}
    copied = {
        source
        for copy in of(BUILD, "COPY")
        for source in copy.split()[:-1]
        if not source.startswith("--from")
    }
    assert copied == allowed
    assert all((ROOT / name).exists() for name in copied)


@pytest.mark.parametrize("ready", [True, False])
def test_the_health_check_is_green_only_while_an_index_is_served(ready: bool) -> None:
    fault = None if ready else IndexMissing("There is no index yet.", "run `letopis build`")
    (check,) = [rest.partition("CMD ")[2] for rest in of(FINAL, "HEALTHCHECK")]
    urls: list[str] = []
    settings = Settings.model_validate({"service": {"port": 0, "token": "a-token-of-24-characters"}})
    thread = threading.Thread(
        target=serve, args=(FakeEngine(fault=fault), settings, urls.append), daemon=True
    )
    thread.start()
    until = time.monotonic() + 10
    while not urls and time.monotonic() < until:
        thread.join(0.01)
    _, *arguments = json.loads(check.replace("http://127.0.0.1:8077", urls[0]))
    done = subprocess.run([sys.executable, *arguments], capture_output=True, timeout=30)
    assert (done.returncode == 0) is ready

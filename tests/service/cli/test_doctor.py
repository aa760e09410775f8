from __future__ import annotations

import fcntl
import socket
import time
from pathlib import Path
from typing import Any

import pytest

from service.cli import machine, providers
from tests.fakes.engine import FakeEngine
from tests.fakes.http import serving
from tests.fakes.ollama import FakeOllama

from .conftest import Run


@pytest.fixture(autouse=True)
def _free_port(monkeypatch: pytest.MonkeyPatch, home: Path) -> None:
    monkeypatch.setenv("LETOPIS_SERVICE__PORT", "0")


def findings(run: Run, *arguments: str) -> dict[str, dict[str, Any]]:
    return {finding["check"]: finding for finding in run("doctor", "--json", *arguments).json["findings"]}


def test_a_sound_installation_is_exit_0(work: Path, run: Run) -> None:
    run("build")
    (work / "index").chmod(0o700)
    told = run("doctor")
    assert told.code == 0
    assert "✗" not in told.out
    for check in (
        "driver",
        "sqlite-vec",
        "settings",
        "archive",
        "generation",
        "hash",
        "names",
        "disk",
        "token",
    ):
        assert f"✓ {check} " in told.out


def test_before_the_first_build_nothing_is_wrong(work: Path, run: Run) -> None:
    told = run("doctor", "--json")
    assert (told.code, told.json["ok"]) == (0, True)
    assert not (work / "index").exists()


def test_every_fault_ends_with_a_remedy_and_is_exit_1(
    work: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    run("build")
    database = work / "index" / "000001" / "chat_vectors.db"
    database.write_bytes(database.read_bytes()[:-1])
    monkeypatch.setenv("LETOPIS_ARCHIVES", '["../talks", "../gone"]')
    monkeypatch.setenv("LETOPIS_SERVICE__HOST", "0.0.0.0")
    told = run("doctor")
    assert told.code == 1
    faults = [line for line in told.out.splitlines() if line.startswith("✗")]
    assert {line.split()[1] for line in faults} == {"archive", "generation", "token"}
    assert all(" Next: " in line for line in faults)
    assert str(work.parent) not in told.out


def test_an_unknown_environment_name_is_a_fault_with_the_nearest(
    work: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LETOPIS_SERVISE__PORT", "1")
    told = run("doctor")
    assert told.code == 1
    assert (
        "Unknown environment name: LETOPIS_SERVISE__PORT. Next: did you mean LETOPIS_SERVICE__PORT?"
        in told.out
    )


def test_names_of_the_environment_are_told_without_their_values(
    work: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LETOPIS_SERVICE__TOKEN", "correct horse battery")
    told = run("doctor").out
    assert "LETOPIS_SERVICE__TOKEN" in told
    assert "horse" not in told
    assert "A token of 21 bytes" in told


def test_a_provider_gets_one_fixed_word_and_nothing_of_the_archive(
    work: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    with FakeOllama(dims=32) as server:
        monkeypatch.setenv("OLLAMA_HOST", server.url)
        monkeypatch.setenv("LETOPIS_EMBEDDING__ORDER", '["ollama"]')
        assert findings(run)["ollama"]["message"] == "bge-m3 answers with 32 dims."
        assert {text.removeprefix("query: ") for text in server.texts} <= {"warm", providers.WORD}


def test_a_key_without_the_cloud_is_never_used(work: Path, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GEMINI_API_KEY", "no request is made with it")
    monkeypatch.setenv("LETOPIS_EMBEDDING__ORDER", '["gemini", "hash"]')
    found = findings(run)["gemini"]
    assert found["state"] == "warn"
    assert "cloud = true" in found["message"]


def test_a_provider_whose_vectors_are_held_is_missed(
    work: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LETOPIS_EMBEDDING__ORDER", '["ollama"]')
    with FakeOllama() as server:
        monkeypatch.setenv("OLLAMA_HOST", server.url)
        assert run("build").code == 0
    found = findings(run)
    assert found["ollama"]["state"] == "fail"
    assert found["embedders"]["state"] == "fail"


def test_a_build_at_work_is_named(work: Path, run: Run) -> None:
    run("build")
    with (work / "index" / "indexer.lock").open("a") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        assert findings(run)["lock"]["state"] == "warn"
    assert findings(run)["lock"]["state"] == "ok"


def test_the_port_may_be_held_by_our_own_service_but_by_no_other(
    work: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    with serving(FakeEngine()) as url:
        monkeypatch.setenv("LETOPIS_SERVICE__PORT", url.rpartition(":")[2])
        assert findings(run)["port"]["state"] == "ok"
    with socket.create_server(("127.0.0.1", 0)) as taken:
        monkeypatch.setenv("LETOPIS_SERVICE__PORT", str(taken.getsockname()[1]))
        found = findings(run)["port"]
    assert (found["state"], bool(found["hint"])) == ("fail", True)


def test_a_clock_behind_the_last_build_is_a_fault(
    work: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    run("build")
    now = time.time()
    monkeypatch.setattr(time, "time", lambda: now - 7200)
    assert findings(run)["clock"]["state"] == "fail"


def test_a_full_disk_is_a_fault(work: Path, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(machine, "LEAST_ROOM", 10**18)
    assert findings(run)["disk"]["state"] == "fail"

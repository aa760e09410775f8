from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.fakes.ollama import FakeOllama
from tests.fakes.server import Reply, Vectors, replied

from .conftest import CONFIG, Run

COMMAND = [sys.executable, "-c", "import sys; from service.cli import main; sys.exit(main())", "build"]


class Gate:
    """Holds one answer of a server back until the test lets it go."""

    def __init__(self) -> None:
        self.reached = threading.Event()
        self.open = threading.Event()

    def __call__(self, vectors: Vectors, answer: Callable[[Vectors], Any]) -> Reply:
        self.reached.set()
        self.open.wait(30)
        return replied(200, answer(vectors))


@pytest.fixture
def gated(work: Path) -> tuple[FakeOllama, Gate]:
    """A server that answers three requests (the probe and two batches) and holds the fourth."""
    gate = Gate()
    server = FakeOllama()
    server.faults.extend([None, None, None, gate])
    config = CONFIG.replace('["hash"]', '["ollama"]')
    (work / "letopis.toml").write_text(
        f'{config}[embedding.ollama]\nhost = "{server.url}"\nmodel = "bge-m3"\n', "utf-8"
    )
    return server, gate


def started(work: Path) -> subprocess.Popen[bytes]:
    # A group of its own, as a shell gives it: the signal then goes to this build alone.
    return subprocess.Popen(
        COMMAND, cwd=work, stderr=subprocess.PIPE, stdout=subprocess.PIPE, process_group=0
    )


def wait_for_line(process: subprocess.Popen[bytes], part: bytes) -> None:
    assert process.stderr is not None
    for line in process.stderr:
        if part in line:
            return
    raise AssertionError(f"{part!r} was never said")


@pytest.mark.parametrize("sign", [signal.SIGINT, pytest.param(signal.SIGTERM, marks=pytest.mark.slow)])
def test_a_signal_stops_at_a_batch_and_the_next_run_pays_for_nothing_twice(
    gated: tuple[FakeOllama, Gate], work: Path, run: Run, sign: signal.Signals
) -> None:
    server, gate = gated
    with server:
        process = started(work)
        assert gate.reached.wait(30)
        os.kill(process.pid, sign)
        wait_for_line(process, b"Stopping at the next batch")
        gate.open.set()
        _, said = process.communicate(timeout=30)
        assert process.returncode == 1
        assert b"Stopped while embedding." in said
        assert b"Traceback" not in said
        assert not (work / "index" / "CURRENT").exists()
        paid = [text for call in server.calls[1:] for text in call.texts]
        assert len(paid) == 6

        told = run("build", "--json")
        assert told.code == 0
        again = [text for text in server.texts[1 + len(paid) :] if text in paid]
    assert again == []
    assert told.json["spaces"]["ollama/bge-m3/1024/1"]["embedded"] == 18
    assert (work / "index" / "CURRENT").read_text() == "000001\n"


def test_a_second_signal_ends_at_once_and_what_was_committed_stays(
    gated: tuple[FakeOllama, Gate], work: Path, run: Run
) -> None:
    server, gate = gated
    with server:
        process = started(work)
        assert gate.reached.wait(30)
        os.kill(process.pid, signal.SIGINT)
        wait_for_line(process, b"Stopping at the next batch")
        os.kill(process.pid, signal.SIGINT)
        assert process.wait(10) == 1
        process.communicate()
        gate.open.set()
        assert not (work / "index" / "CURRENT").exists()
        told = run("build", "--json")
    assert told.code == 0
    assert told.json["spaces"]["ollama/bge-m3/1024/1"]["embedded"] == 20

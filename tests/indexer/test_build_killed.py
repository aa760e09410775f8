"""kill -9 in the middle of a build, twenty times: no generation is lost, and hardly a text is paid twice."""

from __future__ import annotations

import contextlib
import json
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from indexer.embedders import EMBEDDERS, hash
from indexer.stores.ledger import Ledger
from schemas.http import SearchRequest
from tests.fakes.archive import GEMINI, Home, said
from tests.fakes.gemini import FakeGemini
from tests.fakes.server import Vectors

LOCAL = "local/multilingual-e5-small/384/1"
KILLS = 20
BATCH = 20
ROUND = 80
WORKERS = 2

# A slow worker that notes every text that it gets, before it answers.
_WORKER = """
import sys, time, zlib
import numpy as np
from indexer.embedders.local_worker import HELLO, LENGTH, REQUEST

requests, answers = sys.stdin.buffer, sys.stdout.buffer
answers.write(HELLO.pack(384, 0))
answers.flush()
while head := requests.read(REQUEST.size):
    _, count = REQUEST.unpack(head)
    texts = [requests.read(LENGTH.unpack(requests.read(LENGTH.size))[0]).decode() for _ in range(count)]
    with open(sys.argv[1], "a", encoding="utf-8") as record:
        record.write("".join(text.replace("\\n", " ") + "\\n" for text in texts))
    time.sleep(0.2)
    for text in texts:
        row = np.random.default_rng(zlib.crc32(text.encode())).normal(size=384)
        answers.write((row / np.linalg.norm(row)).astype("<f4").tobytes())
    answers.flush()
"""

_BUILD = """
import json, sys
from pathlib import Path
from indexer.embedders import EMBEDDERS
from indexer.embedders.local import LocalEmbedder
from tests.fakes.archive import Home

folder, environment, embedding, workers, *worker = sys.argv[1:]
EMBEDDERS["local"] = lambda settings, _: LocalEmbedder(int(workers), (sys.executable, "-P", *worker))
home = Home(Path(folder), json.loads(environment), json.loads(embedding))
build = home.making()
print("begun", flush=True)
sys.exit(build.run().exit)
"""


def _started(home: Home) -> subprocess.Popen[str]:
    worker = home.folder / "slow_worker.py"
    worker.write_text(_WORKER, "utf-8")
    told = (str(home.folder), json.dumps(home.environment), json.dumps(home.embedding), str(WORKERS))
    process = subprocess.Popen(
        [sys.executable, "-c", _BUILD, *told, str(worker), str(home.folder / "record.txt")],
        cwd=Path(__file__).parents[2],
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "begun\n"
    return process


def _completed(home: Home) -> float:
    """Run a build to its end; how many seconds it took after its imports."""
    process = _started(home)
    begun = time.monotonic()
    process.communicate(timeout=120)
    assert process.returncode == 0
    return time.monotonic() - begun


def _local_texts(home: Home) -> Counter[str]:
    record = home.folder / "record.txt"
    return Counter(record.read_text("utf-8").splitlines() if record.exists() else ())


def _again(counts: Counter[str]) -> int:
    return sum(count - 1 for count in counts.values())


@pytest.mark.slow
def test_twenty_kills_leave_the_last_generation_serving_and_cost_a_batch_a_worker_at_most(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # The query side needs no vectors here; it must not load the real model for a space of the slow worker.
    monkeypatch.setitem(EMBEDDERS, "local", hash.embedder)
    dice = random.Random(20)
    home = Home(tmp_path)
    killed = met = 0
    with FakeGemini() as gemini, contextlib.ExitStack() as stack:
        sound = gemini.answer

        def slow(vectors: Vectors) -> Any:
            time.sleep(0.2)
            return sound(vectors)

        monkeypatch.setattr(gemini, "answer", slow)
        home.using(gemini)
        home.embedding["order"] = ["gemini", "local"]
        home.write("round-00.jsonl", said("chat-00", ROUND // 2))
        _completed(home)
        home.write("round-00.jsonl", said("chat-00", ROUND))
        whole = _completed(home)
        engine = stack.enter_context(home.engine())

        for number in range(1, KILLS + 1):
            chat = f"chat-{number:02d}"
            home.write(f"round-{number:02d}.jsonl", said(chat, ROUND))
            before = home.current
            paid, ran = _again(Counter(gemini.texts)), _again(_local_texts(home))

            process = _started(home)
            time.sleep(dice.uniform(0, whole))
            process.kill()
            process.communicate()
            killed += process.returncode == -signal.SIGKILL

            # The data folder opens, and what is served is a whole generation: the old one or, if the kill
            # came after the last step, the new one.
            with Ledger(home.data) as ledger:
                assert ledger.messages.count() >= ROUND * number
                midway = any(
                    ROUND * number < held.covered < ROUND * (number + 1) for held in ledger.vectors.spaces()
                )
            assert home.current in (before, f"{int(before or 0) + 1:06d}")
            answer = engine.search(SearchRequest(q=f"chat-{number - 1:02d} номер 0007", mode="text"))
            assert answer.hits[0].messages[0].id == f"chat-{number - 1:02d}-7"
            assert answer.index.generation in (before, home.current)

            _completed(home)
            chunks = ROUND * (number + 1)
            assert home.published() == {GEMINI: chunks, LOCAL: chunks}
            assert [path.name for path in home.data.glob(".writing-*")] == []
            paid, ran = _again(Counter(gemini.texts)) - paid, _again(_local_texts(home)) - ran
            assert paid <= BATCH
            assert ran <= BATCH * WORKERS
            met += midway or paid > 0 or ran > 0
            engine._live.refresh()
            assert engine.ready() == home.current
    # The dice met the embedding itself, not only the time before and after it.
    assert killed >= KILLS * 3 // 4
    assert met >= 5

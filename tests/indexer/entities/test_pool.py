"""Extraction in worker processes: the same mentions in the same order, and no orphan."""

from __future__ import annotations

import os
import sys
import textwrap
import time
from pathlib import Path

import pytest

from indexer.entities import Extractor
from indexer.entities.pool import Pool
from schemas.problems import LetopisError

TEXTS = [f"Иван Петров пишет на ivan{number}@example.com про Docker" for number in range(60)]
BATCHES = [TEXTS[start : start + 7] for start in range(0, 60, 7)]


def test_processes_find_what_one_finds_in_the_same_order() -> None:
    here = Extractor("patterns")
    with Pool("patterns", 2) as pool:
        assert list(pool.extract(BATCHES)) == [here.extract(batch) for batch in BATCHES]
        assert (pool.capped, pool.note) == (0, here.note)


def test_texts_of_any_characters_go_through_the_pipe() -> None:
    odd = ["\ud800 Иван\x00\n\r\u2028", "", "x" * 100_000, "😀" * 10]
    with Pool("patterns", 1) as pool:
        assert list(pool.extract([odd])) == [Extractor("patterns").extract(odd)]


def worker(tmp_path: Path, body: str) -> tuple[str, ...]:
    path = tmp_path / "worker.py"
    path.write_text(textwrap.dedent(body), "utf-8")
    return sys.executable, str(path)


def test_a_worker_that_dies_is_one_sentence_with_the_remedy(tmp_path: Path) -> None:
    dying = worker(
        tmp_path,
        """
        import sys
        print('{"version": "x", "note": null}', flush=True)
        sys.stdin.readline()
        sys.exit(9)
        """,
    )
    with Pool("patterns", 2, dying) as pool, pytest.raises(LetopisError, match="ended with code 9") as caught:
        list(pool.extract(BATCHES))
    assert "patterns" in caught.value.hint


def test_workers_end_with_the_pool(tmp_path: Path) -> None:
    told = worker(
        tmp_path,
        f"""
        import os, sys
        open({str(tmp_path / "pid")!r}, "w").write(str(os.getpid()))
        print('{{"version": "x", "note": null}}', flush=True)
        for line in sys.stdin:
            print('{{"capped": 0, "mentions": [[]]}}', flush=True)
        """,
    )
    with Pool("patterns", 1, told) as pool:
        assert list(pool.extract([["да"]])) == [[()]]
        pid = int((tmp_path / "pid").read_text())
        os.kill(pid, 0)
    deadline = time.monotonic() + 5
    while time.monotonic() < deadline:
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            return
    pytest.fail("the worker lives on")

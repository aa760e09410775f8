"""Case 47: searches by the hundred while the index is made anew, and a second indexer that must give up."""

from __future__ import annotations

import resource
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx
import pytest

from indexer.stores.ledger import Ledger
from tests.fakes.http import serving
from tests.fakes.index import Line, archive, build, engine_over, said, settings_for

ROOT = Path(__file__).resolve().parents[2]


def lines(count: int) -> Iterator[Line]:
    for number in range(count):
        text = (
            f"запись {number}: сервер и Docker, деплой в {number % 24} часов, пишет user{number % 9}@site.org"
        )
        yield said(
            text,
            f"m{number}",
            chat=f"c{number % 12}",
            author=f"Автор {number % 5}",
            ts=1_700_000_000 + number,
        )


@pytest.mark.parametrize(
    ("threads", "each", "messages", "builds"),
    [(5, 8, 60, 2), pytest.param(20, 50, 1500, 2, marks=pytest.mark.slow)],
)
def test_case_47_a_full_re_index_disturbs_no_search(
    tmp_path: Path, threads: int, each: int, messages: int, builds: int
) -> None:
    settings = settings_for(tmp_path / "index")
    path = archive(tmp_path / "archive", lines(messages))
    build(settings, path)

    def client(url: str, number: int) -> list[int]:
        statuses = []
        with httpx.Client(base_url=url, timeout=60) as connection:
            for at in range(each):
                query = {"q": f"сервер user{at % 9}", "unit": ("chunk", "message")[(number + at) % 2]}
                answer = connection.get("/v1/search", params=query)
                statuses.append(answer.status_code)
                assert answer.json()["hits"]
        return statuses

    with (
        engine_over(settings) as engine,
        serving(engine, settings) as url,
        ThreadPoolExecutor(threads) as pool,
    ):
        clients = [pool.submit(client, url, number) for number in range(threads)]
        for _ in range(builds):
            assert build(settings, path, full=True).generation is not None
        statuses = [status for one in clients for status in one.result()]
    assert statuses == [200] * (threads * each)


def test_case_47_a_second_indexer_gives_up_at_once_and_says_why(tmp_path: Path) -> None:
    settings = settings_for(tmp_path / "index")
    path = archive(tmp_path / "archive", lines(3))
    with Ledger(settings.data):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        done = subprocess.run(
            [sys.executable, "-m", "indexer", "--data", str(settings.data), "--json", str(path)],
            cwd=ROOT,
            capture_output=True,
            text=True,
            timeout=30,
            check=False,
        )
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
    assert done.returncode == 1
    told = done.stdout + done.stderr
    assert "Another indexer is at work" in told
    assert "Traceback" not in told
    # Processor time: the clock on the wall depends on what else this machine does.
    assert after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime < 2

from __future__ import annotations

import asyncio
import threading

import pytest

from schemas.problems import RequestError
from schemas.settings import Settings
from service.app import create_app
from service.limits import Calls, announced_length
from tests.fakes.engine import FakeEngine
from tests.fakes.http import ask


def test_a_late_answer_is_a_timeout_and_its_slot_stays_taken_until_it_ends() -> None:
    release = threading.Event()
    ended = threading.Event()

    def hang() -> None:
        release.wait(10)
        ended.set()

    async def scenario() -> None:
        calls = Calls(limit=1)
        with pytest.raises(RequestError) as late:
            await calls.run(hang, timeout_ms=20)
        assert (late.value.code, late.value.status) == ("timeout", 504)
        assert "20 ms" in late.value.message
        assert calls.running == 1
        with pytest.raises(RequestError) as full:
            await calls.run(lambda: 1)
        assert (full.value.code, full.value.retry_after) == ("overloaded", 1)
        release.set()
        await asyncio.to_thread(ended.wait, 10)
        while calls.running:
            await asyncio.sleep(0)
        assert await calls.run(lambda: 5) == 5
        assert calls.running == 0

    asyncio.run(scenario())


def test_as_many_calls_run_at_once_as_there_are_slots() -> None:
    barrier = threading.Barrier(8)

    async def scenario() -> None:
        calls = Calls(limit=8)
        places = await asyncio.gather(*(calls.run(lambda: barrier.wait(10)) for _ in range(8)))
        assert sorted(places) == list(range(8))
        assert calls.running == 0

    asyncio.run(scenario())


def test_a_call_that_fails_gives_its_slot_back_and_keeps_its_own_fault() -> None:
    def fail() -> None:
        raise TimeoutError("the engine's own")

    async def scenario() -> None:
        calls = Calls(limit=1)
        for _ in range(3):
            with pytest.raises(TimeoutError, match="the engine's own"):
                await calls.run(fail)
        assert calls.running == 0

    asyncio.run(scenario())


def test_a_caller_that_goes_away_leaks_no_slot() -> None:
    async def scenario() -> None:
        calls = Calls(limit=1)
        task = asyncio.create_task(calls.run(lambda: 1))
        await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        while calls.running:
            await asyncio.sleep(0)
        assert await calls.run(lambda: 2) == 2

    asyncio.run(scenario())


def test_overload_and_timeout_are_told_over_http_while_the_probes_still_answer() -> None:
    release = threading.Event()
    engine = FakeEngine()
    app = create_app(engine, Settings(), Calls(limit=1))
    engine.before = lambda: release.wait(10)
    late = ask(app, "GET", "/v1/search?q=x&timeout_ms=30")
    assert (late.status_code, late.json()["code"]) == (504, "timeout")
    full = ask(app, "GET", "/v1/search?q=x")
    assert (full.status_code, full.json()["code"], full.headers["retry-after"]) == (503, "overloaded", "1")
    engine.before = lambda: None
    assert ask(app, "GET", "/livez").status_code == ask(app, "GET", "/readyz").status_code == 200
    assert "letopis_calls_running 1.0" in ask(app, "GET", "/metrics").text
    release.set()


def test_the_largest_announced_length_counts() -> None:
    assert announced_length([]) == 0
    assert announced_length([(b"content-length", b"12"), (b"content-length", b"70000")]) == 70000
    assert announced_length([(b"content-length", b"-5")]) == 0
    assert announced_length([(b"content-length", b"9" * 5000)]) > 10**18

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from indexer.stores.columns import Columns
from indexer.stores.database import open_immutable
from indexer.stores.manifest import VECTORS_NAME
from indexer.stores.sqlite import SqliteStore
from schemas.records import AGENTS, Filter
from schemas.sql import vectors as sql
from tests.fakes.index import published, said, store_of

START = 1_772_323_200


@pytest.fixture(scope="module")
def columns(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Columns]:
    long = "длинная запись про сервер и память. " * 12
    lines = [
        *(
            said(f"{at} {long}", f"a{at}", chat="a", session="1", author="Иван", ts=START + at)
            for at in range(4)
        ),
        *(
            said(f"{at} {long}", f"b{at}", chat="a", session="2", author="Мария", ts=START + 100 + at)
            for at in range(2)
        ),
        *(said(f"{at} {long}", f"c{at}", chat="b", author="Иван") for at in range(3)),
    ]
    settings = published(tmp_path_factory.mktemp("columns"), lines)
    database = open_immutable(settings.data / "000001" / VECTORS_NAME, sql.VERSION)
    yield Columns(database)
    database.close()


def test_neighbours_never_cross_a_session_or_a_chat(columns: Columns) -> None:
    chunks = np.arange(1, columns.chunks + 1)
    starts = chunks[columns.before[1:] == 0]
    ends = chunks[columns.after[1:] == 0]
    assert len(starts) == len(ends) == 3  # sessions
    for first, last in zip(starts, ends, strict=True):
        assert len(set(columns.chunk_chat[first : last + 1])) == 1


def test_a_workers_talk_and_the_main_one_pass_over_each_other(tmp_path: Path) -> None:
    # One session, as its file mixes them; w says what a worker said.
    talks = {"a": ["m0", "w1", "w2", "m3", "w4", "m5"], "b": ["w0", "m1"]}
    store = store_of(tmp_path, talks, {}, workers=[f"w{at}" for at in range(6)])
    try:
        for unit in ("chunk", "message"):
            before, after = store.neighbours(unit)
            assert before.tolist() == [0, 0, 0, 2, 1, 3, 4, 0, 0]
            assert after.tolist() == [0, 4, 3, 5, 6, 0, 0, 0, 0]
        assert np.flatnonzero(store.mask(Filter(), "message")).tolist() == [1, 4, 6, 8]
        assert np.flatnonzero(store.mask(Filter(agents=("worker",)), "chunk")).tolist() == [2, 3, 5, 7]
        assert store.mask(Filter(agents=AGENTS), "chunk")[1:].all()
    finally:
        store.close()


def test_before_and_after_are_each_other_turned_round(columns: Columns) -> None:
    for chunk in range(1, columns.chunks + 1):
        if columns.before[chunk]:
            assert columns.after[columns.before[chunk]] == chunk
        if columns.after[chunk]:
            assert columns.before[columns.after[chunk]] == chunk
    assert (columns.before[0], columns.after[0]) == (0, 0)


def test_a_chunk_is_kept_when_one_of_its_messages_is(columns: Columns) -> None:
    messages = columns.mask(Filter(chats=("a",), authors=("мария",)), "message")
    chunks = columns.mask(Filter(chats=("a",), authors=("мария",)), "chunk")
    held = {
        int(chunk)
        for chunk, message in zip(columns.member_chunk, columns.member_message, strict=True)
        if messages[message]
    }
    assert set(np.flatnonzero(chunks).tolist()) == held
    assert int(messages.sum()) == 2


def test_no_filter_ever_keeps_row_0(columns: Columns) -> None:
    for keep in (Filter(), Filter(chats=("никакой",)), Filter(until=2**62), Filter(roles=("user",))):
        assert not columns.mask(keep, "message")[0]
        assert not columns.mask(keep, "chunk")[0]


def test_messages_without_a_time_fall_out_of_any_window(columns: Columns) -> None:
    assert int(columns.mask(Filter(), "message").sum()) == 9
    assert int(columns.mask(Filter(since=-(2**62)), "message").sum()) == 6
    assert int(columns.mask(Filter(until=2**62), "message").sum()) == 6


def test_whose_and_what_kind_of_messages_they_are(tmp_path: Path) -> None:
    long = "слово за словом " * 100
    lines = [
        said("Кто придёт?", "q1", ts=START),
        said("Кто («придёт»?)", "q2", ts=START + 1),
        said("Не знаю. Может, Оля? Посмотрим", "s1", role="assistant", ts=START + 2),
        said("Готово: **да?** \n", "q3", role="assistant", ts=START + 3),
        said(long, "long", chat="z", role="assistant", ts=START),
    ]
    settings = published(tmp_path, lines)
    held = SqliteStore(settings.data / "000001" / VECTORS_NAME)
    of_assistant = held.mask(Filter(roles=("assistant",), agents=AGENTS), "message")
    assert held.asking()[1:].tolist() == [True, True, False, True, False]
    assert of_assistant[1:].tolist() == [False, False, True, True, True]
    assert not held.mask(Filter(roles=("tool",), agents=AGENTS), "message").any()
    talk, *windows = held.share(of_assistant)[1:].tolist()
    assert 0.5 < talk < 1
    assert windows
    assert set(windows) == {1.0}
    assert held.alone()[1:].tolist() == [0, *[5] * len(windows)]
    held.close()

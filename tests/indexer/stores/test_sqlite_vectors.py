"""The matrix that the service ranks by, against the vec0 table that any SQLite with sqlite-vec can ask."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from indexer.stores.sqlite import SqliteStore
from schemas.records import AGENTS, Filter, Space
from tests.fakes.index import store_of

CASE = Path(__file__).resolve().parents[2] / "cases" / "37_cosine_vs_l2" / "vectors.json"

SPACE = Space("hash", "hash", 48, 1)
SIZES = {"первый": 700, "второй": 250, "третий": 40, "четвёртый": 10}
DIMS = 48

# One step of int8 in one component is the most that a tie can hide.
TIE = 1e-5


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SqliteStore]:
    random = np.random.default_rng(7)
    count = sum(SIZES.values())
    chats = {chat: [f"слово{at}" for at in range(size)] for chat, size in SIZES.items()}
    vectors = random.normal(size=(count, DIMS)).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    workers = {f"слово{at}" for at in range(0, count, 3)}
    opened = store_of(tmp_path_factory.mktemp("vectors"), chats, {SPACE: vectors}, workers)
    yield opened
    opened.close()


def asked(seed: int) -> NDArray[np.float32]:
    vector: NDArray[np.float32] = np.random.default_rng(seed).normal(size=DIMS).astype(np.float32)
    # Both sides see the same rounded query.
    vector = np.rint(vector * (127 / np.abs(vector).max())).astype(np.float32)
    vector /= np.linalg.norm(vector)
    return vector


def filters() -> st.SearchStrategy[Filter]:
    time = st.integers(1_700_000_000_000, 1_700_000_700_000)
    return st.builds(
        Filter,
        chats=st.lists(st.sampled_from([*SIZES, "никакой"]), max_size=3).map(tuple),
        agents=st.lists(st.sampled_from(AGENTS), max_size=2).map(tuple),
        since=st.none() | time,
        until=st.none() | time,
    )


@settings(max_examples=60, deadline=None, derandomize=True)
@given(keep=filters(), seed=st.integers(0, 10_000))
def test_the_vec0_oracle_and_the_matrix_agree_under_any_filter(
    store: SqliteStore, keep: Filter, seed: int
) -> None:
    (space,) = store.spaces()
    vector = asked(seed)
    ids, cosines = store.cosines(space.id, vector, keep)
    nearest, similarities = store.oracle(space.id, vector, 10, keep)
    assert len(nearest) == min(10, len(ids))
    best = np.sort(cosines)[::-1][: len(nearest)]
    np.testing.assert_allclose(similarities, best, atol=TIE)
    by_id = dict(zip(ids.tolist(), cosines.tolist(), strict=True))
    for id_, similarity in zip(nearest.tolist(), similarities.tolist(), strict=True):
        assert by_id[id_] == pytest.approx(similarity, abs=TIE)


def test_every_vector_stands_in_the_matrix_under_its_own_chunk(store: SqliteStore) -> None:
    (space,) = store.spaces()
    ids, _ = store.cosines(space.id, asked(1), Filter(agents=AGENTS))
    assert ids.tolist() == list(range(1, sum(SIZES.values()) + 1))


def test_the_nearest_of_the_main_talk_and_of_the_workers_are_apart(store: SqliteStore) -> None:
    (space,) = store.spaces()
    main, workers = (
        set(store.oracle(space.id, asked(1), 4_000, Filter(agents=agents))[0].tolist())
        for agents in ((), ("worker",))
    )
    assert main == set(np.flatnonzero(store.mask(Filter(agents=("main",)), "chunk")).tolist())
    assert main.isdisjoint(workers)
    assert main | workers == set(range(1, sum(SIZES.values()) + 1))


@pytest.mark.parametrize("scale", [1.0, 0.001, 1000.0])
def test_case_37_similarities_are_cosines_whatever_the_lengths(tmp_path: Path, scale: float) -> None:
    case = {name: np.array(values, np.float32) for name, values in json.loads(CASE.read_text()).items()}
    rows = np.stack([case["a"], case["b"], case["c"]]) * np.float32(scale)
    store = store_of(tmp_path, {"talk": ["а", "б", "в"]}, {Space("hash", "two", 2, 1): rows})
    try:
        (space,) = store.spaces()
        ids, cosines = store.cosines(space.id, case["q"], Filter())
        nearest, similarities = store.oracle(space.id, case["q"], 3, Filter())
    finally:
        store.close()
    assert dict(zip(ids.tolist(), cosines.tolist(), strict=True)) == pytest.approx({1: 1.0, 2: 0.0, 3: -1.0})
    assert nearest.tolist() == [1, 2, 3]
    np.testing.assert_allclose(similarities, [1.0, 0.0, -1.0], atol=1e-6)


def test_only_the_covered_chunks_of_a_space_are_scored(tmp_path: Path) -> None:
    vectors = np.eye(4, dtype=np.float32)
    vectors[2] = 0
    store = store_of(tmp_path, {"talk": ["а", "б", "в", "г"]}, {Space("hash", "four", 4, 1): vectors})
    try:
        (space,) = store.spaces()
        ids, cosines = store.cosines(space.id, np.array([0, 0, 0, 1], np.float32), Filter())
    finally:
        store.close()
    assert space.vectors == 3
    assert ids.tolist() == [1, 2, 4]
    assert cosines.tolist() == [0.0, 0.0, 1.0]


def test_spaces_of_one_length_are_never_mixed(tmp_path: Path) -> None:
    one, other = np.eye(3, dtype=np.float32), np.eye(3, dtype=np.float32)[::-1].copy()
    spaces = {Space("hash", "one", 3, 1): one, Space("hash", "one", 3, 2): other}
    store = store_of(tmp_path, {"talk": ["а", "б", "в"]}, spaces)
    try:
        first, second = store.spaces()
        query = np.array([1, 0, 0], np.float32)
        assert store.cosines(first.id, query, Filter())[1].tolist() == [1.0, 0.0, 0.0]
        assert store.cosines(second.id, query, Filter())[1].tolist() == [0.0, 0.0, 1.0]
    finally:
        store.close()

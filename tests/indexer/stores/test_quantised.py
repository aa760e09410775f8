from __future__ import annotations

import numpy as np

from indexer.stores.quantised import normalised, quantised


def unit(rows: int, dims: int = 384) -> np.ndarray[tuple[int, int], np.dtype[np.float32]]:
    vectors = np.random.default_rng(5).normal(size=(rows, dims)).astype(np.float32)
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def test_the_largest_component_of_each_row_uses_the_whole_range() -> None:
    small = quantised(unit(50) * np.float32(0.001))
    assert small.dtype == np.int8
    assert (np.abs(small.astype(int)).max(axis=1) == 127).all()


def test_cosines_survive_to_three_places() -> None:
    exact = unit(200)
    back = normalised(quantised(exact))
    assert np.abs((exact * back).sum(axis=1) - 1).max() < 1e-3
    assert np.abs(exact @ exact.T - back @ back.T).max() < 5e-3


def test_rows_come_back_with_length_one() -> None:
    assert np.allclose(np.linalg.norm(normalised(quantised(unit(20))), axis=1), 1, atol=1e-6)


def test_a_zero_row_stays_zero_and_finite() -> None:
    zero = np.zeros((2, 8), np.float32)
    assert not quantised(zero).any()
    assert not normalised(quantised(zero)).any()


def test_no_row_at_all_is_no_fault() -> None:
    assert quantised(np.zeros((0, 8), np.float32)).shape == (0, 8)
    assert normalised(np.zeros((0, 8), np.int8)).shape == (0, 8)

"""A space's weight: half for a good one, nothing for one that means nothing."""

from __future__ import annotations

import numpy as np
import pytest

from indexer import weighing


def test_random_vectors_get_no_weight() -> None:
    chance = np.random.default_rng(3)
    chunks, followers = chance.normal(size=(2, 200, 64)).astype(np.float32)
    assert weighing.self_retrieval(chunks, followers) == pytest.approx(0.5, abs=0.04)
    assert weighing.weight(chunks, followers) == 0.0


def test_a_space_that_knows_what_belongs_together_gets_half() -> None:
    chunks = np.random.default_rng(3).normal(size=(200, 64)).astype(np.float32)
    assert weighing.self_retrieval(chunks, chunks) == 1.0
    assert weighing.weight(chunks, chunks) == weighing.FULL


def test_a_constant_space_is_worthless() -> None:
    same = np.ones((50, 8), np.float32)
    assert weighing.self_retrieval(same, same) == pytest.approx(0.5)
    assert weighing.weight(same, same) == 0.0


def test_a_few_pairs_measure_nothing() -> None:
    few = np.eye(weighing.MIN_SAMPLE - 1, dtype=np.float32)
    assert weighing.weight(few, few) is None


def test_the_weight_grows_with_self_retrieval() -> None:
    weights = [weighing.weight_of(area) for area in (0.0, 0.55, 0.6, 0.7, 0.75, 1.0)]
    assert weights == sorted(weights)
    assert weights[0] == weights[1] == 0.0
    assert weights[-2] == weights[-1] == weighing.FULL

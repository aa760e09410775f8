from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from indexer.embedders.validation import validated
from schemas.problems import Outage

NAN, INF = float("nan"), float("inf")


@pytest.mark.parametrize(
    "vectors, numbers",
    [
        ([[1.0, 2.0]], ("1 vectors", "2 texts")),
        ([[1.0, 2.0]] * 3, ("3 vectors", "2 texts")),
        ([], ("0 vectors", "2 texts")),
        ([[1.0, 2.0], [1.0]], ("1 dimensions", "instead of 2")),
        ([[1.0, 2.0, 3.0]] * 2, ("3 dimensions", "instead of 2")),
        ([[1.0, 2.0], [NAN, 1.0]], ("1 of 2",)),
        ([[INF, 2.0], [-INF, 1.0]], ("2 of 2",)),
        ([[1.0, 2.0], [0.0, 0.0]], ("1 zero", "among 2")),
    ],
)
def test_a_broken_answer_is_an_outage_with_both_numbers(
    vectors: list[list[float]], numbers: tuple[str, ...]
) -> None:
    with pytest.raises(Outage) as outage:
        validated(vectors, 2, 2, "Provider")
    assert all(number in outage.value.message for number in ("Provider", *numbers))


def test_an_answer_of_something_else_than_numbers_is_an_outage() -> None:
    with pytest.raises(Outage):
        validated([["a", "b"]], 1, 2, "Provider")  # type: ignore[list-item]


@settings(max_examples=60, derandomize=True)
@given(arrays(np.float32, (4, 8), elements=st.floats(-1e4, 1e4, width=32)))
def test_an_accepted_answer_is_finite_and_normalised(vectors: np.ndarray) -> None:
    try:
        rows = validated(vectors, 4, 8, "Provider")
    except Outage:
        assert (np.linalg.norm(vectors.astype(np.float64), axis=1) < 1e-12).any()
    else:
        assert rows.dtype == np.float32
        assert np.linalg.norm(rows, axis=1) == pytest.approx(1, abs=1e-5)

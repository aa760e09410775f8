from __future__ import annotations

import numpy as np
import pytest

from service.evaluation.baselines import best_first, minmax, openclaw, rrf

NAN = float("nan")


def of(*values: float) -> np.ndarray[tuple[int], np.dtype[np.float32]]:
    return np.array(values, np.float32)


def test_rrf_by_hand() -> None:
    # Row 1 is second and first, row 2 first by words alone, row 3 second by cosine alone.
    scores = rrf(of(NAN, 3.0, 5.0, NAN, NAN), of(NAN, 0.9, NAN, 0.8, NAN))
    assert scores[1] == pytest.approx(1 / 62 + 1 / 61)
    assert scores[2] == pytest.approx(1 / 61)
    assert scores[3] == pytest.approx(1 / 62)
    assert np.isnan(scores[[0, 4]]).all()
    assert best_first(scores).tolist() == [1, 2, 3]


def test_openclaw_by_hand() -> None:
    scores = openclaw(of(NAN, 3.0, NAN, 1.0), of(NAN, 0.8, 0.4, 0.3))
    assert scores[1] == pytest.approx(0.7 * 0.8 + 0.3 * 3 / 4)
    assert np.isnan(scores[2])  # .28 is under the cut
    assert scores[3] == pytest.approx(0.7 * 0.3 + 0.3 / 2)


def test_minmax_by_hand() -> None:
    scores = minmax(of(NAN, 2.0, 4.0, NAN), of(NAN, 0.9, 0.8, 0.7))
    assert scores[1] == pytest.approx(0.5 * 0 + 0.5 * 1)
    assert scores[2] == pytest.approx(0.5 * 1 + 0.5 * 0.5, abs=1e-6)
    assert scores[3] == pytest.approx(0.0)
    assert np.isnan(scores[0])


def test_one_match_alone_is_the_best_of_its_leg() -> None:
    assert minmax(of(NAN, 2.0), of(NAN, 0.9))[1] == pytest.approx(1.0)
    assert minmax(of(NAN, NAN), of(NAN, 0.9))[1] == pytest.approx(0.5)


def test_equal_scores_stand_in_the_order_of_the_talk() -> None:
    assert best_first(of(NAN, 0.5, 0.7, 0.5)).tolist() == [2, 1, 3]

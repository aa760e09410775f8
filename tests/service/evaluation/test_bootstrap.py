from __future__ import annotations

import numpy as np
import pytest

from service.evaluation.bootstrap import Figure, Sampled, accepted_at, auroc, mean, resamples


def test_resamples_draw_as_many_queries_as_there_are() -> None:
    drawn = resamples(50, seed=3)
    assert drawn.shape == (1000, 50)
    assert (drawn.sum(axis=1) == 50).all()
    assert np.array_equal(drawn, resamples(50, seed=3))
    assert not np.array_equal(drawn, resamples(50, seed=4))


def test_the_interval_of_a_mean_is_that_of_the_normal_law() -> None:
    values = (np.arange(400) % 2).astype(float)
    figure = mean(values, resamples(400, 1)).figure()
    # A share of .5 over 400 has a standard error of .025.
    assert figure.value == 0.5
    assert figure.low == pytest.approx(0.5 - 1.96 * 0.025, abs=0.005)
    assert figure.high == pytest.approx(0.5 + 1.96 * 0.025, abs=0.005)
    assert figure.n == 400


def test_queries_without_a_value_do_not_count() -> None:
    values = np.array([1.0, np.nan, 0.0, np.nan])
    figure = mean(values, resamples(4, 1)).figure()
    assert (figure.value, figure.n) == (0.5, 2)


def test_a_difference_is_paired() -> None:
    chance = np.random.default_rng(5)
    one = chance.random(300)
    other = one + 0.01  # always a little better: no chance at all
    drawn = resamples(300, 1)
    paired = mean(other, drawn).minus(mean(one, drawn))
    assert paired.value == pytest.approx(0.01)
    assert (paired.low, paired.high) == (pytest.approx(0.01), pytest.approx(0.01))
    assert paired.certain
    assert mean(one, drawn).figure().high - mean(one, drawn).figure().low > 0.05


def test_no_difference_is_not_certain() -> None:
    assert not Figure(0.01, -0.01, 0.03, 10).certain
    assert not Figure(0.0, 0.0, 0.0, 10).certain
    assert Figure(-0.02, -0.03, -0.01, 10).certain


def test_auroc_by_hand() -> None:
    confidence = np.array([0.9, 0.8, 0.3, 0.5, 0.1])
    positive = np.array([True, True, True, False, False])
    # Of six pairs only (.3, .5) is the wrong way round.
    assert auroc(confidence, positive, resamples(5, 1)).value == pytest.approx(5 / 6)


def test_equal_confidence_is_a_coin() -> None:
    positive = np.array([True, False, True, False])
    assert auroc(np.zeros(4), positive, resamples(4, 1)).value == 0.5


def test_auroc_agrees_with_counting_pairs_on_every_resample() -> None:
    chance = np.random.default_rng(2)
    confidence, positive = chance.integers(0, 6, 40).astype(float), chance.random(40) < 0.4
    drawn = resamples(40, 9, draws=20)
    found = auroc(confidence, positive, drawn)
    for row, counts in enumerate(drawn):
        picked = np.repeat(np.arange(40), counts.astype(int))
        good, bad = confidence[picked[positive[picked]]], confidence[picked[~positive[picked]]]
        pairs = (good[:, None] > bad).mean() + (good[:, None] == bad).mean() / 2
        assert found.drawn[row] == pytest.approx(pairs)


def test_a_resample_of_one_side_alone_is_left_out() -> None:
    figure = auroc(np.array([1.0, 0.0]), np.array([True, False]), resamples(2, 1)).figure()
    assert (figure.value, figure.low, figure.high) == (1.0, 1.0, 1.0)


def test_the_threshold_lets_no_more_than_the_allowed_share_in() -> None:
    # Twenty unanswerable ones from .00 to .19, answerable ones beside them.
    confidence = np.concatenate((np.arange(20) / 100, [0.185, 0.175, 0.5, 0.01]))
    positive = np.concatenate((np.zeros(20, bool), np.ones(4, bool)))
    drawn = resamples(24, 1)
    assert accepted_at(confidence, positive, drawn, 0.0).value == pytest.approx(1 / 4)
    assert accepted_at(confidence, positive, drawn, 0.05).value == pytest.approx(2 / 4)
    assert accepted_at(confidence, positive, drawn, 0.10).value == pytest.approx(3 / 4)
    assert accepted_at(confidence, positive, drawn, 1.0).value == 1.0


def test_a_tie_with_an_unanswerable_one_lets_both_in_or_none() -> None:
    confidence = np.array([0.5, 0.5])
    assert accepted_at(confidence, np.array([True, False]), resamples(2, 1), 0.5).value == 0.0


def test_the_interval_is_the_middle_95_percent() -> None:
    values = np.arange(1001) / 1000
    figure = Sampled(0.5, values, 9).figure()
    assert (figure.low, figure.high) == (
        pytest.approx(np.percentile(values, 2.5)),
        pytest.approx(np.percentile(values, 97.5)),
    )

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from service import ranking
from service.ranking import Array, Ids, SpaceScores

SIZE = 401
GOLD = 8


def synthetic(seed: int) -> tuple[Ids, Array, Array, Ids]:
    """Chunks, their cosines in the floor and in a better space, and which of them are right."""
    random = np.random.default_rng(seed)
    ids = np.arange(1, SIZE)
    gold = random.choice(ids, GOLD, replace=False)
    truth = np.zeros(SIZE)
    truth[gold] = 1
    floor = 0.8 + 0.02 * random.normal(size=SIZE) + 0.05 * truth
    better = 0.3 + 0.05 * random.normal(size=SIZE) + 0.3 * truth
    return ids, floor[1:].astype(np.float32), better[1:].astype(np.float32), gold


def recall(scores: Array, gold: Ids, at: int = 10) -> float:
    best = np.argsort(-scores, kind="stable")[:at]
    return float(np.isin(gold, best).mean())


def test_a_better_space_over_30_percent_is_not_worse_than_the_floor_alone() -> None:
    alone, partly, whole = [], [], []
    for seed in range(60):
        ids, floor, better, gold = synthetic(seed)
        covered = np.random.default_rng(seed + 1000).random(len(ids)) < 0.3
        base = SpaceScores(ids, floor, floor, 0.5)
        part = SpaceScores(ids[covered], better[covered], better[covered], 0.5)
        alone.append(recall(ranking.dense([base], SIZE)[0], gold))
        partly.append(recall(ranking.dense([part, base], SIZE)[0], gold))
        whole.append(recall(ranking.dense([SpaceScores(ids, better, better, 0.5), base], SIZE)[0], gold))
    assert np.mean(partly) >= np.mean(alone)
    assert np.mean(whole) >= np.mean(partly)


def test_each_chunk_counts_in_the_first_space_that_covers_it() -> None:
    every = np.arange(1, 101)
    cosines = np.linspace(0.1, 0.9, 100).astype(np.float32)
    part = SpaceScores(every[:30], cosines[:30], cosines[:30], 0.3)
    base = SpaceScores(every[:80], cosines[:80], cosines[:80], 0.5)
    scores, weights, used = ranking.dense([part, base], 101)
    assert (used[1:31] == 0).all()
    assert (used[31:81] == 1).all()
    assert (used[81:] == -1).all()
    assert weights[1] == pytest.approx(0.3)
    assert weights[31] == pytest.approx(0.5)
    assert weights[90] == 0
    assert not scores[81:].any()


def test_the_floor_stays_the_scale_where_a_space_stands_behind_it() -> None:
    every = np.arange(1, 101)
    cosines = np.linspace(0.1, 0.9, 100).astype(np.float32)
    part = SpaceScores(every[:50], cosines[:50], cosines[:50], 0.5)
    base = SpaceScores(every, cosines, cosines, 0.5, floor=True)
    behind = SpaceScores(every[40:60], cosines[40:60], cosines[40:60], 0.5)
    alone, _, _ = ranking.dense([part, base], 101)
    scores, _, used = ranking.dense([part, base, behind], 101)
    assert (scores == alone).all()
    assert set(used[1:]) == {0, 1}


def test_without_any_space_nothing_is_dense() -> None:
    scores, weights, used = ranking.dense([], 5)
    assert not scores.any()
    assert not weights.any()
    assert (used == -1).all()


@settings(max_examples=100, deadline=None, derandomize=True)
@given(
    cosines=st.lists(st.floats(-1, 1, width=32), min_size=1, max_size=80),
    covered=st.lists(st.booleans(), min_size=80, max_size=80),
)
def test_dense_scores_lie_between_0_and_1_and_keep_the_order_of_a_space(
    cosines: list[float], covered: list[bool]
) -> None:
    values = np.array(cosines, np.float32)
    ids = np.arange(1, len(values) + 1)
    there = np.array(covered[: len(values)])
    base = SpaceScores(ids, values, values, 0.5)
    part = SpaceScores(ids[there], -values[there], -values[there], 0.5)
    scores, _, used = ranking.dense([part, base], len(values) + 1)
    assert ((scores >= 0) & (scores <= 1)).all()
    for number, cosine in ((0, -values), (1, values)):
        own = np.flatnonzero(used[1:] == number)
        by_cosine = own[np.argsort(cosine[own], kind="stable")]
        assert (np.diff(scores[1:][by_cosine]) >= 0).all()


@settings(max_examples=100, deadline=None, derandomize=True)
@given(bm25=st.lists(st.floats(-1, 60, width=32), max_size=50), bound=st.just(0.0) | st.floats(1e-6, 500))
def test_lexical_scores_lie_between_0_and_1(bm25: list[float], bound: float) -> None:
    ids = np.arange(1, len(bm25) + 1)
    scores = ranking.lexical(ids, np.array(bm25, np.float32), bound, len(bm25) + 1)
    assert ((scores >= 0) & (scores <= 1)).all()
    assert scores[0] == 0


def test_one_common_word_of_many_is_weak_even_where_nothing_is_better() -> None:
    weak = ranking.lexical(np.array([1]), np.array([2.0], np.float32), 40.0, 3)
    strong = ranking.lexical(np.array([1]), np.array([30.0], np.float32), 40.0, 3)
    assert weak[1] < 0.5 < strong[1] == 1.0


def test_a_neighbour_helps_a_chunk_that_has_evidence_of_its_own() -> None:
    scores = np.array([0, 0.5, 0.4, 0, 0.9], np.float32)
    before, after = np.array([0, 0, 1, 2, 0]), np.array([0, 2, 3, 0, 0])
    np.testing.assert_allclose(ranking.smoothed(scores, before, after), [0, 0.08, 0.1, 0, 0], atol=1e-6)


def test_a_message_takes_the_best_of_its_chunks_and_knows_which() -> None:
    scores = np.array([0, 0.2, 0.7, 0.7], np.float32)
    chunks, messages = np.array([1, 2, 2, 3]), np.array([1, 1, 2, 2])
    best, giver = ranking.by_message(scores, chunks, messages, 4)
    np.testing.assert_allclose(best, [0, 0.7, 0.7, 0])
    assert giver.tolist() == [0, 2, 2, 0]


def test_shares_sum_to_the_total() -> None:
    legs = {"text": np.array([0, 0.4], np.float32), "vector": np.array([0, 0.3], np.float32)}
    evidence = ranking.Evidence(legs, 1.4)
    assert sum(evidence.share(leg, 1) for leg in legs) == pytest.approx(float(evidence.total()[1]))
    assert evidence.share("date", 1) == 0


def test_a_word_of_every_chunk_beside_an_unseen_one_still_finds_them() -> None:
    ids, bm25 = np.arange(1, 4), np.array([3e-6, 2e-6, 1e-6], np.float32)
    scores = ranking.lexical(ids, bm25, upper_bound=19.0, size=4)
    assert (scores[1:] > 5e-4).all()
    assert scores[0] == 0


def test_a_part_without_weight_adds_nothing() -> None:
    scores = np.array([0, 0.5, 0.8, 0.2], np.float32)
    before, after = np.array([0, 0, 1, 2]), np.array([0, 2, 3, 0])
    assert not ranking.smoothed(scores, before, after, 0.0).any()
    assert ranking.smoothed(scores, before, after)[1] == pytest.approx(0.2 * 0.8)
    ids, bm25 = np.array([1, 2]), np.array([1.0, 2.0], np.float32)
    assert ranking.lexical(ids, bm25, 100.0, 3, 0.0)[2] == pytest.approx(1.0)
    assert ranking.lexical(ids, bm25, 8.0, 3)[2] == pytest.approx(0.5, abs=1e-3)


def test_the_question_just_before_a_message_speaks_for_it() -> None:
    own, before = np.array([0, 0.9, 0.1, 0.8, 0.2], np.float32), np.array([0, 0, 1, 2, 3])
    asking = np.array([False, True, False, False, True])
    np.testing.assert_allclose(ranking.answering(own, before, asking), [0, 0, 0.9, 0, 0])


def test_a_discount_is_a_leg_that_takes_a_share_of_all_before_it() -> None:
    evidence = ranking.Evidence({"text": np.array([0, 0.4, 0.2], np.float32)}, 1.0)
    evidence.add("date", np.array([0, 0.1, 0.0], np.float32), 0.25)
    evidence.discount("speaker", np.array([False, True, False]), 0.2)
    np.testing.assert_allclose(evidence.total() * 1.25, [0, 0.4, 0.2], atol=1e-6)
    assert evidence.share("speaker", 1) == pytest.approx(-0.1 / 1.25)
    assert evidence.topical(1) == pytest.approx(0.4 / 1.25)


def test_words_that_stand_together_count_by_their_share_of_the_querys_pairs() -> None:
    rows = [np.array([1, 2]), np.array([2]), np.empty(0, np.int64)]
    np.testing.assert_allclose(ranking.together(rows, 4, 4), [0, 0.25, 0.5, 0])
    assert not ranking.together([], 1, 3).any()

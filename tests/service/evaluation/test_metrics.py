from __future__ import annotations

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from service.evaluation.metrics import RETRIEVAL, WHOLE, covered, messages, ndcg, recall, retrieval
from service.evaluation.results import Ranked, Result, Stretch


def whole(*rows: int, length: int = 100) -> Result:
    return tuple(Stretch(row, 0, length) for row in rows)


def values(results: list[Result], gold: dict[int, int]) -> dict[str, float]:
    return retrieval(Ranked(results), gold, lambda row: row // 10)


def test_a_perfect_answer_gets_1_everywhere() -> None:
    assert set(values([whole(1)], {1: 100}).values()) == {1.0}
    assert list(values([whole(1)], {1: 100})) != []
    assert set(values([whole(1)], {1: 100})) == set(RETRIEVAL)


def test_an_empty_answer_gets_0_everywhere() -> None:
    assert set(values([], {1: 100}).values()) == {0.0}


def test_recall_counts_results_and_any_one_hit_of_them() -> None:
    results = [whole(row) for row in range(1, 13)]
    found = values(results, {5: 100, 6: 100, 11: 100, 99: 100})
    assert found["recall@5"] == pytest.approx(1 / 4)
    assert found["recall@10"] == pytest.approx(2 / 4)
    assert found["any@10"] == 1.0
    assert found["mrr"] == pytest.approx(1 / 5)


def test_a_result_of_ten_messages_is_one_result_and_ten_messages() -> None:
    results = [whole(*range(20, 30)), whole(1)]
    found = values(results, {1: 100})
    assert found["recall@5"] == 1.0
    assert found["message_recall@10"] == 0.0
    assert found["ndcg@10"] == 0.0
    assert found["mrr"] == pytest.approx(1 / 11)


def test_a_message_counts_once_where_windows_overlap() -> None:
    assert list(messages([whole(1, 2), whole(2, 3)])) == [1, 2, 3]


def test_ndcg_by_hand() -> None:
    # Gold at places 2 and 4 of two: (1/log2 3 + 1/log2 5) / (1 + 1/log2 3).
    expected = (1 / math.log2(3) + 1 / math.log2(5)) / (1 + 1 / math.log2(3))
    assert ndcg([7, 1, 8, 2], {1: 1, 2: 1}, 10) == pytest.approx(expected)
    assert ndcg([7, 1, 8, 2], {1: 1, 2: 1}, 10) == pytest.approx(0.6509, abs=1e-4)
    assert ndcg([7, 1], {1: 1}, 1) == 0.0


def test_ndcg_of_more_gold_than_places_can_still_be_1() -> None:
    assert ndcg(list(range(10)), dict.fromkeys(range(20), 1), 10) == pytest.approx(1.0)


def test_the_gold_counts_inside_the_budget_alone() -> None:
    results = [whole(1, length=1400), whole(2, length=200), whole(3, length=1300), whole(4, length=100)]
    found = values(results, {2: 200, 3: 1300, 4: 100, 5: 10})
    # 1,500 characters end in the middle of message 2, 3,000 behind message 4.
    assert found["evidence@1500"] == 0.0
    assert found["evidence@3000"] == pytest.approx(3 / 4)


def test_four_fifths_of_a_message_are_enough() -> None:
    assert covered([whole(1, length=1420), whole(2, length=100)], {2: 100}, 1500) == {2: 80}
    assert values([whole(1, length=1420), whole(2, length=100)], {2: 100})["evidence@1500"] == 1.0
    assert values([whole(1, length=1421), whole(2, length=100)], {2: 100})["evidence@1500"] == 0.0


def test_what_two_windows_share_is_counted_once() -> None:
    first, second = (Stretch(1, 0, 600),), (Stretch(1, 500, 1100),)
    assert covered([first, second], {1: 1100}, 1100) == {1: 1100}
    assert covered([second, first], {1: 1100}, 1100) == {1: 1100}
    assert covered([first, second], {1: 1100}, 800) == {1: 800}


def test_names_between_messages_take_room_where_the_message_begins() -> None:
    named = (Stretch(1, 0, 10, beside=5), Stretch(2, 0, 10, beside=6))
    assert covered([named], {1: 10, 2: 10}, 31) == {1: 10, 2: 10}
    assert covered([named], {1: 10, 2: 10}, 25) == {1: 10, 2: 4}
    assert covered([named, named], {1: 10, 2: 10}, 31) == {1: 10, 2: 10}
    assert covered([(Stretch(1, 0, 10, beside=50),)], {1: 10}, 40) == {1: 0}


def test_of_a_long_message_one_window_is_a_passage_and_no_evidence() -> None:
    found = values([(Stretch(1, 700, 1300),)], {1: 2000})
    assert (found["evidence@3000"], found["passage@3000"]) == (0.0, 1.0)


def test_sessions_count_in_the_order_in_which_they_appear() -> None:
    # Rows of ten make a session.
    results = [whole(row) for row in (10, 11, 20, 30, 40, 50, 60)]
    assert values(results, {55: 1})["session_recall@5"] == 1.0
    assert values(results, {65: 1})["session_recall@5"] == 0.0
    assert values(results, {15: 1, 65: 1})["session_recall@5"] == 0.5


stretches = st.builds(
    lambda row, start, length, beside: Stretch(row, start, start + length, beside),
    st.integers(1, 5),
    st.integers(0, 50),
    st.integers(1, 40),
    st.integers(0, 9),
)


@settings(max_examples=40)
@given(st.lists(st.lists(stretches, min_size=1, max_size=4).map(tuple), max_size=8), st.integers(0, 300))
def test_coverage_never_exceeds_the_budget_and_grows_with_it(results: list[Result], budget: int) -> None:
    gold = dict.fromkeys(range(1, 6), 90)
    less, more = covered(results, gold, budget), covered(results, gold, budget + 37)
    assert sum(less.values()) <= budget
    assert all(more[row] >= count for row, count in less.items())
    assert recall(results, gold) * len(gold) == len(set(messages(results)))
    unbounded = covered(results, gold, 10**6)
    for row in unbounded:
        points = {
            at for result in results for s in result if s.message == row for at in range(s.start, s.end)
        }
        assert unbounded[row] == len(points)


def test_the_documented_share() -> None:
    assert WHOLE == 0.8

from __future__ import annotations

import numpy as np
import pytest

from service.evaluation.figures import Got, summarised
from service.evaluation.judged import JudgedQuery
from service.evaluation.table import table

JUDGED = [
    *(JudgedQuery(f"a{at}", ("m",), kind="word") for at in range(6)),
    *(JudgedQuery(f"b{at}", ("m",), kind="name") for at in range(6)),
    *(JudgedQuery(f"c{at}", kind="none", answerable=False) for at in range(5)),
    *(JudgedQuery(f"d{at}", ("m",), kind="near", answerable=False) for at in range(5)),
]
CONFIDENCE = np.array([0.9] * 6 + [0.6] * 6 + [0.1] * 5 + [0.8] * 5)


def got(word: float, name: float, near: float) -> Got:
    values = np.array([word] * 6 + [name] * 6 + [np.nan] * 5 + [near] * 5)
    return Got({"recall@10": values}, CONFIDENCE)


REPORT = summarised(
    {"hybrid": got(1.0, 0.5, 0.5), "rrf60": got(0.5, 0.5, 0.5)}, JUDGED, seed=1, threshold=0.7
)


def test_retrieval_counts_the_queries_with_gold() -> None:
    recall = REPORT["hybrid"]["recall@10"]
    assert recall.figure.value == pytest.approx((6 + 3 + 2.5) / 17)
    assert recall.figure.n == 17
    assert {kind: found.figure.value for kind, found in recall.kinds.items()} == {
        "word": 1.0,
        "name": 0.5,
        "near": 0.5,
    }


def test_a_difference_is_that_from_the_product() -> None:
    recall = REPORT["rrf60"]["recall@10"]
    assert recall.difference is not None
    assert recall.difference.value == pytest.approx(-3 / 17)
    assert recall.difference.certain
    same = recall.kinds["name"].difference
    assert same is not None
    assert (same.value, same.low, same.high) == (0.0, 0.0, 0.0)


def test_each_kind_of_unanswerable_query_is_told_from_all_that_are_answered() -> None:
    told = REPORT["hybrid"]["answerable_auroc"]
    # Half of the answerable ones stand under the near misses, all above the others.
    assert told.figure.value == pytest.approx(0.75)
    assert {kind: found.figure.value for kind, found in told.kinds.items()} == {"none": 1.0, "near": 0.5}


def test_the_threshold_is_met_by_shares_of_either_side() -> None:
    system = REPORT["hybrid"]
    assert system["accepted"].figure.value == pytest.approx(6 / 12)
    assert system["false_accept"].figure.value == pytest.approx(5 / 10)
    assert system["false_accept"].kinds["near"].figure.value == 1.0
    assert "word" not in system["false_accept"].kinds


def test_the_band_high_has_its_own_shares_whatever_the_threshold() -> None:
    system = summarised({"hybrid": got(1.0, 0.5, 0.5)}, JUDGED, seed=1, threshold=0.55)["hybrid"]
    assert system["accepted"].figure.value == 1.0
    assert system["accepted@high"].figure.value == pytest.approx(6 / 12)
    assert system["false_accept@high"].figure.value == pytest.approx(5 / 10)


def test_a_set_in_which_all_is_answered_has_no_abstention() -> None:
    values = Got({"recall@10": np.ones(6)}, np.ones(6))
    report = summarised({"hybrid": values}, JUDGED[:6], seed=1, threshold=0.5)
    assert set(report["hybrid"]) == {"recall@10"}
    assert report["hybrid"]["recall@10"].kinds == {}


def test_the_json_of_a_figure() -> None:
    found = REPORT["rrf60"]["recall@10"].as_json()
    assert set(found) == {"value", "low", "high", "n", "difference", "kinds"}
    assert set(found["kinds"]["word"]) == {"value", "low", "high", "n", "difference"}
    assert found["value"] == 0.5


def test_the_table_is_markdown_that_says_what_is_certain() -> None:
    written = table({"talks": {"chunk": REPORT}})
    assert "## talks, unit=chunk, 17 queries" in written
    assert "| hybrid | 0.676 (" in written
    assert "| rrf60 | **−0.176 (" in written
    assert "| near (5) |" in written
    assert "Telling what the archive does not answer:" in written
    widths = [line.count("|") for line in written.splitlines() if line.startswith("|")]
    assert set(widths) <= {3, 9}


def test_ablations_stand_among_the_differences_alone() -> None:
    systems = REPORT | {"without date": REPORT["rrf60"]}
    rows = [line for line in table({"talks": {"chunk": systems}}).splitlines() if "without date" in line]
    assert len(rows) == 1
    assert "−0.176" in rows[0]

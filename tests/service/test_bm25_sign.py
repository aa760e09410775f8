from __future__ import annotations

import json
from pathlib import Path

import numpy as np

from service.ranking import lexical

CASE = Path(__file__).parents[1] / "cases" / "42_bm25_sign" / "scores.json"


def test_fts5_scores_become_strictly_decreasing_positive_ones() -> None:
    raw = np.array(json.loads(CASE.read_text("utf-8")), np.float32)
    found = lexical(np.arange(1, len(raw) + 1), -raw, upper_bound=10.0, size=len(raw) + 1)[1:]
    assert (found > 0).all()
    assert (np.diff(found) < 0).all()
    assert found.max() <= 1

"""What one answer is worth: pure functions of a ranked list and the gold messages, each 0–1.

recall@k, any@k      gold messages among the first k results (Manning, Raghavan, Schütze, chapter 8)
nDCG@10, MRR         over messages, in the order in which the results show them, each once; binary gains
message_recall@10    gold messages among the first ten of that order
evidence@N           gold messages of which at least WHOLE is inside the first N returned characters
passage@3000         the same, where of a message longer than a window one window is enough
session_recall@5     sessions of the gold among the first five sessions that the results touch
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence

from service.evaluation.results import Ranked, Result

BUDGETS = (1_500, 3_000, 6_000)

# A message counts as found from this share of its text on: a window drops blanks and line breaks at its ends.
WHOLE = 0.8

# Of a longer message no chunk holds more.
WINDOW = 600

RETRIEVAL = (
    *("recall@5", "recall@10", "any@10", "ndcg@10", "mrr", "message_recall@10"),
    *(f"evidence@{budget}" for budget in BUDGETS),
    *("passage@3000", "session_recall@5"),
)


def retrieval(
    ranked: Ranked,
    gold: Mapping[int, int],
    session: Callable[[int], int],
) -> dict[str, float]:
    """Every metric of RETRIEVAL.

    Args:
        ranked: the answer.
        gold: length in code points of each gold message, by row; not empty.
        session: the session of a message.
    """
    results = ranked.results
    order = list(messages(results))
    sessions = list(dict.fromkeys(session(message) for message in order))
    wanted = {session(message) for message in gold}
    values = {
        "recall@5": recall(results[:5], gold),
        "recall@10": recall(results[:10], gold),
        "any@10": float(recall(results[:10], gold) > 0),
        "ndcg@10": ndcg(order, gold, 10),
        "mrr": next((1 / place for place, message in enumerate(order, 1) if message in gold), 0.0),
        "message_recall@10": sum(message in gold for message in order[:10]) / len(gold),
        "session_recall@5": len(wanted.intersection(sessions[:5])) / len(wanted),
    }
    for budget in BUDGETS:
        shown = covered(results, gold, budget)
        values[f"evidence@{budget}"] = _share(shown, gold, lambda length: WHOLE * length)
        if budget == 3_000:
            values["passage@3000"] = _share(shown, gold, lambda length: WHOLE * min(length, WINDOW))
    return values


def messages(results: Sequence[Result]) -> Iterator[int]:
    """Messages in the order in which results show them, each once."""
    return iter(dict.fromkeys(stretch.message for result in results for stretch in result))


def recall(results: Sequence[Result], gold: Mapping[int, int]) -> float:
    """Share of the gold messages of which the results show any part."""
    shown = {stretch.message for result in results for stretch in result}
    return len(shown & gold.keys()) / len(gold)


def ndcg(order: Sequence[int], gold: Mapping[int, int], depth: int) -> float:
    """Normalised discounted cumulative gain with binary gains (Järvelin and Kekäläinen 2002)."""
    gain = sum(1 / math.log2(place + 1) for place, row in enumerate(order[:depth], 1) if row in gold)
    best = sum(1 / math.log2(place + 1) for place in range(1, min(len(gold), depth) + 1))
    return gain / best


def covered(results: Sequence[Result], gold: Mapping[int, int], budget: int) -> dict[int, int]:
    """How many code points of each gold message stand inside the first `budget` returned characters.

    Results are read in order. What was returned before is not counted again, as the windows of a talk share
    messages and are shown stitched together; a name or line break counts where its message begins.
    """
    shown: dict[int, bytearray] = {}
    left = budget
    for stretch in (stretch for result in results for stretch in result):
        if left <= 0:
            break
        mask = shown.get(stretch.message)
        if mask is None:
            mask = shown[stretch.message] = bytearray()
            left -= stretch.beside
        if len(mask) < stretch.end:
            mask.extend(bytes(stretch.end - len(mask)))
        left -= _show(mask, stretch.start, stretch.end, max(0, left))
    return {message: shown[message].count(1) for message in gold if message in shown}


def _show(mask: bytearray, start: int, end: int, room: int) -> int:
    """Mark what is new of a stretch, from its beginning as far as there is room; return how much that was."""
    fresh = mask.count(0, start, end)
    if fresh > room:
        at = start
        for _ in range(room):
            at = mask.index(0, at) + 1
        end, fresh = at, room
    mask[start:end] = b"\x01" * (end - start)
    return fresh


def _share(shown: Mapping[int, int], gold: Mapping[int, int], needed: Callable[[int], float]) -> float:
    return sum(shown.get(message, 0) >= max(1.0, needed(length)) for message, length in gold.items()) / len(
        gold
    )

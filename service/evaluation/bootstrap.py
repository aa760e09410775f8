"""Percentile bootstrap over queries (Efron 1979): 95 % intervals, and paired ones of differences.

Every system of a set is measured on the same resamples, so that a difference is paired by query.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Values = NDArray[np.float64]
Flags = NDArray[np.bool_]

RESAMPLES = 1_000
_LOW, _HIGH = 0.025, 0.975


@dataclass(frozen=True, slots=True)
class Figure:
    """A measured value with its 95 % interval over `n` queries."""

    value: float
    low: float
    high: float
    n: int

    def as_json(self) -> dict[str, float | int]:
        """Four places; the shape that `letopis eval search --json` prints."""
        return {
            "value": round(self.value, 4),
            "low": round(self.low, 4),
            "high": round(self.high, 4),
            "n": self.n,
        }

    @property
    def certain(self) -> bool:
        """Whether the interval leaves out 0: of a difference, that it is no chance."""
        return self.low > 0 or self.high < 0


@dataclass(frozen=True, slots=True)
class Sampled:
    """A statistic: its value, its values on the resamples, and how many queries it counts."""

    value: float
    drawn: Values
    n: int

    def figure(self) -> Figure:
        """With the percentile interval; a resample on which it is not defined is left out."""
        return _figure(self.value, self.drawn, self.n)

    def minus(self, other: Sampled) -> Figure:
        """The paired difference of two systems on the same resamples."""
        return _figure(self.value - other.value, self.drawn - other.drawn, self.n)


def _figure(value: float, drawn: Values, n: int) -> Figure:
    ordered = np.sort(drawn[~np.isnan(drawn)])
    if not len(ordered):
        return Figure(float(value), float(value), float(value), n)
    return Figure(float(value), _quantile(ordered, _LOW), _quantile(ordered, _HIGH), n)


def _quantile(ordered: Values, share: float) -> float:
    """As numpy's linear one, whose call takes ten times as long: a report holds thousands of intervals."""
    place = share * (len(ordered) - 1)
    below = int(place)
    above = min(below + 1, len(ordered) - 1)
    return float(ordered[below] + (place - below) * (ordered[above] - ordered[below]))


def resamples(count: int, seed: int, draws: int = RESAMPLES) -> Values:
    """How often each query is drawn.

    Args:
        count: number of queries, ≥ 1.
        seed: the same one gives the same draws.
        draws: number of resamples.

    Returns:
        (draws, count), rows sum to `count`.
    """
    chance = np.random.default_rng(seed)
    return chance.multinomial(count, np.full(count, 1 / count), size=draws).astype(np.float64)


def mean(values: Values, drawn: Values) -> Sampled:
    """The mean over the queries that have a value; NaN marks the others."""
    has = ~np.isnan(values)
    filled = np.where(has, values, 0.0)
    means = _divided(drawn @ filled, drawn @ has.astype(np.float64))
    return Sampled(float(filled.sum() / has.sum()) if has.any() else float("nan"), means, int(has.sum()))


def auroc(confidence: Values, positive: Flags, drawn: Values) -> Sampled:
    """Chance that an answerable query gets more confidence than an unanswerable one; a tie counts half."""
    good, bad = _tied(confidence, positive, drawn)
    below = np.cumsum(bad, axis=1) - bad / 2
    pairs = good.sum(axis=1) * bad.sum(axis=1)
    return _sampled(_divided((good * below).sum(axis=1), pairs), len(confidence))


def accepted_at(confidence: Values, positive: Flags, drawn: Values, false_accepts: float) -> Sampled:
    """Share of the answerable queries above the lowest threshold that lets at most so many others in."""
    good, bad = _tied(-confidence, positive, drawn)
    # From the highest confidence down, how much of either side is let in.
    wrong = _divided(np.cumsum(bad, axis=1), bad.sum(axis=1, keepdims=True))
    right = _divided(np.cumsum(good, axis=1), good.sum(axis=1, keepdims=True))
    best = np.where(wrong <= false_accepts + 1e-9, right, 0.0).max(axis=1)
    return _sampled(np.where(np.isnan(wrong[:, -1]), np.nan, best), len(confidence))


def _divided(part: Values, whole: Values) -> Values:
    """NaN where a resample drew nothing of a side."""
    return np.divide(part, whole, out=np.full_like(part, np.nan), where=whole > 0)


def _tied(confidence: Values, positive: Flags, drawn: Values) -> tuple[Values, Values]:
    """Weights of positives and negatives by rising confidence, a column a value; the first row is all."""
    order = np.argsort(confidence, kind="stable")
    ranked = confidence[order]
    starts = np.flatnonzero(np.append(True, ranked[1:] != ranked[:-1]))
    weights = np.vstack((np.ones(len(order)), drawn))[:, order]
    good = np.add.reduceat(weights * positive[order], starts, axis=1)
    bad = np.add.reduceat(weights * ~positive[order], starts, axis=1)
    return good, bad


def _sampled(values: Values, n: int) -> Sampled:
    return Sampled(float(values[0]), values[1:], n)

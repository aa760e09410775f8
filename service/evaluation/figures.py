"""One set, one unit: every system's figures with intervals, by kind, and their differences from the product.

Retrieval counts the queries with gold. Abstention counts all: how well a system's confidence tells those
that the archive answers from those that it does not.

answerable_auroc      area under the ROC curve of the confidence
accepted@fa5, @fa10   share of the answerable queries that are kept when 5 % (10 %) of the others slip in
accepted, false_accept  share of the answerable (of the others) whose confidence reaches the threshold
accepted@high, false_accept@high  the same at the threshold of the band "high"
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from service.confidence import HIGH
from service.evaluation import bootstrap
from service.evaluation.bootstrap import Figure, Flags, Sampled, Values
from service.evaluation.judged import JudgedQuery
from service.evaluation.systems import REFERENCE

ABSTENTION = (
    *("answerable_auroc", "accepted@fa5", "accepted@fa10"),
    *("accepted", "false_accept", "accepted@high", "false_accept@high"),
)

# At least so many of each side, or the abstention of a kind says nothing.
_LEAST_SIDE = 5


@dataclass(frozen=True, slots=True)
class Measured:
    """One metric of one system.

    Attributes:
        figure: over all queries.
        difference: from the product's, paired by query; None for the product itself.
        kinds: the same by kind of query.
    """

    figure: Figure
    difference: Figure | None
    kinds: Mapping[str, Measured]

    def as_json(self) -> dict[str, Any]:
        """{value, low, high, n}, with `difference` and `kinds` where there are any."""
        found: dict[str, Any] = dict(self.figure.as_json())
        if self.difference is not None:
            found["difference"] = self.difference.as_json()
        if self.kinds:
            found["kinds"] = {kind: measured.as_json() for kind, measured in self.kinds.items()}
        return found


System = dict[str, Measured]


@dataclass(frozen=True, slots=True)
class Got:
    """What one system got, by query: metrics (NaN where there is no gold) and confidence."""

    metrics: Mapping[str, Values]
    confidence: Values


@dataclass(frozen=True, slots=True)
class Part:
    """The queries that a figure counts.

    Attributes:
        asked: for retrieval and thresholds.
        told: for telling apart who is answerable; none where that can't be said of this part.
    """

    asked: Flags
    told: Flags


def summarised(
    got: Mapping[str, Got], judged: Sequence[JudgedQuery], seed: int, threshold: float
) -> dict[str, System]:
    """Figures with intervals and paired differences from what each system got, by query."""
    answerable = np.array([query.answerable for query in judged])
    kinds = list(dict.fromkeys(query.kind for query in judged))
    whole = Part(np.ones(len(judged), np.bool_), np.ones(len(judged), np.bool_))
    parts = {
        kind: _part(np.array([query.kind == kind for query in judged]), answerable)
        for kind in kinds
        if len(kinds) > 1
    }
    overall = _of_part(got, whole, answerable, seed, threshold)
    by_kind = {kind: _of_part(got, part, answerable, seed, threshold) for kind, part in parts.items()}
    return {
        name: {
            metric: Measured(
                *figures,
                {
                    kind: Measured(*found[name][metric], {})
                    for kind, found in by_kind.items()
                    if metric in found[name]
                },
            )
            for metric, figures in system.items()
        }
        for name, system in overall.items()
    }


def _part(asked: Flags, answerable: Flags) -> Part:
    """A kind: what nothing answers is told from everything that is answered."""
    unanswerable = asked & ~answerable
    return Part(asked, (answerable | unanswerable) if unanswerable.any() else np.zeros_like(asked))


def _of_part(
    got: Mapping[str, Got], part: Part, answerable: Flags, seed: int, threshold: float
) -> dict[str, dict[str, tuple[Figure, Figure | None]]]:
    drawn = {
        flags.tobytes(): bootstrap.resamples(int(flags.sum()), seed)
        for flags in (part.asked, part.told)
        if flags.any()
    }
    sampled = {name: _sampled(values, part, answerable, drawn, threshold) for name, values in got.items()}
    reference = sampled[REFERENCE]
    return {
        name: {
            metric: (
                found.figure(),
                None if name == REFERENCE else found.minus(reference[metric]),
            )
            for metric, found in system.items()
        }
        for name, system in sampled.items()
    }


def _sampled(
    got: Got, part: Part, answerable: Flags, drawn: Mapping[bytes, Values], threshold: float
) -> dict[str, Sampled]:
    weights = drawn[part.asked.tobytes()]
    found = {
        metric: bootstrap.mean(values[part.asked], weights)
        for metric, values in got.metrics.items()
        if not np.isnan(values[part.asked]).all()
    }
    for band, least in (("", threshold), ("@high", HIGH)):
        accepted = (got.confidence >= least).astype(np.float64)
        for metric, side in (("accepted", answerable), ("false_accept", ~answerable)):
            if (part.asked & side).any() and not answerable.all():
                values = np.where(side, accepted, np.nan)[part.asked]
                found[f"{metric}{band}"] = bootstrap.mean(values, weights)
    right = answerable[part.told]
    if min(right.sum(), (~right).sum()) >= _LEAST_SIDE:
        told, confidence = drawn[part.told.tobytes()], got.confidence[part.told]
        found["answerable_auroc"] = bootstrap.auroc(confidence, right, told)
        found["accepted@fa5"] = bootstrap.accepted_at(confidence, right, told, 0.05)
        found["accepted@fa10"] = bootstrap.accepted_at(confidence, right, told, 0.10)
    return found

"""The ranking without one of its parts: what that part is worth."""

from __future__ import annotations

from dataclasses import dataclass, replace

from indexer.stores import Unit
from service.ranking import WEIGHTS, Weights

BOTH: tuple[Unit, ...] = ("chunk", "message")
MESSAGES: tuple[Unit, ...] = ("message",)

# Copies of a text, and windows of one long message, then stand as hits of their own.
MERGING = "merging"


@dataclass(frozen=True, slots=True)
class Change:
    """What is switched off, and the units that it has a say in."""

    weights: Weights
    units: tuple[Unit, ...] = BOTH


ABLATIONS: dict[str, Change] = {
    "neighbours": Change(replace(WEIGHTS, smoothing=0.0)),
    "date": Change(replace(WEIGHTS, date=0.0)),
    "author": Change(replace(WEIGHTS, author=0.0), MESSAGES),
    "entities": Change(replace(WEIGHTS, entity=0.0)),
    "related entities": Change(replace(WEIGHTS, related=0.0)),
    "message text": Change(replace(WEIGHTS, message_text=0.0), MESSAGES),
    "exact form": Change(replace(WEIGHTS, raw=0.0)),
    "upper bound": Change(replace(WEIGHTS, upper_bound=0.0)),
    "cosine floor": Change(replace(WEIGHTS, floor=0.0)),
    MERGING: Change(WEIGHTS),
}

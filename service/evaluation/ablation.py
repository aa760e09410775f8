"""The ranking without one of its parts: what that part is worth."""

from __future__ import annotations

from dataclasses import dataclass, replace

from indexer.stores import Unit
from service.ranking import WEIGHTS, Weights

BOTH: tuple[Unit, ...] = ("chunk", "message")
CHUNKS: tuple[Unit, ...] = ("chunk",)
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
    "author": Change(replace(WEIGHTS, author=0.0, author_share=0.0)),
    "entities": Change(replace(WEIGHTS, entity=0.0)),
    "message text": Change(replace(WEIGHTS, message_text=0.0), MESSAGES),
    "phrase": Change(replace(WEIGHTS, phrase=0.0), CHUNKS),
    "answer": Change(replace(WEIGHTS, answer=0.0), MESSAGES),
    "question": Change(replace(WEIGHTS, question=0.0), MESSAGES),
    "recency": Change(replace(WEIGHTS, recency=0.0)),
    "speaker": Change(replace(WEIGHTS, speaker=0.0)),
    "joined windows": Change(replace(WEIGHTS, joining=2.0), CHUNKS),
    "exact form": Change(replace(WEIGHTS, raw=0.0)),
    "upper bound": Change(replace(WEIGHTS, upper_bound=0.0)),
    "cosine floor": Change(replace(WEIGHTS, floor=0.0)),
    MERGING: Change(WEIGHTS),
}

"""One record that can't be understood costs itself: whatever a reader did not foresee is counted."""

from __future__ import annotations

from collections.abc import Iterator

from schemas.records import Record, Skipped


def understood(records: Iterator[Record], place: str, reason: str) -> list[Record]:
    """What one raw record yields, or that it is not understood.

    Args:
        records: of one raw record, made while they are asked for.
        place: where it stands.
        reason: said of it when making them fails.
    """
    try:
        return list(records)
    except Exception as error:
        return [Skipped(place, reason, type(error).__name__)]

"""What an import brought, counted, beside what every build reports."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from schemas.records import Space


@dataclass(slots=True)
class Taken:
    """What became of the vectors of one length.

    Attributes:
        space: where they are kept, or None for those that the owner left out or has not named.
        rows: how many there are.
        new: kept now.
        known: kept before, or of a text that stands in several rows.
        renamed: taken out of a space that an earlier import had named wrongly.
        unused: sound, but of a text that is no chunk here, by reason.
        faults: not kept, by reason.
    """

    space: Space | None
    rows: int = 0
    new: int = 0
    known: int = 0
    renamed: int = 0
    unused: Counter[str] = field(default_factory=Counter)
    faults: Counter[str] = field(default_factory=Counter)

    def as_json(self) -> dict[str, Any]:
        """Plain data for JSON."""
        return {
            "space": self.space.name if self.space else None,
            "rows": self.rows,
            "new": self.new,
            "known": self.known,
            "renamed": self.renamed,
            "unused": dict(self.unused),
            "faults": dict(self.faults),
        }


@dataclass(slots=True)
class Imported:
    """What one import brought, beside what every build reports.

    Attributes:
        known: messages that were here before.
        rechunked: messages that lost a secret: they are cut anew, and their vectors are of no use.
        vectors: by length.
        faults: rows without a vector, by reason; their text is kept.
    """

    known: int = 0
    rechunked: int = 0
    vectors: dict[int, Taken] = field(default_factory=dict)
    faults: Counter[str] = field(default_factory=Counter)

    def as_json(self) -> dict[str, Any]:
        """Plain data for JSON."""
        return {
            "known_messages": self.known,
            "rechunked_messages": self.rechunked,
            "vectors": {str(dims): taken.as_json() for dims, taken in self.vectors.items()},
            "faults": dict(self.faults),
        }

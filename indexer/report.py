"""What a build did, counted; the same numbers for a terminal, `--json`, `last_run.json` and the notifier."""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict, dataclass, field
from typing import Any, Protocol

from indexer.accounting import Account
from indexer.health import Finding
from schemas.problems import LetopisError
from schemas.records import Skipped

# Places are named up to this many a reason; the count says the rest.
_PLACES = 20


class Progress(Protocol):
    """Where a long stage stands."""

    def stage(self, name: str, total: int | None) -> None:
        """A stage begins; total is None where it can't be told."""

    def advance(self, count: int = 1) -> None:
        """Some of it is done."""


class Silent:
    """No progress shown."""

    def stage(self, name: str, total: int | None) -> None:
        """Show nothing."""

    def advance(self, count: int = 1) -> None:
        """Show nothing."""


@dataclass(slots=True)
class SkippedKind:
    """Skipped records of one reason."""

    hint: str
    count: int = 0
    places: list[str] = field(default_factory=list)


@dataclass(slots=True)
class Report:
    """Counts of one build.

    Attributes:
        files: read, unchanged, gone.
        messages: read, new, changed, duplicate, removed, total.
        skipped: broken or unknown records, by reason.
        kept: what was read: messages and characters by role.
        dropped: noise by rule: records and characters by kind.
        redacted: secrets replaced, by kind.
        chunks: new, total.
        spaces: by space name: embedded, calls, left.
        off: providers that took no part or were switched off, each with its sentence.
        entities: entities, relations, messages extracted.
        notes: sentences for the owner.
        health: sources that do not tell what they used to.
        faults: what makes the run end with exit 3.
        golden: figures of the golden queries where they were asked, before and after, and which got worse.
        generation: the published one, or None where nothing changed.
        exit: 0, 1 or 3.
    """

    files: Counter[str] = field(default_factory=Counter)
    messages: Counter[str] = field(default_factory=Counter)
    skipped: dict[str, SkippedKind] = field(default_factory=dict)
    kept: dict[str, Counter[str]] = field(default_factory=dict)
    dropped: dict[str, Counter[str]] = field(default_factory=dict)
    redacted: Counter[str] = field(default_factory=Counter)
    chunks: Counter[str] = field(default_factory=Counter)
    spaces: dict[str, Counter[str]] = field(default_factory=dict)
    off: dict[str, str] = field(default_factory=dict)
    entities: Counter[str] = field(default_factory=Counter)
    notes: list[str] = field(default_factory=list)
    health: list[Finding] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)
    golden: dict[str, Any] = field(default_factory=dict)
    generation: str | None = None
    seconds: float = 0.0
    exit: int = 0

    def skip(self, skipped: Skipped) -> None:
        """Count a broken record."""
        kind = self.skipped.setdefault(skipped.reason, SkippedKind(skipped.hint))
        kind.count += 1
        if len(kind.places) < _PLACES:
            kind.places.append(skipped.place)

    def count(self, account: Account) -> None:
        """Count what a file brought, but for its broken records."""
        for total, counts in ((self.kept, account.kept), (self.dropped, account.dropped)):
            for kind, one in counts.items():
                total.setdefault(kind, Counter()).update(one)
        self.redacted.update(account.redacted)

    def ail(self, finding: Finding, now: int) -> None:
        """A source does not tell what it used to: exit 3 while that is news, a note afterwards."""
        self.health.append(finding)
        if finding.is_news(now):
            self.fault(finding.sentence)
        else:
            self.notes.append(finding.sentence)

    def fault(self, sentence: str) -> None:
        """Something is left for the next run: exit 3."""
        if sentence not in self.faults:
            self.faults.append(sentence)
        self.exit = 3

    def switch_off(self, provider: str, error: LetopisError) -> None:
        """A provider takes no further part in this run."""
        self.off[provider] = error.line()
        self.fault(f"{provider}: {error.line()}")

    def space(self, name: str) -> Counter[str]:
        """The counts of one space."""
        return self.spaces.setdefault(name, Counter())

    def as_json(self) -> dict[str, Any]:
        """Plain data for JSON."""
        return {
            "exit": self.exit,
            "generation": self.generation,
            "seconds": round(self.seconds, 2),
            "files": dict(self.files),
            "messages": dict(self.messages),
            "skipped": {
                reason: {"count": kind.count, "places": kind.places, "hint": kind.hint}
                for reason, kind in self.skipped.items()
            },
            "kept": {role: dict(counts) for role, counts in self.kept.items()},
            "dropped": {kind: dict(counts) for kind, counts in self.dropped.items()},
            "redacted": dict(self.redacted),
            "chunks": dict(self.chunks),
            "spaces": {name: dict(counts) for name, counts in self.spaces.items()},
            "off": self.off,
            "entities": dict(self.entities),
            "notes": self.notes,
            "health": [asdict(finding) for finding in self.health],
            "faults": self.faults,
            "golden": self.golden,
        }

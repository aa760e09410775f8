"""What one archive file brought, in records and characters: what was kept, what is noise, what is broken."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from schemas.records import Dropped, Message, Record, Skipped

# Broken records that are remembered of a file, to be counted again while it stays as it is.
KEPT = 1_000

# Records that tell nothing of whether the reader understood them: a renamed key makes a text "empty" too.
_UNTELLING = frozenset({"empty", "unfinished_line", "control_character", "placeholder"})


@dataclass(slots=True)
class Account:
    """Counts of one file.

    Attributes:
        messages: messages that were yielded.
        skipped: broken and unknown records, the first KEPT of them.
        unknown: how many there were.
        kept: by role, messages and their characters (before secrets are replaced).
        dropped: by kind of noise, records and their characters.
        redacted: secrets replaced, by kind.
        chats: ids of the talks.
        first_at: time of the oldest dated message, UTC ms, or None.
        last_at: of the newest.
    """

    messages: int = 0
    skipped: list[Skipped] = field(default_factory=list)
    unknown: int = 0
    kept: dict[str, Counter[str]] = field(default_factory=dict)
    dropped: dict[str, Counter[str]] = field(default_factory=dict)
    redacted: Counter[str] = field(default_factory=Counter)
    chats: set[str] = field(default_factory=set)
    first_at: int | None = None
    last_at: int | None = None

    def take(self, record: Record) -> None:
        """Count one record."""
        if isinstance(record, Skipped):
            self.unknown += 1
            if len(self.skipped) < KEPT:
                self.skipped.append(record)
        elif isinstance(record, Dropped):
            _add(self.dropped, record.kind, record.count, record.characters)
        else:
            self._said(record)

    def _said(self, message: Message) -> None:
        self.messages += 1
        self.chats.add(message.chat_id)
        _add(self.kept, message.role, 1, len(message.text))
        if message.at is not None:
            self.first_at = message.at if self.first_at is None else min(self.first_at, message.at)
            self.last_at = message.at if self.last_at is None else max(self.last_at, message.at)

    @property
    def understood(self) -> int:
        """Records that the reader knew what to make of: messages, and noise by a rule that tells."""
        noise = sum(counts["records"] for kind, counts in self.dropped.items() if kind not in _UNTELLING)
        return self.messages + noise

    @property
    def records(self) -> int:
        """All records, broken ones included."""
        return self.messages + self.unknown + sum(counts["records"] for counts in self.dropped.values())

    def as_json(self) -> str:
        """What the ledger keeps with the file."""
        return json.dumps(
            {
                "messages": self.messages,
                "skipped": [(one.place, one.reason, one.hint) for one in self.skipped],
                "unknown": self.unknown,
                "kept": self.kept,
                "dropped": self.dropped,
                "redacted": self.redacted,
                "chats": len(self.chats),
            },
            ensure_ascii=False,
        )


def _add(counts: dict[str, Counter[str]], kind: str, records: int, characters: int) -> None:
    one = counts.setdefault(kind, Counter())
    one["records"] += records
    one["characters"] += characters


def remembered(text: str) -> Account:
    """The account that the ledger kept with a file, without its chats; an older one tells less."""
    known: dict[str, Any] = json.loads(text)
    account = Account(messages=int(known.get("messages", 0)))
    account.skipped = [Skipped(*one) for one in known.get("skipped", ())]
    account.unknown = int(known.get("unknown", len(account.skipped)))
    for name in ("kept", "dropped"):
        counts = known.get(name, {})
        if all(isinstance(one, Mapping) for one in counts.values()):
            setattr(account, name, {kind: Counter(one) for kind, one in counts.items()})
    return account

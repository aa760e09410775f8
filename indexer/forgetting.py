"""Forgetting as a job: the ledger forgets, and a generation without it takes the place of all others."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from indexer.revision import Revision
from indexer.stores import generation as generations
from indexer.stores.ledger import Extent, Ledger, Rule
from schemas.problems import NoMatch


@dataclass(frozen=True, slots=True)
class Request:
    """What a person wants forgotten: what all given values match.

    Attributes:
        chat: id or title of a talk.
        message: id of one message, with the tool results, thinking and attachments that belong to it.
        author: id or name of a person.
    """

    chat: str | None = None
    message: str | None = None
    author: str | None = None


@dataclass(slots=True)
class Forget(Revision):
    """Remove messages from the ledger and from every generation; reads no archive and pays nothing.

    Attributes:
        request: what goes.
        dry_run: find out, and change nothing.
        extent: what it reached, once run.
        removed: generations that were removed.
    """

    request: Request = field(default_factory=Request)
    dry_run: bool = False
    extent: Extent | None = None
    removed: list[str] = field(default_factory=list)

    def _run(self, ledger: Ledger, paths: Sequence[Path]) -> None:
        rules = rules_of(ledger, self.request)
        self.extent = ledger.forgetting.extent(rules)
        if not self.extent.messages:
            raise NoMatch(
                "Nothing in the index matches all of that.", "look the ids up with `letopis search`"
            )
        if self.dry_run:
            return
        before = generations.names(self.settings.data)
        self.report.messages["removed"] += ledger.forgetting.forget(time.time_ns() // 1_000_000, rules)
        self.report.messages["total"] = ledger.messages.count()
        self._republish(ledger)
        if not before:
            ledger.forgetting.done()
        self.removed = sorted(set(before) - set(generations.names(self.settings.data)))


def rules_of(ledger: Ledger, request: Request) -> list[Rule]:
    """The tombstones that a request means.

    Raises:
        NoMatch: a chat or a person is not there, or several are called so.
    """
    chat = ledger.forgetting.chat_of(request.chat) if request.chat is not None else None
    authors: list[str | None] = [None]
    if request.author is not None:
        authors = [*ledger.forgetting.author_of(request.author)]
    return [Rule(chat, request.message, author) for author in authors]

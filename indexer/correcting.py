"""Correcting the graph as a job: the correction is kept, and a generation with it is published at once."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from indexer.revision import Revision
from indexer.stores.ledger import Ledger
from schemas.problems import NoMatch
from schemas.records import Correction


@dataclass(slots=True)
class Correct(Revision):
    """Keep one correction, or take one back; reads no archive and pays nothing.

    Attributes:
        correction: what to keep, or None.
        undo: number of the correction to take back, or None.
        number: of the one that was kept, once run.
    """

    correction: Correction | None = None
    undo: int | None = None
    number: int | None = None

    def _run(self, ledger: Ledger, paths: Sequence[Path]) -> None:
        if self.undo is not None and not ledger.corrections.take_back(self.undo):
            raise NoMatch(f"There is no correction {self.undo}.", "`letopis entities corrections` lists them")
        if self.correction is not None:
            self.number = ledger.corrections.add(self.correction, time.time_ns() // 1_000_000)
        self._republish(ledger)

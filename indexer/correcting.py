"""Correcting the graph as a job: the correction is kept, and a generation with it is published at once."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from indexer.pipeline import Build
from indexer.stores import generation as generations
from indexer.stores.ledger import Ledger
from schemas.problems import NoMatch
from schemas.records import Correction


@dataclass(slots=True)
class Correct(Build):
    """Keep one correction, or take one back; reads no archive and pays nothing.

    Attributes:
        correction: what to keep, or None.
        undo: number of the correction to take back, or None.
        number: of the one that was kept, once run.
    """

    correction: Correction | None = None
    undo: int | None = None
    number: int | None = None

    def _paths(self) -> list[Path]:
        return []

    def _run(self, ledger: Ledger, paths: Sequence[Path]) -> None:
        if self.undo is not None and not ledger.corrections.take_back(self.undo):
            raise NoMatch(f"There is no correction {self.undo}.", "`letopis entities corrections` lists them")
        if self.correction is not None:
            self.number = ledger.corrections.add(self.correction, time.time_ns() // 1_000_000)
        manifest = generations.current_manifest(self.settings.data)
        if manifest is None:
            return
        # Which providers take part is a build's decision; the published spaces stay.
        ledger.vectors.providers = {space["provider"] for space in manifest.spaces}
        self.report.off.update(manifest.spares)
        self._chunk(ledger)
        self._publish(ledger)

    def _write_last_run(self) -> None:
        """What the last build said of its sources stays true."""

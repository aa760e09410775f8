"""Mentions of every message text that this extractor version has not seen yet, committed batch by batch."""

from __future__ import annotations

from collections.abc import Callable

from indexer.entities import CAP, extractor, version_of
from indexer.report import Progress, Report
from indexer.stores.ledger import Ledger
from schemas.problems import Interrupted
from schemas.settings import Entities

_BATCH = 500


def extract(
    ledger: Ledger, settings: Entities, report: Report, progress: Progress, cancelled: Callable[[], bool]
) -> str:
    """Extract what is missing; nothing is loaded where nothing is.

    Returns:
        The extractor version whose mentions the generation is to hold.
    """
    version = version_of(settings)
    pending = ledger.mentions.pending(version)
    if not pending:
        return version
    found = extractor(settings)
    progress.stage("entities", len(pending))
    for start in range(0, len(pending), _BATCH):
        if cancelled():
            raise Interrupted("Stopped while extracting entities.", "run `letopis build` again; it goes on")
        batch = pending[start : start + _BATCH]
        mentions = found.extract(ledger.mentions.texts(batch))
        ledger.mentions.keep(version, zip(batch, mentions, strict=True))
        report.entities["extracted"] += len(batch)
        progress.advance(len(batch))
    if found.capped:
        report.entities["capped"] += found.capped
        report.notes.append(
            f"Messages longer than {CAP:,} characters: {found.capped}; "
            "beyond that names are found by patterns alone."
        )
    if found.note:
        report.notes.append(found.note)
    return version

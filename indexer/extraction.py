"""Mentions of every message text that this extractor version has not seen yet, committed batch by batch."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence

from indexer.entities import CAP, extractor, version_of
from indexer.entities.pool import Found, Pool
from indexer.report import Progress, Report
from indexer.stores.ledger import Ledger
from schemas.problems import Interrupted
from schemas.settings import Entities

_BATCH = 250

# Fewer messages are done before a second process has loaded the model.
_WORTH_PROCESSES = 4 * _BATCH


def extract(
    ledger: Ledger, settings: Entities, report: Report, progress: Progress, cancelled: Callable[[], bool]
) -> str:
    """Extract what is missing; nothing is loaded where nothing is. Long work runs in a process a core.

    Returns:
        The extractor version whose mentions the generation is to hold.
    """
    version = version_of(settings)
    pending = ledger.mentions.pending(version)
    renewed = renewal(ledger, version)
    if renewed is not None and pending:
        report.notes.append(renewed)
        progress.stage(renewed.rstrip("."), len(pending))
    else:
        progress.stage("entities", len(pending))
    batches = [pending[start : start + _BATCH] for start in range(0, len(pending), _BATCH)]
    if pending:
        _fill(ledger, settings, version, batches, report, progress, cancelled)
    ledger.mentions.complete(version)
    return version


def renewal(ledger: Ledger, version: str) -> str | None:
    """That names are found anew by another extractor than before, as a sentence; else None."""
    before = ledger.mentions.extractor
    if before is None or before == version:
        return None
    return f"Names are found anew in every message: {version} takes the place of {before}."


def _fill(
    ledger: Ledger,
    settings: Entities,
    version: str,
    batches: Sequence[Sequence[bytes]],
    report: Report,
    progress: Progress,
    cancelled: Callable[[], bool],
) -> None:
    with _names(settings, sum(map(len, batches))) as names:
        texts = (ledger.mentions.texts(batch) for batch in batches)
        for batch, mentions in zip(batches, names.extract(texts), strict=True):
            ledger.mentions.keep(version, zip(batch, mentions, strict=True))
            report.entities["extracted"] += len(batch)
            progress.advance(len(batch))
            if cancelled():
                raise Interrupted(
                    "Stopped while extracting entities.", "run `letopis build` again; it goes on"
                )
    if names.capped:
        report.entities["capped"] += names.capped
        report.notes.append(
            f"Messages longer than {CAP:,} characters: {names.capped}; "
            "beyond that names are found by patterns alone."
        )
    if names.note:
        report.notes.append(names.note)


def _names(settings: Entities, messages: int) -> Pool | _Here:
    processes = min(available_cores(), messages // (_WORTH_PROCESSES // 2))
    return Pool(settings.backend, processes) if processes > 1 else _Here(settings)


class _Here:
    """As a pool, in this process."""

    def __init__(self, settings: Entities) -> None:
        self._extractor = extractor(settings)

    @property
    def note(self) -> str | None:
        return self._extractor.note

    @property
    def capped(self) -> int:
        return self._extractor.capped

    def extract(self, batches: Iterable[Sequence[str]]) -> Iterator[Found]:
        return (self._extractor.extract(batch, maybe=True) for batch in batches)

    def __enter__(self) -> _Here:
        return self

    def __exit__(self, *error: object) -> None:
        pass


def available_cores() -> int:
    """Cores that this process may use."""
    affinity = getattr(os, "sched_getaffinity", None)
    return len(affinity(0)) if affinity is not None else os.cpu_count() or 1

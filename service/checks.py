"""What a new generation must show before it is published; injected into the build."""

from __future__ import annotations

from datetime import UTC, datetime

from indexer.report import Report
from indexer.stores import StoredChunk
from indexer.stores.generation import Check, Generation
from indexer.stores.manifest import Manifest
from schemas.http import SearchRequest
from schemas.records import AGENTS, ROLES, Filter
from schemas.settings import Settings
from service.evidence import asked_of, gather

# A generation that lost more than a fifth of its messages is more likely a fault than a clean-up.
_SHRINK = 0.8

_SAMPLE = 12

# A chunk's own score against the best one: a twin may repeat its words, a stranger does not come near.
_OWN_SHARE = 0.7


def shrink_guard(generation: Generation, previous: Manifest | None) -> str | None:
    """The new generation must not hold under 80 % of the last one's messages."""
    if previous is None:
        return None
    before, now = previous.counts["messages"], generation.manifest.counts["messages"]
    if now < before * _SHRINK:
        return f"The new generation holds {now} messages, under 80 % of the last one's {before}."
    return None


def finds_itself(generation: Generation, previous: Manifest | None) -> str | None:
    """Most chunks of a sample, searched by their own words, must score about as well as the best hit.

    Rank alone would refuse an archive of many alike reports or greetings, where a twin may stand first.
    """
    size = generation.store.size("chunk")
    rows = sorted({1 + number * size // _SAMPLE for number in range(_SAMPLE)} & set(range(1, size + 1)))
    chunks = generation.store.chunks(rows).values()
    lost = [chunk for chunk in chunks if not _scores_well(generation, chunk)]
    if len(lost) * 2 > len(rows):
        return f"{len(lost)} of {len(rows)} sampled chunks are not found by their own words."
    return None


def _scores_well(generation: Generation, chunk: StoredChunk) -> bool:
    request = SearchRequest(q=chunk.text[:600], mode="text")
    asked = asked_of(request, Filter(roles=ROLES, agents=AGENTS), (), UTC, datetime.now(UTC))
    if not asked.terms:
        return True
    scores = gather(generation, asked).chunks.legs["text"]
    return bool(scores[chunk.id] >= _OWN_SHARE * scores.max() > 0)


CHECKS: tuple[Check, ...] = (shrink_guard, finds_itself)


def checks_of(settings: Settings, report: Report, force: bool = False) -> tuple[Check, ...]:
    """The checks of a build, with the golden queries of the settings among them.

    Args:
        settings: may name a golden file.
        report: gets the figures of the golden queries.
        force: no check will be asked, so the golden file is not read.

    Raises:
        SettingsError: the golden file can't be read.
    """
    golden = settings.quality.golden
    if golden is None or force:
        return CHECKS
    from service.golden import GoldenGate, golden_queries

    return (*CHECKS, GoldenGate(settings, golden_queries(golden), report.golden))

"""The estimate of a dry run in words."""

from __future__ import annotations

from collections.abc import Iterator

from indexer.estimate import Estimate, Provider
from service.cli.quantities import counted, duration, size
from service.cli.summary import line, losses


def in_words(estimate: Estimate) -> str:
    """The estimate as lines for a person."""
    return "\n".join(
        ["Dry run: nothing was written, nothing was sent.", *_counts(estimate), *_providers(estimate)]
    )


def _counts(estimate: Estimate) -> Iterator[str]:
    messages, chunks = estimate.report.messages, estimate.chunks
    yield line("messages", f"{messages['total']:,} in all, {messages['new']:,} of them new")
    yield line("chunks", f"{chunks['total']:,}: {chunks['new']:,} new, {chunks['known']:,} known")
    yield line("names", f"{estimate.names:,} messages to look through")
    if estimate.renewal:
        yield line("names", estimate.renewal)
    yield from losses(estimate.report)


def _providers(estimate: Estimate) -> Iterator[str]:
    for provider in estimate.providers:
        yield line(provider.name, _work(provider))
    if not estimate.providers:
        yield line("vectors", "no embedding provider takes part: only words and names could be searched")
    for sentence in estimate.off.values():
        yield line("no part", sentence)
    for sentence in estimate.report.faults:
        yield line("left", sentence)
    room = "" if estimate.disk < estimate.free else " Next: make room before you build"
    yield line("disk", f"about {size(estimate.disk)} needed, {size(estimate.free)} free{room}")


def _work(provider: Provider) -> str:
    if not provider.texts:
        return "every chunk has its vector already"
    parts = [
        f"{counted(provider.texts, 'text')} in {counted(provider.calls, 'call')}",
        f"about {provider.tokens:,} tokens (an estimate: 3 characters a token)",
    ]
    if provider.paid:
        parts.append(f"{counted(provider.texts, 'request')} of the quota")
    if provider.minutes is not None:
        parts.append(duration(provider.minutes))
    if provider.nights is not None:
        parts.append(counted(provider.nights, "night"))
    return ", ".join(parts)

"""A build's report in words."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from indexer.report import Report
from service.render import clean

_LABEL = 10
# The report keeps 20 places a reason; a screen wants fewer.
_PLACES = 5
_WIDTH = 200
_SENTENCE = 300


def summary(report: Report, current: str | None) -> str:
    """The report as lines for a person.

    Args:
        report: what the build counted.
        current: the generation that is now the published one, or None.
    """
    return "\n".join([_headline(report, current), *_counts(report), *losses(report), *_remarks(report)])


def _headline(report: Report, current: str | None) -> str:
    if report.generation:
        return f"Published generation {report.generation} in {report.seconds:.1f} s."
    if current:
        return f"Nothing has changed: generation {current} stays ({report.seconds:.1f} s)."
    return f"Nothing was published ({report.seconds:.1f} s)."


def _counts(report: Report) -> Iterator[str]:
    files, messages, chunks, entities = report.files, report.messages, report.chunks, report.entities
    yield line("files", _listed(files, ("read", "unchanged", "gone")))
    changes = _listed(messages, ("new", "changed", "duplicate", "removed"))
    yield line("messages", f"{messages['total']:,} in the index ({changes})")
    yield line("chunks", f"{chunks['total']:,} ({chunks['new']:,} new)")
    for name, counts in report.spaces.items():
        yield line("vectors", f"{name}: {counts['embedded']:,} embedded, {counts['left']:,} left")
    if report.generation:
        yield line("names", f"{entities['entities']:,} entities, {entities['relations']:,} relations")
    if report.golden:
        yield line("golden", _golden(report.golden))


def golden_table(worse: Sequence[Mapping[str, Any]]) -> str:
    """The golden queries that lost relevant messages, one a line: rank before and after, question."""
    rows = [("before", "after", "question")]
    for query in worse:
        before, after = (str(query[when] or "–") for when in ("before", "after"))
        rows.append((before, after, clean(query["text"], _WIDTH)))
    return "\n".join(f"  {before:>6}  {after:>5}  {text}" for before, after, text in rows)


def _golden(golden: Mapping[str, Any]) -> str:
    left = (
        f", {golden['left_out']:,} left out: their messages are not in the index"
        if golden["left_out"]
        else ""
    )
    if "after" not in golden:
        return f"no query could be asked{left}"
    before = f" (before {golden['before']['recall@10']:.3f})" if "before" in golden else ""
    return f"recall@10 {golden['after']['recall@10']:.3f}{before} over {golden['questions']:,} queries{left}"


def losses(report: Report) -> Iterator[str]:
    """Secrets replaced, noise left out, records skipped: one line each kind."""
    if report.redacted:
        kinds = _listed(report.redacted, tuple(report.redacted))
        yield line("redacted", f"secrets replaced before anything was stored: {kinds}")
    if report.dropped:
        kinds = ", ".join(f"{counts['records']:,} {kind}" for kind, counts in report.dropped.items())
        yield line("left out", f"noise by rule: {kinds}")
    for reason, kind in report.skipped.items():
        places = ", ".join(clean(place, _WIDTH) for place in kind.places[:_PLACES])
        more = f" and {kind.count - _PLACES:,} more" if kind.count > _PLACES else ""
        hint = f" Next: {kind.hint}" if kind.hint else ""
        yield line("skipped", f"{kind.count:,} × {clean(reason, _WIDTH)}: {places}{more}.{hint}")


def _remarks(report: Report) -> Iterator[str]:
    for sentence in report.off.values():
        yield line("no part", sentence)
    for finding in report.health:
        yield line("health", clean(finding.sentence, _SENTENCE))
    told = (
        {finding.sentence for finding in report.health}
        | set(report.off.values())
        | {f"{name}: {sentence}" for name, sentence in report.off.items()}
    )
    for sentence in report.notes:
        if sentence not in told:
            yield line("note", sentence)
    for sentence in report.faults:
        if sentence not in told:
            yield line("left", sentence)
    if report.exit == 3:
        ailing = {finding.sentence for finding in report.health}
        if set(report.faults) <= ailing:
            yield "All is done, but a source needs a look (exit 3)."
        else:
            yield "Published with work left; the next `letopis build` goes on from here (exit 3)."


def line(label: str, text: str) -> str:
    """One labelled line, indented."""
    return f"  {label:<{_LABEL}}{text}"


def _listed(counts: Mapping[str, int], names: tuple[str, ...]) -> str:
    shown = [f"{counts[name]:,} {name}" for name in names if counts.get(name)]
    return ", ".join(shown) or "nothing new"

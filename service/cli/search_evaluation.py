"""`letopis eval search`: how well judged queries are answered, beside plain rules and part by part."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from service.cli.options import absolute, print_json, settings_of, shared
from service.cli.progress import shown

if TYPE_CHECKING:
    from indexer.stores import Unit
    from schemas.settings import Settings
    from service.evaluation.figures import Got
    from service.evaluation.judged import JudgedSet
    from service.evaluation.measuring import Answered, Plan, Report

# Those of service.evaluation.sets, which `--help` need not import.
SETS = ("locomo", "xquad", "ru_chat")


@click.command()
@click.argument("path", type=click.Path(path_type=Path, exists=True), metavar="FILE")
@click.option(
    "--set",
    "sets",
    type=click.Choice(SETS),
    multiple=True,
    help="FILE holds this published set: index it, then measure; repeatable for a folder of several.",
)
@click.option(
    "--unit",
    type=click.Choice(["chunk", "message", "both"]),
    default="both",
    show_default=True,
    help="What is returned.",
)
@click.option(
    "--pooled/--per-conversation",
    default=None,
    help="Search all chats, or the one that a query names; a set that has both is measured both ways.",
)
@click.option(
    "--together",
    is_flag=True,
    help="Ask the chosen sets of one index that holds the text of every set in FILE, beside their own index.",
)
@click.option("--keep", type=click.Path(path_type=Path), metavar="DIR", help="Keep indexes and vectors here.")
@click.option("--kinds", metavar="KIND,…", help="Only these kinds of queries.")
@click.option("--limit-queries", type=click.IntRange(min=1), metavar="N", help="At most so many a set.")
@click.option("--baselines/--no-baselines", default=True, show_default=True, help="Measure plain rules too.")
@click.option("--ablate", is_flag=True, help="Measure the ranking without each of its parts.")
@click.option("--threshold", type=float, help="Confidence of an answer; by default that of the band medium.")
@click.option("--seed", type=int, default=7, show_default=True, help="Of the resamples.")
@click.option(
    "--markdown", type=click.Path(path_type=Path), metavar="OUT", help="Write the tables to this file."
)
@shared
def search(
    path: Path,
    sets: tuple[str, ...],
    unit: str,
    pooled: bool | None,
    together: bool,
    keep: Path | None,
    kinds: str | None,
    limit_queries: int | None,
    baselines: bool,
    ablate: bool,
    threshold: float | None,
    seed: int,
    markdown: Path | None,
    config: Path | None,
    data: Path | None,
    as_json: bool,
) -> int:
    """Measure search on the judged queries of FILE, against the index.

    A line of FILE is {"text", "relevant": [message ids], "chat", "kind", "answerable"}; only text is needed.
    With --set FILE is a published set, or the folder that holds it; it is indexed by the bundled model in a
    folder of its own, and your index takes no part. Figures have 95 % intervals (bootstrap over queries).
    """
    from service.confidence import MEDIUM
    from service.evaluation.measuring import Plan
    from service.evaluation.systems import Choice
    from service.evaluation.table import table

    plan = Plan(
        units=("chunk", "message") if unit == "both" else ("chunk",) if unit == "chunk" else ("message",),
        kinds=[kind.strip() for kind in kinds.split(",")] if kinds is not None else (),
        limit=limit_queries,
        choice=Choice(baselines, ablate),
        seed=seed,
        threshold=MEDIUM if threshold is None else threshold,
    )
    if sets:
        if config is not None or data is not None:
            raise click.UsageError("--set makes an index of its own: leave out --data and --config")
        with _folder(keep) as folder:
            report = (_together if together else _published)(path, sets, folder, plan, pooled)
    elif together:
        raise click.UsageError("--together joins published sets: name those that are asked with --set")
    else:
        report = _own(path, settings_of(config, data), absolute(keep), plan, bool(pooled))
    if markdown is not None:
        markdown.write_text(table(report), "utf-8")
    if as_json:
        print_json(as_data(report))
    else:
        click.echo(table(report))
    return 0


@contextmanager
def _folder(keep: Path | None) -> Iterator[Path]:
    if keep is not None:
        yield Path.cwd() / keep.expanduser()
        return
    with tempfile.TemporaryDirectory(prefix="letopis-") as folder:
        yield Path(folder)


def _own(path: Path, settings: Settings, keep: Path | None, plan: Plan, pooled: bool) -> Report:
    from service.evaluation.judged import JudgedSet, read_queries

    return _measured(settings, os.environ, [JudgedSet(path.stem, read_queries(path), pooled)], keep, plan)[0]


def _published(path: Path, sets: Sequence[str], folder: Path, plan: Plan, pooled: bool | None) -> Report:
    from service.cli.judged_index import indexed
    from service.evaluation.sets import ADAPTERS

    report: Report = {}
    for name in dict.fromkeys(sets):
        for corpus in ADAPTERS[name](path, plan.seed):
            settings = indexed(corpus, folder)
            report |= _measured(settings, {}, _chosen(corpus.sets, pooled), folder / corpus.name, plan)[0]
    return report


def _together(path: Path, sets: Sequence[str], folder: Path, plan: Plan, pooled: bool | None) -> Report:
    from service.cli.judged_index import indexed
    from service.evaluation.systems import Choice
    from service.evaluation.together import at_size

    size = at_size(path, sets, plan.seed)
    click.echo(f"letopis: in one index: {', '.join(size.poured)}.", err=True)
    product, answered = replace(plan, choice=Choice(baselines=False, legs=())), {}
    for corpus in size.alone:
        settings = indexed(corpus, folder)
        _, alone = _measured(settings, {}, _chosen(corpus.sets, pooled), folder / corpus.name, product)
        answered.update(alone)
    joined = size.joined
    settings = indexed(joined, folder, beside=size.poured)
    return _measured(settings, {}, _chosen(joined.sets, pooled), folder / joined.name, plan, answered)[0]


def _chosen(sets: Sequence[JudgedSet], pooled: bool | None) -> Sequence[JudgedSet]:
    """Those that are pooled, or not; a set that has only one of the two ways is measured that way."""
    return [judged for judged in sets if judged.pooled == pooled] or sets


def _measured(
    settings: Settings,
    environment: Mapping[str, str],
    sets: Sequence[JudgedSet],
    keep: Path | None,
    plan: Plan,
    beside: Mapping[tuple[str, Unit], Got] | None = None,
) -> tuple[Report, Answered]:
    """Also what the product got by query, to stand beside another index's."""
    from service.evaluation.measuring import Measuring

    with shown() as progress:
        measuring = Measuring(settings, environment, keep, plan, progress, beside or {})
        report = measuring.run(sets)
    for remark in measuring.remarks:
        click.echo(f"letopis: {remark.rstrip('.')}.", err=True)
    return report, measuring.answered


def as_data(report: Report) -> dict[str, Any]:
    """Plain values: {set: {unit: {system: {metric: {value, low, high, n, difference, kinds}}}}}."""
    return {
        name: {
            unit: {
                system: {metric: measured.as_json() for metric, measured in metrics.items()}
                for system, metrics in systems.items()
            }
            for unit, systems in units.items()
        }
        for name, units in report.items()
    }

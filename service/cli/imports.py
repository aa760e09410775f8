"""`letopis import`: an index of another program, with the vectors that were paid for."""

from __future__ import annotations

import re
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import click

from schemas.problems import LetopisError, SettingsError
from schemas.records import Space
from service.cli.cancellation import Cancellation
from service.cli.faults import as_problem, exit_of, tell
from service.cli.options import print_json, settings_of, shared
from service.cli.progress import shown
from service.cli.quantities import counted
from service.cli.summary import line, losses, summary

if TYPE_CHECKING:
    from indexer.archives.seed.table import Vectors
    from indexer.importing import Import

PROVIDERS = ("gemini", "ollama")

# Instead of a model: these vectors stay out, their texts come in.
_NONE = "none"
_FOR_DIMS = re.compile(r"([0-9]{1,6})=(.*)", re.DOTALL)


@click.group()
def imports() -> None:
    """Take over an older index with the vectors that were paid for."""


@imports.command()
@click.argument("path", type=click.Path(path_type=Path))
@click.option(
    "--model",
    "models",
    multiple=True,
    metavar="[DIMS=]MODEL",
    help="Which model made the vectors, e.g. 3072=gemini/gemini-embedding-001; once for each length of "
    "vector. `none` leaves those vectors out. Asked for on a terminal, never guessed.",
)
@click.option(
    "--provider",
    type=click.Choice(PROVIDERS),
    help="Whose model it is, where --model does not begin with `gemini/` or `ollama/`.",
)
@click.option("--dry-run", is_flag=True, help="Say what would be imported and what is bad; write nothing.")
@click.option(
    "--budget-minutes",
    type=click.FloatRange(min=0, min_open=True),
    metavar="N",
    help="Stop embedding after so many minutes; the next build goes on.",
)
@click.option(
    "--budget-requests",
    type=click.IntRange(min=0),
    metavar="N",
    help="Embed in your own spaces at once, with at most so many paid requests; without it nothing is paid.",
)
@shared
def seed(
    path: Path,
    models: tuple[str, ...],
    provider: str | None,
    dry_run: bool,
    budget_minutes: float | None,
    budget_requests: int | None,
    config: Path | None,
    data: Path | None,
    as_json: bool,
) -> int:
    """Import PATH, the chat_vectors.db of an older memory index (or its folder).

    Its texts come in with the chunk boundaries that they have there, and its vectors as spaces of their own
    beside yours: a query is then also embedded by the model that made them. The bundled model embeds the
    chunks as well, and later builds bring them into your own spaces within their budgets.

    The entity_graph.db beside it is not imported: names are extracted anew. Importing a file again adds what
    is new in it.
    """
    from indexer.importing import Import, looked_at, seed_file
    from indexer.pipeline import Options
    from indexer.report import Report
    from indexer.spending import Budget
    from service.checks import checks_of

    settings = settings_of(config, data)
    file = seed_file(Path.cwd() / path.expanduser())
    found = looked_at(file)
    spaces = _named(file.name, found, _answers(models, provider), provider, dry_run, as_json)
    report = Report()
    checks = checks_of(settings, report)
    cancellation, progress = Cancellation(), shown()
    deadline = None if budget_minutes is None else time.monotonic() + budget_minutes * 60
    job = Import(
        settings=settings,
        options=Options(budget=Budget(deadline=deadline, requests=budget_requests)),
        checks=checks,
        progress=progress,
        cancelled=cancellation.asked,
        sleep=cancellation.sleep,
        report=report,
        file=file,
        models=spaces,
    )
    fault: LetopisError | None = None
    try:
        with cancellation, progress:
            if dry_run:
                job.rehearse()
            else:
                job.run()
    except LetopisError as error:
        fault = error
    return _told(job, fault, dry_run, as_json)


@imports.command()
@click.argument("space")
@shared
def drop(space: str, config: Path | None, data: Path | None, as_json: bool) -> int:
    """Give up the imported vectors of SPACE, named as `letopis status` shows it; the texts stay.

    For a model that can't be asked any more: every answer would name it as degraded.
    """
    from indexer.importing import Drop
    from indexer.report import Report
    from service.checks import checks_of

    settings, report = settings_of(config, data), Report()
    checks = checks_of(settings, report)
    job = Drop(settings=settings, checks=checks, progress=shown(), report=report, space=space)
    job.run()
    if as_json:
        print_json(job.report.as_json() | {"dropped": job.dropped})
    else:
        click.echo(f"{counted(job.dropped, 'vector')} of {space} dropped.")
        click.echo(summary(job.report, job.report.generation))
    return job.report.exit


# --- which model --------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Answers:
    """Models as they were named on the command line.

    Attributes:
        alone: without a length, or None.
        by_dims: with one.
    """

    alone: str | None
    by_dims: Mapping[int, str]


def _answers(models: Sequence[str], provider: str | None) -> _Answers:
    alone: list[str] = []
    by_dims: dict[int, str] = {}
    for given in models:
        match = _FOR_DIMS.fullmatch(given.strip())
        if match is None:
            alone.append(given.strip())
        elif int(match[1]) in by_dims:
            raise SettingsError(
                f"--model names {match[1]} twice.", "name one model for each length of vector"
            )
        else:
            by_dims[int(match[1])] = match[2].strip()
    if len(alone) > 1 or (alone and by_dims):
        raise SettingsError(
            f"--model {alone[-1]} does not say which vectors it made.",
            f"say their length, e.g. --model 768={alone[-1]}",
        )
    return _Answers(alone[0] if alone else None, by_dims)


def _named(
    name: str, found: Vectors, answers: _Answers, provider: str | None, dry_run: bool, as_json: bool
) -> dict[int, Space]:
    """The space of each length of vector; those that are left out have none."""
    held = _held(name, found)
    for dims in answers.by_dims:
        if dims not in found.dims:
            raise SettingsError(f"There is no vector of {dims} numbers: {held}.", "name the lengths it has")
    chosen = dict(answers.by_dims)
    if answers.alone is not None:
        if len(found.dims) != 1:
            raise SettingsError(f"--model names one model, but {held}.", f"name each: {_example(found)}")
        chosen = dict.fromkeys(found.dims, answers.alone)
    open_ = [dims for dims in found.dims if dims not in chosen]
    if open_ and sys.stdin.isatty() and not as_json:
        chosen |= {dims: _asked(dims, found.dims[dims]) for dims in open_}
    elif open_ and not dry_run:
        raise SettingsError(
            f"{held}, and the file does not say which model made them.",
            f"name each: {_example(found)} (`none` leaves them out)",
        )
    spaces = {dims: _space(dims, model, provider) for dims, model in chosen.items()}
    return {dims: space for dims, space in spaces.items() if space is not None}


def _held(name: str, found: Vectors) -> str:
    counts = " and ".join(
        f"{counted(rows, 'vector')} of {dims} numbers" for dims, rows in reversed(found.dims.items())
    )
    return f"{name} holds {counts or 'no vectors'}"


def _example(found: Vectors) -> str:
    return " ".join(f"--model {dims}=PROVIDER/MODEL" for dims in reversed(found.dims))


def _asked(dims: int, rows: int) -> str:
    answer: str = click.prompt(
        f"Which model made the {counted(rows, 'vector')} of {dims} numbers? "
        "(gemini/MODEL or ollama/MODEL; none leaves them out)",
        err=True,
    )
    return answer.strip()


def _space(dims: int, model: str, provider: str | None) -> Space | None:
    if model.lower() == _NONE:
        return None
    first, _, rest = model.partition("/")
    whose, name = (first, rest) if first in PROVIDERS else (provider, model)
    if whose is None:
        raise SettingsError(
            f"The model {model!r} does not say whose it is.",
            f"write gemini/{model} or ollama/{model}, or add --provider",
        )
    if provider not in (None, whose):
        raise SettingsError(f"The model {model!r} is not one of {provider}.", "leave --provider out")
    # As the embedders write them, so that a space has one name.
    name = name.removeprefix("models/") if whose == "gemini" else name.removesuffix(":latest")
    if not name or name == "auto":
        raise SettingsError(f"The model of the vectors of {dims} numbers has no name.", "write it out")
    return Space(whose, name, dims, 0)


# --- what came of it ----------------------------------------------------------------------------------------


def _told(job: Import, fault: LetopisError | None, dry_run: bool, as_json: bool) -> int:
    if dry_run and fault is not None:
        raise fault
    told = job.report.as_json() | {"dry_run": dry_run, "imported": job.imported.as_json()}
    if as_json:
        print_json(told | (as_problem(fault) if fault is not None else {}))
    elif fault is not None:
        tell(fault, as_json)
    elif dry_run:
        click.echo("\n".join(["Dry run: nothing was written, nothing was sent.", *_rehearsed(job)]))
    else:
        from indexer.stores.generation import current_manifest

        manifest = current_manifest(job.settings.data)
        click.echo(summary(job.report, manifest.generation if manifest else None))
        click.echo("\n".join(_lines(job)))
    return job.report.exit if fault is None else exit_of(fault)


def _rehearsed(job: Import) -> Iterator[str]:
    messages, chunks = job.report.messages, job.report.chunks
    yield line("messages", f"{messages['total']:,} in all, {messages['new']:,} of them new")
    yield line("chunks", f"{chunks['total']:,}: {chunks['new']:,} new")
    yield from losses(job.report)
    yield from _lines(job)


def _lines(job: Import) -> Iterator[str]:
    imported = job.imported
    if imported.known:
        yield line("known", f"{counted(imported.known, 'message')} of it were here before")
    if imported.rechunked:
        yield line("cut anew", f"{counted(imported.rechunked, 'message')} lost a secret")
    for dims, taken in imported.vectors.items():
        if taken.space is None:
            yield line(
                "imported", f"{counted(taken.rows, 'vector')} of {dims} numbers: left out, no model named"
            )
            continue
        told = [f"{taken.new:,} new", f"{taken.known:,} known"]
        told += [f"{taken.renamed:,} taken from another model's name"] if taken.renamed else []
        told += [f"{count:,} of no use: {reason}" for reason, count in taken.unused.items()]
        yield line("imported", f"{taken.space.name}: {', '.join(told)}")
    for dims, taken in imported.vectors.items():
        for reason, count in taken.faults.items():
            yield line("bad", f"{count:,} × {reason} ({dims} numbers); the text is kept")
    for reason, count in imported.faults.items():
        yield line("bad", f"{count:,} × {reason}; the text is kept")

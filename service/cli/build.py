"""`letopis build`: the nightly job, and its rehearsal."""

from __future__ import annotations

import json
import os
import time
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

import click

from schemas.problems import BuildRefused, LetopisError
from service.cli.cancellation import Cancellation
from service.cli.faults import as_problem, exit_of, problem_of
from service.cli.notify import last_exit, notify
from service.cli.options import print_json, settings_of, shared
from service.cli.progress import shown

if TYPE_CHECKING:
    from indexer.pipeline import Build, Options
    from schemas.settings import Settings


@click.command()
@click.argument("paths", nargs=-1, type=click.Path(path_type=Path), metavar="[PATH]...")
@click.option("--dry-run", is_flag=True, help="Say what it would read, send and cost; write and pay nothing.")
@click.option(
    "--budget-minutes",
    type=click.FloatRange(min=0, min_open=True),
    metavar="N",
    help="Stop embedding after so many minutes; the next run goes on.",
)
@click.option(
    "--budget-requests",
    type=click.IntRange(min=0),
    metavar="N",
    help="Spend at most so many paid requests (each text of a batch counts as one).",
)
@click.option(
    "--since", metavar="TIME", help="Read only messages since a date, a time or `30d` back from now."
)
@click.option(
    "--chat", "chats", multiple=True, metavar="CHAT", help="Read only this talk, by id or title; repeatable."
)
@click.option("--full", is_flag=True, help="Read and write everything anew; paid vectors stay.")
@click.option("--mirror", is_flag=True, help="Drop messages whose source is gone.")
@click.option("--force", is_flag=True, help="Publish past the guards.")
@shared
def build(
    paths: tuple[Path, ...],
    dry_run: bool,
    budget_minutes: float | None,
    budget_requests: int | None,
    since: str | None,
    chats: tuple[str, ...],
    full: bool,
    mirror: bool,
    force: bool,
    config: Path | None,
    data: Path | None,
    as_json: bool,
) -> int:
    """Read the archives, pay only for what is new, and publish a new generation.

    PATHs (files, folders, zips) are used instead of the `archives` of the settings. `--since` and `--chat`
    narrow what is read; what was read before stays, and a later build without them reads the rest. Ctrl-C
    stops at a batch; the next run goes on from there.
    """
    from indexer.narrowing import Narrowing
    from indexer.pipeline import Options
    from indexer.spending import Budget
    from service.query import moment

    settings = settings_of(config, data)
    zone = settings.zone
    options = Options(
        paths=[Path.cwd() / path.expanduser() for path in paths],
        full=full,
        mirror=mirror,
        force=force,
        narrowing=Narrowing(moment("since", since, zone, datetime.now(zone)), chats),
        budget=Budget(
            deadline=None if budget_minutes is None else time.monotonic() + budget_minutes * 60,
            requests=budget_requests,
        ),
    )
    if dry_run:
        return rehearse(settings, options, budget_minutes, as_json)
    return _run(settings, options, as_json)


def rehearse(settings: Settings, options: Options, minutes: float | None, as_json: bool) -> int:
    """Print the estimate of a build."""
    from indexer.estimate import estimate
    from service.cli.forecast import in_words

    with Cancellation() as cancellation, shown() as progress:
        found = estimate(settings, options, os.environ, minutes, progress, cancellation.asked)
    if as_json:
        print_json(found.as_json())
    else:
        click.echo(in_words(found))
    return 0


def _run(settings: Settings, options: Options, as_json: bool) -> int:
    from indexer.pipeline import Build
    from indexer.report import Report
    from service.checks import checks_of

    report = Report()
    checks = checks_of(settings, report, options.force)
    before = last_exit(settings.data)
    cancellation, progress = Cancellation(), shown()
    job = Build(
        settings=settings,
        options=options,
        checks=checks,
        progress=progress,
        cancelled=cancellation.asked,
        sleep=cancellation.sleep,
        report=report,
    )
    fault: LetopisError | None = None
    try:
        with cancellation, progress:
            job.run()
    except LetopisError as error:
        fault = error
    except Exception as error:
        fault = problem_of(error)
        _note(job, fault)
        notify(settings.notify.command, 1, before, job.report.as_json())
        raise
    if fault is not None:
        _note(job, fault)
    code = exit_of(fault) if fault is not None else job.report.exit
    notify(settings.notify.command, code, before, job.report.as_json())
    _tell(job, settings, fault, as_json)
    return code


def _note(job: Build, fault: LetopisError) -> None:
    """The report of a run that failed before or outside the pipeline says so as well."""
    job.report.exit = exit_of(fault)
    if fault.line() not in job.report.faults:
        job.report.faults.append(fault.line())


def _tell(job: Build, settings: Settings, fault: LetopisError | None, as_json: bool) -> None:
    from indexer.stores.generation import current_manifest
    from service.cli.summary import golden_table, summary

    if as_json:
        problem = as_problem(fault) if fault is not None else {}
        click.echo(json.dumps(job.report.as_json() | problem, ensure_ascii=False))
    elif fault is not None:
        click.echo(f"letopis: {fault.line()}", err=True)
        if isinstance(fault, BuildRefused) and job.report.golden.get("worse"):
            click.echo(golden_table(job.report.golden["worse"]), err=True)
    else:
        manifest = current_manifest(settings.data)
        click.echo(summary(job.report, manifest.generation if manifest else None))

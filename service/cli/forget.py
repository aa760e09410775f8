"""`letopis forget`: messages that must leave the index and never come back."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from service.cli.cancellation import Cancellation
from service.cli.options import print_json, settings_of, shared
from service.cli.progress import shown
from service.cli.summary import line
from service.render import clean

if TYPE_CHECKING:
    from indexer.forgetting import Forget

# Files that are named; the JSON names all.
_FILES = 10


@click.command()
@click.option("--chat", metavar="CHAT", help="The talk, by id or title.")
@click.option("--message", metavar="ID", help="One message, with what belongs to it.")
@click.option("--author", metavar="NAME", help="Everything that a person said, by id or name.")
@click.option("--dry-run", is_flag=True, help="Say what would go and what would stay; change nothing.")
@click.option("--yes", is_flag=True, help="Do not ask.")
@shared
def forget(
    chat: str | None,
    message: str | None,
    author: str | None,
    dry_run: bool,
    yes: bool,
    config: Path | None,
    data: Path | None,
    as_json: bool,
) -> int:
    """Forget a talk, a message or a person: what all given options match.

    It leaves the ledger, the vectors and every generation at once, and stays away when its archive is read
    again. The archive files themselves are never touched: the report names those that still hold it.
    """
    from indexer.forgetting import Forget, Request
    from schemas.problems import SettingsError

    if chat is None and message is None and author is None:
        raise SettingsError("There is nothing named to forget.", "give --chat, --message or --author")
    settings = settings_of(config, data)
    request = Request(chat, message, author)
    if not (dry_run or yes or as_json) and sys.stdin.isatty():
        rehearsal = Forget(settings, request=request, dry_run=True)
        rehearsal.run()
        click.echo("\n".join(_would(rehearsal)))
        if not click.confirm("Forget this for good?"):
            return 1
    with Cancellation() as cancellation, shown() as progress:
        job = Forget(
            settings, progress=progress, cancelled=cancellation.asked, request=request, dry_run=dry_run
        )
        job.run()
    if as_json:
        print_json(_as_json(job))
    else:
        click.echo("\n".join(_would(job) if dry_run else _done(job)))
    return 0


def _as_json(job: Forget) -> dict[str, Any]:
    extent = job.extent
    assert extent is not None
    return {
        "dry_run": job.dry_run,
        "messages": extent.messages,
        "chats": list(extent.chats),
        "vectors_removed": job.report.chunks["purged"],
        "generation": job.report.generation,
        "generations_removed": job.removed,
        "remains": {
            "files": [{"path": path, "kind": kind, "messages": count} for path, kind, count in extent.files],
            "copies": extent.copies,
            "sent_to": list(extent.spaces),
        },
    }


def _would(job: Forget) -> Iterator[str]:
    assert job.extent is not None
    yield f"{job.extent.messages:,} messages of {len(job.extent.chats):,} talks would be forgotten."
    yield from _remains(job)


def _done(job: Forget) -> Iterator[str]:
    assert job.extent is not None
    yield f"Forgotten: {job.extent.messages:,} messages of {len(job.extent.chats):,} talks."
    if job.report.generation:
        yield line("published", f"generation {job.report.generation}, which does not hold them")
    if job.removed:
        yield line("removed", f"generations {', '.join(job.removed)}")
    yield line("removed", f"{job.report.chunks['purged']:,} vectors")
    if job.report.chunks["new"]:
        yield line("left", "the chunks around them are cut anew; the next `letopis build` embeds them")
    yield from _remains(job)


def _remains(job: Forget) -> Iterator[str]:
    extent = job.extent
    assert extent is not None
    for path, kind, count in extent.files[:_FILES]:
        yield line("stays", f"in the archive file {clean(path, 200)} ({kind}): {count:,} messages")
    if len(extent.files) > _FILES:
        yield line("stays", f"in {len(extent.files) - _FILES:,} more archive files")
    if extent.copies:
        yield line("stays", f"{extent.copies:,} messages of an equal text, of others or in other talks")
    if extent.spaces:
        yield line("stays", f"with whom it was embedded: {', '.join(extent.spaces)}")
    yield line("stays", "in copies of the data folder that you made, and in what others say of it")

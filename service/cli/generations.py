"""`letopis generations`: what is on disk, which one is published, and rolling back."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from schemas.problems import LetopisError
from service.cli.options import print_json, settings_of, shared
from service.cli.quantities import size
from service.render import local


@click.group()
def generations() -> None:
    """List, switch and prune the generations on disk."""


@generations.command("list")
@shared
def list_(config: Path | None, data: Path | None, as_json: bool) -> int:
    """List the generations; the published one is marked."""
    from indexer.stores.generation import names

    settings = settings_of(config, data)
    published = _published(settings.data)
    rows = [_row(settings.data, name, published) for name in names(settings.data)]
    if as_json:
        print_json({"current": published, "generations": rows})
        return 0
    if not rows:
        click.echo("There is no generation yet. Next: run `letopis build PATH`")
    for row in rows:
        mark = "*" if row["current"] else " "
        if row["fault"]:
            click.echo(f"{mark} {row['name']}  {row['fault']}")
            continue
        counts = row["counts"]
        built = local(row["built_at"], settings.zone)
        holds = f"{counts['messages']:,} messages, {counts['chunks']:,} chunks, {size(row['bytes'])}"
        click.echo(f"{mark} {row['name']}  {built}  {holds}")
    return 0


@generations.command()
@click.argument("name")
@shared
def use(name: str, config: Path | None, data: Path | None, as_json: bool) -> int:
    """Publish generation NAME (roll back or forward) after checking its hashes."""
    from indexer.stores import generation

    manifest = generation.use(settings_of(config, data).data, name)
    if as_json:
        print_json({"current": manifest.generation})
    else:
        click.echo(
            f"Generation {manifest.generation} is published; a running service takes it in by itself, "
            "and the next build that finds something new publishes past it."
        )
    return 0


@generations.command()
@click.option("--keep", type=click.IntRange(min=1), default=2, show_default=True, help="How many stay.")
@shared
def prune(keep: int, config: Path | None, data: Path | None, as_json: bool) -> int:
    """Remove all but the newest generations; the published one always stays."""
    from indexer.stores import generation

    folder = settings_of(config, data).data
    removed = generation.prune(folder, keep)
    if as_json:
        print_json({"removed": removed, "kept": generation.names(folder)})
    else:
        click.echo(f"Removed: {', '.join(removed) or 'none'}. Kept: {', '.join(generation.names(folder))}.")
    return 0


def _published(data: Path) -> str | None:
    from indexer.stores.generation import current_name

    try:
        return current_name(data)
    except LetopisError:
        return None


def _row(data: Path, name: str, published: str | None) -> dict[str, Any]:
    from indexer.stores.manifest import read
    from service.query import shown_time

    row: dict[str, Any] = {"name": name, "current": name == published, "fault": None}
    try:
        manifest = read(data / name)
    except LetopisError as error:
        return row | {"built_at": None, "counts": {}, "bytes": 0, "fault": error.message}
    return row | {
        "built_at": shown_time(manifest.built_at),
        "counts": manifest.counts,
        "bytes": sum(file["size"] for file in manifest.files.values()),
    }

"""`letopis entities`: the names of the index, looked up and connected."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import tzinfo
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import click

from service.cli.corrections import corrections, ignore, merge, rename, split, undo
from service.cli.options import settings_of, shared
from service.render import clean, local

if TYPE_CHECKING:
    from indexer.stores.generation import Generation
    from schemas.http import EntityAnswer, EntityRef, IndexInfo, PathRef, PathsAnswer
    from schemas.settings import Settings

_ALIASES, _RELATIONS, _NEWEST = 10, 12, 5
_QUOTE = 200

Found = TypeVar("Found")


@click.group()
def entities() -> None:
    """Names in the index: look them up, connect them, correct them."""


@entities.command("list")
@click.argument("query", nargs=-1)
@click.option("--type", "type_", metavar="TYPE", help="Only of this type: PER, ORG, LOC, NAME, URL, …")
@click.option(
    "--sort",
    type=click.Choice(["mentions", "recency"]),
    default="mentions",
    show_default=True,
    help="Which come first.",
)
@click.option("--limit", type=click.IntRange(1, 100), default=20, show_default=True, help="How many.")
@shared
def list_(
    query: tuple[str, ...],
    type_: str | None,
    sort: str,
    limit: int,
    config: Path | None,
    data: Path | None,
    as_json: bool,
) -> int:
    """List names; those like QUERY, in any inflection, misspelt or unfinished, or all of them."""
    from service.names import entity_list
    from service.requests import EntitiesRequest, parse

    keys = parse(EntitiesRequest, [("q", " ".join(query)), ("type", type_), ("sort", sort), ("limit", limit)])
    settings = settings_of(config, data)
    answer = _asked(
        settings,
        lambda generation, index: entity_list(generation, keys.q, keys.type, keys.sort, limit, index),
    )
    if as_json:
        click.echo(answer.model_dump_json(indent=1))
        return 0
    if not answer.entities:
        click.echo("No name is like that. Next: `letopis entities list` shows them all")
    for entity in answer.entities:
        click.echo(_row(entity, settings.zone))
    return 0


@entities.command()
@click.argument("name")
@shared
def show(name: str, config: Path | None, data: Path | None, as_json: bool) -> int:
    """Show one entity, by NAME in any form or by id: its forms, relations and newest mentions."""
    from service.names import entity_answer, resolved

    settings = settings_of(config, data)
    answer = _asked(
        settings,
        lambda generation, index: entity_answer(generation, resolved(generation, name, "NAME").id, index),
    )
    if as_json:
        click.echo(answer.model_dump_json(indent=1))
    else:
        click.echo("\n".join(_told(answer, settings.zone)))
    return 0


@entities.command()
@click.argument("from_", metavar="FROM")
@click.argument("to")
@click.option("--limit", type=click.IntRange(1, 10), default=3, show_default=True, help="How many ways.")
@shared
def path(from_: str, to: str, limit: int, config: Path | None, data: Path | None, as_json: bool) -> int:
    """Say how FROM and TO are connected, in up to three steps, each with the talk that shows it."""
    from service.paths import paths_answer

    settings = settings_of(config, data)
    answer = _asked(settings, lambda generation, index: paths_answer(generation, from_, to, limit, index))
    if as_json:
        click.echo(answer.model_dump_json(indent=1, by_alias=True))
    else:
        click.echo("\n".join(_ways(answer, settings.zone)))
    return 0


for command in (merge, split, rename, ignore, corrections, undo):
    entities.add_command(command)


def _asked(settings: Settings, ask: Callable[[Generation, IndexInfo], Found]) -> Found:
    """Ask the published generation, without the models that a search needs."""
    from indexer.stores.generation import open_current
    from service.search import index_info
    from service.staleness import Staleness

    generation = open_current(settings.data)
    try:
        return ask(generation, index_info(generation, Staleness(settings.data).of(generation)))
    finally:
        generation.close()


def _row(entity: EntityRef, zone: tzinfo) -> str:
    seen = f"  last {local(entity.last_at, zone)[:10]}" if entity.last_at else ""
    return f"{entity.id:>7}  {entity.type:<8} {entity.mentions:>6,}×  {clean(entity.name)}{seen}"


def _told(answer: EntityAnswer, zone: tzinfo) -> Iterator[str]:
    yield f"{clean(answer.name)}  ({answer.type}, id {answer.id}, {answer.mentions:,} mentions)"
    for alias in answer.aliases[:_ALIASES]:
        also = f"; elsewhere {', '.join(map(clean, alias.ambiguous))}" if alias.ambiguous else ""
        yield f"  as        {clean(alias.name)} ({alias.count:,}{also})"
    for relation in answer.relations[:_RELATIONS]:
        strength = f", NPMI {relation.npmi:.2f}" if relation.npmi is not None else ""
        last = f", last {local(relation.last_at, zone)[:10]}" if relation.last_at else ""
        yield f"  {relation.predicate:<9} {clean(relation.object)} ({relation.count:,}{strength}{last})"
    for mention in answer.newest[:_NEWEST]:
        chat = clean(mention.chat.title or mention.chat.id)
        yield f"  {local(mention.at, zone)} · {chat} · {mention.chunk}"
        yield f"  | {clean(mention.text, _QUOTE)}"


def _ways(answer: PathsAnswer, zone: tzinfo) -> Iterator[str]:
    ends = f"{clean(answer.from_.name)} → {clean(answer.to.name)}"
    if answer.from_.id == answer.to.id:
        yield f"{ends}: both names mean one entity, {answer.to.id}."
    elif not answer.paths:
        yield f"{ends}: nothing connects them in three steps."
    else:
        yield ends
    for number, way in enumerate(answer.paths, 1):
        yield from _way(number, way, zone)


def _way(number: int, way: PathRef, zone: tzinfo) -> Iterator[str]:
    names = " — ".join(
        clean(entity.name) for entity in (way.steps[0].from_, *(step.to for step in way.steps))
    )
    yield f"\n[{number}] {names}{' (through a name that stands everywhere)' if way.hub else ''}"
    for step in way.steps:
        one, other = (step.to, step.from_) if step.reverse else (step.from_, step.to)
        last = f", last {local(step.last_at, zone)[:10]}" if step.last_at else ""
        yield f"  {clean(one.name)} {step.predicate} {clean(other.name)} ({step.count:,}×{last})"
        if step.text:
            yield f"  | {clean(step.text, 300)}"

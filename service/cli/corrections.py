"""The correcting half of `letopis entities`: what a person knows better than the extractor, kept for good."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from service.cli.cancellation import Cancellation
from service.cli.options import print_json, settings_of, shared
from service.cli.progress import shown
from service.cli.summary import line
from service.render import clean, local

if TYPE_CHECKING:
    from indexer.stores.graph import GraphStore, StoredEntity
    from schemas.records import Correction
    from schemas.settings import Settings

_LONGEST = 200


@click.command()
@click.argument("name")
@click.argument("into")
@shared
def merge(name: str, into: str, config: Path | None, data: Path | None, as_json: bool) -> int:
    """NAME is another name of INTO: both become one entity."""
    from schemas.problems import NoMatch
    from schemas.records import Correction

    settings = settings_of(config, data)
    with _graph(settings) as graph:
        entity, key = _named(graph, name)
        other, _ = _named(graph, into)
        target = graph.keys(other.id)[0]
    if key == target or entity.id == other.id:
        raise NoMatch(f"{_quoted(name)} and {_quoted(into)} are one entity already.", "name two")
    return _correct(settings, Correction("merge", key, target), as_json)


@click.command()
@click.argument("name")
@shared
def split(name: str, config: Path | None, data: Path | None, as_json: bool) -> int:
    """NAME is an entity of its own, whatever it was taken for."""
    from indexer.text.names import written_key
    from schemas.records import Correction

    settings = settings_of(config, data)
    with _graph(settings) as graph:
        entity, key = _named(graph, name)
        # Of an id only the merge key is known; of a name, what was written and not what it stands for.
        key = key if name.strip() == str(entity.id) else written_key(name)
    return _correct(settings, Correction("split", key), as_json)


@click.command()
@click.argument("name")
@click.argument("to")
@shared
def rename(name: str, to: str, config: Path | None, data: Path | None, as_json: bool) -> int:
    """Show the entity NAME as TO."""
    from indexer.text.normal import has_words, scrubbed
    from schemas.problems import SettingsError
    from schemas.records import Correction

    shown_as = clean(scrubbed(to), len(to) + 1)
    if not has_words(shown_as) or len(shown_as) > _LONGEST:
        raise SettingsError(
            f"{_quoted(to)} is no name to show: it has {len(shown_as)} characters.",
            f"give 1 to {_LONGEST} characters with a letter or a digit",
        )
    settings = settings_of(config, data)
    with _graph(settings) as graph:
        entity, _ = _named(graph, name)
        key = graph.keys(entity.id)[0]
    return _correct(settings, Correction("rename", key, shown_as), as_json)


@click.command()
@click.argument("name")
@shared
def ignore(name: str, config: Path | None, data: Path | None, as_json: bool) -> int:
    """NAME is no name: leave it out of the graph."""
    from schemas.records import Correction

    settings = settings_of(config, data)
    with _graph(settings) as graph:
        _, key = _named(graph, name)
    return _correct(settings, Correction("ignore", key), as_json)


@click.command()
@shared
def corrections(config: Path | None, data: Path | None, as_json: bool) -> int:
    """List the corrections that were made, with the numbers by which they are taken back."""
    from indexer.stores.ledger import LEDGER_NAME, Ledger

    settings = settings_of(config, data)
    made: list[tuple[int, Correction, int]] = []
    if (settings.data / LEDGER_NAME).is_file():
        with Ledger(settings.data) as ledger:
            made = ledger.corrections.all()
    if as_json:
        print_json({"corrections": [_as_json(number, kept, at) for number, kept, at in made]})
        return 0
    if not made:
        click.echo("Nothing has been corrected. Next: `letopis entities --help` shows how")
    for number, kept, at in made:
        when = local(datetime.fromtimestamp(at / 1000, UTC).isoformat(), settings.zone)
        click.echo(f"{number:>4}  {when}  {_said(kept)}")
    return 0


@click.command()
@click.argument("number", type=click.IntRange(min=1))
@shared
def undo(number: int, config: Path | None, data: Path | None, as_json: bool) -> int:
    """Take correction NUMBER back."""
    from indexer.correcting import Correct

    settings = settings_of(config, data)
    with Cancellation() as cancellation, shown() as progress:
        job = Correct(settings, progress=progress, cancelled=cancellation.asked, undo=number)
        job.run()
    if as_json:
        print_json({"undone": number, "generation": job.report.generation})
        return 0
    click.echo(f"Taken back: correction {number}.")
    _tell_published(job.report.generation)
    return 0


def _correct(settings: Settings, correction: Correction, as_json: bool) -> int:
    from indexer.correcting import Correct

    with Cancellation() as cancellation, shown() as progress:
        job = Correct(settings, progress=progress, cancelled=cancellation.asked, correction=correction)
        job.run()
    if as_json:
        print_json(
            {
                "number": job.number,
                "action": correction.action,
                "key": correction.key,
                "value": correction.value,
                "generation": job.report.generation,
            }
        )
        return 0
    click.echo(f"Corrected: {_said(correction)}.")
    _tell_published(job.report.generation)
    click.echo(line("undo", f"`letopis entities undo {job.number}` takes it back"))
    return 0


def _tell_published(generation: str | None) -> None:
    if generation:
        click.echo(line("published", f"generation {generation}; a running service takes it in by itself"))


@contextmanager
def _graph(settings: Settings) -> Iterator[GraphStore]:
    """The published graph alone; the vectors are not needed to know a name."""
    from indexer.stores.generation import current_name
    from indexer.stores.graph import GraphStore
    from indexer.stores.manifest import GRAPH_NAME

    graph = GraphStore(settings.data / current_name(settings.data) / GRAPH_NAME)
    try:
        yield graph
    finally:
        graph.close()


def _named(graph: GraphStore, name: str) -> tuple[StoredEntity, str]:
    """The one entity that is meant, and the merge key of the name as given.

    Raises:
        NoMatch: nothing is called so, or several are; a misspelt name is told and never corrected by itself.
    """
    from indexer.text.names import name_key
    from schemas.problems import NoMatch
    from service.names import named, nearest

    found = named(graph, name.strip(), forgiving=False)
    if not found:
        raise NoMatch(f"There is no name {_quoted(name)} in the index.", nearest(graph, name))
    if len(found) > 1:
        choices = ", ".join(f"{clean(entity.name)} ({entity.id})" for entity in found[:5])
        raise NoMatch(f"{_quoted(name)} means {len(found)} entities: {choices}.", "give the id of one")
    keys = graph.keys(found[0].id)
    key = name_key(name.strip())
    return found[0], key if key in keys else keys[0]


def _quoted(name: str) -> str:
    return repr(clean(name))


def _said(correction: Correction) -> str:
    key, value = clean(correction.key), clean(correction.value or "", _LONGEST)
    return {
        "merge": f"{key!r} is {value!r}",
        "split": f"{key!r} is an entity of its own",
        "rename": f"{key!r} is shown as {value!r}",
        "ignore": f"{key!r} is no name",
    }[correction.action]


def _as_json(number: int, correction: Correction, at: int) -> dict[str, Any]:
    when = datetime.fromtimestamp(at / 1000, UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
    return {
        "number": number,
        "action": correction.action,
        "key": correction.key,
        "value": correction.value,
        "at": when,
    }

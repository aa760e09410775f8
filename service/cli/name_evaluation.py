"""`letopis eval entities`: how well names are found, and how fast, on gold files of one's own."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import click

from service.cli.options import print_json, settings_of, shared
from service.cli.progress import shown

if TYPE_CHECKING:
    from indexer.entities.graph import Entity, Graph
    from indexer.stores.generation import Generation

Backend = Literal["auto", "slovnet", "spacy", "patterns"]

# Made-up chunks for the speed of extraction, and calls for the middle of their times.
_CHUNKS = 3_000
_CALLS = 200


@click.command("entities")
@click.argument("folder", type=click.Path(path_type=Path, exists=True, file_okay=False), metavar="DIR")
@click.option(
    "--backend",
    type=click.Choice(["auto", "slovnet", "spacy", "patterns"]),
    help="Who finds names; that of the settings by default.",
)
@click.option("--quick", is_flag=True, help="The gold files alone, without speed, memory and large graphs.")
@shared
def entities(
    folder: Path, backend: Backend | None, quick: bool, config: Path | None, data: Path | None, as_json: bool
) -> int:
    """Measure names against the gold files in DIR.

    DIR may hold factru*.jsonl, norm*.tsv, mixed_script*.jsonl and chat_gold*.txt. Beside them, on made-up
    archives: how many of 1,000 inflected names are found first, chunks a second of one process and of two,
    memory over 200,000 messages, the seconds to relate 50,000 entities in 100,000 chunks, and the middle time
    of a call on that graph. That takes some minutes; --quick leaves it out.
    """
    from indexer.entities import Extractor
    from indexer.evaluation import load, lookup, names
    from schemas.problems import SettingsError

    chosen = backend or settings_of(config, data).entities.backend
    with shown() as progress:
        progress.stage("gold files", None)
        extractor = Extractor(chosen)
        found: dict[str, dict[str, Any]] = dict(names.measured(extractor, folder))
        if not found:
            raise SettingsError(
                f"There is no gold file in {folder.name}.",
                "it may hold factru*.jsonl, norm*.tsv, mixed_script*.jsonl, chat_gold*.txt",
            )
        if not quick:
            progress.stage("names by inflection", None)
            found["lookup"] = lookup.recall_at_1()
            progress.stage("speed of extraction", None)
            found["extraction"] = load.extraction(chosen, load.texts(_CHUNKS))
            progress.stage("memory", None)
            found["memory"] = load.memory(extractor)
            progress.stage("relations", None)
            found["relations"], graph = load.relations()
            progress.stage("calls", None)
            found["calls"] = _calls(graph)
    if as_json:
        print_json(found)
    else:
        click.echo(extractor.version)
        click.echo("\n".join(_lines(found)))
    return 0


def _lines(found: dict[str, dict[str, Any]]) -> Iterator[str]:
    for name, metrics in found.items():
        yield name
        for metric, value in metrics.items():
            yield f"  {metric:<24} {value:>12,}"


def _calls(graph: Graph) -> dict[str, float]:
    """Middle milliseconds of a list by name and of a picture two steps wide, over the graph."""
    from schemas.http import IndexInfo
    from service.names import entity_list
    from service.picture import graph_answer

    with _generation(graph) as generation:
        index = IndexInfo(generation=generation.name, built_at="", stale=[])
        asked = [graph.entities[at * len(graph.entities) // _CALLS] for at in range(_CALLS)]

        def listed(entity: Entity) -> object:
            return entity_list(generation, entity.name, None, "mentions", 10, index)

        def pictured(entity: Entity) -> object:
            return graph_answer(generation, str(entity.id), 2, 60, index)

        return {
            "entities": len(graph.entities),
            "relations": len(graph.relations),
            "entities_p50_ms": _middle(listed, asked),
            "graph_depth_2_p50_ms": _middle(pictured, asked),
        }


def _middle(call: Callable[[Entity], object], asked: Sequence[Entity]) -> float:
    times = []
    for entity in asked:
        began = time.perf_counter()
        call(entity)
        times.append(time.perf_counter() - began)
    return round(sorted(times)[len(times) // 2] * 1000, 2)


@contextmanager
def _generation(graph: Graph) -> Iterator[Generation]:
    """A generation of this graph over an empty archive."""
    from indexer.report import Report, Silent
    from indexer.stores.generation import open_generation, sealed
    from indexer.stores.graph_writer import write_graph
    from indexer.stores.ledger import Ledger
    from indexer.stores.manifest import GRAPH_NAME
    from indexer.writing import Content, write

    with tempfile.TemporaryDirectory(prefix="letopis-") as name:
        folder = Path(name) / "000001"
        folder.mkdir()
        with Ledger(Path(name)) as ledger:
            content = Content("", {}, "patterns", Path(name), [], {})
            manifest = write(ledger, content, folder.name, folder, 0, Report(), Silent())
        (folder / GRAPH_NAME).unlink()
        rows = {mention.chunk_id: number for number, mention in enumerate(graph.mentions)}
        write_graph(folder / GRAPH_NAME, graph, rows)
        sealed(folder, manifest)
        generation = open_generation(folder)
        try:
            yield generation
        finally:
            generation.close()

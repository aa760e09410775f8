"""Measures the entity graph: `python -m bench.graph [--entities N] [--relations N] [--data DIR]`.

A synthetic graph (made-up Russian-looking names, mentioned and related by Zipf's law, the first one in more
than a tenth of the chunks) is written by the generation's own writer beside a synthetic archive, in a
temporary folder or in `--data DIR`, which a second run uses again. Prints the sizes, the time to open, and
p50, p95 and the slowest of each call, in process and over HTTP on loopback.
"""

from __future__ import annotations

import argparse
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlencode

import httpx
import numpy as np

from bench.search import EXTRACTOR, SYLLABLES, fill, timed
from indexer.entities.graph import Entity, Graph, PlacedMention, Predicate, Relation
from indexer.report import Report, Silent
from indexer.stores import generation as generations
from indexer.stores.graph_writer import write_graph
from indexer.stores.ledger import Ledger
from indexer.stores.manifest import GRAPH_NAME
from indexer.text.names import name_key
from indexer.writing import Content, write
from schemas.settings import Settings
from service.app import create_app
from service.engine import LiveEngine
from service.server import Server, listen

DIMS = 8
DAY = 86_400_000
START = 1_600_000_000_000
ENDINGS = ("ов", "ин", "ский", "ко", "н", "ра", "сть", "ма")
# Shares of the relations; a hundred authors and hosts take the last two.
PREDICATES: dict[Predicate, float] = {"co_occurs": 0.75, "alias_of": 0.05, "said_by": 0.15, "links_to": 0.05}
AUTHORS = 100

Call = Callable[[], object]


def names(random: np.random.Generator, count: int) -> list[str]:
    made: dict[str, None] = {}
    while len(made) < count:
        words = [
            "".join(random.choice(SYLLABLES, random.integers(2, 5))) + str(random.choice(ENDINGS))
            for _ in range(random.integers(1, 3))
        ]
        made[" ".join(words).title()] = None
    return list(made)


def drawn(random: np.random.Generator, most: int, count: int) -> list[int]:
    """Entities by Zipf's law: the first one is drawn most often."""
    shares = 1.0 / (np.arange(most) + 2.0)
    return [int(at) + 1 for at in random.choice(most, count, p=shares / shares.sum())]


def graph_over(
    random: np.random.Generator, chunks: list[tuple[str, str]], entities: int, relations: int
) -> Graph:
    """A graph over (chunk id, chat id) pairs; every entity is mentioned at least once."""
    called = names(random, entities)
    places = [*range(1, entities + 1), *drawn(random, entities, 4 * len(chunks))]
    within = random.integers(len(chunks), size=len(places)).tolist()
    held = sorted(set(zip(within, places, strict=True)))
    mentions = [
        PlacedMention(entity, *chunks[chunk], f"m{4 * (chunk % 200)}", START + chunk * DAY // 100, 0, 5)
        for chunk, entity in held
    ]
    counts = np.bincount([entity for _, entity in held], minlength=entities + 1)
    order = np.argsort(-counts[1:], kind="stable") + 1  # ids stand in the order of mentions
    number = {int(old): new for new, old in enumerate(order, 1)}
    listed = tuple(
        Entity(
            new,
            f"{name_key(called[old - 1])} {new}",
            called[old - 1],
            "PER",
            int(counts[old]),
            int(counts[old]),
            START,
            START + new,
        )
        for old, new in number.items()
    )
    moved = tuple(
        PlacedMention(number[m.entity], m.chunk_id, m.chat_id, m.message_id, m.at, m.start, m.end)
        for m in mentions
    )
    keys = {name_key(entity.name): entity.id for entity in reversed(listed)}
    aliases = tuple((entity.id, entity.name, entity.mentions) for entity in listed)
    return Graph(
        listed, tuple(sorted(keys.items())), aliases, moved, related(random, listed, moved, relations)
    )


def related(
    random: np.random.Generator, entities: tuple[Entity, ...], mentions: tuple[PlacedMention, ...], count: int
) -> tuple[Relation, ...]:
    kinds = random.choice(list(PREDICATES), count, p=list(PREDICATES.values()))
    evidence = [mention.chunk_id for mention in mentions]
    made: dict[tuple[int, str, int], Relation] = {}
    one = drawn(random, len(entities), count)
    other = [int(at) for at in random.integers(1, len(entities) + 1, count)]
    for at, kind in enumerate(kinds):
        subject, object_ = sorted((one[at], other[at]))
        if kind in ("said_by", "links_to"):
            subject, object_ = other[at], 1 + one[at] % AUTHORS
        if subject == object_:
            continue
        npmi = float(random.uniform(0.1, 0.9)) if kind == "co_occurs" else None
        seen = int(random.integers(2, 30))
        name, shown = entities[object_ - 1].name, evidence[at % len(evidence)]
        made[subject, kind, object_] = Relation(
            *(subject, kind, object_, name, seen, npmi, START, START + seen * DAY, shown)
        )
    return tuple(made.values())


def published(data: Path, chunks: int, entities: int, relations: int) -> None:
    random = np.random.default_rng(7)
    with Ledger(data) as ledger:
        timed("archive", lambda: fill(ledger, chunks, DIMS))
        name, folder = generations.begin(data)
        content = Content("0", {}, EXTRACTOR, data, (), {})
        manifest = write(ledger, content, name, folder, int(time.time() * 1000), Report(), Silent())
        chats = [chat[0] for chat in ledger.messages.chats()]
        held = [(chunk.id, chat) for chat in chats for chunk, _ in ledger.chunks.of(chat)]
    (folder / GRAPH_NAME).unlink()
    rows = {chunk: row for row, (chunk, _) in enumerate(held, 1)}
    graph = graph_over(random, held, entities, relations)
    timed("write the graph", lambda: write_graph(folder / GRAPH_NAME, graph, rows))
    generations.sealed(folder, manifest)
    generations.publish(data, folder, (), None)


def misspelt(random: np.random.Generator, name: str) -> str:
    at = int(random.integers(1, len(name) - 2))
    return name[:at] + name[at + 1] + name[at] + name[at + 2 :]


def asked(engine: LiveEngine, count: int) -> dict[str, list[dict[str, str]]]:
    """Keys of requests by kind; names of few and of many mentions, as people ask for both."""
    random = np.random.default_rng(3)
    with engine._live.lease() as generation:
        size = generation.manifest.counts["entities"]
        known = generation.graph.entities(
            sorted({*drawn(random, size, count), *range(1, size, size // count)})
        )
    called = [entity.name for entity in known.values()]
    chosen = [str(name) for name in random.choice(called, count)]
    pairs = list(zip(chosen, map(str, random.choice(called, count)), strict=True))
    return {
        "/v1/entities exact": [{"q": name.lower()} for name in chosen],
        "/v1/entities unfinished": [{"q": name[: int(random.integers(2, 6))]} for name in chosen],
        "/v1/entities misspelt": [{"q": misspelt(random, name)} for name in chosen],
        "/v1/entities by recency": [{"q": name, "sort": "recency"} for name in chosen],
        "/v1/entities all": [{}],
        "/v1/paths": [{"from": one, "to": other} for one, other in pairs],
        "/v1/paths from the first": [{"from": "1", "to": other} for _, other in pairs],
        "/v1/paths of the first": [{"from": str(at), "to": str(at + 1)} for at in range(1, 40)],
        "/v1/graph depth 1": [{"entity": name, "depth": "1"} for name in chosen],
        "/v1/graph depth 2": [{"entity": name, "depth": "2"} for name in chosen],
        "/v1/graph of the first": [{"entity": str(at), "depth": "2"} for at in range(1, 40)],
    }


def in_process(engine: LiveEngine, kind: str, keys: dict[str, str]) -> None:
    if kind.startswith("/v1/entities"):
        engine.entities(keys.get("q", ""), None, 20, keys.get("sort", "mentions"))
    elif kind.startswith("/v1/paths"):
        engine.paths(keys["from"], keys["to"], 3)
    else:
        engine.graph(keys["entity"], int(keys["depth"]), 60)


@contextmanager
def served(engine: LiveEngine) -> Iterator[str]:
    ready, urls = threading.Event(), list[str]()

    def told(url: str) -> None:
        urls.append(url)
        ready.set()

    with listen("127.0.0.1", 0) as listener:
        server = Server(create_app(engine, Settings()), told)
        thread = threading.Thread(target=server.run, args=([listener],), daemon=True)
        thread.start()
        ready.wait(10)
        yield urls[0]
        server.should_exit = True
        thread.join(10)


def measured(kind: str, where: str, calls: list[Call]) -> None:
    for call in calls[:10]:
        call()
    spent = []
    for call in calls:
        began = time.perf_counter()
        call()
        spent.append((time.perf_counter() - began) * 1000)
    p50, p95 = np.percentile(spent, [50, 95])
    print(f"{kind:<26}{where:<11}p50 {p50:7.2f} ms  p95 {p95:7.2f} ms  most {max(spent):7.1f} ms")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--entities", type=int, default=50_000)
    parser.add_argument("--relations", type=int, default=100_000)
    parser.add_argument("--chunks", type=int, default=20_000)
    parser.add_argument("--queries", type=int, default=200)
    parser.add_argument("--data", type=Path)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        data = options.data or Path(folder)
        if not generations.names(data):
            published(data, options.chunks, options.entities, options.relations)
        current = data / generations.current_name(data)
        print(f"{GRAPH_NAME:<28}{(current / GRAPH_NAME).stat().st_size / 1e6:8.1f} MB")
        engine = LiveEngine(Settings(data=data, embedding={"order": ["hash"], "floor": False}), {})
        timed("open", engine.__enter__)
        try:
            requests = asked(engine, options.queries)
            for kind, keys in requests.items():
                measured(
                    kind, "in process", [lambda k=kind, key=key: in_process(engine, k, key) for key in keys]
                )
            with served(engine) as url, httpx.Client(base_url=url) as client:
                for kind, keys in requests.items():
                    paths = [f"{kind.split()[0]}?{urlencode(key)}" for key in keys]
                    measured(
                        kind,
                        "HTTP",
                        [lambda path=path: client.get(path).raise_for_status() for path in paths],
                    )
        finally:
            engine.__exit__(None, None, None)


if __name__ == "__main__":
    main()

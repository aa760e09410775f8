"""How fast names are found and related, on made-up archives of a known size."""

from __future__ import annotations

import random
import resource
import sys
import time
from collections.abc import Iterator, Sequence

from indexer.entities import Extractor
from indexer.entities.graph import Graph, MessageMentions, Place
from indexer.entities.pool import Pool
from indexer.entities.relations import graph_of
from indexer.evaluation.lookup import people_and_places
from schemas.records import Mention

CHUNK = 600
_WORDS = (
    *(
        "вчера",
        "обсудили",
        "план",
        "на",
        "неделю",
        "и",
        "договорились",
        "что",
        "сервер",
        "переедет",
        "в",
        "субботу",
    ),
    *(
        "потом",
        "посмотрим",
        "как",
        "он",
        "себя",
        "ведёт",
        "если",
        "нужно",
        "вернём",
        "старый",
        "отчёт",
        "готов",
    ),
    *(
        "задача",
        "висит",
        "давно",
        "надо",
        "спросить",
        "у",
        "коллег",
        "про",
        "сроки",
        "и",
        "бюджет",
        "проекта",
    ),
)


def texts(count: int, seed: int = 0) -> list[str]:
    """Made-up chat texts of about CHUNK characters with names in them, the same for the same seed."""
    chance = random.Random(seed)
    names = [form for _, form, _ in people_and_places(300, seed)]
    made = []
    for _ in range(count):
        words: list[str] = []
        while sum(map(len, words)) + len(words) < CHUNK:
            words += chance.sample(_WORDS, 6)
            words.append(chance.choice(names) + chance.choice((".", ",", "")))
        made.append(" ".join(words)[:CHUNK])
    return made


def extraction(backend: str, chunks: Sequence[str]) -> dict[str, float]:
    """Chunks a second of one process, warm, and how many times faster two processes are.

    Args:
        backend: as of `Extractor`.
        chunks: texts of about CHUNK characters.
    """
    batches = [chunks[start : start + 250] for start in range(0, len(chunks), 250)]
    rates = []
    for processes in (1, 2):
        with Pool(backend, processes) as pool:
            list(pool.extract([chunks[:20]] * (2 * processes)))  # every process loads its model
            began = time.perf_counter()
            list(pool.extract(batches))
            rates.append(len(chunks) / (time.perf_counter() - began))
    return {
        "chunks": len(chunks),
        "chunks_per_second": round(rates[0], 1),
        "two_processes_ratio": round(rates[1] / rates[0], 3),
    }


def memory(extractor: Extractor, messages: int = 200_000) -> dict[str, float]:
    """Peak memory after a tenth of many short, all different messages, and after all of them, MB."""
    chance = random.Random(1)
    names = [form for _, form, _ in people_and_places(300)]
    peaks = []
    for part in range(10):
        batch = [
            f"{chance.choice(names)} {chance.choice(_WORDS)} {number:x} {chance.choice(_WORDS)}"
            for number in range(part * messages // 10, (part + 1) * messages // 10)
        ]
        for start in range(0, len(batch), 500):
            extractor.extract(batch[start : start + 500])
        peaks.append(_peak())
    return {"messages": messages, "tenth_mb": round(peaks[0], 1), "all_mb": round(peaks[-1], 1)}


def _peak() -> float:
    unit = 1 << 20 if sys.platform == "darwin" else 1 << 10
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / unit


def relations(chunks: int = 100_000, entities: int = 50_000) -> tuple[dict[str, float], Graph]:
    """Seconds to make the graph of a made-up archive (two messages a chunk, names by Zipf's law), and it."""
    messages = list(_archive(chunks, entities))
    start = time.perf_counter()
    graph = graph_of(messages)
    metrics: dict[str, float] = {
        "chunks": chunks,
        "entities": len(graph.entities),
        "relations": len(graph.relations),
        "seconds": round(time.perf_counter() - start, 2),
    }
    return metrics, graph


def _archive(chunks: int, entities: int) -> Iterator[MessageMentions]:
    chance = random.Random(2)
    ranks = [1.0 / (rank + 2) for rank in range(entities)]
    drawn = iter(chance.choices(range(entities), ranks, k=4 * chunks))
    spread = iter(range(entities))
    for number in range(2 * chunks):
        keys = {next(drawn), next(drawn), next(spread, 0)}
        words = [f"Имя{key}" for key in sorted(keys)]
        text, mentions, at = " ".join(words), [], 0
        for word in words:
            mentions.append(Mention(at, at + len(word), "NAME", word, word.lower()))
            at += len(word) + 1
        place = Place(f"c{number // 2}", 0, len(text))
        yield MessageMentions(
            f"chat {number // 400}", str(number), text, (place,), number * 60_000, tuple(mentions), "Оля"
        )

"""Measures the search itself: `python -m bench.search [--chunks N] [--dims D] [--queries Q]`.

A synthetic archive (made-up Russian-looking words by Zipf's law, names, random vectors) is written through
the ledger into a generation, in a temporary folder or in `--data DIR`, which a second run uses again;
queries come with random vectors, so no model is measured.
Prints sizes, the time to open, and p50/p95 of hybrid search at 1 and 4 threads.
"""

from __future__ import annotations

import argparse
import cProfile
import hashlib
import pstats
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

import numpy as np

from indexer.report import Report, Silent
from indexer.stores import generation as generations
from indexer.stores.ledger import Ledger, SourceFile
from indexer.text.names import name_key
from indexer.writing import Content, write
from schemas.http import SearchRequest
from schemas.records import Chunk, Mention, Message, Piece, Space
from service.evidence import QueryVector
from service.search import search

EXTRACTOR = "bench/1"
MESSAGES = 4  # in a chunk
WORDS = 20  # in a message
CHUNKS = 200  # in a chat
MINUTE = 60_000

SYLLABLES = [first + last for first in "бвгдзклмнпрстхцчш" for last in "аеиоуыя"]
ENDINGS = ["", "а", "у", "ом", "е", "ов", "ам", "ами", "ах", "ый", "ого", "ому", "ую", "ешь", "ать", "ил"]


def vocabulary(random: np.random.Generator, size: int = 4_000) -> list[str]:
    stems = {"".join(random.choice(SYLLABLES, random.integers(2, 4))) + "н" for _ in range(size)}
    return [stem + str(random.choice(ENDINGS)) for stem in sorted(stems) for _ in range(3)]


def zipf(random: np.random.Generator, words: list[str], count: int) -> list[str]:
    shares = 1.0 / (np.arange(len(words)) + 3.0)
    order = np.random.default_rng(1).permutation(len(words))
    return [words[order[at]] for at in random.choice(len(words), count, p=shares / shares.sum())]


def talk(
    random: np.random.Generator, chat: str, words: list[str], names: list[str], count: int
) -> list[Message]:
    drawn = iter(zipf(random, words, count * WORDS))
    named = iter(zipf(random, names, count))
    start = int(random.integers(1_600_000_000_000, 1_760_000_000_000))
    made = []
    for at in range(count):
        text = " ".join(next(drawn) for _ in range(WORDS)) + f" {next(named)}"
        when = start + at * MINUTE
        made.append(Message(chat, f"m{at}", "jsonl", "user", text, f"{chat}:{at}", at=when, author="Иван"))
    return made


def windows(messages: list[Message]) -> list[tuple[Chunk, bytes]]:
    made = []
    for ordinal, at in enumerate(range(0, len(messages), MESSAGES)):
        held, text, pieces = messages[at : at + MESSAGES], "", []
        for message in held:
            text += f"\nИван: {message.text}" if text else f"Иван: {message.text}"
            pieces.append(Piece(message.id, len(text) - len(message.text), len(text), 0))
        id_ = "c_" + hashlib.sha256(f"{messages[0].chat_id} {ordinal}".encode()).hexdigest()[:20]
        chat = held[0].chat_id
        chunk = Chunk(id_, chat, None, ordinal, "", text, tuple(pieces), held[0].at, held[-1].at)
        made.append((chunk, hashlib.sha256(id_.encode()).digest()))
    return made


def mentioned(message: Message) -> list[Mention]:
    name = message.text.rsplit(" ", 1)[1]
    end = len(message.text)
    return [Mention(end - len(name), end, "NAME", name, name_key(name))]


def fill(ledger: Ledger, chunks: int, dims: int) -> None:
    """Fill a ledger past readers and embedders."""
    random = np.random.default_rng(20)
    words = vocabulary(random)
    names = [f"Proekt{number}" for number in range(chunks // 10)]
    space = ledger.vectors.space_id(Space("local", "random", dims, 1))
    for number in range(0, chunks, CHUNKS):
        chat = f"chat{number // CHUNKS}"
        count = min(CHUNKS, chunks - number)
        messages = talk(random, chat, words, names, count * MESSAGES)
        hashed = [(message, hashlib.sha256(message.text.encode()).digest()) for message in messages]
        ledger.absorb(SourceFile("root", f"{chat}.jsonl", "jsonl", 1, 1, "00", "1"), hashed)
        ledger.mentions.keep(EXTRACTOR, ((digest, mentioned(message)) for message, digest in hashed))
        cut = windows(messages)
        ledger.chunks.replace(chat, cut)
        vectors = random.normal(size=(len(cut), dims)).astype(np.float32)
        vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
        ledger.vectors.keep(space, [digest for _, digest in cut], vectors)


def timed(name: str, call: Callable[[], object]) -> object:
    began = time.perf_counter()
    result = call()
    print(f"{name:<28}{time.perf_counter() - began:8.2f} s")
    return result


def published(data: Path, chunks: int, dims: int) -> None:
    with Ledger(data) as ledger:
        fill(ledger, chunks, dims)
        name, folder = generations.begin(data)
        content = Content("0", {}, EXTRACTOR, data, (), {})

        def written() -> None:
            manifest = write(ledger, content, name, folder, int(time.time() * 1000), Report(), Silent())
            generations.sealed(folder, manifest)

        timed("write", written)
        timed("verify and publish", lambda: generations.publish(data, folder, (), None))


def texts_of(opened: generations.Generation) -> list[str]:
    """Message texts to draw queries from."""
    rows = range(1, opened.store.size("message") + 1, 50)
    return [message.text for message in opened.store.messages(list(rows)).values()]


def requests(texts: list[str], count: int, unit: str) -> list[SearchRequest]:
    random = np.random.default_rng(5)
    made = []
    for _ in range(count):
        words = texts[int(random.integers(len(texts)))].split()
        size = int(random.integers(2, 7))
        q = " ".join([*random.choice(words[:-1], size), words[-1]] if random.random() < 0.3 else words[:size])
        made.append(SearchRequest.model_validate({"q": q, "unit": unit}))
    return made


def latencies(
    opened: generations.Generation, asked: list[SearchRequest], threads: int, dims: int
) -> list[float]:
    (space,) = opened.store.spaces()
    vectors = np.random.default_rng(6).normal(size=(len(asked), dims)).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    now = datetime.now(UTC)

    def one(at: int) -> float:
        began = time.perf_counter()
        search(opened, asked[at], [QueryVector(space, vectors[at])], UTC, now)
        return (time.perf_counter() - began) * 1000

    if threads == 1:
        return [one(at) for at in range(len(asked))]  # in this thread, where a profile sees it
    with ThreadPoolExecutor(threads) as pool:
        return list(pool.map(one, range(len(asked))))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--chunks", type=int, default=20_000)
    parser.add_argument("--dims", type=int, default=384)
    parser.add_argument("--queries", type=int, default=200)
    parser.add_argument("--data", type=Path)
    parser.add_argument("--profile", action="store_true", help="where opening and searching spend their time")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        data = options.data or Path(folder)
        if not generations.names(data):
            published(data, options.chunks, options.dims)
        current = data / generations.current_name(data)
        for path in sorted(current.iterdir()):
            print(f"{path.name:<28}{path.stat().st_size / 1e6:8.1f} MB")
        if options.profile:
            profiled(lambda: generations.open_generation(current).close())
        opened = timed("open, verified", lambda: generations.open_generation(current))
        assert isinstance(opened, generations.Generation)
        for unit in ("chunk", "message"):
            asked = requests(texts_of(opened), options.queries, unit)
            latencies(opened, asked[:20], 1, options.dims)
            for threads in (1, 4):
                spent = time.process_time()
                found = latencies(opened, asked, threads, options.dims)
                spent = (time.process_time() - spent) * 1000 / len(asked)
                p50, p95 = np.percentile(found, [50, 95])
                print(
                    f"{unit:<9} {threads} threads  p50 {p50:7.1f} ms  p95 {p95:7.1f} ms"
                    f"  processor {spent:6.1f} ms a search"
                )
            if options.profile:
                profiled(partial(latencies, opened, asked[:50], 1, options.dims))
        opened.close()


def profiled(call: Callable[[], object]) -> None:
    profile = cProfile.Profile()
    profile.enable()
    call()
    profile.disable()
    pstats.Stats(profile).sort_stats("tottime").print_stats(14)


if __name__ == "__main__":
    main()

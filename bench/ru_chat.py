"""recall@10 on ru_chat over HTTP: real archives, the local model alone, a real server on loopback.

    python bench/ru_chat.py DIR [--keep FOLDER]

DIR holds dialog0.jsonl, dialog1.jsonl and queries.jsonl. A query is asked inside its own chat, chunk unit,
context 0; a gold message counts as found when it is one of the first ten hits' messages. The index is kept in
FOLDER (default: a temporary one), so a second run embeds nothing.
"""

from __future__ import annotations

import argparse
import json
import random
import tempfile
import threading
import time
import urllib.parse
import urllib.request
from collections import defaultdict
from pathlib import Path

from indexer.pipeline import Build, Options
from schemas.settings import load
from service.app import create_app
from service.checks import CHECKS
from service.engine import LiveEngine


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("dir", type=Path)
    parser.add_argument("--keep", type=Path)
    parser.add_argument("--mode", default="hybrid")
    parser.add_argument("--unit", default="chunk")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--misses", action="store_true")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        data = arguments.keep or Path(folder)
        flags = {"data": data.resolve(), "timezone": "Europe/Moscow", "embedding": {"order": ["local"]}}
        settings, _ = load(flags=flags)
        archives = [(arguments.dir / f"dialog{n}.jsonl").resolve() for n in (0, 1)]
        report = Build(settings, Options(paths=archives), checks=CHECKS, environment={}).run()
        with LiveEngine(settings, {}) as engine:
            measured = measure(create_app(engine, settings), arguments)
    measured["build_seconds"] = round(report.seconds, 1)
    print(json.dumps(measured, ensure_ascii=False, indent=1) if arguments.json else table(measured))


def measure(app: object, arguments: argparse.Namespace) -> dict[str, object]:
    import uvicorn

    server = uvicorn.Server(uvicorn.Config(app, host="127.0.0.1", port=0, log_level="warning"))  # type: ignore[arg-type]
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    while not server.started:
        time.sleep(0.02)
    port = server.servers[0].sockets[0].getsockname()[1]
    kinds: dict[str, list[float]] = defaultdict(list)
    took: list[float] = []
    misses = []
    for line in (arguments.dir / "queries.jsonl").read_text("utf-8").splitlines():
        query = json.loads(line)
        if not query["rel"]:
            continue
        keys = {"q": query["text"], "chat": query["chat"], "mode": arguments.mode, "unit": arguments.unit}
        started = time.perf_counter()
        with urllib.request.urlopen(
            f"http://127.0.0.1:{port}/v1/search?{urllib.parse.urlencode(keys)}"
        ) as response:
            answer = json.load(response)
        took.append((time.perf_counter() - started) * 1000)
        shown = {message["id"] for hit in answer["hits"] for message in hit["messages"]}
        recall = sum(id_ in shown for id_ in query["rel"]) / len(query["rel"])
        kinds[query["kind"]].append(recall)
        if recall < 1:
            misses.append((query["kind"], query["text"], query["rel"]))
    server.should_exit = True
    thread.join()
    if arguments.misses:
        for miss in misses:
            print(*miss)
    every = [recall for found in kinds.values() for recall in found]
    return {
        "queries": len(every),
        "recall@10": round(sum(every) / len(every), 3),
        "interval_95": interval(every),
        "p50_ms": round(sorted(took)[len(took) // 2], 1),
        "kinds": {
            kind: {
                "recall@10": round(sum(found) / len(found), 3),
                "misses": sum(recall == 0 for recall in found),
                "n": len(found),
            }
            for kind, found in sorted(kinds.items())
        },
    }


def interval(values: list[float]) -> list[float]:
    """Bootstrap 95 % interval of the mean, 2,000 resamples, seeded."""
    chance = random.Random(7)
    means = sorted(sum(chance.choices(values, k=len(values))) / len(values) for _ in range(2_000))
    return [round(means[49], 3), round(means[1949], 3)]


def table(measured: dict[str, object]) -> str:
    low, high = measured["interval_95"]  # type: ignore[misc]
    lines = [
        f"recall@10 {measured['recall@10']} [{low}, {high}] over {measured['queries']} queries, "
        f"p50 {measured['p50_ms']} ms, build {measured['build_seconds']} s"
    ]
    for kind, row in measured["kinds"].items():  # type: ignore[attr-defined]
        lines.append(f"  {kind:<11} {row['recall@10']:.3f}  whole misses {row['misses']} of {row['n']}")
    return "\n".join(lines)


if __name__ == "__main__":
    main()

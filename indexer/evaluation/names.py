"""How well names are found and brought to the nominative, on gold files of four kinds.

factru*.jsonl         {text, ents: [[start, end, type]]}: exact spans of PER, LOC, ORG
norm*.tsv             surface, type, canonical (alternatives joined by |), count: the nominative
mixed_script*.jsonl   {text, entities: [{name, type}]}: the set of names in a text
chat_gold*.txt        lines with [surface|TYPE|canonical]: spans, types and names in chat style
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

from indexer.entities import Extractor
from indexer.entities.naming import readable
from indexer.entities.promotion import CANDIDATE
from indexer.text.names import name_key
from schemas.records import Mention

Metrics = dict[str, float]

TRAINED = ("PER", "LOC", "ORG")
_NAMES = (*TRAINED, "NAME")
_GOLD = re.compile(r"\[([^\]|]+)\|(\w+)\|([^\]]+)\]")
# What chat_gold calls a product may be a NAME or an ORG here.
_PRODUCTS = {"TECH": ("NAME", "ORG"), "ORG": ("NAME", "ORG")}


class Counts(NamedTuple):
    """Hits, false finds and misses of one text."""

    right: int
    wrong: int
    missed: int


def f1_of(counts: Iterable[Counts]) -> Metrics:
    """Micro-averaged precision, recall and F1."""
    right, wrong, missed = (sum(column) for column in zip(*counts, strict=True)) if counts else (0, 0, 0)
    return {
        "f1": round(2 * right / max(1, 2 * right + wrong + missed), 4),
        "precision": round(right / max(1, right + wrong), 4),
        "recall": round(right / max(1, right + missed), 4),
    }


def _found(extractor: Extractor, texts: Sequence[str]) -> list[list[Mention]]:
    return [
        [mention for mention in mentions if mention.type != CANDIDATE]
        for mentions in extractor.extract(texts)
    ]


def spans(extractor: Extractor, path: Path) -> Metrics:
    """Exact-span F1 of PER, LOC and ORG, as written and in small letters.

    A span with two gold types (мэрия Москвы) may have either.
    """
    rows = [json.loads(line) for line in path.read_text("utf-8").splitlines() if line.strip()]
    texts = [row["text"] for row in rows]
    metrics: Metrics = {}
    for name, variant in (("cased", texts), ("lower", [text.lower() for text in texts])):
        found = _found(extractor, variant)
        for kinds, label in ((TRAINED, ""), *(((kind,), f"_{kind}") for kind in TRAINED)):
            counts = [_exact(row["ents"], got, kinds) for row, got in zip(rows, found, strict=True)]
            metrics |= {f"{metric}{label}_{name}": value for metric, value in f1_of(counts).items()}
    return metrics | {"texts": len(rows)}


def _exact(gold: Iterable[Sequence[object]], found: Iterable[Mention], kinds: Sequence[str]) -> Counts:
    table: dict[tuple[object, object], set[object]] = {}
    for start, end, kind in gold:
        if kind in kinds:
            table.setdefault((start, end), set()).add(kind)
    found = list(found)
    hits = {(m.start, m.end) for m in found if m.type in table.get((m.start, m.end), ())}
    return Counts(len(hits), sum(m.type in kinds for m in found) - len(hits), len(table) - len(hits))


def nominatives(extractor: Extractor, path: Path) -> Metrics:
    """Share of right nominatives by type, and of keys that agree with the canonical name's."""
    named: dict[str, list[bool]] = {}
    keyed: dict[str, list[bool]] = {}
    for line in path.read_text("utf-8").splitlines():
        if not line.strip() or line.startswith("#"):
            continue
        surface, kind, canonical = line.split("\t")[:3]
        shown = _folded(readable(surface, kind))
        named.setdefault(kind, []).append(_is_right(shown, kind, canonical))
        keyed.setdefault(kind, []).append(name_key(surface) in _keys(kind, canonical))
    metrics: Metrics = {kind: round(sum(right) / len(right), 4) for kind, right in named.items()}
    metrics |= {f"key_{kind}": round(sum(right) / len(right), 4) for kind, right in keyed.items()}
    return metrics | {"names": sum(map(len, named.values()))}


def _is_right(shown: str, kind: str, canonical: str) -> bool:
    if kind != "PER":
        return bool(shown) and shown in _folded(canonical).split("|")
    # Of a person every word has alternatives of its own.
    wanted = _folded(canonical).split()
    words = shown.split()
    return (
        bool(wanted)
        and len(wanted) == len(words)
        and all(word in options.split("|") for word, options in zip(words, wanted, strict=True))
    )


def _keys(kind: str, canonical: str) -> set[str]:
    if kind == "PER":
        return {name_key(" ".join(options.split("|")[0] for options in canonical.split()))}
    return {name_key(option) for option in canonical.split("|")}


def _folded(name: str) -> str:
    return name.replace("ё", "е").replace("Ё", "Е").casefold()


def names_in_text(extractor: Extractor, path: Path) -> Metrics:
    """F1 over the set of names (by merge key) of each text."""
    rows = [json.loads(line) for line in path.read_text("utf-8").splitlines() if line.strip()]
    counts = []
    for row, mentions in zip(rows, _found(extractor, [row["text"] for row in rows]), strict=True):
        wanted = {name_key(entity["name"]) for entity in row["entities"]}
        got = {mention.key for mention in mentions if mention.type in _NAMES}
        counts.append(Counts(len(wanted & got), len(got - wanted), len(wanted - got)))
    return f1_of(counts) | {"texts": len(rows)}


def chat_lines(extractor: Extractor, path: Path) -> Metrics:
    """F1 over spans with types, and the share of right names among the hits."""
    texts: list[str] = []
    golds: list[dict[tuple[int, int], tuple[str, str]]] = []
    for line in path.read_text("utf-8").splitlines():
        if line.strip() and not line.startswith("# "):
            text, gold = _annotated(line)
            texts.append(text)
            golds.append(gold)
    counts: list[Counts] = []
    hits = named = 0
    for gold, mentions in zip(golds, _found(extractor, texts), strict=True):
        right = 0
        for mention in mentions:
            kind, canonical = gold.get((mention.start, mention.end), ("", ""))
            if mention.type == kind or mention.type in _PRODUCTS.get(kind, ()):
                right += 1
                named += mention.name == canonical
        hits += right
        counts.append(Counts(right, len(mentions) - right, len(gold) - right))
    return f1_of(counts) | {"name": round(named / max(1, hits), 4), "texts": len(texts)}


def _annotated(line: str) -> tuple[str, dict[tuple[int, int], tuple[str, str]]]:
    gold: dict[tuple[int, int], tuple[str, str]] = {}
    text, at = "", 0
    for match in _GOLD.finditer(line):
        text += line[at : match.start()]
        gold[len(text), len(text) + len(match[1])] = (match[2], match[3])
        text += match[1]
        at = match.end()
    return text + line[at:], gold


# Beginning and end of a file's name, and what measures it.
KINDS: tuple[tuple[str, str, Callable[[Extractor, Path], Metrics]], ...] = (
    ("factru", ".jsonl", spans),
    ("norm", ".tsv", nominatives),
    ("mixed_script", ".jsonl", names_in_text),
    ("chat_gold", ".txt", chat_lines),
)


def measured(extractor: Extractor, folder: Path) -> dict[str, Metrics]:
    """Every gold file of a folder, by its name without the ending."""
    return {
        path.stem: measure(extractor, path)
        for beginning, ending, measure in KINDS
        for path in sorted(folder.glob(f"{beginning}*{ending}"))
    }

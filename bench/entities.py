"""Measures extraction: `python -m bench.entities DIR [--backend B]`; DIR holds the development files.

factru_dev.jsonl     {text, ents: [[start, end, type]]}: exact-span F1 of PER, LOC, ORG, cased and lower-cased
norm_dev.tsv         surface, type, canonical: share of right nominatives and of keys that agree
chat_gold_dev.txt    `[surface|TYPE|canonical]` lines: precision, recall, right names
mixed_script_dev.jsonl   {text, entities: [{name, type}]}: recall of names in Russian text
"""

from __future__ import annotations

import argparse
import json
import re
import time
from collections.abc import Iterable, Sequence
from pathlib import Path

from indexer.entities import Extractor
from indexer.entities.naming import readable
from indexer.text.names import name_key
from schemas.records import Mention

TRAINED = ("PER", "LOC", "ORG")
GOLD = re.compile(r"\[([^\]|]+)\|(\w+)\|([^\]]+)\]")


def f1(
    gold: Iterable[list[tuple[int, int, str]]], mentions: Iterable[Sequence[Mention]], types: Sequence[str]
) -> str:
    """Micro F1 over exact spans; a span with two gold types (мэрия Москвы) may have either."""
    right = wrong = missed = 0
    for wanted, got in zip(gold, mentions, strict=True):
        table: dict[tuple[int, int], set[str]] = {}
        for start, end, kind in wanted:
            if kind in types:
                table.setdefault((start, end), set()).add(kind)
        hits = {(m.start, m.end) for m in got if m.type in table.get((m.start, m.end), ())}
        right += len(hits)
        wrong += sum(m.type in types for m in got) - len(hits)
        missed += len(table) - len(hits)
    precision, recall = right / max(1, right + wrong), right / max(1, right + missed)
    return f"F1 {2 * right / max(1, 2 * right + wrong + missed):.4f}  P {precision:.4f}  R {recall:.4f}"


def factru(extractor: Extractor, folder: Path) -> None:
    rows = [json.loads(line) for line in (folder / "factru_dev.jsonl").read_text("utf-8").splitlines()]
    texts = [row["text"] for row in rows]
    gold = [[tuple(ent) for ent in row["ents"]] for row in rows]
    for name, variant in (("cased", texts), ("lower", [text.lower() for text in texts])):
        got = extractor.extract(variant)
        print(f"factru {name}  all {f1(gold, got, TRAINED)}")
        for kind in TRAINED:
            print(f"              {kind} {f1(gold, got, (kind,))}")
    chunks = [text[start : start + 600] for text in texts for start in range(0, len(text), 600)]
    began = time.perf_counter()
    extractor.extract(chunks)
    took = time.perf_counter() - began
    print(f"speed {len(chunks) / took:.0f} chunks of 600 characters a second, warm, one process")


def norm(folder: Path) -> None:
    def fold(name: str) -> str:
        return name.replace("ё", "е").replace("Ё", "Е").casefold()

    counts: dict[str, list[int]] = {}
    for line in (folder / "norm_dev.tsv").read_text("utf-8").splitlines():
        if line.startswith("#"):
            continue
        surface, kind, canonical, _ = line.split("\t")
        name = fold(readable(surface, kind))
        if kind == "PER":
            wanted = fold(canonical).split()
            right = (
                bool(wanted)
                and len(wanted) == len(name.split())
                and all(
                    word in options.split("|") for word, options in zip(name.split(), wanted, strict=True)
                )
            )
            words = [options.split("|") for options in canonical.split()]
            key = name_key(" ".join(options[0] for options in words))
            same = key == name_key(surface)
        else:
            right = bool(name) and name in fold(canonical).split("|")
            same = name_key(surface) in {name_key(option) for option in canonical.split("|")}
        row = counts.setdefault(kind, [0, 0, 0])
        row[0] += 1
        row[1] += right
        row[2] += same
    for kind, (total, named, keyed) in counts.items():
        print(f"norm {kind}  nominative {named / total:.4f}  key {keyed / total:.4f}  of {total}")


def chat(extractor: Extractor, folder: Path, verbose: bool) -> None:
    right = wrong = missed = named = 0
    texts, golds = [], []
    for line in (folder / "chat_gold_dev.txt").read_text("utf-8").splitlines():
        if line.startswith("# "):
            continue
        gold: dict[tuple[int, int], tuple[str, str]] = {}
        text, at = "", 0
        for match in GOLD.finditer(line):
            text += line[at : match.start()]
            gold[len(text), len(text) + len(match[1])] = (match[2], match[3])
            text += match[1]
            at = match.end()
        texts.append(text + line[at:])
        golds.append(gold)
    for text, gold, mentions in zip(texts, golds, extractor.extract(texts), strict=True):
        seen = {(m.start, m.end) for m in mentions}
        for m in mentions:
            kind, canonical = gold.get((m.start, m.end), ("", ""))
            if kind == m.type or (kind in ("TECH", "ORG") and m.type in ("NAME", "ORG")):
                right += 1
                named += m.name == canonical
            else:
                wrong += 1
                if verbose:
                    print(f"  + {text[m.start : m.end]!r} {m.type}, gold {kind or '-'}: {text}")
        for (start, end), (kind, _) in gold.items():
            if (start, end) not in seen:
                missed += 1
                if verbose:
                    print(f"  - {text[start:end]!r} {kind}: {text}")
    print(
        f"chat  P {right / max(1, right + wrong):.4f}  R {right / max(1, right + missed):.4f}"
        f"  name {named / max(1, right):.4f}"
    )


def mixed(extractor: Extractor, folder: Path, verbose: bool) -> None:
    rows = [json.loads(line) for line in (folder / "mixed_script_dev.jsonl").read_text("utf-8").splitlines()]
    hit = total = extra = 0
    for row, mentions in zip(rows, extractor.extract([row["text"] for row in rows]), strict=True):
        wanted = {name_key(entity["name"]) for entity in row["entities"]}
        got = {m.key for m in mentions if m.type in (*TRAINED, "NAME")}
        hit += len(wanted & got)
        total += len(wanted)
        extra += len(got - wanted)
        if verbose:
            print("  missed", wanted - got, "extra", got - wanted)
    print(f"mixed script  R {hit / total:.4f}  P {hit / max(1, hit + extra):.4f}  of {total} names")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path)
    parser.add_argument("--backend", default="auto", choices=("auto", "slovnet", "spacy", "patterns"))
    parser.add_argument("--verbose", action="store_true")
    options = parser.parse_args()
    extractor = Extractor(options.backend)
    print(extractor.version, extractor.note or "")
    factru(extractor, options.folder)
    norm(options.folder)
    chat(extractor, options.folder, options.verbose)
    mixed(extractor, options.folder, options.verbose)


if __name__ == "__main__":
    main()

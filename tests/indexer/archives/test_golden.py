"""Every sample of an export beside what a person would list of it: the golden files, written by hand.

A golden file holds one JSON object a message, in order, with the keys that are to be compared: chat, id,
role, author, at (ISO 8601, UTC, or null), text, or any other attribute of a message. A text that is not ours
to copy gives its beginning and its `length` in code points. The last line may hold the counts of what was
left out: `{"skipped": {reason: count}, "dropped": {kind: count}}`.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable
from datetime import UTC, datetime
from difflib import unified_diff
from pathlib import Path
from typing import Any

import pytest

from indexer.archives import READERS, discover, reader_of, unknown
from schemas.records import Dropped, Message, Record, Skipped
from tests.indexer.archives.exports import EXPORTS, NAMED, READER_OF
from tests.indexer.archives.reading import HERE, OPTIONS

GOLDEN = HERE / "golden"
THIRD_PARTY = ("lc_", "cm_", "pl_", "ccl_", "sw_")
_ATTRIBUTES = {"chat": "chat_id", "title": "chat_title"}
_USUAL = ("chat", "role", "author", "at", "text")


def golden_files() -> list[Path]:
    return sorted(GOLDEN.glob("*/*.jsonl"))


def exported() -> list[str]:
    """`format/sample name` of every file under the export folder, as its golden file is named."""
    if EXPORTS is None:
        return []
    folders = [path for path in sorted(EXPORTS.iterdir()) if path.is_dir()]
    return [
        f"{folder.name}/{flat(path.relative_to(folder).as_posix())}"
        for folder in folders
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    ]


def flat(name: str) -> str:
    return name.replace("/", "__")


def sample_records(root: Path, sample: str) -> list[Record] | None:
    """What is read of a sample (a file, or all members of a zip) under a root; None when it is not there."""
    paths = [path for path in root.rglob("*") if path.is_file()]
    found = [path for path in paths if _is_named(flat(path.relative_to(root).as_posix()), sample)]
    if not found:
        return None
    name = min(found, key=lambda path: len(path.parts)).relative_to(root).as_posix()
    records: list[Record] = []
    for one in discover(root):
        if isinstance(one, Skipped):
            if one.place.partition("!")[0] == name:
                records.append(one)
        elif one.name.partition("!")[0] == name:
            reader = reader_of(one)
            records.extend(reader.read(one, OPTIONS) if reader is not None else [unknown(one)])
    return records


def _is_named(flattened: str, sample: str) -> bool:
    return flattened == sample or flattened.endswith(f"__{sample}")


def expected_of(golden: Path) -> tuple[list[dict[str, Any]], dict[str, dict[str, int]]]:
    lines = golden.read_text("utf-8").split("\n")  # splitlines would also split at the U+2028 of a text
    rows: list[dict[str, Any]] = [json.loads(line) for line in lines if line]
    counts = rows.pop() if rows and rows[-1].keys() <= {"skipped", "dropped"} else {}
    return rows, counts


def shown(message: Message, like: dict[str, Any]) -> dict[str, Any]:
    """A message as a golden line with the same keys; of a text with a length, as much as the line gives."""
    row: dict[str, Any] = {}
    for key in like:
        if key == "length":
            row[key] = len(message.text)
        elif key == "text":
            row[key] = message.text[: len(like["text"])] if "length" in like else message.text
        elif key in ("at", "edited"):
            row[key] = _iso(getattr(message, key), like[key])
        else:
            row[key] = getattr(message, _ATTRIBUTES.get(key, key))
    return row


def _iso(at: int | None, like: object) -> str | None:
    """The time as the golden line writes it where they are equal, else in full."""
    if at is None:
        return None
    moment = datetime.fromtimestamp(at / 1000, UTC)
    if isinstance(like, str) and datetime.fromisoformat(like) == moment:
        return like
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def paired(found: list[Message], rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The messages as golden lines; where their numbers differ each is shown like the line of its text."""
    if len(found) == len(rows):
        return [shown(message, row) for message, row in zip(found, rows, strict=True)]
    left = list(rows)
    views: list[dict[str, Any]] = []
    for message in found:
        like = next((row for row in left if shown(message, row).get("text") == row.get("text")), None)
        if like is not None:
            left.remove(like)
        views.append(shown(message, like or dict.fromkeys(_USUAL)))
    return views


def counted(records: Iterable[Record], counts: dict[str, dict[str, int]]) -> dict[str, dict[str, int]]:
    skipped, dropped = Counter[str](), Counter[str]()
    for record in records:
        if isinstance(record, Skipped):
            skipped[record.reason] += 1
        elif isinstance(record, Dropped):
            dropped[record.kind] += record.count
    return {key: dict(sorted({"skipped": skipped, "dropped": dropped}[key].items())) for key in counts}


def lines_of(rows: list[dict[str, Any]], counts: dict[str, dict[str, int]]) -> list[str]:
    last = {key: dict(sorted(value.items())) for key, value in counts.items()}
    return [json.dumps(row, ensure_ascii=False) for row in [*rows, *([last] if last else [])]]


def compare(golden: Path, records: list[Record]) -> None:
    rows, counts = expected_of(golden)
    found = [record for record in records if isinstance(record, Message)]
    wanted, actual = lines_of(rows, counts), lines_of(paired(found, rows), counted(records, counts))
    if wanted != actual:
        for record in records:
            if isinstance(record, Skipped):
                actual.append(f"# skipped {record.place}: {record.reason} ({record.hint})")
        told = "\n".join(unified_diff(wanted, actual, "the golden file", "what was read", n=1, lineterm=""))
        pytest.fail(
            f"{golden.parent.name}/{golden.name} has {len(rows)} messages, {len(found)} were read\n{told}"
        )


@pytest.mark.parametrize("golden", golden_files(), ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_a_sample_reads_as_a_person_would_list_it(golden: Path) -> None:
    folder, sample = golden.parent.name, golden.name.removesuffix(".jsonl")
    reader = READER_OF[folder]
    assert reader in READERS, f"no reader is named {reader}"
    if sample.startswith(THIRD_PARTY):
        if EXPORTS is None:
            pytest.skip("LETOPIS_EXPORTS names no folder of exports, and this sample is not ours to keep")
        records = sample_records(EXPORTS / folder, sample)
    else:
        records = sample_records(HERE / "samples" / reader, NAMED.get(f"{folder}/{sample}", sample))
        assert records is not None, f"the sample is not in samples/{reader}"
    if records is None:
        pytest.skip(f"{folder}/{sample} is not among the exports of LETOPIS_EXPORTS")
    compare(golden, records)


@pytest.mark.parametrize("sample", exported())
def test_every_exported_sample_has_a_golden_file(sample: str) -> None:
    assert EXPORTS is not None
    folder, _, name = sample.partition("/")
    golden = GOLDEN / folder / f"{name}.jsonl"
    assert golden.is_file(), (
        f"write golden/{folder}/{name}.jsonl: one line a message that a person would list"
    )
    if name.startswith(THIRD_PARTY):
        return  # compared above
    records = sample_records(EXPORTS / folder, name)
    assert records is not None
    compare(golden, records)


@pytest.mark.parametrize("golden", golden_files(), ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_a_golden_file_copies_no_long_sentence_of_others(golden: Path) -> None:
    if golden.name.startswith(THIRD_PARTY):
        rows, _ = expected_of(golden)
        assert all(len(row.get("text", "")) <= 24 for row in rows)

"""A sound file and where its records lie, and what a damaged copy of it is."""

from __future__ import annotations

import contextlib
import io
import random
import re
import zipfile
from collections.abc import Callable
from dataclasses import dataclass

from tests.indexer.archives.mutations.json_spans import Node, spans

Span = tuple[int, int]
Chance = random.Random

SQLITE_MAGIC, ZIP_MAGIC = b"SQLite format 3", b"PK\x03\x04"
# A record of a document: an element of one of these, else an element of a list at the top.
_RECORD_KEYS = frozenset({"messages", "chat_messages", "mapping"})
_VK_RECORD = re.compile(rb'<div class="message"')


@dataclass(frozen=True, slots=True)
class Mutation:
    """A damaged file.

    Attributes:
        kind: what was done to it.
        data: its bytes now.
        touched: half-open spans of the sound file's bytes that were changed.
        sound: the structure around the spans is whole: nothing outside them may be lost.
        counted: what is lost is to be counted, since something is still there in its place.
    """

    kind: str
    data: bytes
    touched: tuple[Span, ...]
    sound: bool = False
    counted: bool = False


@dataclass(frozen=True, slots=True)
class Specimen:
    """A sound file.

    Attributes:
        name: tells it in messages and seeds the damage.
        data: its bytes.
        nodes: its JSON values, of all lines where it is a file of lines; empty for other formats.
        records: the spans of its records (of a zip: its members) in their order; empty where there are none
            that can be told.
        others: files of other formats, to be put in its place.
    """

    name: str
    data: bytes
    nodes: tuple[Node, ...] = ()
    records: tuple[Span, ...] = ()
    others: tuple[bytes, ...] = ()

    @property
    def is_text(self) -> bool:
        """Neither a database nor a zip."""
        return not self.data.startswith((SQLITE_MAGIC, ZIP_MAGIC))


def specimen(name: str, data: bytes, others: tuple[bytes, ...] = ()) -> Specimen:
    """Find the records of a file and the values in them, by its content."""
    if data.startswith(ZIP_MAGIC):
        return Specimen(name, data, records=_members(data), others=others)
    if data.startswith(SQLITE_MAGIC):
        return Specimen(name, data, others=others)
    text, offset = data.decode("latin-1"), 0
    if data.startswith(b"\xef\xbb\xbf"):
        text, offset = text[3:], 3
    try:
        nodes = spans(text, offset)
    except ValueError:
        return _specimen_of_lines(name, data, others)
    return Specimen(name, data, tuple(nodes), _records(nodes), others)


def _members(data: bytes) -> tuple[Span, ...]:
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        starts = [info.header_offset for info in archive.infolist()]
        return tuple(zip(starts, [*starts[1:], archive.start_dir], strict=True))


def _specimen_of_lines(name: str, data: bytes, others: tuple[bytes, ...]) -> Specimen:
    nodes: list[Node] = []
    records: list[Span] = []
    start = 0
    for line in data.split(b"\n"):
        end = start + len(line)
        bare = line.removeprefix(b"\xef\xbb\xbf")
        if bare.startswith(b"{"):
            records.append((start, end))
            with contextlib.suppress(ValueError):
                nodes.extend(spans(bare.decode("latin-1"), end - len(bare)))
        start = end + 1
    if not records:
        starts = [match.start() for match in _VK_RECORD.finditer(data)]
        records = list(zip(starts, [*starts[1:], len(data)], strict=True)) if starts else []
    return Specimen(name, data, tuple(nodes), tuple(records), others)


def _records(nodes: list[Node]) -> tuple[Span, ...]:
    found = [node for node in nodes if len(node.path) > 1 and node.path[-2] in _RECORD_KEYS]
    if not found:
        found = [node for node in nodes if len(node.path) == 1 and isinstance(node.path[0], int)]
    return tuple((node.start, node.end) for node in sorted(found, key=lambda node: node.start))


Kind = Callable[[Specimen, Chance], Mutation]


def everything(kind: str, specimen: Specimen, data: bytes) -> Mutation:
    """A mutation that leaves no record to be promised."""
    return Mutation(kind, data, ((0, len(specimen.data)),))


def replaced(kind: str, specimen: Specimen, span: Span, new: bytes, **told: bool) -> Mutation:
    """A mutation of one span."""
    start, end = span
    return Mutation(kind, specimen.data[:start] + new + specimen.data[end:], (span,), **told)


def any_span(specimen: Specimen, chance: Chance) -> Span:
    """A span of any place; short ones are as frequent as in real damage."""
    size = len(specimen.data)
    length = min(size, 1 + int(chance.paretovariate(0.5)))
    start = chance.randrange(size - length + 1)
    return start, start + length

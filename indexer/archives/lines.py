"""Files of one record a line, read as a stream whatever their encoding, length and end."""

from __future__ import annotations

import codecs
import itertools
import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, BinaryIO

from indexer.archives.files import ArchiveFile
from indexer.archives.streams import DamagedFile
from schemas.records import Dropped, Skipped

MAX_LINE = 64 * 1024 * 1024
_STEP = 1 << 20
_WIDE = (
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)


@dataclass(frozen=True, slots=True)
class Line:
    """One line: its number from 1, its text without the end, and whether the end was there."""

    number: int
    text: str
    ended: bool


@dataclass(frozen=True, slots=True)
class Entry:
    """One JSON object of a line file, with the place it stands at."""

    place: str
    value: dict[str, Any]


def lines(file: ArchiveFile) -> Iterator[Line | Skipped]:
    r"""The lines of a file, split at `\n` alone: U+2028 and U+0085 are characters of a text.

    UTF-8 with or without BOM, UTF-16 and UTF-32 with BOM; a line whose bytes are no UTF-8 at all is read as
    windows-1251 (named once), a stray bad byte becomes U+FFFD. A line past 64 MB is skipped. A file that
    breaks off gives what could be read, then one Skipped.
    """
    try:
        with file.open() as stream:
            yield from _decoded(file.name, stream)
    except OSError as error:
        yield unreadable(file.name, error)


def raw_lines(file: ArchiveFile) -> Iterator[bytes]:
    """The lines of a file as UTF-8 bytes, for a first look that decodes few of them.

    A line past 64 MB is empty, and what can't be read ends the file: `lines` tells of both.
    """
    try:
        with file.open() as stream:
            for _, data, _ in _split(utf8(stream)):
                yield data or b""
    except OSError:
        return


@dataclass(frozen=True, slots=True)
class Block:
    """Whole lines: the number of the first, and their text with the ends."""

    number: int
    text: str


def blocks(file: ArchiveFile) -> Iterator[Block | Skipped]:
    r"""The text of a file as `lines` reads it, in pieces of about 1 MB, for readers that search over lines.

    Each piece holds whole lines, ended by `\n` alone.
    """
    try:
        with file.open() as stream:
            yield from _decoded_blocks(file.name, stream)
    except OSError as error:
        yield unreadable(file.name, error)


def unreadable(place: str, error: OSError) -> Skipped:
    """A file that can't be opened or read to its end."""
    if isinstance(error, DamagedFile):
        return Skipped(
            place, "damaged or cut compressed data", "what could be read was kept; copy the file anew"
        )
    return Skipped(place, "the file can't be read", (error.strerror or "it is not readable").lower())


def _decoded(name: str, stream: BinaryIO) -> Iterator[Line | Skipped]:
    told = False
    for number, data, ended in _split(utf8(stream)):
        if data is None:
            yield Skipped(f"{name}:{number}", f"a line longer than {MAX_LINE >> 20} MB", "split or remove it")
            continue
        try:
            text = data.decode()
        except UnicodeDecodeError:
            text, legacy = _repaired(data)
            if legacy and not told:
                told = True
                yield Skipped(name, "not UTF-8, read as windows-1251", "save the file as UTF-8")
        yield Line(number, text.removesuffix("\r"), ended)


def _decoded_blocks(name: str, stream: BinaryIO) -> Iterator[Block | Skipped]:
    told = False
    for number, data in _whole_lines(utf8(stream)):
        if data is None:
            yield Skipped(f"{name}:{number}", f"a line longer than {MAX_LINE >> 20} MB", "split or remove it")
            continue
        try:
            text = data.decode()
        except UnicodeDecodeError:
            found = [_repaired(line) for line in data.split(b"\n")]
            text = "\n".join(line for line, _ in found)
            if not told and any(legacy for _, legacy in found):
                told = True
                yield Skipped(name, "not UTF-8, read as windows-1251", "save the file as UTF-8")
        yield Block(number, text.replace("\r\n", "\n") if "\r" in text else text)


def _whole_lines(chunks: Iterator[bytes]) -> Iterator[tuple[int, bytes | None]]:
    """(number of the first line, lines with their ends or None for one too long line) of about each chunk."""
    number, pending, size = 1, [b""], 0
    fault: OSError | None = None
    try:
        for chunk in chunks:
            begin, cut = 0, chunk.rfind(b"\n") + 1
            if cut and size > MAX_LINE:
                yield number, None
                number, size, begin = number + 1, 0, chunk.find(b"\n") + 1
            if begin < cut:
                data = b"".join((*pending, chunk[begin:cut]))
                yield number, data
                number += data.count(b"\n")
            if cut:
                pending, size = [], 0
            size += len(chunk) - cut
            pending = [*pending, chunk[cut:]] if size <= MAX_LINE else []
    except OSError as error:
        fault = error
    if size:
        yield number, (b"".join(pending) if size <= MAX_LINE else None)
    if fault is not None:
        raise fault


def _repaired(data: bytes) -> tuple[str, bool]:
    """Text of bytes that are not UTF-8, and whether they were taken for windows-1251."""
    text = data.decode("utf-8", "replace")
    foreign = sum(byte > 127 for byte in data)
    # In UTF-8 Cyrillic a flipped byte spoils one or two of many; windows-1251 spoils nearly all.
    if text.count("\ufffd") * 2 > foreign and text.count("\ufffd") > 2:
        return data.decode("cp1251", "replace"), True
    return text, False


def utf8(stream: BinaryIO) -> Iterator[bytes]:
    """The stream in steps, as UTF-8 without BOM where a BOM tells UTF-8, UTF-16 or UTF-32; else as it is."""
    data = stream.read(_STEP)
    for mark, codec in _WIDE:
        if data.startswith(mark):
            decoder = codecs.getincrementaldecoder(codec)("replace")
            data = data[len(mark) :]
            while data:
                yield decoder.decode(data).encode("utf-8", "replace")
                data = stream.read(_STEP)
            yield decoder.decode(b"", final=True).encode("utf-8", "replace")
            return
    data = data.removeprefix(codecs.BOM_UTF8)
    while data:
        yield data
        data = stream.read(_STEP)


def _split(chunks: Iterator[bytes]) -> Iterator[tuple[int, bytes | None, bool]]:
    """(number, bytes or None for a too long line, ended) of each line; memory is one line and one step."""
    number, pending, size = 1, [b""], 0
    fault: OSError | None = None
    try:
        for chunk in chunks:
            *full, rest = chunk.split(b"\n")
            for part in full:
                size += len(part)
                pending.append(part)
                yield number, (b"".join(pending) if size <= MAX_LINE else None), True
                number, pending, size = number + 1, [], 0
            size += len(rest)
            if size <= MAX_LINE:
                pending.append(rest)
            else:
                pending = []
    except OSError as error:
        fault = error
    if size:
        yield number, (b"".join(pending) if size <= MAX_LINE else None), False
    if fault is not None:
        raise fault


def entries(file: ArchiveFile) -> Iterator[Entry | Skipped | Dropped]:
    """The JSON objects of a line file; a broken line is skipped, an unfinished last one is normal."""
    for line in lines(file):
        if isinstance(line, Skipped):
            yield line
        elif line.text.strip():
            yield _entry(f"{file.name}:{line.number}", line)


def _entry(place: str, line: Line) -> Entry | Skipped | Dropped:
    try:
        value = json.loads(line.text)
    except RecursionError:
        return Skipped(place, "JSON nested too deeply", "remove the line")
    except ValueError:
        if not line.ended:
            return Dropped("unfinished_line", len(line.text))
        return Skipped(place, "broken JSON", "mend or remove the line; the others were read")
    if not isinstance(value, dict):
        return Skipped(place, "a line that is no JSON object", "each line must be one {…}")
    return Entry(place, value)


def first_objects(file: ArchiveFile, most: int = 20) -> list[dict[str, Any]]:
    """The JSON objects among the first lines of a file, for telling its format; broken ones are left out."""
    head = utf8_head(file)
    if not head.lstrip().startswith(b"{") and b"\n{" not in head:
        return []
    if b"\n" not in head:
        return [entry.value for entry in itertools.islice(entries(file), 1) if isinstance(entry, Entry)]
    found: list[dict[str, Any]] = []
    for line in head.split(b"\n", most)[:most]:
        if line.lstrip()[:1] == b"{":
            entry = _entry("", Line(0, _repaired(line)[0], ended=True))
            if isinstance(entry, Entry):
                found.append(entry.value)
    return found


def head_lines(file: ArchiveFile, most: int) -> list[str]:
    """The first lines of a file's head as text, for telling its format; the last one may be cut."""
    return [_repaired(line)[0].removesuffix("\r") for line in utf8_head(file).split(b"\n", most)[:most]]


def utf8_head(file: ArchiveFile) -> bytes:
    """The first bytes of a file, of UTF-16 and UTF-32 as UTF-8, without the mark of the encoding.

    Raises:
        OSError: as `ArchiveFile.head`.
    """
    head = file.head
    for mark, codec in _WIDE:
        if head.startswith(mark):
            return head[len(mark) :].decode(codec, "replace").encode("utf-8", "replace")
    return head.removeprefix(codecs.BOM_UTF8)

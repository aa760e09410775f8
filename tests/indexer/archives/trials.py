"""One sample, sound and damaged: what its reader promised and did not keep."""

from __future__ import annotations

import html
import io
import json
import re
import shutil
import traceback
import zipfile
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

from indexer.archives import READERS, ArchiveFile, ReadOptions, discover, reader_of
from schemas.records import Message, Record, Skipped
from tests.indexer.archives.mutations import Mutation, Span, Specimen, mutated, specimen
from tests.indexer.archives.mutations.json_spans import strings
from tests.indexer.archives.reading import HERE, OPTIONS, archive_file, database
from tests.indexer.archives.record_faults import faults_of

# A byte that is wrong outside all records may cost the ones beside it, no more.
A_COUPLE = 2
# The letters are others, the structure is the same but for the mark at the beginning.
_SAME_NUMBER = ("encoded as cp1251", "mojibake")
EVERYTHING = replace(OPTIONS, tool_results=True, thinking=True, deleted_sessions=True)


@dataclass(frozen=True, slots=True)
class Sample:
    """A sample of a reader: a folder, and the file of it that is to be damaged."""

    source: str
    folder: Path
    name: str

    def __str__(self) -> str:
        return f"{self.source}/{self.name}"


def laid_out(sample: Sample, target: Path) -> Path:
    """A copy of a sample's folder, with databases for its `.sql`; the path of the sample's file in it."""
    shutil.copytree(sample.folder, target, dirs_exist_ok=True)
    for script in sorted(target.rglob("*.sql")):
        database(script.with_suffix(".db"), script.read_text("utf-8"))
        script.unlink()
    path = target / sample.name
    return path.with_suffix(".db") if path.suffix == ".sql" else path


def samples_of(source: str, folder: Path) -> list[Sample]:
    """Every file of a folder of samples."""
    paths = sorted(path for path in folder.rglob("*") if path.is_file())
    return [Sample(source, folder, path.relative_to(folder).as_posix()) for path in paths]


@dataclass(frozen=True, slots=True)
class _Reading:
    messages: list[Message]
    told: Counter[str]  # how much was skipped and dropped, by reason and kind


class Trial:
    """One sample and what is read of it while it is sound."""

    def __init__(self, sample: Sample, target: Path) -> None:
        self.sample = sample
        self.path = laid_out(sample, target)
        self._root = target
        self.specimen = specimen(str(sample), self.path.read_bytes(), others=_others(sample.source))
        self._of_lines = b"\n{" in self.specimen.data and not _is_document(self.specimen)
        self._is_zip = self.specimen.data.startswith(b"PK")
        self._files = [self.path]
        if not any(isinstance(record, Message) for record in self._read(OPTIONS)):
            # A file beside the talks (users, an index): damaged or not, it must cost none of them.
            self._files += sorted(path for path in target.rglob("*") if path.is_file() and path != self.path)
        # Names come from such a file, so that texts may change; of a zip its members are the records.
        self._by_place = len(self._files) > 1 or not self.specimen.is_text
        self._records = self.specimen.records or _lines(self.specimen.data)
        self._clean = {options: _reading(self._read(options)) for options in (OPTIONS, EVERYTHING)}
        self._owners = {
            options: [self._owners_of(message) for message in clean.messages]
            for options, clean in self._clean.items()
        }

    def _owners_of(self, message: Message) -> frozenset[int]:
        """The records that a message may come from."""
        if self._is_zip:
            member = re.split("[#:]", message.place.partition("!")[2])[0]
            names = zipfile.ZipFile(io.BytesIO(self.specimen.data)).namelist()
            return frozenset(number for number, name in enumerate(names) if name == member)
        return _owners(message, [_text_of(self.specimen.data[start:end]) for start, end in self._records])

    def kind(self, number: int) -> str:
        """What the damage of this number is."""
        return mutated(self.specimen, number).kind

    def faults(self, number: int) -> Iterator[str]:
        """What a reader did not keep of its promises over the damage of this number."""
        yield from self.faults_over(
            mutated(self.specimen, number), EVERYTHING if number % 4 == 3 else OPTIONS
        )

    def faults_over(self, mutation: Mutation, options: ReadOptions) -> Iterator[str]:
        """What a reader did not keep of its promises over this damage."""
        self.path.write_bytes(mutation.data)
        try:
            fits = self._fits()
            found = self._read(options)
        except Exception as error:
            frame = traceback.extract_tb(error.__traceback__)[-1]
            yield f"raised {type(error).__name__}: {error} in {Path(frame.filename).name}:{frame.lineno}"
            return
        yield from {fault for record in found for fault in faults_of(record, self.sample.source)}
        if self._files == [self.path] or mutation.sound:
            yield from self._losses(mutation, options, _reading(found))
        if fits and not found and mutation.data.strip(b" \t\r\n[]{}") and self._clean[options].messages:
            yield "the file fits, and nothing is told of it"

    def _fits(self) -> bool:
        if not self.path.stat().st_size:
            return False  # left out by discovery
        file = archive_file(self.path, self.path.relative_to(self._root).as_posix())
        found = {}
        for name, reader in READERS.items():
            try:
                found[name] = reader.fits(file)
            except OSError:
                found[name] = False
        return found[self.sample.source]

    def _read(self, options: ReadOptions) -> list[Record]:
        found: list[Record] = []
        for path in self._files:
            if path.suffix == ".zip":
                found.extend(_of_zip(path, options))
                continue
            file = archive_file(path, path.relative_to(self._root).as_posix())
            found.extend(READERS[self.sample.source].read(file, options))
        return found

    def _losses(self, mutation: Mutation, options: ReadOptions, found: _Reading) -> Iterator[str]:
        clean, owners = self._clean[options], self._owners[options]
        fewer = len(clean.messages) - len(found.messages)
        if mutation.kind in _SAME_NUMBER and fewer > 1 and self.specimen.is_text:
            yield f"{len(found.messages)} messages in place of {len(clean.messages)}"
        lost = self._lost(clean, found)
        touched = self._touched(mutation)
        beyond = [clean.messages[n] for n in lost if touched.isdisjoint(owners[n])]
        if len(beyond) > (0 if mutation.sound else A_COUPLE) and self._spares_the_rest(mutation):
            said = ", ".join(f"{message.place} {message.text[:30]!r}" for message in beyond[:3])
            yield f"{len(beyond)} of {len(clean.messages)} records that it did not touch are gone: {said}"
        # Of a record that still says something a part may go without a word: a key of its own is another.
        still = {owner for n, of in enumerate(owners) if n not in lost for owner in of}
        told = {message.place for message in found.messages}
        whole = [n for n in lost if still.isdisjoint(owners[n]) and clean.messages[n].place not in told]
        if fewer > 0 and whole and self._is_countable(mutation) and not found.told - clean.told:
            yield f"{fewer} lost and none counted: {clean.messages[whole[0]].place}"

    def _touched(self, mutation: Mutation) -> set[int]:
        return {
            number
            for number, (start, end) in enumerate(self._records)
            if any(start <= b and a <= end for a, b in mutation.touched)
        }

    def _lost(self, clean: _Reading, found: _Reading) -> list[int]:
        if not self._by_place:
            return _lost(clean.messages, found.messages, exactly=bool(self.specimen.records))
        here = {message.place for message in found.messages}
        gone = {message.place: n for n, message in enumerate(clean.messages) if message.place not in here}
        return list(gone.values())  # one row, however many messages it gave

    def _spares_the_rest(self, mutation: Mutation) -> bool:
        """Whether a reader can do anything for the records that were not touched."""
        if self._is_zip and not mutation.sound:
            # Bytes moved or a spoilt directory cost a zip; a spoilt bit in one member does not.
            end = self.specimen.records[-1][1]
            return mutation.counted and all(b <= end for _, b in mutation.touched)
        return mutation.touched != ((0, len(self.specimen.data)),)

    def _is_countable(self, mutation: Mutation) -> bool:
        """Whether what is lost left a trace: rows of a database and lines at the end of a file may not."""
        if not self.specimen.records:
            return False
        if self._is_zip:
            return not mutation.sound and mutation.data.startswith(b"PK")
        return mutation.counted or (mutation.kind == "cut" and not self._of_lines)


def _is_document(sound: Specimen) -> bool:
    return (
        any(not node.path and node.end >= len(sound.data.rstrip()) > 0 for node in sound.nodes)
        and sum(not node.path for node in sound.nodes) == 1
    )


@cache
def _others(source: str) -> tuple[bytes, ...]:
    found: list[bytes] = []
    for name in READERS:
        if name != source:
            paths = sorted(path for path in (HERE / "samples" / name).rglob("*") if path.is_file())
            found.extend(path.read_bytes() for path in paths[:3])
    return tuple(found)


def _of_zip(path: Path, options: ReadOptions) -> list[Record]:
    found: list[Record] = []
    for one in discover(path) if path.stat().st_size else ():
        if isinstance(one, Skipped):
            found.append(one)
        elif isinstance(one, ArchiveFile) and (reader := reader_of(one)) is not None:
            found.extend(reader.read(one, options))
        else:
            found.append(Skipped(one.name, "unknown format"))
    return found


def _reading(records: Iterable[Record]) -> _Reading:
    messages: list[Message] = []
    told: Counter[str] = Counter()
    for record in records:
        if isinstance(record, Message):
            messages.append(record)
        elif isinstance(record, Skipped):
            told[record.reason] += 1
        else:
            told[record.kind] += record.count
    return _Reading(messages, told)


def _lines(data: bytes) -> tuple[Span, ...]:
    found: list[Span] = []
    start = 0
    for line in data.split(b"\n"):
        found.append((start, start + len(line)))
        start += len(line) + 1
    return tuple(found)


def _text_of(data: bytes) -> str:
    """What a record says, whatever its format."""
    try:
        return "\n".join(strings(json.loads(data)))
    except ValueError:
        pass
    try:
        return html.unescape(data.decode("utf-8-sig"))
    except UnicodeDecodeError:
        return html.unescape(data.decode("cp1251", "replace"))


_WORDS = re.compile(r"[^\W_]+")


def _owners(message: Message, records: list[str]) -> frozenset[int]:
    """The records that a message may come from: those that hold most of its words, and its line."""
    own = set(_WORDS.findall(message.text))
    shared = [len(own & set(_WORDS.findall(text))) for text in records]
    most = max(shared, default=0)
    found = {number for number, count in enumerate(shared) if count == most > 0}
    if any(line and len(line) > 3 and line in text for line in message.text.split("\n") for text in records):
        found |= {n for n, text in enumerate(records)
                  if any(len(line) > 3 and line in text for line in message.text.split("\n"))}  # fmt: skip
    line = message.place.rpartition(":")[2]
    if line.isdecimal():
        found.add(int(line) - 1)
    return frozenset(found)


def _lost(clean: list[Message], found: list[Message], exactly: bool) -> list[int]:
    """Which messages are not among those found; inexactly, whose text is not in them anywhere."""
    if not exactly:
        said = "\n".join(message.text for message in found)
        return [number for number, message in enumerate(clean) if not _is_in(message.text, said)]
    left = Counter(message.text for message in found)
    lost: list[int] = []
    for number, message in enumerate(clean):
        if left[message.text]:
            left[message.text] -= 1
        else:
            lost.append(number)
    return lost


def _is_in(text: str, said: str) -> bool:
    """Whole or without the first line: of a note that is its path of headings, and one may be damaged."""
    rest = text.partition("\n")[2]
    return text in said or (rest != "" and rest in said)

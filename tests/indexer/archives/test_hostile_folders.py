"""Whatever stands in place of a file of an archive, the walk and the readers end and keep all the others."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from indexer.archives import READERS, ArchiveFile, discover, ignored, reader_of, unknown
from schemas.records import Message, Record, Skipped
from tests.indexer.archives.reading import HERE, OPTIONS
from tests.indexer.archives.trials import Sample, laid_out, samples_of
from tests.indexer.archives.watchdog import run

Swap = Callable[[Path, Path], None]


def fifo(path: Path, outside: Path) -> None:
    path.unlink()
    os.mkfifo(path)


def link_out(path: Path, outside: Path) -> None:
    shutil.move(path, outside / path.name)
    path.symlink_to(outside / path.name)


def link_to_itself(path: Path, outside: Path) -> None:
    path.unlink()
    path.symlink_to(path.name)


def link_to_folder_above(path: Path, outside: Path) -> None:
    path.unlink()
    path.symlink_to(path.parent)


def link_to_device(path: Path, outside: Path) -> None:
    path.unlink()
    path.symlink_to("/dev/zero")


def folder(path: Path, outside: Path) -> None:
    path.unlink()
    path.mkdir()


def nothing(path: Path, outside: Path) -> None:
    path.unlink()


SWAPS: tuple[Swap, ...] = (
    *(fifo, link_out, link_to_itself, link_to_folder_above, link_to_device, folder, nothing),
)


def read(root: Path) -> Iterator[Record]:
    for file in discover(root):
        if isinstance(file, Skipped):
            yield file
            continue
        reader = reader_of(file)
        yield from reader.read(file, OPTIONS) if reader is not None else [unknown(file)]


def places(records: list[Record]) -> set[str]:
    return {record.place for record in records if isinstance(record, Message)}


class Swapped:
    """Every kind of thing in place of one file, before the walk finds it and behind its back."""

    def __init__(self, sample: Sample, folder: Path) -> None:
        self._sample, self._folder = sample, folder
        self._name = laid_out(sample, folder / "sound").relative_to(folder / "sound").as_posix()
        self._sound = places(list(read(folder / "sound")))

    def kind(self, number: int) -> str:
        return (
            f"{SWAPS[number % len(SWAPS)].__name__} {'behind' if number >= len(SWAPS) else 'before'} the walk"
        )

    def faults(self, number: int) -> Iterator[str]:
        root, outside = self._folder / f"in{number}", self._folder / f"out{number}"
        outside.mkdir()
        path = laid_out(self._sample, root)
        behind = number >= len(SWAPS)
        found = list(discover(root)) if behind else []
        SWAPS[number % len(SWAPS)](path, outside)
        if not behind:
            yield from self._faults_of_walk(list(read(root)), number)
            return
        for file in found:
            if isinstance(file, ArchiveFile) and file.path == path:
                records = list(READERS[self._sample.source].read(file, OPTIONS))
                if places(records) and file.member is None:  # a zip is held open since the walk
                    yield f"{len(places(records))} messages were read through it"
                elif not records:
                    yield "nothing is told of it"

    def _faults_of_walk(self, records: list[Record], number: int) -> Iterator[str]:
        own = {place for place in self._sound if place.startswith(self._name)}
        if missing := self._sound - own - places(records):
            yield f"{len(missing)} messages of other files are gone: {sorted(missing)[:3]}"
        if got := own & places(records):
            yield f"{len(got)} messages were read through it"
        told = any(isinstance(record, Skipped) and record.place == self._name for record in records)
        quiet = SWAPS[number] in (folder, nothing, link_to_folder_above)
        if not (told or quiet or ignored(ArchiveFile(Path(self._name), self._name, 1, 0))):
            yield "it was not told"


@pytest.mark.parametrize("side", ["-wal", "-shm", "-journal"])
@pytest.mark.parametrize("swap", [fifo, link_to_itself, link_to_device, folder])
def test_what_is_no_file_beside_a_database_is_not_opened(side: str, swap: Swap, tmp_path: Path) -> None:
    path = laid_out(Sample("lcm", HERE / "samples" / "lcm", "lcm.sql"), tmp_path)
    clean = places(list(read(tmp_path)))
    beside = path.with_name(path.name + side)
    beside.touch()
    swap(beside, tmp_path)

    class Beside:
        def kind(self, number: int) -> str:
            return beside.name

        def faults(self, number: int) -> Iterator[str]:
            if places(list(read(tmp_path))) != clean:
                yield "messages are gone"

    assert run(Beside(), range(1)) == []
    assert {path.name, beside.name} == {path.name for path in tmp_path.iterdir()}


def samples() -> list[Sample]:
    return [sample for source in READERS for sample in samples_of(source, HERE / "samples" / source)]


@pytest.mark.slow
@pytest.mark.parametrize("sample", samples(), ids=str)
def test_what_is_no_file_is_named_and_never_read_through(sample: Sample, tmp_path: Path) -> None:
    assert run(Swapped(sample, tmp_path), range(2 * len(SWAPS))) == []


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read every file")
@pytest.mark.parametrize("sample", samples(), ids=str)
def test_a_file_that_may_not_be_read_costs_itself_alone(sample: Sample, tmp_path: Path) -> None:
    path = laid_out(sample, tmp_path)
    before = places(list(read(tmp_path)))
    path.chmod(0)
    own = {place for place in before if place.startswith(path.relative_to(tmp_path).as_posix())}
    assert places(list(read(tmp_path))) == before - own

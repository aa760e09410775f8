"""Finds the files of an archive: a file, a folder or a zip, walked in a fixed order.

An archive may come from elsewhere, so the walk trusts nothing in it: symlinks never lead out of the root,
FIFOs and devices are never opened, a zip never writes a path, and none expands without bound.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from pathlib import Path

from indexer.archives.files import ArchiveFile
from indexer.archives.irrelevance import SKIPPED_FOLDERS, ignored
from indexer.archives.lines import unreadable
from indexer.archives.zips import ZIP_MAGIC, members
from schemas.problems import ArchiveError
from schemas.records import Skipped

# A folder of ours inside an archive (`letopis build .`) must not be read back into the index.
_OWN_INDEX = frozenset({"ledger.db", "CURRENT"})


def discover(root: Path) -> Iterator[ArchiveFile | Skipped]:
    """The files under a root that are worth asking a reader about, and what can't be read.

    Files that are plainly no archives (`ignored`) and empty ones are left out without a word.

    Args:
        root: a file, a folder (hidden folders included) or a zip.

    Raises:
        ArchiveError: there is nothing at the root, or it can't be opened at all.
    """
    real = root.resolve()
    try:
        found = real.lstat()
    except (FileNotFoundError, NotADirectoryError):
        raise ArchiveError(
            f"The archive {root.name} is not there.", "check the path, or mend the symlink"
        ) from None
    except OSError as error:
        raise ArchiveError(
            f"The archive {root.name} can't be opened: {error.strerror}.", "check its rights"
        ) from None
    if stat.S_ISDIR(found.st_mode):
        yield from _folder(real)
    else:
        yield from _file(real, real.name, found, given=True)


def _folder(root: Path) -> Iterator[ArchiveFile | Skipped]:
    linked: set[tuple[int, int]] = set()
    waiting = [root]
    while waiting:
        here = waiting.pop()
        try:
            with os.scandir(here) as listing:
                found = sorted(listing, key=lambda entry: os.fsencode(entry.name))
        except OSError as error:
            if here == root:
                raise _closed(root, error) from None
            yield unreadable(_name(root, here), error)
            continue
        if here != root and {entry.name for entry in found} >= _OWN_INDEX:
            continue
        deeper: list[Path] = []
        for entry in found:
            path = Path(entry.path)
            try:
                status = entry.stat(follow_symlinks=False)
            except OSError as error:
                yield unreadable(_name(root, path), error)
                continue
            if stat.S_ISLNK(status.st_mode):
                yield from _symlink(root, path)
            elif stat.S_ISDIR(status.st_mode):
                if entry.name not in SKIPPED_FOLDERS:
                    deeper.append(path)
            elif status.st_nlink > 1 and (status.st_dev, status.st_ino) in linked:
                continue  # a hard link: one file once
            else:
                if status.st_nlink > 1:
                    linked.add((status.st_dev, status.st_ino))
                yield from _file(path, _name(root, path), status)
        waiting.extend(reversed(deeper))


def _closed(root: Path, error: OSError) -> ArchiveError:
    return ArchiveError(f"The archive {root.name} can't be opened: {error.strerror}.", "check its rights")


def _name(root: Path, path: Path) -> str:
    return os.fsencode(path.relative_to(root).as_posix()).decode("utf-8", "replace")


def _symlink(root: Path, path: Path) -> Iterator[Skipped]:
    """A link that stays inside needs no second look: its target is walked as itself."""
    name = _name(root, path)
    try:
        target = path.resolve(strict=True)
    except (OSError, RuntimeError):
        if not ignored(ArchiveFile(path, name, 0, 0)):
            yield Skipped(name, "a symlink that leads nowhere", "remove it or restore its target")
        return
    if not target.is_relative_to(root):
        yield Skipped(name, "a symlink that leads out of the archive", "list its target as an archive")


def _file(
    path: Path, name: str, status: os.stat_result, given: bool = False
) -> Iterator[ArchiveFile | Skipped]:
    if not stat.S_ISREG(status.st_mode):
        yield Skipped(name, "not a regular file", "a FIFO, socket or device is never opened")
        return
    file = ArchiveFile(path, name, status.st_size, status.st_mtime_ns, given=given)
    if not file.size or ignored(file):
        return
    try:
        head = file.head
    except OSError as error:
        yield unreadable(name, error)
        return
    if head.startswith(ZIP_MAGIC):
        yield from members(file)
    else:
        yield file

"""One file of an archive: where it lies, how it is opened, and its first bytes."""

from __future__ import annotations

import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import tzinfo
from functools import cached_property
from pathlib import Path, PurePosixPath
from typing import BinaryIO, cast

from indexer.archives.streams import (
    ZIP_ERRORS,
    DamagedFile,
    MemberStream,
    ZstdStream,
    open_regular,
    opened_zip,
)

HEAD_BYTES = 64 * 1024
ZSTD_MAGIC = b"\x28\xb5\x2f\xfd"
SQLITE_MAGIC = b"SQLite format 3\x00"


@dataclass(frozen=True, slots=True)
class ReadOptions:
    """What the owner asked of the readers.

    Attributes:
        zone: the zone of times that name none.
        tool_results: keep what tools answered (82.5 % of an agent's context), as role `tool`.
        thinking: keep what models thought aloud before they answered, as role `thinking`.
        deleted_sessions: also read OpenClaw's `.jsonl.deleted.<time>` archives.
    """

    zone: tzinfo
    tool_results: bool = False
    thinking: bool = False
    deleted_sessions: bool = False


@dataclass(frozen=True)
class ArchiveFile:
    """One regular file, or one member of a zip, that a reader may be asked about.

    Attributes:
        path: the real file to open (the zip itself for a member).
        name: posix path relative to the archive root; for a member `archive.zip!inner/name`.
        size: bytes on disk; for a member its declared size.
        mtime_ns: of the file on disk; for a member that of the zip.
        member: the name inside the zip, or None.
        given: True when the owner named this very file, not a folder above it.
    """

    path: Path
    name: str
    size: int
    mtime_ns: int
    member: str | None = None
    given: bool = False

    @property
    def parts(self) -> tuple[str, ...]:
        """The components of the name inside its folder or zip."""
        return PurePosixPath(self.name.rpartition("!")[2] if self.member else self.name).parts

    @property
    def base(self) -> str:
        """The last component."""
        return self.parts[-1] if self.parts else self.name

    @property
    def stem(self) -> str:
        """The last component without `.zst` and one further suffix: the chat id of formats that name none."""
        base = self.base.removesuffix(".zst")
        return base.rpartition(".")[0] or base

    @cached_property
    def head(self) -> bytes:
        """The first 64 KB, decompressed where the file is zstandard.

        Raises:
            OSError: the file can't be opened, or not one byte of it can be decompressed.
        """
        found = bytearray()
        with self.open() as stream:
            try:
                while len(found) < HEAD_BYTES and (data := stream.read(HEAD_BYTES - len(found))):
                    found += data
            except OSError:
                if not found:
                    raise
        return bytes(found)

    @property
    def is_sqlite(self) -> bool:
        """True when the content begins like a SQLite database."""
        return self.head.startswith(SQLITE_MAGIC)

    def open(self) -> BinaryIO:
        """The content as a stream of bytes, decompressed where it is zstandard.

        Raises:
            OSError: not there, not readable, or no longer a regular file. Reading may raise DamagedFile.
        """
        stream = self._raw()
        magic = stream.read(len(ZSTD_MAGIC))
        stream.seek(0)
        return cast(BinaryIO, ZstdStream(stream)) if magic == ZSTD_MAGIC else stream

    def _raw(self) -> BinaryIO:
        if self.member is None:
            return open_regular(self.path)
        archive = opened_zip(self.path, self.path.stat().st_size, self.mtime_ns)
        try:
            return cast(BinaryIO, MemberStream(archive, archive.getinfo(self.member)))
        except (KeyError, *ZIP_ERRORS) as error:
            raise DamagedFile(f"The member of the zip can't be opened: {type(error).__name__}.") from None

    @contextmanager
    def local(self) -> Iterator[Path]:
        """A real file with this content, for libraries that want a path; a member is copied out for the time.

        Raises:
            OSError: as `open`, or the temporary folder is full.
        """
        if self.member is None:
            yield self.path
            return
        with tempfile.TemporaryDirectory(prefix="letopis-") as folder:
            target = Path(folder) / "member"
            with self.open() as stream, target.open("wb") as copy:
                while data := stream.read(1 << 20):
                    copy.write(data)
            yield target

    def elsewhere(self, name: str) -> ArchiveFile | None:
        """The regular file of this name in the same archive, or None; never one outside of its root."""
        if self.member is not None:
            return self._fellow(name, name.rpartition("!")[2])
        above = self.path.parents[: len(PurePosixPath(self.name).parts)]
        if not above:
            return None
        root = above[-1].resolve()
        try:
            path = (root / name).resolve(strict=True)
            found = path.lstat()
        except (OSError, RuntimeError):
            return None
        if not path.is_relative_to(root) or not stat.S_ISREG(found.st_mode):
            return None
        return replace(self, path=path, name=name, size=found.st_size, mtime_ns=found.st_mtime_ns)

    def sibling(self, base: str) -> ArchiveFile | None:
        """The regular file of this name in the same folder, or None; symlinks do not count."""
        name = self.name[: len(self.name) - len(self.base)] + base
        if self.member is None:
            return self._neighbour(name, self.path.parent / base)
        return self._fellow(name, self.member[: len(self.member) - len(self.base)] + base)

    def above(self, base: str) -> ArchiveFile | None:
        """The regular file of this name in the folder above this file's, or None.

        Never one outside of the archive's root or of the zip; symlinks do not count.
        """
        if len(self.parts) < 2:
            return None
        name = PurePosixPath(*self.parts[:-2], base).as_posix()
        if self.member is not None:
            inner = PurePosixPath(*PurePosixPath(self.member).parts[:-2], base).as_posix()
            return self._fellow(f"{self.name.rpartition('!')[0]}!{name}", inner)
        return self._neighbour(name, self.path.parent.parent / base)

    def _neighbour(self, name: str, path: Path) -> ArchiveFile | None:
        """A regular file of the same archive, no symlink."""
        try:
            found = path.lstat()
        except OSError:
            return None
        if not stat.S_ISREG(found.st_mode):
            return None
        return replace(self, path=path, name=name, size=found.st_size, mtime_ns=found.st_mtime_ns)

    def _fellow(self, name: str, inner: str) -> ArchiveFile | None:
        """Another member of the same zip."""
        try:
            info = opened_zip(self.path, self.path.stat().st_size, self.mtime_ns).getinfo(inner)
        except (KeyError, OSError):
            return None
        return replace(self, name=name, size=info.file_size, member=inner)

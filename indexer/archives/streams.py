"""Streams of bytes that do not trust what they read: regular files, members of zips, zstandard."""

from __future__ import annotations

import io
import lzma
import os
import stat
import struct
import zipfile
import zlib
from copy import copy
from functools import lru_cache
from pathlib import Path
from typing import BinaryIO, cast

# A session of plain JSON shrinks 10 to 30 times; a file that grows past this is an attack, not a talk.
MAX_EXPANDED = 8 * 1024**3
# What zipfile and its decompressors raise over broken bytes; a name that is no UTF-8 is a ValueError.
ZIP_ERRORS = (
    *(zipfile.BadZipFile, zlib.error, lzma.LZMAError, struct.error),
    *(EOFError, ValueError, RuntimeError, KeyError, OverflowError),
)


class DamagedFile(OSError):
    """Compressed data that ends early, is broken, or grows past MAX_EXPANDED; what came before is sound."""


def open_regular(path: Path) -> BinaryIO:
    """Open a regular file and nothing else: a FIFO that took its place since the walk would block for ever.

    Raises:
        OSError: not there, not readable, a symlink, or not a regular file.
    """
    flags = (
        os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0)
    )
    handle = os.open(path, flags)
    if not stat.S_ISREG(os.fstat(handle).st_mode):
        os.close(handle)
        raise OSError("not a regular file")
    return os.fdopen(handle, "rb")


@lru_cache(maxsize=2)
def opened_zip(path: Path, size: int, mtime_ns: int) -> zipfile.ZipFile:
    """The zip with its directory read once: ten thousand members must not mean ten thousand directories.

    Raises:
        OSError: the file can't be read or is no zip.
    """
    try:
        return zipfile.ZipFile(open_regular(path))
    except ZIP_ERRORS as error:
        raise DamagedFile(f"The zip can't be read: {error}.") from None


class MemberStream(io.RawIOBase):
    """A member of a zip; the many errors of a broken one become DamagedFile."""

    def __init__(self, archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> None:
        self._archive, self._info, self._sum = archive, copy(info), info.CRC
        # zipfile compares the checksum before it gives the last block: one flipped bit would cost a whole day
        # of talk. It is compared here, behind what was read.
        del self._info.CRC
        self._begin()

    def _begin(self) -> None:
        self._inner = cast(zipfile.ZipExtFile, self._archive.open(self._info))
        self._read, self._running = 0, zlib.crc32(b"")

    def readable(self) -> bool:
        """Always."""
        return True

    def seekable(self) -> bool:
        """To the start only."""
        return True

    def seek(self, offset: int, whence: int = 0) -> int:
        """Begin anew; no other place can be sought."""
        if offset or whence:
            raise io.UnsupportedOperation("a member of a zip is read from its start")
        self._inner.close()
        self._begin()
        return 0

    def readinto(self, buffer: bytearray | memoryview, /) -> int:  # type: ignore[override]
        """Fill the buffer as far as the member goes."""
        try:
            data = self._inner.read1(len(buffer))
        except ZIP_ERRORS as error:
            raise DamagedFile(f"The member of the zip is damaged: {type(error).__name__}.") from None
        self._read += len(data)
        if self._read > MAX_EXPANDED:
            raise DamagedFile(f"The member grows past {MAX_EXPANDED} bytes.")
        self._running = zlib.crc32(data, self._running)
        if not data and len(buffer) and self._running != self._sum:
            raise DamagedFile("The member of the zip is damaged: its checksum is another.")
        buffer[: len(data)] = data
        return len(data)

    def close(self) -> None:
        """Close the member; the zip stays open."""
        self._inner.close()
        super().close()


class ZstdStream(io.RawIOBase):
    """Zstandard frames, decompressed; a cut frame gives all that it holds, then raises DamagedFile.

    The library's own stream reader ends a cut frame as if it were whole.
    """

    def __init__(self, inner: BinaryIO) -> None:
        from zstandard import ZstdDecompressor

        self._inner = inner
        self._zstd = ZstdDecompressor()
        self._frame = self._zstd.decompressobj()
        self._began = False
        self._ready = memoryview(b"")
        self._written = 0
        self._fault: str | None = None

    def readable(self) -> bool:
        """Always."""
        return True

    def readinto(self, buffer: bytearray | memoryview, /) -> int:  # type: ignore[override]
        """Fill the buffer with what is decompressed."""
        while not self._ready:
            if self._fault is not None:
                raise DamagedFile(self._fault)
            if not self._more():
                return 0
        size = min(len(buffer), len(self._ready))
        buffer[:size] = self._ready[:size]
        self._ready = self._ready[size:]
        return size

    def _more(self) -> bool:
        from zstandard import ZstdError

        # Small input steps: one step's output is held in memory, and a bomb expands about 30,000 times.
        data = self._inner.read(1 << 12)
        if not data:
            if self._began:
                self._fault = "The compressed data ends early."
                return True
            return False
        found: list[bytes] = []
        try:
            while data:
                self._began = True
                found.append(self._frame.decompress(data))
                if not self._frame.eof:
                    break
                data, self._frame, self._began = self._frame.unused_data, self._zstd.decompressobj(), False
        except ZstdError:
            self._fault = "The compressed data is damaged."
        self._ready = memoryview(b"".join(found))
        self._written += len(self._ready)
        if self._written > MAX_EXPANDED:
            self._fault = f"The data grows past {MAX_EXPANDED} bytes."
        return True

    def close(self) -> None:
        """Close the compressed stream as well."""
        self._inner.close()
        super().close()

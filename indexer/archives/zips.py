"""The members of a zip, one by one and never written to a path of its choosing.

Attacks it is made against: names that climb out (`../`), members that expand without bound, overlapping
members (one compressed block that a thousand entries share), encrypted members, symlinks, zips in zips.
"""

from __future__ import annotations

import re
import stat
import zipfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import PurePosixPath

from indexer.archives.files import ArchiveFile
from indexer.archives.irrelevance import SKIPPED_FOLDERS, ignored
from indexer.archives.lines import unreadable
from indexer.archives.streams import MAX_EXPANDED, opened_zip
from schemas.records import Skipped

ZIP_MAGIC = (b"PK\x03\x04", b"PK\x05\x06")
# Deflate reaches 1,032; chats in JSON shrink 10 to 30 times.
MAX_RATIO = 200
SMALL = 1 << 20
MAX_MEMBERS = 200_000
# No file system takes a longer path; patterns over names need not be proof against 64 KB.
MAX_NAME = 4096
MAX_TOTAL = 4 * MAX_EXPANDED
_UTF8_FLAG, _ENCRYPTED_FLAG = 0x800, 0x1
_EMPTY_DEFLATED = 2
_DRIVE = re.compile(r"[A-Za-z]:")


def members(file: ArchiveFile) -> Iterator[ArchiveFile | Skipped]:
    """The members of a zip that are worth asking a reader about, by name, and what was refused."""
    try:
        listing = opened_zip(file.path, file.size, file.mtime_ns).infolist()
    except OSError as error:
        yield unreadable(file.name, error)
        return
    if len(listing) > MAX_MEMBERS:
        yield Skipped(
            file.name, f"a zip of more than {MAX_MEMBERS} members", f"it has {len(listing)}; unpack it"
        )
        return
    overlapping = _overlapping(listing)
    last = {info.filename: info for info in listing}
    total = 0
    for info in sorted(listing, key=lambda info: info.filename):
        if info.is_dir() or (not info.file_size and info.compress_size <= _EMPTY_DEFLATED):
            continue
        name = f"{file.name}!{readable(info)}"
        refusal = _refusal(info, last, overlapping)
        if refusal is not None:
            yield Skipped(name, *refusal)
            continue
        total += info.file_size
        if total > MAX_TOTAL:
            yield Skipped(
                file.name, f"a zip that expands past {MAX_TOTAL >> 30} GB", "unpack what you need of it"
            )
            return
        yield from _member(replace(file, name=name, size=info.file_size, member=info.filename, given=False))


def _member(member: ArchiveFile) -> Iterator[ArchiveFile | Skipped]:
    if not SKIPPED_FOLDERS.isdisjoint(member.parts[:-1]) or ignored(member):
        return
    try:
        head = member.head
    except OSError as error:
        yield unreadable(member.name, error)
        return
    if head.startswith(ZIP_MAGIC):
        yield Skipped(member.name, "a zip inside a zip", "unpack the outer one")
    elif head:
        yield member


def readable(info: zipfile.ZipInfo) -> str:
    """The member's name; without the UTF-8 flag Russian Windows wrote cp866, other programs bare UTF-8."""
    if info.flag_bits & _UTF8_FLAG:
        return info.filename.encode("utf-8", "replace").decode()
    try:
        raw = info.filename.encode("cp437")
    except UnicodeEncodeError:
        return info.filename.encode("utf-8", "replace").decode()
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError:
        return raw.decode("cp866", "replace")


def _refusal(
    info: zipfile.ZipInfo, last: dict[str, zipfile.ZipInfo], overlapping: set[str]
) -> tuple[str, str] | None:
    name = info.filename
    if (
        name.startswith(("/", "\\"))
        or "\\" in name
        or _DRIVE.match(name)
        or ".." in PurePosixPath(name).parts
    ):
        return "a zip member whose name leads out of the zip", "it was not read; distrust this zip"
    if len(name) > MAX_NAME:
        return f"a zip member whose name is longer than {MAX_NAME} characters", "it was not read"
    if stat.S_ISLNK(info.external_attr >> 16):
        return "a symlink in a zip", "it was not followed"
    if info.flag_bits & _ENCRYPTED_FLAG:
        return "an encrypted zip member", "unpack it with its password"
    if name in overlapping:
        return "zip members that share their data", "it was not read; distrust this zip"
    if last[name] is not info:  # a zip is brought up to date by what is appended to it
        return "an earlier zip member of the same name", "the last one was read"
    if not info.file_size:
        return "a zip member of a false size", "it was not read; distrust this zip"
    if info.file_size > MAX_EXPANDED:
        return f"a zip member of more than {MAX_EXPANDED >> 30} GB", "unpack it"
    if info.file_size > SMALL and info.file_size > MAX_RATIO * max(info.compress_size, 1):
        return f"a zip member that expands more than {MAX_RATIO} times", "it was not read; distrust this zip"
    return None


def _overlapping(listing: list[zipfile.ZipInfo]) -> set[str]:
    found: set[str] = set()
    end = 0
    for info in sorted(listing, key=lambda info: info.header_offset):
        if info.header_offset < end:
            found.add(info.filename)
        end = max(end, info.header_offset + 30 + len(info.orig_filename) + info.compress_size)
    return found

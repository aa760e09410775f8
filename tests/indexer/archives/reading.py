"""What the tests of the readers share: an archive file from a path, and everything that a reader yields."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from zoneinfo import ZoneInfo

import apsw

from indexer.archives import READERS, ArchiveFile, ReadOptions
from schemas.records import Dropped, Message, Record, Skipped

HERE = Path(__file__).parent
CASES = HERE.parents[1] / "cases"
MOSCOW = ZoneInfo("Europe/Moscow")
OPTIONS = ReadOptions(zone=MOSCOW)
WITH_TOOLS = replace(OPTIONS, tool_results=True)


def archive_file(path: Path, name: str | None = None) -> ArchiveFile:
    status = path.stat()
    return ArchiveFile(path, name or path.name, status.st_size, status.st_mtime_ns)


def written(folder: Path, name: str, content: str | bytes) -> ArchiveFile:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return archive_file(path, name)


def records(source: str, file: ArchiveFile, options: ReadOptions = OPTIONS) -> list[Record]:
    return list(READERS[source].read(file, options))


def messages(found: Iterable[Record]) -> list[Message]:
    return [record for record in found if isinstance(record, Message)]


def skips(found: Iterable[Record]) -> list[Skipped]:
    return [record for record in found if isinstance(record, Skipped)]


def drops(found: Iterable[Record]) -> Counter[str]:
    counts: Counter[str] = Counter()
    for record in found:
        if isinstance(record, Dropped):
            counts[record.kind] += record.count
    return counts


def database(path: Path, script: str) -> Path:
    connection = apsw.Connection(str(path))
    for statement in script.split(";\n"):
        if statement.strip():
            connection.execute(statement)
    connection.close()
    return path


# Files that lie beside talks and hold none.
SUPPORT = frozenset({"sessions.json", "users.json", "channels.json", "dms.json"})


def samples(source: str, folder: Path) -> list[ArchiveFile]:
    """Copies of a reader's samples in `folder`; `.sql` becomes the database that it describes.

    All files of talks, that is: others are copied beside them, zips are left to discovery.
    """
    found: list[ArchiveFile] = []
    origin = HERE / "samples" / source
    for path in sorted(origin.rglob("*")):
        if not path.is_file() or path.suffix == ".zip":
            continue
        name = path.relative_to(origin).as_posix()
        target = folder / name
        target.parent.mkdir(parents=True, exist_ok=True)
        if path.suffix == ".sql":
            target = database(target.with_suffix(".db"), path.read_text("utf-8"))
            name = target.relative_to(folder).as_posix()
        else:
            target.write_bytes(path.read_bytes())
        if path.name not in SUPPORT:
            found.append(archive_file(target, name))
    return found

"""What the archives hold, found out by reading them: nothing is written and nothing paid."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from indexer.accounting import Account
from indexer.archives import ArchiveFile, ReadOptions, discover, ignored, reader_of, unknown
from indexer.report import Progress
from schemas.problems import ArchiveError, Interrupted
from schemas.records import Skipped

# What a person calls the kinds of text, and which of them a setting lets in.
SWITCHES = {"tool": "tool_results", "tool_result": "tool_results", "thinking": "thinking"}


@dataclass(frozen=True, slots=True)
class Found:
    """One file of an archive.

    Attributes:
        path: relative to the archive.
        kind: the reader's name, or None for a file that none fits.
        account: what it holds.
    """

    path: str
    kind: str | None
    account: Account

    def as_json(self) -> dict[str, Any]:
        """Plain data for JSON; times are UTC ms."""
        account = self.account
        reasons = Counter(skipped.reason for skipped in account.skipped)
        hints = {skipped.reason: skipped.hint for skipped in account.skipped}
        return {
            "path": self.path,
            "kind": self.kind,
            "chats": len(account.chats),
            "messages": account.messages,
            "first_at": account.first_at,
            "last_at": account.last_at,
            "skipped": {reason: {"count": count, "hint": hints[reason]} for reason, count in reasons.items()},
        }


@dataclass(slots=True)
class Archive:
    """One root with its files.

    Attributes:
        name: of the root, without its folder.
        files: in the order of the walk.
        fault: why the root could not be walked, or None.
    """

    name: str
    files: list[Found] = field(default_factory=list)
    fault: str | None = None

    @property
    def indexed(self) -> dict[str, Counter[str]]:
        """By role: records and characters that a build would index."""
        return _summed(file.account.kept for file in self.files)

    @property
    def left_out(self) -> dict[str, Counter[str]]:
        """By kind of noise: records and characters that a build would leave out."""
        return _summed(file.account.dropped for file in self.files)

    def as_json(self) -> dict[str, Any]:
        """Plain data for JSON."""
        sides = {"indexed": self.indexed, "left_out": self.left_out}
        characters = sum(one["characters"] for side in sides.values() for one in side.values())
        return {
            "name": self.name,
            "fault": self.fault,
            "files": [file.as_json() for file in self.files],
            "characters": characters,
            **{
                name: {
                    kind: {
                        "records": one["records"],
                        "characters": one["characters"],
                        "share": round(one["characters"] / max(1, characters), 4),
                        **({"setting": SWITCHES[kind]} if kind in SWITCHES else {}),
                    }
                    for kind, one in side.items()
                }
                for name, side in sides.items()
            },
        }


def _summed(counts: Iterator[dict[str, Counter[str]]]) -> dict[str, Counter[str]]:
    total: dict[str, Counter[str]] = {}
    for one in counts:
        for kind, values in one.items():
            total.setdefault(kind, Counter()).update(values)
    return dict(sorted(total.items(), key=lambda pair: -pair[1]["characters"]))


def survey(
    roots: Sequence[Path], options: ReadOptions, progress: Progress, cancelled: Callable[[], bool]
) -> list[Archive]:
    """Read every archive and count what is in it.

    Args:
        roots: files, folders and zips.
        options: as a build would read them.
        progress: is told of every file.
        cancelled: asked between records.

    Raises:
        Interrupted: cancelled.
    """
    progress.stage("reading", None)
    found: list[Archive] = []
    for root in roots:
        archive = Archive(root.name or str(root))
        found.append(archive)
        try:
            for file in discover(root):
                if isinstance(file, Skipped):
                    archive.files.append(_unread(file.place, file))
                elif not ignored(file):
                    archive.files.append(_read(file, options, cancelled))
                    progress.advance()
        except ArchiveError as error:
            archive.fault = error.line()
    return found


def _unread(path: str, skipped: Skipped) -> Found:
    account = Account()
    account.take(skipped)
    return Found(path, None, account)


def _read(file: ArchiveFile, options: ReadOptions, cancelled: Callable[[], bool]) -> Found:
    reader = reader_of(file)
    if reader is None:
        return _unread(file.name, unknown(file))
    account = Account()
    for record in reader.read(file, options):
        if cancelled():
            raise Interrupted("Stopped while reading.", "")
        account.take(record)
    return Found(file.name, reader.name, account)

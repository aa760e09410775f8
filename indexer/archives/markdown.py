"""Markdown memory: MEMORY.md, memory/**, state/* as notes; SOUL.md and AGENTS.md as instructions."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import date

from indexer.archives.files import ArchiveFile, ReadOptions
from indexer.archives.identity import Identities
from indexer.archives.lines import lines, unreadable
from indexer.archives.times import midnight, parse_time
from indexer.archives.wording import MAX_LABEL, label, says_something, tidy
from schemas.records import Dropped, Message, Record, Role, Skipped

SUFFIXES = (".md", ".markdown")
INSTRUCTIONS = frozenset({"SOUL.md", "AGENTS.md"})
# A section past this many characters is given in parts, so that memory does not grow with the file.
MAX_SECTION = 1_000_000
_HEADING = re.compile(r" {0,3}(#{1,6})(?:[ \t]+(.*))?")
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})(.*)")
_FIELD = re.compile(r"([A-Za-z_][\w-]{0,40}):[ \t]*(.*)")
_DAY = re.compile(r"(?<!\d)((?:19|20)\d\d-\d\d-\d\d)(?!\d)")
_BETWEEN = " › "


def is_memory(file: ArchiveFile) -> bool:
    """True for the notes and instructions of an agent's workspace, and for a Markdown file given by name."""
    if not file.base.lower().endswith(SUFFIXES):
        return False
    if file.given or file.base in INSTRUCTIONS or file.base == "MEMORY.md":
        return True
    folders = _folders(file)
    return "memory" in folders or folders[-1:] == ("state",)


def _folders(file: ArchiveFile) -> tuple[str, ...]:
    """The folders above the file, with the archive root's own name first: `build …/memory` is memory too."""
    inside = file.parts[:-1]
    if file.member is not None:
        return inside
    above = file.path.parts[: -len(file.parts)] if len(file.parts) < len(file.path.parts) else ()
    return (*above[-1:], *inside)


class Markdown:
    """Reads a note as one message a section."""

    name = "markdown"

    def fits(self, file: ArchiveFile) -> bool:
        """True for memory files whose content is text."""
        return is_memory(file) and (b"\x00" not in file.head or file.head[:2] in (b"\xff\xfe", b"\xfe\xff"))

    def read(self, file: ArchiveFile, options: ReadOptions) -> Iterator[Record]:
        """Yield the sections in order; an id depends on the heading path alone, so that an edit keeps it."""
        try:
            note = _Note(file, options)
        except OSError as error:
            yield unreadable(file.name, error)
            return
        sections = _sections(lines(file))
        waiting: _Section | None = None
        for section in sections:
            if not isinstance(section, _Section):
                yield section
            elif section.front is not None:
                note.describe(section.front)
                yield Dropped("metadata", len(section.body))
            else:
                if waiting is not None and section.path[: len(waiting.path)] != waiting.path:
                    yield note.message(waiting)
                waiting = None
                if says_something(section.body):
                    yield note.message(section)
                elif section.body.strip():
                    yield Dropped("empty", len(section.body.strip()))
                elif section.path:
                    waiting = section  # a heading alone says something only if nothing stands under it
        if waiting is not None:
            yield note.message(waiting)


@dataclass(frozen=True, slots=True)
class _Section:
    path: tuple[str, ...]
    line: int
    body: str
    front: dict[str, str] | None = None


class _Note:
    def __init__(self, file: ArchiveFile, options: ReadOptions) -> None:
        self._file, self._options = file, options
        self._identities = Identities()
        self._chat = f"notes:{file.name}"
        self._role: Role = "instruction" if file.base in INSTRUCTIONS else "note"
        self._meta: dict[str, str] = {}
        self._title = _first_heading(file) or file.stem
        day = _DAY.search(file.base)
        self._at = _day(day[1], options) if day else None

    def describe(self, front: dict[str, str]) -> None:
        self._meta = front
        self._title = front.get("title") or self._title
        if self._at is None and "date" in front:
            self._at = parse_time(front["date"], self._options.zone)

    def message(self, section: _Section) -> Message:
        heading = _BETWEEN.join(section.path)
        return Message(
            chat_id=self._chat,
            id=self._identities.derive(self._chat, heading, None, ""),
            source="markdown",
            role=self._role,
            text="\n".join(part for part in (heading, tidy(section.body)) if part),
            place=f"{self._file.name}:{section.line}",
            at=self._at,
            chat_title=self._title,
            edited=self._file.mtime_ns // 1_000_000,
            meta=self._meta,
        )


def _day(text: str, options: ReadOptions) -> int | None:
    try:
        return midnight(date.fromisoformat(text), options.zone)
    except ValueError:
        return None


def _first_heading(file: ArchiveFile) -> str | None:
    head = file.head.decode("utf-8-sig", "replace")
    outline = _Outline()
    for line in head.splitlines():
        if outline.take(line):
            return outline.path[-1]
    return None


@dataclass(slots=True)
class _Outline:
    """The heading path at a line; a `#` inside a fence is code."""

    path: tuple[str, ...] = ()
    _levels: list[tuple[int, str]] = field(default_factory=list)
    _fence: str | None = None

    def take(self, line: str) -> bool:
        """Take a line; True when it is a heading, whose path is then in `path`."""
        if match := _FENCE.fullmatch(line):
            mark, info = match[1], match[2]
            if self._fence is None:
                self._fence = None if mark[0] == "`" and "`" in info else mark
            elif mark[0] == self._fence[0] and len(mark) >= len(self._fence) and not info.strip():
                self._fence = None
            return False
        if self._fence is not None or not (match := _HEADING.fullmatch(line)):
            return False
        written = _without_closing(match[2] or "")
        text = label(written)
        if text is None or len(written) > MAX_LABEL:
            return False  # the words of a line that long stay text: a heading is repeated in each section
        level = len(match[1])
        self._levels = [*(known for known in self._levels if known[0] < level), (level, text)]
        self.path = tuple(text for _, text in self._levels)
        return True


def _without_closing(heading: str) -> str:
    """The words without the `#`s that may close them; a pattern took minutes over 2 MB of spaces."""
    text = heading.rstrip(" \t")
    bare = text.rstrip("#")
    return bare.rstrip(" \t") if not bare or bare[-1] in " \t" else text


def _sections(found: Iterator[object]) -> Iterator[_Section | Skipped]:
    outline, body, size, start = _Outline(), [], 0, 1
    front: list[str] | None = None
    for line in found:
        if isinstance(line, Skipped):
            yield line
            continue
        number, text = line.number, line.text  # type: ignore[attr-defined]
        if number == 1 and text.rstrip() == "---":
            front = []
            continue
        if front is not None:
            if text.rstrip() in ("---", "..."):
                yield _Section((), 1, "\n".join(front), _front_matter(front))
                front, start = None, number + 1
                continue
            front.append(text)
            if len(front) <= 200:
                continue
            # No end in sight: it was a thematic break and text after it.
            body, size, front = front, sum(map(len, front)), None
            continue
        before = outline.path
        if outline.take(text):
            yield _Section(before, start, "\n".join(body))
            body, size, start = [], 0, number
            continue
        body.append(text)
        size += len(text) + 1
        if size > MAX_SECTION:
            yield _Section(before, start, "\n".join(body))
            body, size, start = [], 0, number + 1
    yield _Section(outline.path, start, "\n".join(body if front is None else front))


def _front_matter(found: list[str]) -> dict[str, str]:
    """The plain `key: value` lines of a front matter; nested ones are left out."""
    fields: dict[str, str] = {}
    for line in found:
        match = _FIELD.fullmatch(line.rstrip())
        if match and (value := label(match[2].strip("'\""))):
            fields[match[1]] = value
    return fields

"""WhatsApp's exports of a chat as text, from Android and iOS, bare or in their zip."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from indexer.archives.files import ArchiveFile, ReadOptions
from indexer.archives.identity import Identities
from indexer.archives.lines import Block, blocks, head_lines
from indexer.archives.markdown import SUFFIXES
from indexer.archives.whatsapp.authors import Authors
from indexer.archives.whatsapp.layout import MARKS, Layout, clock_first, heads
from indexer.archives.whatsapp.wording import said
from indexer.archives.wording import label, says_something, tidy
from schemas.records import Dropped, Message, Record, Skipped

# A message past this many characters is given in parts, so that memory does not grow with the file.
MAX_MESSAGE = 1_000_000
_FIRST_LINES = 50
_FIRST_HEAD = 3
_NAME = re.compile(r"([^\n:]{1,100}):(?:\s|$)")
# Names that tell no chat: then the zip or the folder around the file does.
_NAMELESS = frozenset({"_chat", "chat"})
_COPY = re.compile(r"\s*\(\d{1,3}\)$")
_TITLES = (
    re.compile(
        r"(?:.{0,40}[\s-])?WhatsApp(?:[\s-]\w{1,20})?\s{1,3}"
        r"(?:[-–—]|with|с|со|із|зі|з|con|com|mit|avec|met|med|dengan|ile)\s{1,3}"
        r"(?:контактом\s|группой\s|групою\s)?(.{1,200})",
        re.IGNORECASE,
    ),
    re.compile(r"(.{1,200}?)\s(?:ile|kişisiyle)\s.{0,20}WhatsApp.{0,40}", re.IGNORECASE),
)
# A server's log has heads of this layout too, and levels where a talk has names.
_LEVEL = re.compile(r"(?:.{0,60}[.\s\]])?(?:debug|info|notice|warn|warning|error|critical|fatal|trace)", re.I)


class WhatsApp:
    """Reads a file twice: the layout of its dates and the names stand in no single line of it."""

    name = "whatsapp"

    def fits(self, file: ArchiveFile) -> bool:
        """True when one of the first lines has date, time, a name and a colon, and a head comes first."""
        if file.base.lower().endswith(SUFFIXES):
            return False  # a note that keeps a diary in lines of date and time
        text = _first_lines(file)
        found = heads(text)
        if not found or text.count("\n", 0, found[0][0] + 1) > _FIRST_HEAD:
            return False
        names = [match[1] for _, end in found if (match := _NAME.match(text, end)) is not None]
        return any(not _LEVEL.fullmatch(name.strip()) for name in names)

    def read(self, file: ArchiveFile, options: ReadOptions) -> Iterator[Record]:
        """Yield the messages in the order of the file, with derived ids: the export has none."""
        layout, authors = _learnt(file, options)
        talk = _Talk(file, authors)
        for block in blocks(file):
            if isinstance(block, Skipped):
                yield block
                continue
            text, line = "\n" + block.text, block.number - 1
            done, counted = 1, 0
            for begin, end, at in layout.read(text):
                yield from talk.end(text[done:begin])
                line += text.count("\n", counted, begin + 1)
                talk.begin(at, line)
                done, counted = end, begin + 1
            talk.go_on(text[done:])
            if talk.size > MAX_MESSAGE:
                yield from talk.end()
        yield from talk.end()


def _first_lines(file: ArchiveFile) -> str:
    return "\n" + "\n".join(line for line in head_lines(file, _FIRST_LINES) if line.strip())


def _learnt(file: ArchiveFile, options: ReadOptions) -> tuple[Layout, Authors]:
    """The first pass."""
    try:
        layout = Layout(options.zone, clock_first(_first_lines(file)))
    except OSError:
        layout = Layout(options.zone, clock_first=False)
    authors = Authors()
    for block in blocks(file):
        if isinstance(block, Block):
            text = "\n" + block.text
            for end in layout.learn(text):
                authors.learn(text, end)
    return layout, authors


class _Talk:
    """The message that is being read, and the chat it stands in."""

    def __init__(self, file: ArchiveFile, authors: Authors) -> None:
        self.size = 0
        self._file, self._authors = file, authors
        self._chat = chat_name(file)
        self._identities = Identities()
        self._parts: list[str] = []
        self._at: int | None = None
        self._number = 0
        self._begun = self._told = False
        self._author: str | None = None
        self._for_group = False

    def begin(self, at: int | None, number: int) -> None:
        self._at, self._number, self._begun = at, number, True

    def go_on(self, text: str) -> None:
        self._parts.append(text)
        self.size += len(text)

    def end(self, text: str = "") -> Sequence[Record]:
        """The records of what was read since `begin`, whose last piece is the text."""
        body = text
        if self._parts:
            body = "".join((*self._parts, text))
            self._parts, self.size = [], 0
        body = body.rstrip("\n")
        if not self._number:
            if not says_something(body) or self._told:
                return ()
            self._told = True
            hint = "export the chat again"
            return (Skipped(f"{self._file.name}:1", "text before the first message", hint),)
        if self._begun:
            self._begun = False
            self._author, body, self._for_group = self._authors.split(body)
        elif not body:
            return ()
        if self._author is None:
            return (Dropped("service", len(body)),)
        text, left_out, kind = said(body, self._for_group)
        text = tidy(text)
        if says_something(text):
            message = self._message(text, self._at)
            return (message,) if kind is None else (Dropped(kind, left_out), message)
        if kind is None:
            return (Dropped("empty", len(text)),)
        return (Dropped(kind, left_out), Dropped("empty", len(text))) if text else (Dropped(kind, left_out),)

    def _message(self, text: str, at: int | None) -> Message:
        return Message(
            chat_id=self._chat,
            id=self._identities.derive(self._chat, self._author, at, text),
            source="whatsapp",
            role="user",
            text=text,
            place=f"{self._file.name}:{self._number}",
            at=at,
            chat_title=self._chat,
            author=self._author,
        )


def chat_name(file: ArchiveFile) -> str:
    """The chat that a file's name tells, in whatever language; of `_chat.txt` the zip or folder tells it."""
    names = [file.stem]
    if file.stem.lower() in _NAMELESS:
        above = [*reversed(file.parts[:-1])]
        above.append(file.path.name.rpartition(".")[0] if file.member else file.path.parent.name)
        names = [name for name in above if name.lower() not in _NAMELESS and label(name)] or names
    for name in names:
        bare = _COPY.sub("", name.translate(_UNMARKED))
        if " " not in bare:
            bare = bare.replace("_", " ")
        for pattern in _TITLES:
            match = pattern.fullmatch(bare.strip())
            if match is not None and (title := label(match[1])):
                return title
    return label(_COPY.sub("", names[0])) or file.stem


_UNMARKED = str.maketrans(dict.fromkeys(MARKS))

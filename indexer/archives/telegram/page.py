"""The messages of one page of Telegram Desktop's HTML export, element by element."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from html import unescape

# What a class says of the text inside its element. Whatever else stands there (userpics, sizes, durations,
# buttons, reactions, votes) is no text of the message.
_REGIONS = {
    "from_name": "name",
    "text": "text",
    "signature": "signature",
    "question": "question",
    "answer": "answer",
    "title": "title",
    "description": "description",
    "details": "",
    "status": "",
    "reply_to": "reply",
    "userpic": "",
    "initials": "",
    "reactions": "",
    "bot_buttons_table": "",
    "video_play_bg": "",
    "video_duration": "",
}
# Of these media the title and the description are words that somebody wrote.
_SAYING = frozenset({"media_venue", "media_game", "media_invoice"})
_VOID = frozenset({"area", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "wbr"})
_GO_TO = re.compile(r"#go_to_message(-?[0-9]{1,20})")
# A break of a line, until the element is complete: no text of a page holds one.
_BREAK = "\0"
# Classes of the pages beside those of the chats.
_LISTS = frozenset({"list_page", "personal_info", "sections", "entry_list"})
_TAG = re.compile(r"<(/?)([a-zA-Z][a-zA-Z0-9]*+)([^<>]*+)>")
# A tag or a reference without end is not waited for.
_LONGEST_TAG = 16 * 1024
_LONGEST_REFERENCE = 40
_BLANK = " \t\r"
# Elements nested deeper are not told apart from the one around them.
_MAX_DEPTH = 100


@dataclass(slots=True)
class Entry:
    """What one `<div class="message …">` holds.

    Attributes:
        own: the message's id, or None.
        service: true for what Telegram says: joins, pins, days.
        joined: true where the author (and whom it was forwarded from) is that of the entry before.
        title: the time, as the tooltip writes it.
        regions: the texts by what they are: name, text, question, answer, said (of a place, game or invoice),
            signature, forwarded, file, service.
        reply_to: the id of the message that is answered, or None.
        forwarded: true for a forwarded message.
        media: its class, e.g. `media_voice_message`, or None.
    """

    own: str | None
    service: bool
    joined: bool
    title: str | None = None
    regions: dict[str, list[str]] = field(default_factory=dict)
    reply_to: str | None = None
    forwarded: bool = False
    media: str | None = None

    def said(self, region: str) -> list[str]:
        """The texts of a region, those that are empty left out."""
        return [text for text in (one.strip() for one in self.regions.get(region, ())) if text]


@dataclass(slots=True)
class _Open:
    tag: str
    region: str
    pieces: list[str] | None  # of the text, where a region begins here
    href: str | None = None
    start: int = 0  # of a link: how many pieces were there before it


class Page:
    """Reads a page as it is fed; `entries` holds the messages that are complete, for the caller to take.

    The exporter escapes `<`, `>` and `"` wherever they are no markup, so that after any damage the next `<`
    is a tag again; html.parser would look for the end of a quote or a comment that is none.

    Attributes:
        chat: the title of the chat in the header of the page, or None.
        entries: complete messages.
        listed: whether it lists something else than messages.
        ended: whether the end of the document was seen.
    """

    def __init__(self) -> None:
        self.chat: str | None = None
        self.entries: list[Entry] = []
        self.listed = self.ended = False
        self._rest = ""
        self._open: list[_Open] = []
        self._entry: Entry | None = None
        self._header = False

    @property
    def cut(self) -> bool:
        """Whether a message is open."""
        return self._entry is not None

    def feed(self, data: str) -> None:
        """Take the next part of the page."""
        data, at = self._rest + data, 0
        for match in _TAG.finditer(data):
            self._text(data[at : match.start()])
            at = match.end()
            if match[1]:
                self._end(match[2].lower())
            else:
                self._start(match[2].lower(), _attributes(match[3]))
        cut = data.rfind("<", max(at, len(data) - _LONGEST_TAG))
        if cut < 0:  # a reference to a character may be cut
            cut = max(data.rfind("&", max(at, len(data) - _LONGEST_REFERENCE)), 0) or len(data)
        self._text(data[at : max(cut, at)])
        self._rest = data[max(cut, at) :]

    def _start(self, tag: str, given: dict[str, str]) -> None:
        classes = given.get("class", "").split()
        if tag == "div" and "message" in classes:
            self._begin(given.get("id", ""), classes)
        elif "page_header" in classes:
            self._header = True
        elif not _LISTS.isdisjoint(classes):
            self.listed = True
        elif tag == "br":
            self._text(_BREAK)
        if tag not in _VOID and len(self._open) < _MAX_DEPTH:
            self._enter(tag, classes, given)

    def _begin(self, own: str, classes: list[str]) -> None:
        self._finish()
        number = own.removeprefix("message")
        known = number if number.removeprefix("-").isdecimal() else None
        self._entry = Entry(known, service="service" in classes, joined="joined" in classes)
        self._open.clear()

    def _enter(self, tag: str, classes: list[str], given: dict[str, str]) -> None:
        entry, region = self._entry, self._region()
        pieces: list[str] | None = None
        if entry is not None:
            if "date" in classes and "pull_right" in classes:
                entry.title = given.get("title")
            if "forwarded" in classes and "body" in classes:
                entry.forwarded = True
            entry.media = entry.media or _medium(classes)
            if region == "reply" and (match := _GO_TO.search(given.get("href", ""))):
                entry.reply_to = match[1]
        inner = next((_REGIONS[one] for one in classes if one in _REGIONS), None)
        if entry is not None and entry.service:
            inner = "service" if "body" in classes else None
        if inner is not None and inner != region:
            region = inner
            pieces = []
        start = len(self._pieces() or ()) if tag == "a" else 0
        self._open.append(_Open(tag, region, pieces, given.get("href") if tag == "a" else None, start))

    def _end(self, tag: str) -> None:
        """Close an element, and those inside it that were left open."""
        if tag in ("body", "html"):
            self.ended = True
        at = next((at for at in range(len(self._open) - 1, -1, -1) if self._open[at].tag == tag), None)
        if at is None:
            return
        for one in reversed(self._open[at:]):
            self._leave(one)
        del self._open[at:]
        if not self._open:
            self._finish()

    def _leave(self, one: _Open) -> None:
        pieces = self._pieces()
        if one.href and one.region == "text" and pieces is not None and "://" in one.href:
            shown = "".join(pieces[one.start :])
            if shown and one.href not in shown and not shown.startswith("@"):
                pieces.append(f" ({one.href})")
        if one.pieces is not None:
            self._take(one.region, _joined(one.pieces))

    def _take(self, region: str, text: str) -> None:
        if not text:
            return
        entry = self._entry
        if entry is None:
            if self._header and region == "text" and self.chat is None:
                self.chat = " ".join(text.split()) or None
            return
        if region in ("title", "description"):
            if entry.media == "media_file" and region == "title":
                region = "file"
            elif entry.media in _SAYING:
                region = "said"
            else:
                return
        if region == "name" and entry.forwarded:
            region = "forwarded"
        entry.regions.setdefault(region, []).append(text)

    def _text(self, data: str) -> None:
        pieces = self._pieces() if data else None
        if pieces is not None:
            pieces.append(unescape(data))

    def _region(self) -> str:
        return self._open[-1].region if self._open else ""

    def _pieces(self) -> list[str] | None:
        """Where text goes; None where it is dropped."""
        for one in reversed(self._open):
            if one.pieces is not None:
                return one.pieces if one.region else None
        return None

    def _finish(self) -> None:
        if self._entry is not None:
            self.entries.append(self._entry)
            self._entry = None


def _medium(classes: list[str]) -> str | None:
    return next((one for one in classes if one.startswith("media_") and one != "media_wrap"), None)


def _attributes(given: str) -> dict[str, str]:
    parts = given.split('"')
    pairs = zip(parts[::2], parts[1::2], strict=False)
    return {name.strip(" \t\r\n=").lower(): unescape(value) for name, value in pairs}


def _joined(pieces: list[str]) -> str:
    """Text of an element; a line's end in the markup is no more than a space."""
    lines = "".join(pieces).split(_BREAK)
    return "\n".join(
        " ".join(part for part in (part.strip(_BLANK) for part in line.split("\n")) if part)
        if "\n" in line.strip("\n")
        else line.strip("\n")
        for line in lines
    )

"""A page of messages in VK's archive, taken apart as it streams in, everything as the page writes it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from html.parser import HTMLParser

# A message has at most 4,096 characters; a page that goes on past this in one is broken.
MAX_TEXT = 1_000_000
_MAX_DEPTH = 64
# Markup that does not end within this many characters is no markup.
_MAX_MARKUP = 1 << 16
_REGIONS = {
    "message__header": "header",
    "kludges": "kludges",
    "attachment": "attachment",
    "attachment__description": "description",
}


@dataclass(slots=True)
class Attachment:
    """What hangs on a message: the kind in words (`Фотография`), and its link."""

    kind: str = ""
    link: str = ""


@dataclass(slots=True)
class RawMessage:
    """One message as the page has it.

    Attributes:
        id: its `data-id`.
        header: author and time in words.
        profile: address of the author's page, empty for the owner of the archive.
        edited: when it was edited, in words.
        body: its text, lines ended by newlines.
        notice: what VK itself says in it (who came, who left).
        attachments: what hangs on it.
        long: True when its text was cut at MAX_TEXT.
    """

    id: str
    header: str = ""
    profile: str = ""
    edited: str = ""
    body: str = ""
    notice: str = ""
    attachments: list[Attachment] = field(default_factory=list)
    long: bool = False


class Page:
    """Feeds on the text of a page and gives its messages as they end.

    Attributes:
        title: the chat's name, from the page's crumbs.
        ended: whether the end of the page was seen.
    """

    def __init__(self) -> None:
        self._parser = _Parser()

    @property
    def title(self) -> str | None:
        """The chat's name, or None while no crumb was read."""
        return self._parser.title or None

    @property
    def ended(self) -> bool:
        """Whether the end of the page was seen."""
        return self._parser.ended

    def feed(self, text: str) -> Iterator[RawMessage]:
        """Take the next piece; the messages that end in it, in the order of the page."""
        parser = self._parser
        try:
            parser.feed(text)
        except AssertionError:  # the library's answer to markup that it does not know
            parser.forget()
        if len(parser.rawdata) > _MAX_MARKUP:
            parser.forget()
        yield from parser.taken()

    def close(self) -> Iterator[RawMessage]:
        """The page is over: the message that it breaks off in."""
        try:
            self._parser.close()
        except AssertionError:
            self._parser.forget()
        self._parser.finish()
        yield from self._parser.taken()


class _Parser(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.title = ""
        self.ended = False
        self._message: RawMessage | None = None
        self._done: list[RawMessage] = []
        self._size = 0
        # Of each element that is open inside the message: what its text is.
        self._open: list[str] = []
        self._in_crumb = self._in_talk = False
        self._in_edit = False
        self._id = ""

    def taken(self) -> list[RawMessage]:
        done, self._done = self._done, []
        return done

    def forget(self) -> None:
        """Give up what is not understood and go on behind it."""
        self.reset()

    def finish(self) -> None:
        if self._message is not None:
            self._done.append(self._message)
        self._message, self._open, self._in_edit = None, [], False

    def parse_html_declaration(self, i: int) -> int:
        """A declaration up to its `>`, whatever it declares: the library would raise at an unknown one."""
        end = self.rawdata.find(">", i)
        return end + 1 if end >= 0 else -1

    def parse_comment(self, i: int, report: bool = True) -> int:
        """Likewise a comment: VK writes none, and one that a damaged byte begins must not take the rest."""
        return self.parse_html_declaration(i)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = dict(attrs)
        classes = (values.get("class") or "").split()
        if "message" in classes:
            self._begin((values.get("data-id") or "").strip())
        elif self._message is None:
            self._outside(classes, values)
        elif tag == "div":
            self._enter(next((_REGIONS[name] for name in classes if name in _REGIONS), ""))
        else:
            self._inline(self._message, tag, classes, values)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag == "br":
            self.handle_starttag(tag, attrs)

    def handle_endtag(self, tag: str) -> None:
        if tag == "html":
            self.ended = True
        elif self._message is None:
            self._in_crumb = self._in_crumb and tag not in ("div", "a")
        elif tag == "div":
            self._in_edit = False
            if self._open:
                self._open.pop()
            else:
                self.finish()
        elif tag == "span":
            self._in_edit = False

    def handle_data(self, data: str) -> None:
        if self._message is None:
            if self._in_crumb and len(self.title) < 1000:
                self.title += data
            return
        # A line break of the source is a space; the message's own are written as <br>.
        self._add(self._message, data.replace("\r", "").replace("\n", " "))

    def _begin(self, own: str) -> None:
        self.finish()
        self._message = RawMessage(own[:100])
        self._size, self._id, self._in_crumb, self._in_talk = 0, "", False, True

    def _outside(self, classes: list[str], values: dict[str, str | None]) -> None:
        if "message__header" in classes:  # the tag of its message is damaged
            self._begin(self._id)
            self._enter("header")
        elif "ui_crumb" in classes and not self._in_talk:
            self._in_crumb, self.title = True, ""
        self._id = (values.get("data-id") or "").strip() or self._id

    def _enter(self, region: str) -> None:
        self._in_edit = False
        if self._open[-1:] == ["header"]:
            self._open.pop()  # nothing stands in a header: its end is damaged
        if len(self._open) >= _MAX_DEPTH:
            self.finish()
            return
        inside = self._open[-1] if self._open else ""
        if region == "attachment" and self._message is not None:
            self._message.attachments.append(Attachment())
        self._open.append(region or inside or "body")

    def _inline(
        self, message: RawMessage, tag: str, classes: list[str], values: dict[str, str | None]
    ) -> None:
        where = self._open[-1] if self._open else ""
        if tag == "br":
            self._add(message, "\n")
        elif tag == "a" and where == "header":
            message.profile = (values.get("href") or "")[:300]
        elif tag == "a" and where == "attachment" and message.attachments:
            message.attachments[-1].link = (values.get("href") or "")[:2000]
        elif tag == "span" and "message-edited" in classes:
            message.edited = (values.get("title") or "")[:100]
            self._in_edit = True

    def _add(self, message: RawMessage, text: str) -> None:
        # Text beside all regions is a body whose own tag is damaged; in a sound page it is white space.
        where = self._open[-1] if self._open else "body"
        if self._in_edit:
            return
        self._size += len(text)
        if self._size > MAX_TEXT:
            message.long = True
        elif where == "header":
            message.header += text
        elif where == "body":
            message.body += text
        elif where == "kludges":
            message.notice += text
        elif where == "description" and message.attachments:
            message.attachments[-1].kind += text

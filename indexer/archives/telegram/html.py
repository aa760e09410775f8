"""Telegram Desktop's HTML export: `messages.html`, `messages2.html`, … of one chat.

A page names the chat by its title alone, which is therefore its id: all pages of a chat are one talk, also
those of a later export, but chats of one title are one as well, and the same chat exported as JSON, which
tells the id, is another. Message ids agree with those of the JSON.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import datetime, timedelta, timezone, tzinfo

from indexer.archives.files import ArchiveFile, ReadOptions
from indexer.archives.identity import Identities
from indexer.archives.json_items import ENDS_EARLY
from indexer.archives.lines import Block, blocks
from indexer.archives.telegram.chat import DELETED_ACCOUNT
from indexer.archives.telegram.page import Entry, Page
from indexer.archives.times import parse_time
from indexer.archives.wording import label, says_something, tidy
from schemas.records import Dropped, Message, Record, Skipped

_DELETED = frozenset({"Deleted Account", "Deleted"})
_TIME = re.compile(
    r"([0-9]{2})\.([0-9]{2})\.([0-9]{4}) ([0-9]{2}):([0-9]{2}):([0-9]{2})"
    r"(?: UTC(?:([+-])([0-9]{2}):?([0-9]{2}))?)?"
)
_VIA = " via @"
_STEP = 64 * 1024


# Two of them tell a page, so that no damaged one hides it.
_MARKS = (b'"page_wrap"', b'"page_header"', b'"page_body', b'"history"', b'"message default clearfix')


def is_page(head: bytes) -> bool:
    """True when the head is of a page of Telegram Desktop's export: messages, or a list of something else.

    Args:
        head: the beginning of the file, as UTF-8.
    """
    return b"<" in head.lstrip()[:1] and sum(mark in head for mark in _MARKS) >= 2


def read_page(file: ArchiveFile, options: ReadOptions) -> Iterator[Record]:
    """Yield the messages of a page in its order."""
    chat = _Chat(file, options.zone)
    for block in blocks(file):
        if isinstance(block, Block):
            for start in range(0, len(block.text), _STEP):
                yield from chat.records(block.text[start : start + _STEP])
        else:
            yield block
    yield from chat.end()


class _Chat:
    """Turns the entries of a page into messages; each may lean on the one before."""

    def __init__(self, file: ArchiveFile, zone: tzinfo) -> None:
        self._file, self._zone = file, zone
        self._page = Page()
        self._identities = Identities()
        self._read = 0
        self._author: str | None = None
        self._forwarded: str | None = None

    def records(self, text: str) -> Iterator[Record]:
        """Those of the messages that are complete with this part of the page."""
        self._page.feed(text)
        found, self._page.entries = self._page.entries, []
        for entry in found:
            self._read += 1
            yield self._record(entry)

    def end(self) -> Iterator[Record]:
        """What is to be said of the page as a whole."""
        if not self._read and self._page.listed:
            yield Dropped("support_file", 0)  # contacts, sessions, the table of contents
            return
        if not self._read:
            yield Skipped(self._file.name, "a page without messages", "export the chat again")
        hint = "what could be read was kept; export the chat again"
        if self._page.cut or not self._page.ended:
            yield Skipped(self._file.name, ENDS_EARLY, hint)

    def _record(self, entry: Entry) -> Record:
        if entry.service or entry.media == "media_call":
            self._author = None
            return Dropped("service", sum(map(len, entry.said("service"))))
        name, _, via = (label(" ".join(entry.said("name"))) or "").partition(_VIA)
        if name or not entry.joined:
            self._author = DELETED_ACCOUNT if name in _DELETED else name or None
        source = label(" ".join(entry.said("forwarded")))
        if source or not entry.joined:
            self._forwarded = DELETED_ACCOUNT if source in _DELETED else source
        answers = [f"— {text.removeprefix('- ')}" for text in entry.said("answer")]
        text = tidy("\n".join([*entry.said("question"), *answers, *entry.said("said"), *entry.said("text")]))
        if not says_something(text):
            return Dropped("empty", len(text))
        return self._message(entry, text, f"@{via}" if via else None)

    def _message(self, entry: Entry, text: str, via: str | None) -> Message:
        title = DELETED_ACCOUNT if self._page.chat in _DELETED else self._page.chat
        chat, at = f"html/{title or self._file.stem}", _time(entry.title, self._zone)
        extras = {
            "forwarded_from": self._forwarded if entry.forwarded else None,
            "via_bot": via,
            "signature": label(" ".join(entry.said("signature"))),
            "file_name": label(" ".join(entry.said("file"))),
        }
        return Message(
            chat_id=chat,
            id=entry.own or self._identities.derive(chat, self._author, at, text),
            source="telegram",
            role="user",
            text=text,
            place=f"{self._file.name}#{entry.own or self._read}",
            at=at,
            chat_title=title,
            author=self._author,
            reply_to=entry.reply_to,
            meta={key: value for key, value in extras.items() if value},
        )


def _time(title: str | None, zone: tzinfo) -> int | None:
    """The time of a tooltip, `18.03.2026 10:02:00 UTC+03:00`; older exports wrote no offset.

    The time is the exporter's local one, and the offset its zone's *standard* one, in summer too: where the
    given zone has that offset, the zone knows better. Elsewhere a summer's time is an hour late.
    """
    match = _TIME.fullmatch(title.strip()) if title else None
    if match is None:
        return None
    day, month, year, hour, minute, second = map(int, match.groups()[:6])
    try:
        local = datetime(year, month, day, hour, minute, second)
        if "UTC" in match[0]:
            offset = timedelta(hours=int(match[8] or 0), minutes=int(match[9] or 0))
            offset = -offset if match[7] == "-" else offset
            if offset not in (_standard(zone, local), _standard(zone, datetime(2025, 1, 1))):
                zone = timezone(offset)
    except ValueError:
        return None
    return parse_time(local.isoformat(), zone)


def _standard(zone: tzinfo, local: datetime) -> timedelta | None:
    moment = local.replace(tzinfo=zone)
    offset = moment.utcoffset()
    return offset - (moment.dst() or timedelta()) if offset is not None else None

"""What stands beside the text of a Slack message: attachments of bots, shared messages, previews, files."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from indexer.archives.identity import source_id
from indexer.archives.slack.directory import Directory, name_of
from indexer.archives.slack.text import Markup
from indexer.archives.wording import label, says_something
from schemas.records import Dropped

_WORD = re.compile(r"[^\W_]+")
_SUFFIX = re.compile(r"\.[A-Za-z0-9]{1,5}$")
_NO_PREVIEW = re.compile(r"\[no preview available\]|This content can't be displayed\.?", re.IGNORECASE)
# Words of file names that programs give: a title of nothing else is worth nothing to a search.
_PLAIN_NAMES = frozenset(
    {"image", "img", "photo", "picture", "pic", "screenshot", "screen", "shot", "recording", "capture"}
    | {"video", "vid", "audio", "voice", "message", "clip", "file", "document", "doc", "untitled", "scan"}
    | {"dsc", "dscn", "pxl", "mov", "whatsapp", "pasted", "upload", "copy", "slack", "ios", "at", "am", "pm"}
    | {
        "снимок",
        "экрана",
        "скриншот",
        "изображение",
        "картинка",
        "фото",
        "видео",
        "аудио",
        "файл",
        "документ",
    }
    | {"без", "названия", "имени", "от", "из", "копия", "запись"}
)
_MOST = 100
# Bounds of what a hostile message can cost: parts of one message, and words that repetitions are sought in.
_MOST_PARTS = 500
_MOST_WORDS = 100_000


@dataclass(slots=True)
class Said:
    """What a message says, part by part; what repeats an earlier part is not said again.

    Attributes:
        parts: in the order in which they are read.
        drops: what was left out.
        meta: small extras.
    """

    parts: list[str] = field(default_factory=list)
    drops: list[Dropped] = field(default_factory=list)
    meta: dict[str, str] = field(default_factory=dict)
    _words: str = " "

    @property
    def text(self) -> str:
        """All of it, a line each."""
        return "\n".join(self.parts)

    def add(self, part: str, first: bool = False) -> None:
        """Say one part more, unless it says nothing or what was said already."""
        if not says_something(part) or len(self.parts) >= _MOST_PARTS:
            return
        words = f" {' '.join(_WORD.findall(part.casefold()))} " if len(part) < _MOST_WORDS else None
        if words is None or words not in self._words:
            self.parts.insert(0 if first else len(self.parts), part)
            if words is not None and len(self._words) + len(words) < _MOST_WORDS:
                self._words += words

    def is_mostly_new(self, part: str) -> bool:
        """Whether more than half of its words were not said yet."""
        words = set(_WORD.findall(part[:_MOST_WORDS].casefold()))
        return 2 * len(words - set(self._words.split())) > len(words)


def add_attachments(said: Said, attachments: object, markup: Markup, directory: Directory) -> None:
    """Add what bots say in attachments; a copy of another message or of a web page only if all is in it.

    A page that Slack previews was written by nobody here. A message that is shared stands in its own channel
    too: with words of the sharer's own it is left out where the export holds that channel, else it is quoted.
    """
    for one in attachments[:_MOST] if isinstance(attachments, list) else ():
        if not isinstance(one, dict):
            continue
        own = bool(said.parts)
        found = "\n".join(part for part in _parts(one, markup) if part) or markup.plain(one.get("fallback"))
        if _is_shared(one):
            if own and source_id(one.get("channel_id")) in directory.channels:
                said.drops.append(Dropped("quote", len(found)))
            elif says_something(found):
                author = name_of(one, "author_name") or name_of(one, "author_subname")
                if author is not None:
                    said.meta["forwarded_from"] = author
                said.add(found if not own else "> " + found.replace("\n", "\n> "))
        elif own and any(one.get(key) for key in ("from_url", "original_url", "app_unfurl_url")):
            said.drops.append(Dropped("link_preview", len(found)))
        else:
            _add(said, one, markup)


def add_files(said: Said, files: object) -> None:
    """Add the titles of files, a line each, where a person or a program gave a telling one."""
    for file in files[:_MOST] if isinstance(files, list) else ():
        if isinstance(file, dict) and file.get("mode") not in ("tombstone", "hidden_by_limit"):
            title = label(file.get("title")) or label(file.get("name"))
            if title is not None and _is_telling(title):
                said.add(title)


def _add(said: Said, attachment: dict[str, Any], markup: Markup) -> None:
    for part in _parts(attachment, markup):
        said.add(part)
    # A summary for clients that show no attachments: often all of it again, sometimes the one heading.
    fallback = markup.plain(attachment.get("fallback"))
    if not _NO_PREVIEW.fullmatch(fallback) and said.is_mostly_new(fallback):
        said.add(fallback, first=True)


def _parts(attachment: dict[str, Any], markup: Markup) -> Iterator[str]:
    for key in ("pretext", "title", "text"):
        yield markup.plain(attachment.get(key))
    fields = attachment.get("fields")
    for one in fields[:_MOST] if isinstance(fields, list) else ():
        if isinstance(one, dict):
            pair = (markup.plain(one.get("title")), markup.plain(one.get("value")))
            yield ": ".join(part for part in pair if part)
    for _, text in markup.blocks(attachment.get("blocks")):
        yield text


def _is_shared(attachment: dict[str, Any]) -> bool:
    return any(attachment.get(key) is True for key in ("is_share", "is_msg_unfurl", "is_reply_unfurl")) or (
        isinstance(attachment.get("ts"), str) and isinstance(attachment.get("channel_id"), str)
    )


def _is_telling(title: str) -> bool:
    words = _WORD.findall(_SUFFIX.sub("", title).casefold())
    return any(
        len(word) > 1 and word not in _PLAIN_NAMES and not any(letter.isdigit() for letter in word)
        for word in words
    )

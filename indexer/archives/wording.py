"""The text of a message as it is kept: as written, only made storable."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import UTC

from indexer.archives.files import ReadOptions
from indexer.archives.identity import derived_id
from schemas.records import Dropped, Message, Role

_SURROGATES = re.compile("[\ud800-\udfff]")
_WORD = re.compile(r"[^\W_]")

# Blocks of a message that are no talk, by the names that agents give them.
_BLOCK_KINDS = {
    "thinking": "thinking",
    "redacted_thinking": "thinking",
    "reasoning": "thinking",
    "toolCall": "tool_call",
    "tool_call": "tool_call",
    "tool_use": "tool_call",
    "toolResult": "tool_result",
    "tool_result": "tool_result",
}


def tidy(text: str) -> str:
    r"""Storable text: lone surrogates become U+FFFD, NUL goes, line ends are `\n`, outer space is trimmed."""
    if "\x00" in text:
        text = text.replace("\x00", "")
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    if not text.isascii():
        try:
            text.encode()  # four times as fast as to search each text for what nearly none holds
        except UnicodeEncodeError:
            text = _SURROGATES.sub("\ufffd", text)
    return text.strip()


def says_something(text: str) -> bool:
    """True when there is a letter or a digit: punctuation, emoji and invisible characters say nothing."""
    return _WORD.search(text) is not None


# A name stands before each message of its author, a title before each chunk: one of 2 MB, broken, must not.
MAX_LABEL = 512


def label(value: object) -> str | None:
    """A name or title on one line, cut at MAX_LABEL characters, or None."""
    if not isinstance(value, str):
        return None
    text = " ".join(tidy(value[: 8 * MAX_LABEL]).split())
    return (text if len(text) <= MAX_LABEL else f"{text[: MAX_LABEL - 1]}…") or None


@dataclass(frozen=True, slots=True)
class Content:
    """What a message's content says.

    Attributes:
        text: the text blocks joined by newlines; an object as JSON.
        asides: (role, text) of the tool results and the thinking inside it that the owner asked to keep.
        drops: what was left out, by kind.
    """

    text: str
    asides: tuple[tuple[Role, str], ...] = ()
    drops: tuple[Dropped, ...] = ()


def read_content(content: object, options: ReadOptions) -> Content:
    """The text of a message's content, whatever its shape, and what stands beside the text.

    Args:
        content: text, a list of blocks, an object, a number or nothing.
        options: whether thinking and tool results are kept.

    Raises:
        TypeError: the content is of a type that holds no text (a bool).
    """
    if content is None:
        return Content("")
    if isinstance(content, str):
        return Content(tidy(content))
    if isinstance(content, bool):
        raise TypeError("content is a bool")
    if not isinstance(content, list):
        return Content(tidy(json.dumps(content, ensure_ascii=False, default=str)))
    kept: dict[str, Role] = {}
    if options.thinking:
        kept["thinking"] = "thinking"
    if options.tool_results:
        kept["tool_result"] = "tool"
    texts: list[str] = []
    asides: list[tuple[Role, str]] = []
    drops: list[Dropped] = []
    for block in content:
        if isinstance(block, str):
            texts.append(block)
        elif isinstance(block, dict):
            kind = block.get("type")
            if (kind is None or kind == "text") and isinstance(block.get("text"), str):
                texts.append(block["text"])
            elif isinstance(kind, str) and kind in _BLOCK_KINDS:
                what = _BLOCK_KINDS[kind]
                text = tidy(_block_text(block))
                if what in kept and says_something(text):
                    asides.append((kept[what], text))
                else:
                    drops.append(Dropped(what, len(text)))
            elif kind == "text" or not isinstance(kind, str):
                drops.append(Dropped("broken_block", 0))
            elif isinstance(words := block.get("text"), str):
                drops.append(Dropped("unknown_block", len(words)))
        else:
            drops.append(Dropped("broken_block", 0))
    return Content(tidy("\n".join(texts)), tuple(asides), tuple(drops))


def content_text(content: object) -> str:
    """The text alone of a message's content.

    Raises:
        TypeError: the content is of a type that holds no text (a bool).
    """
    return read_content(content, _TEXT_ALONE).text


_TEXT_ALONE = ReadOptions(zone=UTC)


def asides_of(message: Message, asides: tuple[tuple[Role, str], ...]) -> Iterator[Message]:
    """Messages of their own for what was kept beside a message's text.

    Args:
        message: the one they stand beside; an empty id where the source gives none.
        asides: (role, text) each.

    Yields:
        Messages with the ids `<id>/<role><n>`, n from 1, or with derived ones.
    """
    for n, (role, text) in enumerate(asides, 1):
        own = f"{message.id}/{role}{n}" if message.id else derived_id(message.chat_id, role, message.at, text)
        origin = f"{message.origin}/{role}{n}" if message.origin else None
        yield replace(message, id=own, role=role, text=text, origin=origin)


def _block_text(block: dict[str, object]) -> str:
    for key in ("thinking", "text", "content", "arguments", "input", "summary"):
        value = block.get(key)
        if not value:
            continue
        if isinstance(value, str):
            return value
        if isinstance(value, list) and all(isinstance(one, str | dict) for one in value):
            texts = [
                one if isinstance(one, str) else text
                for one in value
                if isinstance(one, str) or isinstance(text := one.get("text"), str)
            ]
            if texts:
                return "\n".join(texts)
        return json.dumps(value, ensure_ascii=False, default=str)
    return ""

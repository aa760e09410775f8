"""The text of a message as it is kept: as written, only made storable."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

from schemas.records import Dropped

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
    return _SURROGATES.sub("\ufffd", text).strip()


def says_something(text: str) -> bool:
    """True when there is a letter or a digit: punctuation, emoji and invisible characters say nothing."""
    return _WORD.search(text) is not None


def label(value: object) -> str | None:
    """A name or title on one line, or None."""
    if not isinstance(value, str):
        return None
    return " ".join(tidy(value).split()) or None


def content_text(content: object) -> tuple[str, list[Dropped]]:
    """The text of a message's content, whatever its shape.

    Args:
        content: text, a list of blocks, an object, a number or nothing.

    Returns:
        The text (the text blocks joined by newlines; an object as JSON), and what was left out by kind.

    Raises:
        TypeError: the content is of a type that holds no text (a bool).
    """
    if content is None:
        return "", []
    if isinstance(content, str):
        return tidy(content), []
    if isinstance(content, bool):
        raise TypeError("content is a bool")
    if isinstance(content, list):
        texts: list[str] = []
        drops: list[Dropped] = []
        for block in content:
            if isinstance(block, str):
                texts.append(block)
            elif isinstance(block, dict):
                kind = block.get("type")
                if kind is None or kind == "text":
                    texts.extend(_strings(block.get("text")))
                elif isinstance(kind, str) and kind in _BLOCK_KINDS:
                    drops.append(Dropped(_BLOCK_KINDS[kind], _size(block)))
        return tidy("\n".join(texts)), drops
    return tidy(json.dumps(content, ensure_ascii=False, default=str)), []


def _strings(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value


def _size(block: dict[str, object]) -> int:
    for key in ("thinking", "text", "content", "arguments", "input"):
        value = block.get(key)
        if value:
            return len(
                value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
            )
    return 0

"""The text of Telegram's rich messages: blocks of headings, paragraphs, lists, tables and quotes."""

from __future__ import annotations

from collections.abc import Iterator

# Keys of a block that hold more blocks or rows, in the order in which they are read.
_DEEPER = ("block", "blocks", "items", "rows")
_TEXTS = ("title", "text", "formula")
_AFTER = ("caption", "credit")


def rich_text(message: object) -> str:
    """What a `rich_message` says, a block a line; empty for anything else."""
    return "\n".join(line for line in _lines(message) if line.strip())


def _lines(block: object) -> Iterator[str]:
    if isinstance(block, list):
        for one in block:
            yield from _lines(one)
    elif isinstance(block, dict):
        if isinstance(block.get("cells"), list):
            yield " | ".join(" ".join(filter(None, _lines(cell))) for cell in block["cells"])
            return
        for key in _TEXTS:
            if (text := _inline(block.get(key))).strip():
                yield f"— {text}" if "task_state" in block else text
        for key in _DEEPER:
            yield from _lines(block.get(key))
        for key in _AFTER:
            value = block.get(key)
            if isinstance(value, dict) and "type" not in value:
                yield from _lines(value)
            else:
                yield _inline(value)


def _inline(text: object) -> str:
    """Running text: a string, or nested objects whose `text` is the next."""
    if isinstance(text, str):
        return text
    if isinstance(text, list):
        return "".join(_inline(one) for one in text)
    if not isinstance(text, dict):
        return ""
    if text.get("type") == "math":
        return _inline(text.get("source"))
    said, href = _inline(text.get("text")), text.get("href")
    if isinstance(href, str) and href and said and href not in said:
        return f"{said} ({href})"
    return said

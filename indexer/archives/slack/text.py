"""Slack's markup made readable: mrkdwn with its escapes, and the text elements of blocks."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from indexer.archives.slack.directory import Directory, unescaped
from indexer.archives.wording import tidy

# Slack escapes what its users type, so that every `<…>` of a text is markup.
_MARKUP = re.compile(r"<([^<>]{1,4000})>")
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]{1,30}:")
_WEB = re.compile(r"[A-Za-z]{3,6}://")
# Slack takes 40,000 characters; what is longer than this is no message, and is not rewritten.
MAX_MARKUP = 1_000_000
# Blocks hold blocks; none that Slack writes is nested deeper.
_DEPTH = 8


class Markup:
    """Turns Slack's markup into the text that its readers saw.

    Args:
        directory: the names behind ids.
    """

    def __init__(self, directory: Directory) -> None:
        self._directory = directory

    def plain(self, text: object) -> str:
        """A mrkdwn text with names for ids, `label (url)` for links and its escapes undone, once and last."""
        if not isinstance(text, str):
            return ""
        if len(text) > MAX_MARKUP:
            return tidy(text)
        readable = _MARKUP.sub(self._readable, text) if "<" in text else text
        return tidy(unescaped(readable))

    def _readable(self, match: re.Match[str]) -> str:
        body, _, said = match[1].partition("|")
        said, own = said.strip(), body[1:].strip()
        if body.startswith("@"):
            return f"@{self._directory.users.get(own) or said.lstrip('@') or own}"
        if body.startswith("#"):
            return f"#{said.lstrip('#') or self._channel(own)}"
        if body.startswith("!"):
            return _command(own, said)
        return _link(body, said) if _SCHEME.match(body) else match[0]

    def _channel(self, own: str) -> str:
        known = self._directory.channels.get(own)
        return (known.title if known is not None else None) or own

    def blocks(self, blocks: object) -> Iterator[tuple[bool, str]]:
        """The text of each block, and whether it repeats the message's text (what a person typed does)."""
        for block in blocks[:200] if isinstance(blocks, list) else ():
            if not isinstance(block, dict):
                continue
            kind = block.get("type")
            if kind == "rich_text":
                yield True, tidy("\n".join(self._rich(block, _DEPTH)))
            elif kind in ("section", "header", "context", "markdown"):
                yield False, tidy("\n".join(self._texts(block)))

    def _texts(self, block: dict[str, Any]) -> Iterator[str]:
        for value in (block.get("text"), block.get("fields"), block.get("elements")):
            for one in value if isinstance(value, list) else (value,):
                text = one.get("text") if isinstance(one, dict) else one
                if isinstance(text, str):
                    yield self.plain(text)

    def _rich(self, block: dict[str, Any], depth: int) -> Iterator[str]:
        """Lines of a rich text: its sections, the items of its lists, code and quotes."""
        elements = block.get("elements")
        if not isinstance(elements, list) or not depth:
            return
        inline: list[str] = []
        for element in elements:
            if not isinstance(element, dict):
                continue
            if str(element.get("type")).startswith("rich_text"):
                mark = "• " if block.get("type") == "rich_text_list" else ""
                yield from (f"{mark}{line}" for line in self._rich(element, depth - 1))
            else:
                inline.append(self._inline(element))
        if inline:
            yield "".join(inline)

    def _inline(self, element: dict[str, Any]) -> str:
        kind = element.get("type")
        text = element.get("text") if isinstance(element.get("text"), str) else ""
        own = {key: value for key, value in element.items() if isinstance(value, str)}
        if kind == "link":
            return _link(own.get("url", ""), text or "")
        if kind == "user":
            user = own.get("user_id", "")
            return f"@{self._directory.users.get(user, user)}"
        if kind == "channel":
            return f"#{self._channel(own.get('channel_id', ''))}"
        if kind == "broadcast":
            return f"@{own.get('range', '')}"
        if kind == "usergroup":
            return f"@{own.get('usergroup_id', '')}"
        if kind == "emoji":
            return f":{own.get('name', '')}:"
        return text or own.get("fallback", "")


def _command(own: str, said: str) -> str:
    """`!here`, `!subteam^S1`, `!date^…`: what was shown for it, else its own word."""
    name, _, rest = own.partition("^")
    if name == "date":
        return said
    if name == "subteam":
        return f"@{said.lstrip('@') or rest}"
    return said or f"@{name}"


def _link(target: str, said: str) -> str:
    target = target.removeprefix("mailto:").removeprefix("tel:")
    if not said or _bare(said) == _bare(target):
        return target
    return f"{said} ({target})" if target else said


def _bare(address: str) -> str:
    found = _WEB.match(address)
    return address[found.end() if found else 0 :].rstrip("/")

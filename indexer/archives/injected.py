"""What coding agents write into the turns of a person, and the folder that they work in."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache
from pathlib import PureWindowsPath

from indexer.archives.wording import label
from schemas.records import Dropped

# The folders that hold the homes of a machine: what stands right below is the name of a person.
_HOMES = frozenset({"home", "users"})


def project_of(folder: object) -> str | None:
    """The last component of a working folder, or None: no path, no home and no login name."""
    return _last_component(folder) if isinstance(folder, str) and len(folder) < 1000 else None


@lru_cache(maxsize=64)
def _last_component(folder: str) -> str | None:
    parts = PureWindowsPath(label(folder) or "").parts
    if len(parts) < 2 or parts[-2].strip("\\/").lower() in _HOMES or parts[-1] == "root":
        return None
    return parts[-1]


class Blocks:
    """Takes `<tag>…</tag>` blocks of known names out of a text, in linear time.

    A block is taken off where it begins a line or follows another one, since a person who quotes a tag in the
    middle of a sentence means the words; a tag without its end is left alone.

    Args:
        kinds: the kind to count a block under, by the name of its tag.
        inline: tags that are taken off wherever they stand, unless in backticks.
    """

    def __init__(self, kinds: Mapping[str, str], inline: frozenset[str] = frozenset()) -> None:
        self._kinds, self._inline = kinds, inline
        names = "|".join(re.escape(name) for name in kinds)
        self._open = re.compile(rf"<({names})(?: [^<>\n]{{0,200}})?>")

    def taken_off(self, text: str) -> tuple[str, list[Dropped]]:
        """The text without the blocks (outer space is left), and what they were."""
        if "<" not in text:
            return text, []
        kept: list[str] = []
        drops: list[Dropped] = []
        unclosed: set[str] = set()
        begin = at = 0
        while match := self._open.search(text, at):
            at = match.end()
            tag = match[1]
            if tag in unclosed or not self._counts(text, begin, match.start(), tag):
                continue
            end = text.find(f"</{tag}>", at)
            if end < 0:
                unclosed.add(tag)
                continue
            kept.append(text[begin : match.start()])
            begin = at = end + len(tag) + 3
            drops.append(Dropped(self._kinds[tag], begin - match.start()))
        return ("".join(kept) + text[begin:], drops) if drops else (text, [])

    def _counts(self, text: str, begin: int, start: int, tag: str) -> bool:
        # A few characters back are enough: looking for the line's beginning would be quadratic.
        before = text[max(begin, start - 8) : start]
        if tag in self._inline:
            return not before.endswith("`")
        before = before.rstrip(" \t")
        return before.endswith("\n") or (not before and start - begin <= 8)

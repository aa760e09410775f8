"""Which keys a JSON document has at its top, judged by its first bytes however they are cut."""

from __future__ import annotations

import io
import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache

from indexer.archives.lines import utf8

_BEGIN = re.compile(r"[^\[{]{0,8}[\[{]")
# Possessive: a string is never looked at twice, whatever it holds.
_TOKEN = re.compile(r'"((?:[^"\\]++|\\.)*+)("?)[ \t\r\n]*+(:?)|[\[\]{}]', re.DOTALL)


@dataclass(frozen=True, slots=True)
class Shape:
    """The top of a document.

    Attributes:
        is_list: it is a list; else an object.
        keys: of the object, or of the objects in the list, as far as the head shows.
    """

    is_list: bool
    keys: frozenset[str]


def may_have(head: bytes, keys: Iterable[str]) -> bool:
    """Whether one of the keys may be there: a look that costs nothing, where the shape takes milliseconds."""
    return b"\x00" in head[:4] or any(f'"{key}"'.encode() in head for key in keys)


@lru_cache(maxsize=4)
def shape_of(head: bytes) -> Shape | None:
    """The shape of the document that begins with these bytes, or None where no JSON container begins.

    A few characters before it are passed over: the first bytes of a file are damaged like any others.
    """
    text = b"".join(utf8(io.BytesIO(head))).decode("utf-8", "replace").lstrip()
    begin = _BEGIN.match(text)
    if begin is None:
        return None
    text = text[begin.end() - 1 :]
    is_list = text[0] == "["
    level, depth = 1 + is_list, 0
    keys: set[str] = set()
    for token in _TOKEN.finditer(text):
        sign = token.group()[0]
        if sign == '"':
            if depth == level and token[3]:
                keys.add(token[1])
        elif sign in "[{":
            depth += 1
        else:
            depth -= 1
            if not depth:
                break
    return Shape(is_list, frozenset(keys))

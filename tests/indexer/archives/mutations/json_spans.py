"""Where each value of a JSON text stands, so that one can be damaged and the rest left byte for byte."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

Path = tuple[str | int, ...]
_SPACE = re.compile(r"[ \t\r\n]*")
_SCALAR = json.JSONDecoder(strict=False).raw_decode


@dataclass(frozen=True, slots=True)
class Node:
    """A value and, where it stands under one, its key.

    Attributes:
        path: keys and indexes from the top.
        key: half-open span of the key with its quotes, or None for an element of a list.
        start: where the value begins.
        end: one past its last character.
    """

    path: Path
    key: tuple[int, int] | None
    start: int
    end: int


def spans(text: str, offset: int = 0) -> list[Node]:
    """Every value of the JSON text, the outer ones behind what they hold; offsets are counted from `offset`.

    Raises:
        ValueError: it is no JSON, or more than one value.
    """
    found: list[Node] = []
    end = _value(text, _space(text, 0), (), None, found)
    if _space(text, end) != len(text):
        raise ValueError("more than one value")
    return [
        Node(
            node.path,
            (node.key[0] + offset, node.key[1] + offset) if node.key else None,
            node.start + offset,
            node.end + offset,
        )
        for node in found
    ]


def _space(text: str, at: int) -> int:
    match = _SPACE.match(text, at)
    assert match is not None
    return match.end()


def _value(text: str, at: int, path: Path, key: tuple[int, int] | None, found: list[Node]) -> int:
    opened = text[at : at + 1]
    if opened in ("{", "["):
        end = _container(text, at + 1, opened == "[", path, found)
    else:
        _, end = _SCALAR(text, at)
    found.append(Node(path, key, at, end))
    return end


def _container(text: str, at: int, is_list: bool, path: Path, found: list[Node]) -> int:
    closing, index = "]" if is_list else "}", 0
    at = _space(text, at)
    while text[at : at + 1] != closing:
        key: tuple[int, int] | None = None
        part: str | int = index
        if not is_list:
            part, end = _SCALAR(text, at)
            key, at = (at, end), _space(text, end)
            if text[at : at + 1] != ":":
                raise ValueError("no colon")
            at = _space(text, at + 1)
        at = _space(text, _value(text, at, (*path, part), key, found))
        if text[at : at + 1] == ",":
            at = _space(text, at + 1)
        elif text[at : at + 1] != closing:
            raise ValueError("no comma")
        index += 1
    return at + 1


def strings(value: Any) -> Iterator[str]:
    """Every string in a decoded value, keys left out."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for one in value.values():
            yield from strings(one)
    elif isinstance(value, list):
        for one in value:
            yield from strings(one)

"""What can be wrong with a record, whatever file it was read from: nothing of it may reach the index."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import indexer.archives
from indexer.archives.times import LATEST
from schemas.records import ROLES, Dropped, Message, Skipped


def faults_of(record: object, source: str) -> Iterator[str]:
    """What is wrong with a record, whatever file it was read from."""
    if isinstance(record, Message):
        yield from _faults_of_message(record, source)
    elif isinstance(record, Skipped):
        if not _storable(record.place) or not record.place:
            yield f"a place that can't be stored: {record.place!r}"
        if not _storable(record.hint):
            yield f"a hint that can't be stored: {record.hint!r}"
        if len(record.hint) > 200:
            yield f"a hint of {len(record.hint)} characters: {record.hint[:80]!r}"
        if not _is_written(record.reason):
            yield f"a reason that is not written in the sources: {record.reason!r}"
    elif isinstance(record, Dropped):
        if not re.fullmatch(r"[a-z][a-z_]{1,40}", record.kind) or not _is_written(record.kind):
            yield f"a kind that is not written in the sources: {record.kind!r}"
        if type(record.characters) is not int or record.characters < 0:
            yield f"characters of the wrong type: {record.characters!r}"
        if type(record.count) is not int or record.count < 0:
            yield f"a count of the wrong type: {record.count!r}"
    else:
        yield f"no record but {type(record).__name__}"


_MAY_BE_NONE = ("chat_title", "author", "author_id", "session", "reply_to", "agent", "origin", "copied_from")


def _faults_of_message(message: Message, source: str) -> Iterator[str]:
    for name in ("chat_id", "id", "source", "role", "text", "place"):
        value = getattr(message, name)
        if not _storable(value) or not value:
            yield f"{name} is {value!r:.60}"
    for name in _MAY_BE_NONE:
        value = getattr(message, name)
        if value is not None and (not _storable(value) or not value):
            yield f"{name} is {value!r:.60}"
    for name in ("at", "edited"):
        value = getattr(message, name)
        if value is not None and (type(value) is not int or not 0 < value < LATEST):
            yield f"{name} is {value!r:.60}"
    if message.role not in ROLES:
        yield f"role is {message.role!r:.60}"
    if message.agent not in (None, "worker"):
        yield f"agent is {message.agent!r:.60}"
    if type(message.side_branch) is not bool:
        yield f"side_branch is {message.side_branch!r:.60}"
    if not all(_storable(value) for pair in message.meta.items() for value in pair):
        yield f"meta is {message.meta!r:.200}"
    if any(len(value) > 2000 for value in message.meta.values()):
        yield f"meta is long: {max(len(value) for value in message.meta.values())}"
    for name in ("chat_id", "id", "author", "author_id", "chat_title"):
        if len(getattr(message, name) or "") > 10_000:
            yield f"{name} is {len(getattr(message, name))} characters long"


def _storable(value: object) -> bool:
    if not isinstance(value, str) or "\x00" in value:
        return False
    try:
        value.encode()
    except UnicodeEncodeError:
        return False
    return True


@cache
def _written() -> tuple[frozenset[str], tuple[re.Pattern[str], ...]]:
    """The sentences that the readers' sources hold: whole ones, and those with a number of theirs in it."""
    plain: set[str] = set()
    patterns: set[str] = set()
    folder = Path(indexer.archives.__file__).parent
    for path in folder.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                plain.add(node.value)
            elif isinstance(node, ast.JoinedStr):
                parts = [
                    re.escape(str(part.value)) if isinstance(part, ast.Constant) else r"[\d,]+"
                    for part in node.values
                ]
                patterns.add("".join(parts))
    return frozenset(plain), tuple(re.compile(pattern) for pattern in patterns if " " in pattern)


@cache
def _is_written(text: str) -> bool:
    plain, patterns = _written()
    # Some kinds are the program's own words, written with hyphens there.
    return (
        text in plain
        or text.replace("_", "-") in plain
        or any(pattern.fullmatch(text) for pattern in patterns)
    )

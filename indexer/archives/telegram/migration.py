"""Groups that became supergroups: two chats of an export that are one talk."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC
from typing import Any

from indexer.archives.files import ArchiveFile
from indexer.archives.identity import source_id
from indexer.archives.json_items import Item, Layout, Opened, Value, walk
from indexer.archives.json_text import Text
from indexer.archives.telegram.chat import Supergroup
from indexer.archives.times import parse_time
from indexer.archives.wording import label

_TO, _FROM = b'"migrate_to_supergroup"', b'"migrate_from_group"'
_STEP = 1 << 20
# Both service messages are written by one act of one moment.
_SAME_MOMENT = 60_000


@dataclass(slots=True)
class _Half:
    """A chat with one of the two service messages."""

    id: str
    title: str | None  # that of the group when it became a supergroup
    name: str | None
    at: int | None


def migrations(file: ArchiveFile, layout: Layout) -> Mapping[str, Supergroup]:
    """By the id of an old group, the supergroup that it became, where the file holds both as chats.

    Telegram Desktop itself puts the history of the old group into the supergroup, unless it left the
    supergroup out when it put the list of chats together. A file without the two words is searched for them
    and not parsed.

    Raises:
        OSError: the file can't be read.
    """
    if not _holds_both(file):
        return {}
    groups, supergroups = _halves(file, layout)
    found: dict[str, Supergroup] = {}
    for one in supergroups:
        group = _earlier(one, groups)
        if group is not None:
            groups.remove(group)
            found[group.id] = Supergroup(one.id, one.name)
    return found


def _holds_both(file: ArchiveFile) -> bool:
    if b'"chats"' not in file.head and b'"personal_information"' not in file.head:
        return False  # one chat alone
    wanted, tail = {_TO, _FROM}, b""
    with file.open() as stream:
        while wanted and (data := stream.read(_STEP)):
            data = tail + data
            wanted = {word for word in wanted if word not in data}
            tail = data[-len(_TO) :]
    return not wanted


def _halves(file: ArchiveFile, layout: Layout) -> tuple[list[_Half], list[_Half]]:
    groups: list[_Half] = []
    supergroups: list[_Half] = []
    for fields, raw in _actions(file, layout):
        own, name = source_id(fields.get("id")), label(fields.get("name"))
        joined = str(raw.get("id")).startswith("-")
        if own is None or joined:
            continue
        at = parse_time(raw.get("date_unixtime") or raw.get("date"), UTC)
        if raw["action"] == "migrate_to_supergroup":
            groups.append(_Half(own, name, name, at))
        else:
            supergroups.append(_Half(own, label(raw.get("title")), name, at))
    return groups, supergroups


def _actions(file: ArchiveFile, layout: Layout) -> Iterator[tuple[dict[str, Any], dict[str, Any]]]:
    """(fields of the chat, raw message) of the two service messages."""
    fields: dict[str, Any] = {}
    with file.open() as stream:
        for found in walk(Text(stream), layout):
            if isinstance(found, Opened) and found.path.endswith(".item"):
                fields = {}
            elif isinstance(found, Value):
                fields[found.path.rpartition(".")[2]] = found.value
            elif isinstance(found, Item) and _is_migration(found.value):
                yield fields, found.value


def _is_migration(raw: object) -> bool:
    action = raw.get("action") if isinstance(raw, dict) else None
    return action == "migrate_to_supergroup" or action == "migrate_from_group"


def _earlier(one: _Half, groups: list[_Half]) -> _Half | None:
    """The group that became this supergroup: of the same title and moment, else of the same moment alone."""
    named = [group for group in groups if group.title == one.title and _apart(group, one) <= _SAME_MOMENT]
    found = named or [group for group in groups if 0 <= _apart(group, one) <= _SAME_MOMENT]
    return found[0] if len(found) == 1 else None


def _apart(group: _Half, one: _Half) -> int:
    """How many ms lie between two service messages; -1 where that is not known."""
    return abs(group.at - one.at) if group.at is not None and one.at is not None else -1

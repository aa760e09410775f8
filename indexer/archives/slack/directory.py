"""Who is who in a Slack export: the names behind the ids of users, bots and channels."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from indexer.archives.files import ArchiveFile
from indexer.archives.identity import source_id
from indexer.archives.json_items import Fault, Item, Layout, walk
from indexer.archives.json_text import Text
from indexer.archives.wording import label

USERS = ("users.json", "org_users.json")
# In the order of trust; the last two name talks without a name, by their members.
CHANNELS = ("channels.json", "groups.json", "mpims.json", "dms.json")
_NAMED = frozenset({"channels.json", "groups.json"})
_FILES = (*USERS, *CHANNELS)
# A workspace of 100,000 people has a users.json of about 150 MB.
MAX_DIRECTORY = 256 * 1024 * 1024
_ENTITY = re.compile("&(lt|gt|amp);")
_ENTITIES = {"lt": "<", "gt": ">", "amp": "&"}
_LAYOUT = Layout(frozenset({"item"}), begins={"item": re.compile(r'\{\s*"id"\s*:\s*"[A-Z]')})


@dataclass(frozen=True, slots=True)
class Channel:
    """A channel, group or direct talk: its id and its title, a name or its members' names."""

    id: str
    title: str | None


@dataclass(frozen=True, slots=True)
class Directory:
    """What the lists of an export tell.

    Attributes:
        users: display names by user id and by bot id.
        channels: by the name of their folder (NFC) and by id.
    """

    users: dict[str, str] = field(default_factory=dict)
    channels: dict[str, Channel] = field(default_factory=dict)


def directory_of(day: ArchiveFile) -> Directory:
    """The directory of the export that a day file belongs to, from the folder above it; read once for all."""
    return _directory(tuple(file for base in _FILES if (file := day.above(base)) is not None))


@lru_cache(maxsize=4)
def _directory(files: tuple[ArchiveFile, ...]) -> Directory:
    directory = Directory({"USLACKBOT": "Slackbot"})
    for file in files:
        for found in rows(file):
            if isinstance(found, dict):
                if file.base in USERS:
                    _add_user(directory, found)
                else:
                    _add_channel(directory, found, file.base in _NAMED)
    return directory


def rows(file: ArchiveFile) -> Iterator[dict[str, Any] | Fault]:
    """The objects of a list of users or channels; past what is broken."""
    if file.size > MAX_DIRECTORY:
        yield Fault(f"a list of names of more than {MAX_DIRECTORY >> 20} MB")
        return
    try:
        with file.open() as stream:
            for found in walk(Text(stream), _LAYOUT):
                if isinstance(found, Item) and isinstance(found.value, dict):
                    yield found.value
                elif isinstance(found, Fault):
                    yield found
    except OSError:
        yield Fault("a list of names that can't be read")


def profile_name(profile: object) -> str | None:
    """The name that Slack shows of a profile: the display name, else the real one."""
    return name_of(profile, "display_name") or name_of(profile, "real_name")


def name_of(row: object, key: str) -> str | None:
    """A name on one line, without Slack's escapes, or None."""
    name = label(row.get(key)) if isinstance(row, dict) else None
    return unescaped(name) if name is not None else None


def unescaped(text: str) -> str:
    """The text as it was typed: Slack escapes three characters and no other."""
    return _ENTITY.sub(lambda match: _ENTITIES[match[1]], text) if "&" in text else text


def folder_name(name: str) -> str:
    """The name of a channel's folder as it is compared: macOS unpacks й as two characters."""
    return unicodedata.normalize("NFC", name)


def _add_user(directory: Directory, row: dict[str, Any]) -> None:
    name = profile_name(row.get("profile")) or name_of(row, "real_name") or name_of(row, "name")
    profile = row.get("profile")
    bot = source_id(profile.get("bot_id")) if isinstance(profile, dict) else None
    for own in (source_id(row.get("id")), bot):
        if own is not None and name is not None:
            directory.users.setdefault(own, name)


def _add_channel(directory: Directory, row: dict[str, Any], named: bool) -> None:
    own, name = source_id(row.get("id")), name_of(row, "name")
    if own is None:
        return
    title = name if named else _members(directory, row.get("members")) or name
    channel = Channel(own, title)
    directory.channels.setdefault(own, channel)
    if name is not None:
        directory.channels.setdefault(folder_name(name), channel)


def _members(directory: Directory, members: object) -> str | None:
    if not isinstance(members, list):
        return None
    names = [directory.users.get(own, own) for one in members[:20] if (own := source_id(one)) is not None]
    return ", ".join(names) or None

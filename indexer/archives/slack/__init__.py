"""Slack exports, as the zip or unpacked: a folder a channel, in it a file a day, beside them who is who."""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator

from indexer.archives.files import ArchiveFile, ReadOptions
from indexer.archives.json_items import LEGACY, Fault, Item, Layout, walk
from indexer.archives.json_text import Text
from indexer.archives.lines import unreadable
from indexer.archives.slack.directory import CHANNELS, USERS, directory_of, folder_name, rows
from indexer.archives.slack.message import Chat, safely
from schemas.records import Dropped, Record, Skipped

_SUPPORT = frozenset(
    {*USERS, *CHANNELS, "canvases.json", "lists.json", "integration_logs.json", "file_conversations.json"}
    | {"huddle_transcripts.json", "content_flags.json", "emoji.json", "usergroups.json", "audit_logs.json"}
)
_DAY = re.compile(r"\d{4}-\d{2}-\d{2}\.json")
_TS = re.compile(rb'"ts"\s*:\s*"?\d{9,11}\.\d{1,6}')
_NUMBER = re.compile(r"[0-9.]{1,30}")
_MESSAGE = re.compile(rb'"type"\s*:\s*"message"')
_OWN_ID = re.compile(rb'"id"\s*:\s*"[UWBCGD][A-Z0-9]+"')
# Blocks, replies and attachments are objects too; only messages say so before their first container.
_LAYOUT = Layout(
    frozenset({"item"}),
    begins={"item": re.compile(r'\{(?=[^{}\[\]]{0,2000}?"type"\s*:\s*"message")')},
)
_HINT = "what could be read was kept; export the workspace again"


class Slack:
    """Reads the days of a channel as one chat; the files beside the channels tell names alone."""

    name = "slack"

    def fits(self, file: ArchiveFile) -> bool:
        """True for a list of Slack's messages, and for the files that lie beside the channels' folders."""
        return _is_support(file) or _is_day(file)

    def read(self, file: ArchiveFile, options: ReadOptions) -> Iterator[Record]:
        """Yield the messages of a day in the order of the file."""
        try:
            support = _is_support(file)
        except OSError as error:
            yield unreadable(file.name, error)
            return
        yield from _support(file) if support else _day(file, options)


def _support(file: ArchiveFile) -> Iterator[Record]:
    if file.base in (*USERS, *CHANNELS):
        for found in rows(file):
            if isinstance(found, Fault):
                yield Skipped(file.name, found.reason, "some ids have no name; export the workspace again")
    yield Dropped("support_file", 0)


def _day(file: ArchiveFile, options: ReadOptions) -> Iterator[Record]:
    chat, place, number, controls = _chat(file), file.name, 0, 0
    try:
        with file.open() as stream:
            text = Text(stream)
            for found in walk(text, _LAYOUT):
                controls = text.controls
                if isinstance(found, Item):
                    number += 1
                    place = f"{file.name}#{_record(found.value) or number}"
                    yield from safely(found.value, chat, place, options)
                elif isinstance(found, Fault):
                    legacy = found.reason == LEGACY
                    yield Skipped(
                        file.name if legacy else place, found.reason, "save it as UTF-8" if legacy else _HINT
                    )
    except OSError as error:
        yield unreadable(file.name, error)
    if controls:
        yield Dropped("control_character", controls, controls)


def _record(raw: object) -> str | None:
    ts = raw.get("ts") if isinstance(raw, dict) else None
    return ts if isinstance(ts, str) and _NUMBER.fullmatch(ts) else None


def _chat(file: ArchiveFile) -> Chat:
    """The channel that a day file belongs to; the chat's id is the folder's name where no list knows it."""
    directory = directory_of(file)
    if not _DAY.fullmatch(file.base):
        folder = file.stem
    elif len(file.parts) > 1:
        folder = file.parts[-2]
    else:
        folder = file.path.parent.name if file.member is None else file.path.stem
    folder = folder_name(folder)
    channel = directory.channels.get(folder)
    if channel is None:
        return Chat(folder, folder, directory)
    return Chat(channel.id, channel.title or folder, directory)


def _is_day(file: ArchiveFile) -> bool:
    if not _list_of(file):
        return False
    if _TS.search(file.head) and _MESSAGE.search(file.head):
        return True
    # A day of nothing, or one whose first message fills the head.
    return bool(_DAY.fullmatch(file.base)) and any(
        (names := file.above(base)) is not None and _is_names(names)
        for base in ("channels.json", "users.json")
    )


def _is_support(file: ArchiveFile) -> bool:
    if file.base not in _SUPPORT:
        return False
    beside = (file, *(file.sibling(base) for base in ("channels.json", "users.json")))
    return any(one is not None and _is_names(one) for one in beside)


def _is_names(file: ArchiveFile) -> bool:
    """Whether a file is Slack's own list of users or channels: other exports have a users.json too."""
    if file.base not in (*USERS, *CHANNELS):
        return False
    try:
        return bool(_list_of(file)) and _OWN_ID.search(file.head, 0, 4096) is not None
    except OSError:
        return False


def _list_of(file: ArchiveFile) -> bool:
    return file.head.removeprefix(codecs.BOM_UTF8).lstrip()[:1] == b"["

"""Claude.ai's data export: conversations, and beside them projects, memories and who the users are.

A file is one object (`projects/<uuid>.json`) or a list of them (`projects.json`), as the account and the year
have it. Prompts and answers that were made anew leave branches; as on the page, the newest one is the talk,
and the others are counted, not kept.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import UTC
from typing import Any

from indexer.archives.claude_ai.message import turn_of
from indexer.archives.claude_ai.notes import memory_notes, project_notes
from indexer.archives.conversation_branch import Talk, told
from indexer.archives.conversations import Conversation, Form, Turn, conversations
from indexer.archives.files import ArchiveFile, ReadOptions
from indexer.archives.identity import source_id
from indexer.archives.json_shape import may_have, shape_of
from indexer.archives.times import parse_time
from indexer.archives.wording import label
from schemas.records import Dropped, Record, Skipped

_ID = r'"\s{0,9}:\s{0,9}"[^"]{0,99}"\s{0,9},\s{0,99}"'
_FORM = Form(
    turns="chat_messages.item",
    fields=frozenset({"uuid", "name", "created_at", "current_leaf_message_uuid", "project_uuid"}),
    begin=re.compile(rf'\{{\s{{0,99}}"(?:uuid{_ID}name"|account"\s{{0,9}}:\s{{0,9}}\{{)'),
    turn_begin=re.compile(
        rf'\{{\s{{0,99}}"(?:uuid{_ID}(?:text|sender|content|parent_message_uuid|created_at)"'
        r'|attachments"\s{0,9}:\s{0,9}\[)'
    ),
)
# By the keys at the top; the first that fits.
_KINDS = (
    ("talk", frozenset({"chat_messages"})),
    ("projects", frozenset({"docs", "prompt_template"})),
    ("memories", frozenset({"conversations_memory"})),
    ("memories", frozenset({"memory_files", "account_uuid"})),
    ("support", frozenset({"uuid", "full_name", "email_address"})),
    ("support", frozenset({"data_files", "total_files", "instructions"})),
)


class ClaudeAi:
    """Reads conversations one by one; of each the branch that its page shows."""

    name = "claude"

    def fits(self, file: ArchiveFile) -> bool:
        """True when the keys at the top are those of one of the files of an export."""
        return _kind(file) is not None

    def read(self, file: ArchiveFile, options: ReadOptions) -> Iterator[Record]:
        """Yield the messages conversation by conversation, or the notes of a file beside them."""
        try:
            kind = _kind(file)
        except OSError:
            kind = "talk"  # which tells why it can't be opened
        if kind == "support":
            yield Dropped("support_file", 0)
        elif kind == "projects":
            yield from project_notes(file)
        elif kind == "memories":
            yield from memory_notes(file)
        else:
            yield from _talks(file, options)


def _kind(file: ArchiveFile) -> str | None:
    marks = ("chat_messages", "docs", "conversations_memory", "memory_files", "full_name", "data_files")
    shape = shape_of(file.head) if may_have(file.head, marks) else None
    if shape is None:
        return None
    return next((kind for kind, keys in _KINDS if keys <= shape.keys), None)


def _talks(file: ArchiveFile, options: ReadOptions) -> Iterator[Record]:
    def take(key: str | None, raw: Any, place: str) -> Turn | Skipped:
        return turn_of(raw, place, options)

    for found in conversations(file, _FORM, take):
        if isinstance(found, Conversation):
            yield from told(_talk(found.fields), found.turns, file)
        else:
            yield found


def _talk(fields: dict[str, Any]) -> Talk:
    project = label(fields.get("project_uuid"))
    return Talk(
        source="claude",
        chat=source_id(fields.get("uuid")),
        title=label(fields.get("name")),
        begun=parse_time(fields.get("created_at"), UTC),
        leaf=source_id(fields.get("current_leaf_message_uuid")),
        meta={"project": project[:100]} if project else {},
    )

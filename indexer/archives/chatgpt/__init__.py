"""ChatGPT's data export: `conversations.json`, or its parts `conversations-000.json` …, and what is beside.

A conversation is a tree of messages; its talk is the branch that ends at `current_node`. Answers and prompts
that were made anew leave branches that nobody sees any more: they are counted, not kept.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import UTC
from typing import Any

from indexer.archives.chatgpt.message import turn_of
from indexer.archives.conversation_branch import Talk, told
from indexer.archives.conversations import Conversation, Form, Turn, conversations
from indexer.archives.files import ArchiveFile, ReadOptions
from indexer.archives.identity import source_id
from indexer.archives.json_shape import may_have, shape_of
from indexer.archives.times import parse_time
from indexer.archives.wording import label
from schemas.records import Dropped, Record, Skipped

_SCALAR = r'(?:"(?:[^"\\]|\\.){0,1000}"|null)'
_FORM = Form(
    turns="mapping.*",
    fields=frozenset({"id", "conversation_id", "title", "create_time", "current_node", "gizmo_id"}),
    begin=re.compile(
        r'\{\s{0,99}"(?:'
        rf'title"\s{{0,9}}:\s{{0,9}}{_SCALAR}\s{{0,9}},\s{{0,99}}"create_time"'
        rf'|(?:id|conversation_id)"\s{{0,9}}:\s{{0,9}}{_SCALAR}\s{{0,9}},\s{{0,99}}"(?:conversation_id|create_time)"'
        r'|async_status"|blocked_urls")'
    ),
    turn_begin=re.compile(
        r'"([\w-]{1,99})"\s{0,9}:\s{0,9}\{\s{0,99}"'
        r'(?:id"\s{0,9}:\s{0,9}"\1"|parent"|children"|message"\s{0,9}:\s{0,9}(?:null|\{))'
    ),
)
_TALK = frozenset({"current_node", "conversation_id", "create_time", "title"})
_PARTS = ("conversations.json", "conversations-000.json")
# What tells a file beside the conversations by its keys, and what only lies beside them.
_SUPPORT_KEYS = (
    frozenset({"email", "chatgpt_plus_user"}),
    frozenset({"conversation_id", "rating", "user_id"}),
    frozenset({"conversation_id", "is_anonymous"}),
)
_SUPPORT = frozenset(
    {"user.json", "user_settings.json", "message_feedback.json", "shared_conversations.json", "chat.html"}
    | {"model_comparisons.json", "export_manifest.json", "conversation_asset_file_names.json", "ads.json"}
    | {"library_files.json"}
)
_ASSET = re.compile(r"file[-_][\w-]{1,200}\.dat")


class ChatGpt:
    """Reads conversations one by one; of each the branch that its page shows."""

    name = "chatgpt"

    def fits(self, file: ArchiveFile) -> bool:
        """True for a list of trees of messages, for one of them, and for the files beside such a list."""
        return _is_talk(file) or _is_support(file)

    def read(self, file: ArchiveFile, options: ReadOptions) -> Iterator[Record]:
        """Yield the messages conversation by conversation, each from its beginning to its current end."""
        if not _may_be_talk(file):
            yield Dropped("support_file", 0)
            return

        def take(key: str | None, node: Any, place: str) -> Turn | Skipped:
            return turn_of(key, node, place, options)

        for found in conversations(file, _FORM, take):
            if isinstance(found, Conversation):
                yield from told(_talk(found.fields), found.turns, file)
            else:
                yield found


def _talk(fields: dict[str, Any]) -> Talk:
    gizmo = label(fields.get("gizmo_id"))
    return Talk(
        source="chatgpt",
        chat=source_id(fields.get("id")) or source_id(fields.get("conversation_id")),
        title=label(fields.get("title")),
        begun=parse_time(fields.get("create_time"), UTC),
        leaf=source_id(fields.get("current_node")),
        meta={"gizmo": gizmo[:100]} if gizmo else {},
    )


def _is_talk(file: ArchiveFile) -> bool:
    shape = shape_of(file.head) if may_have(file.head, ("mapping",)) else None
    return shape is not None and "mapping" in shape.keys and not shape.keys.isdisjoint(_TALK)


def _may_be_talk(file: ArchiveFile) -> bool:
    """Whether to look for conversations: also in what can't be opened, since that is to be told."""
    try:
        return _is_talk(file) or not _is_support(file)
    except OSError:
        return True


def _is_support(file: ArchiveFile) -> bool:
    marks = ("chatgpt_plus_user", "rating", "is_anonymous")
    shape = shape_of(file.head) if may_have(file.head, marks) else None
    if shape is not None and any(keys <= shape.keys for keys in _SUPPORT_KEYS):
        return True
    if file.base not in _SUPPORT and not _ASSET.fullmatch(file.base):
        return False
    return any((part := file.sibling(base)) is not None and _is_talk(part) for base in _PARTS)

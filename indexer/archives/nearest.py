"""What a file that no reader fits looks most like, and what it lacks of that."""

from __future__ import annotations

import re
from dataclasses import dataclass

from indexer.archives.files import ArchiveFile


@dataclass(frozen=True, slots=True)
class Likeness:
    """A format by the signs that its files show at their beginning.

    Attributes:
        kind: the reader's name.
        signs: what stands in such a file: the name that a person would give it, and the bytes.
        remedy: how to get a file that can be read.
    """

    kind: str
    signs: tuple[tuple[str, re.Pattern[bytes]], ...]
    remedy: str


def _keys(*names: str) -> tuple[tuple[str, re.Pattern[bytes]], ...]:
    return tuple((name, re.compile(rb'"' + name.encode() + rb'"\s*:')) for name in names)


_HTML = ("an HTML page", re.compile(rb"<(?:!doctype html|html)\b", re.IGNORECASE))

_CONVERSATIONS = "give conversations.json of the export"
_SESSION = "give the session's .jsonl file"
_DATED = re.compile(rb"^\W{0,4}\d{1,4}[./-]\d{1,2}[./-]\d{1,4}.{1,30}: ", re.MULTILINE)

LIKENESSES: tuple[Likeness, ...] = (
    Likeness(
        "telegram",
        _keys("messages", "from_id", "date_unixtime", "text_entities"),
        "export the chat with Telegram Desktop as machine-readable JSON",
    ),
    Likeness(
        "telegram",
        (_HTML, ("class tgme or from_name", re.compile(rb"tgme_|from_name"))),
        "export the chat with Telegram Desktop as machine-readable JSON",
    ),
    Likeness(
        "discord",
        _keys("guild", "channel", "messages", "exportedAt"),
        "export with DiscordChatExporter as JSON",
    ),
    Likeness("slack", _keys("ts", "user", "client_msg_id", "team"), "give the whole export zip"),
    Likeness("chatgpt", _keys("mapping", "current_node", "create_time"), _CONVERSATIONS),
    Likeness("claude", _keys("chat_messages", "uuid", "sender"), _CONVERSATIONS),
    Likeness("claude_code", _keys("sessionId", "uuid", "parentUuid", "message"), _SESSION),
    Likeness("codex", _keys("timestamp", "payload", "type"), "give the rollout-….jsonl file"),
    Likeness("openclaw", _keys("parentId", "message", "type", "timestamp"), _SESSION),
    Likeness(
        "vk",
        (_HTML, ("class message__header", re.compile(rb"message__header"))),
        "give the archive as VK made it",
    ),
    Likeness(
        "whatsapp", (("a date and a name in a line", _DATED),), "export the chat from the phone as text"
    ),
    Likeness("jsonl", _keys("role", "content", "text"), 'write one {"role": …, "text": …, "ts": …} a line'),
)


def nearest(file: ArchiveFile) -> str | None:
    """The format that the beginning of a file looks most like, and which of its signs are not there.

    Returns:
        E.g. "nearest is telegram (has messages; lacks from_id, date_unixtime): export the chat with …",
        or None where it looks like nothing known.

    Raises:
        OSError: the file can't be opened.
    """
    head = file.head
    best: tuple[float, int, str] | None = None
    for number, likeness in enumerate(LIKENESSES):
        has = [name for name, sign in likeness.signs if sign.search(head)]
        lacks = [name for name, _ in likeness.signs if name not in has]
        share = len(has) / len(likeness.signs)
        if has and (best is None or share > best[0]):
            what = f"has {', '.join(has)}" + (f"; lacks {', '.join(lacks)}" if lacks else "")
            best = (share, number, f"nearest is {likeness.kind} ({what}): {likeness.remedy}")
    return best[2] if best else None

"""What an OpenClaw agent adds around the words of a talk, taken off as the agent itself takes it off."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from indexer.archives.wording import label, tidy
from schemas.records import Dropped, Role

_METADATA = re.compile(
    r"(?P<title>[A-Z][^\n(]{0,80}) \(untrusted(?: metadata|, for context)\):[ \t]*\n"
    r"```json[ \t]*\n(?P<json>.*?)\n```[ \t]*(?:\n\s*|\Z)",
    re.DOTALL,
)
_STAMP = re.compile(
    r"\[(?:[A-Z][a-z]{2} )?\d{4}-\d{2}-\d{2} \d{2}:\d{2}(?::\d{2})?"
    r"(?:Z| [A-Z]{2,5}(?:[+-]\d{1,2}(?::?\d{2})?)?)?\]\s*"
)
_MESSAGE_ID = re.compile(r"\[message_id: [^\]\n]{1,200}\]\s*")
_RECALLED = re.compile(
    r"<(relevant[-_]memories|recalled[-_]memories|memory[-_]context|supermemory[-_]context)>.*?</\1>\s*",
    re.DOTALL,
)
_DIRECTIVE = re.compile(
    r"(?<!`)\[\[\s*(?:reply_to_current|[a-z]+(?:_[a-z]+)+|/?tts|location|confirm|buttons|event|agenda|device)"
    r"\s*(?::[^\[\]\n]*)?\]\][ \t]?(?!`)"
)
_CRON = re.compile(r"\[cron:[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f-]{22} [^\]\n]*\]\s*")
_MARK = re.compile(r"[\s*_`.!]*(?P<mark>HEARTBEAT_OK|NO_REPLY)[\s*_`.!]*")
_SESSION_START = re.compile(r"A new session was started via /new or /reset\. ")
_SESSION_STARTED = re.compile(r"✅ New session started\b[^\n]*")
_HEARTBEAT = re.compile(r"Read HEARTBEAT\.md\b.*HEARTBEAT_OK", re.DOTALL)
_NOISE_OF = {"HEARTBEAT_OK": "heartbeat", "NO_REPLY": "no_reply"}
# A recall tool's name, and names of custom messages that carry what it found.
RECALL = re.compile(r"memor|recall|^lcm_", re.IGNORECASE)
# A note that a tool was asked to read.
NOTE_FILE = re.compile(r"(?:^|[/\s\"'])(?:MEMORY|SOUL|AGENTS)\.md\b|(?:^|[/\s\"'])memory/[^\s\"']*\.md\b")


@dataclass(frozen=True, slots=True)
class Cleaned:
    """The words of a message and what was around them.

    Attributes:
        text: what was said.
        drops: what was taken off, by kind.
        noise: the kind to drop the whole message under, or None.
        role: the role it really has, where that differs from the recorded one.
        author: the sender's name, where the agent noted it.
        author_id: the sender's id in the channel.
        meta: small extras (`stamp`, `sender_username`, `cron`).
    """

    text: str
    drops: tuple[Dropped, ...] = ()
    noise: str | None = None
    role: Role | None = None
    author: str | None = None
    author_id: str | None = None
    meta: Mapping[str, str] = field(default_factory=dict)


def cleaned(role: Role, text: str) -> Cleaned:
    """Clean one message's tidy text; roles other than user and assistant stay as they are."""
    if role == "user":
        return _user(text)
    if role == "assistant":
        return _assistant(text)
    return Cleaned(text)


def _user(text: str) -> Cleaned:
    drops: list[Dropped] = []
    without = _RECALLED.sub("", text)
    if len(without) < len(text):
        drops.append(Dropped("recalled", len(text) - len(without)))
    text, sender, meta = _unwrapped(tidy(without), drops)
    role: Role | None = None
    if match := _CRON.match(text):
        # A prompt of the scheduler; a person who only writes "[cron:" has no job id behind it.
        role, meta["cron"] = "system", match.group().strip()[1:-1]
        text = text[match.end() :]
    noise = None
    if _HEARTBEAT.match(text):
        noise = "heartbeat"
    elif _SESSION_START.match(text):
        noise = "session_start"
    elif not text and drops and drops[0].kind == "recalled":
        noise = "recalled"
    return Cleaned(tidy(text), tuple(drops), noise, role, *_author(sender), meta)


def _unwrapped(text: str, drops: list[Dropped]) -> tuple[str, dict[str, Any], dict[str, str]]:
    """Take metadata blocks, stamps and message ids off the front, in whatever order they stand."""
    sender: dict[str, Any] = {}
    meta: dict[str, str] = {}
    while True:
        if match := _METADATA.match(text):
            fields = _fields(match["json"])
            if match["title"] == "Sender":
                sender = {**sender, **fields}
            elif match["title"] == "Conversation info":
                sender = {"name": fields.get("sender"), "id": fields.get("sender_id"), **sender}
        elif match := _STAMP.match(text):
            meta["stamp"] = match.group().strip()[1:-1]
        elif not (match := _MESSAGE_ID.match(text)):
            break
        drops.append(Dropped("metadata", match.end()))
        text = text[match.end() :]
    if username := label(sender.get("username")):
        meta["sender_username"] = username
    return text, sender, meta


def _fields(text: str) -> dict[str, Any]:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}


def _author(sender: Mapping[str, Any]) -> tuple[str | None, str | None]:
    own = sender.get("id")
    author_id = label(str(own)) if isinstance(own, str | int) and not isinstance(own, bool) else None
    name = label(sender.get("name")) or label(sender.get("label")) or label(sender.get("username"))
    if name is not None and author_id is not None:
        name = name.removesuffix(f" ({author_id})")
    return name, author_id


def _assistant(text: str) -> Cleaned:
    drops: list[Dropped] = []
    without = _DIRECTIVE.sub("", text)
    if len(without) < len(text):
        drops.append(Dropped("metadata", len(text) - len(without)))
    text = tidy(without)
    if match := _MARK.fullmatch(text):
        return Cleaned(text, tuple(drops), _NOISE_OF[match["mark"]])
    if _SESSION_STARTED.fullmatch(text):
        return Cleaned(text, tuple(drops), "session_start")
    for mark, kind in _NOISE_OF.items():
        # The mark ends a real answer when the model adds it out of habit.
        bare = tidy(text.removesuffix(mark).removeprefix(mark))
        if bare != text:
            drops.append(Dropped(kind, len(mark)))
            text = bare
    return Cleaned(text, tuple(drops))

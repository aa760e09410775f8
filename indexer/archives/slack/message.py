"""What one message of a Slack export says; every key may be missing, and every value may be broken."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any

from indexer.archives.files import ReadOptions
from indexer.archives.guarding import understood
from indexer.archives.identity import Identities, origin_of, source_id
from indexer.archives.slack.attachments import Said, add_attachments, add_files
from indexer.archives.slack.directory import Directory, name_of, profile_name
from indexer.archives.slack.text import Markup
from indexer.archives.times import parse_time
from indexer.archives.wording import label, says_something, tidy
from schemas.records import Dropped, Message, Record, Skipped

_DELETED = frozenset({"tombstone", "message_deleted"})
# What Slack itself tells of a channel; unknown subtypes with a text are taken for talk.
_SERVICE = frozenset(
    {f"{kind}_{event}" for kind in ("channel", "group") for event in
     ("join", "leave", "topic", "purpose", "name", "archive", "unarchive")}
    | {"channel_convert_to_private", "channel_convert_to_public", "channel_posting_permissions"}
    | {"channel_retention_changed", "channel_canvas_updated", "tabbed_canvas_updated", "pinned_item"}
    | {"unpinned_item", "bot_add", "bot_remove", "bot_enable", "bot_disable", "reminder_add", "huddle_thread"}
    | {"sh_room_created", "sh_room_shared", "sh_room_updated", "ekm_access_denied", "joiner_notification"}
    | {"joiner_notification_for_inviter", "app_conversation_join", "app_conversation_leave"}
    | {"message_replied", "document_comment_root"}
)  # fmt: skip
# Slackbot's canned answer to a keyword, the same every time.
_AUTO_REPLY = "slackbot_response"


@dataclass(slots=True)
class Chat:
    """The channel whose day is being read, and what was read of it."""

    id: str
    title: str | None
    directory: Directory
    identities: Identities = field(default_factory=Identities)
    seen: set[tuple[str, int]] = field(default_factory=set)


def safely(raw: Any, chat: Chat, place: str, options: ReadOptions) -> list[Record]:
    """The records of one raw message, whatever is in it."""
    return understood(_records(raw, chat, place, options), place, "a message that is not understood")


def _records(raw: Any, chat: Chat, place: str, options: ReadOptions) -> Iterator[Record]:
    if not isinstance(raw, dict):
        yield Skipped(place, "a message that is no object", "")
        return
    if raw.get("subtype") == "message_changed" and isinstance(raw.get("message"), dict):
        raw = raw["message"]  # an export with edits: the newer wording of a message of its own ts
    kind = raw.get("type") or "message"
    if kind != "message":
        yield Skipped(place, "an unknown type of message", f"type {str(kind)[:40]!r}")
        return
    noise = _noise(raw)
    if noise is not None:
        text = raw.get("text")
        yield Dropped(noise, len(text) if isinstance(text, str) else 0)
        return
    said = _said(raw, chat.directory)
    yield from said.drops
    text = tidy(said.text)
    if not says_something(text):
        yield Dropped("empty", len(text))
        return
    message = replace(_message(raw, chat, place, text, options), meta=_meta(raw, said))
    # Some exporters give a reply twice, in its thread and as it was sent to the channel.
    if (message.id, hash(text)) in chat.seen:
        yield Dropped("duplicate", len(text))
        return
    chat.seen.add((message.id, hash(text)))
    yield message


def _noise(raw: dict[str, Any]) -> str | None:
    subtype = label(raw.get("subtype"))
    if raw.get("hidden") is True or subtype in _DELETED:
        return "deleted"
    if subtype == _AUTO_REPLY:
        return "auto_reply"
    return "service" if subtype in _SERVICE else None


def _said(raw: dict[str, Any], directory: Directory) -> Said:
    markup, said = Markup(directory), Said()
    said.add(markup.plain(raw.get("text")))
    typed = bool(said.parts)
    for repeats, text in markup.blocks(raw.get("blocks")):
        if not (repeats and typed):
            said.add(text)
    add_attachments(said, raw.get("attachments"), markup, directory)
    add_files(said, raw.get("files") or [raw.get("file")])
    return said


def _message(raw: dict[str, Any], chat: Chat, place: str, text: str, options: ReadOptions) -> Message:
    ts = _ts(raw.get("ts"))
    thread = _ts(raw.get("thread_ts"))
    at = parse_time(ts, options.zone)
    author, author_id = _author(raw, chat.directory)
    edited = raw.get("edited")
    client = source_id(raw.get("client_msg_id"))
    return Message(
        chat_id=chat.id,
        id=ts or chat.identities.derive(chat.id, author_id or author, at, text),
        source="slack",
        role="user",
        text=text,
        place=place,
        at=at,
        chat_title=chat.title,
        author=author,
        author_id=author_id,
        edited=parse_time(edited.get("ts"), options.zone) if isinstance(edited, dict) else None,
        reply_to=thread if thread != ts else None,
        origin=origin_of(client or ""),
    )


def _ts(value: object) -> str | None:
    """A ts as Slack writes it; programs that rewrote the JSON may have made a number of it."""
    return f"{value:.6f}" if isinstance(value, float) and 0 < value < 1e11 else source_id(value)


def _meta(raw: dict[str, Any], said: Said) -> dict[str, str]:
    bot = raw.get("subtype") == "bot_message" or source_id(raw.get("bot_id")) is not None
    return {**({"bot": "true"} if bot else {}), **said.meta}


def _author(raw: dict[str, Any], directory: Directory) -> tuple[str | None, str | None]:
    comment, bot_profile, profile = (raw.get(key) for key in ("comment", "bot_profile", "user_profile"))
    user, bot = source_id(raw.get("user")), source_id(raw.get("bot_id"))
    if user is None and isinstance(comment, dict):
        user = source_id(comment.get("user"))
    names = (
        directory.users.get(user or ""),
        profile_name(profile),
        name_of(profile, "name"),
        name_of(raw, "username"),
        name_of(bot_profile, "name"),
        directory.users.get(bot or ""),
        bot if user is None else user,
    )
    return next((name for name in names if name), None), user or bot

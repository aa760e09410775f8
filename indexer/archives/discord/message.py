"""What one message of a DiscordChatExporter file says."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import tzinfo
from typing import Any

from indexer.archives.discord.text import Names, name_of
from indexer.archives.files import ReadOptions
from indexer.archives.guarding import understood
from indexer.archives.identity import Identities, source_id
from indexer.archives.times import parse_time
from indexer.archives.wording import label, says_something, tidy
from schemas.records import Dropped, Message, Record, Skipped

# By name, or by Discord's number where the exporter knew none: what a bot answers to a command is talk too.
_SPOKEN = frozenset({"Default", "Reply", "ChatInputCommand", "ContextMenuCommand", "0", "19", "20", "23"})
_SERVICE = frozenset(
    {"RecipientAdd", "RecipientRemove", "Call", "ChannelNameChange", "ChannelIconChange", "GuildMemberJoin"}
    | {"ChannelPinnedMessage", "UserPremiumGuildSubscription", "ChannelFollowAdd", "ThreadCreated"}
    | {"ThreadStarterMessage", "GuildInviteReminder", "AutoModerationAction", "PollResult"}
)
_EPOCH_MS = 1_420_070_400_000  # 2015-01-01: snowflakes count milliseconds from here, above 22 other bits
_MOST = 100


@dataclass(slots=True)
class Chat:
    """The channel that is being read.

    Attributes:
        guild: the `guild` object, as far as it was read.
        channel: the `channel` object, likewise.
        names: behind the ids of its messages.
        read: how many messages were read.
        typed: how many of them were of people's plain kind, and `bare` of these held nothing at all.
    """

    stem: str
    names: Names
    guild: dict[str, Any] = field(default_factory=dict)
    channel: dict[str, Any] = field(default_factory=dict)
    identities: Identities = field(default_factory=Identities)
    read: int = 0
    typed: int = 0
    bare: int = 0

    @property
    def id(self) -> str:
        """The channel's own id: the parts of a split export are one chat. Else the file's stem."""
        return source_id(self.channel.get("id")) or self.stem

    @property
    def title(self) -> str | None:
        """`Guild / category / #channel`, of a direct talk without the mark."""
        name = label(self.channel.get("name"))
        direct = "Direct" in str(self.channel.get("type"))
        channel = name if name is None or direct else f"#{name}"
        parts = (label(self.guild.get("name")), label(self.channel.get("category")), channel)
        if direct:
            parts = (parts[0], None, channel)
        return " / ".join(part for part in parts if part) or None


def safely(raw: Any, chat: Chat, place: str, options: ReadOptions) -> list[Record]:
    """The records of one raw message, whatever is in it."""
    return understood(_records(raw, chat, place, options), place, "a message that is not understood")


def _records(raw: Any, chat: Chat, place: str, options: ReadOptions) -> Iterator[Record]:
    if not isinstance(raw, dict):
        yield Skipped(place, "a message that is no object", "")
        return
    _learn(raw, chat.names)
    kind = source_id(raw.get("type")) or "Default"
    if kind in _SERVICE or (kind.isdecimal() and kind not in _SPOKEN):
        content = raw.get("content")
        yield Dropped("service", len(content) if isinstance(content, str) else 0)
        return
    text, previews = _text(raw, chat.names)
    if previews:
        yield Dropped("link_preview", previews)
    if kind in ("Default", "0"):
        chat.typed += 1
        chat.bare += not text and not any(raw.get(key) for key in _CONTENTS)
    if says_something(text):
        yield _message(raw, chat, place, text, options.zone)
    else:
        yield Dropped("empty", len(text))


_CONTENTS = ("content", "attachments", "embeds", "stickers", "forwardedMessage", "poll", "components")


def _learn(raw: dict[str, Any], names: Names) -> None:
    mentions = raw.get("mentions")
    for user in (raw.get("author"), *(mentions[:_MOST] if isinstance(mentions, list) else ())):
        names.learn(user)


def _text(raw: dict[str, Any], names: Names) -> tuple[str, int]:
    """The text, and how many characters of previews were left out of it.

    What a bot says in embeds is its message; under a person's link an embed is a copy of a web page.
    """
    forwarded = raw.get("forwardedMessage")
    parts = [names.plain(raw.get("content")), *_poll(raw.get("poll"), names)]
    if isinstance(forwarded, dict):
        parts.append(names.plain(forwarded.get("content")))
    said = says_something("\n".join(parts))
    embeds = [text for owner in (raw, forwarded) for text in _embeds(owner, names)]
    if said and not _is_bot(raw):
        return tidy("\n".join(part for part in parts if part)), sum(map(len, embeds))
    return tidy("\n".join(part for part in (*parts, *embeds) if part)), 0


def _embeds(owner: object, names: Names) -> Iterator[str]:
    embeds = owner.get("embeds") if isinstance(owner, dict) else None
    for embed in embeds[:_MOST] if isinstance(embeds, list) else ():
        if isinstance(embed, dict):
            yield "\n".join(part for part in _embed(embed, names) if part)


def _embed(embed: dict[str, Any], names: Names) -> Iterator[str]:
    author, fields = embed.get("author"), embed.get("fields")
    if isinstance(author, dict):
        yield names.plain(author.get("name"))
    yield names.plain(embed.get("title"))
    yield names.plain(embed.get("description"))
    for one in fields[:_MOST] if isinstance(fields, list) else ():
        if isinstance(one, dict):
            pair = (names.plain(one.get("name")), names.plain(one.get("value")))
            yield ": ".join(part for part in pair if part)


def _poll(poll: object, names: Names) -> Iterator[str]:
    if not isinstance(poll, dict):
        return
    yield _poll_text(poll.get("question"), names)
    answers = poll.get("answers")
    for answer in answers[:_MOST] if isinstance(answers, list) else ():
        if text := _poll_text(answer, names):
            yield f"— {text}"


def _poll_text(value: object, names: Names) -> str:
    """The text of a question or an answer, as an exporter or Discord itself writes it."""
    while isinstance(value, dict):
        value = value.get("text") or value.get("poll_media") or value.get("pollMedia")
    return names.plain(value)


def _message(raw: dict[str, Any], chat: Chat, place: str, text: str, zone: tzinfo) -> Message:
    user = raw.get("author")
    author, author_id = (
        (name_of(user), source_id(user.get("id"))) if isinstance(user, dict) else (label(user), None)
    )
    own = source_id(raw.get("id"))
    at = parse_time(raw.get("timestamp"), zone)
    if at is None:
        at = _snowflake_time(own)
    chat_id = chat.id
    return Message(
        chat_id=chat_id,
        id=own or chat.identities.derive(chat_id, author_id or author, at, text),
        source="discord",
        role="user",
        text=text,
        place=place,
        at=at,
        chat_title=chat.title,
        author=author or author_id,
        author_id=author_id,
        edited=parse_time(raw.get("timestampEdited"), zone),
        reply_to=_reply_to(raw, chat),
        meta=_meta(raw),
    )


def _snowflake_time(own: str | None) -> int | None:
    """The time that a message's id tells; ids shorter than Discord's are none."""
    if own is None or not own.isascii() or not own.isdecimal() or not 17 <= len(own) <= 19:
        return None
    return (int(own) >> 22) + _EPOCH_MS


def _reply_to(raw: dict[str, Any], chat: Chat) -> str | None:
    """The message that is answered; a forward refers to a message of another chat, and so may others."""
    reference = raw.get("reference")
    if not isinstance(reference, dict) or reference.get("type") == "Forward" or _is_forwarded(raw):
        return None
    elsewhere = source_id(reference.get("channelId"))
    return source_id(reference.get("messageId")) if elsewhere in (None, chat.id) else None


def _is_forwarded(raw: dict[str, Any]) -> bool:
    return isinstance(raw.get("forwardedMessage"), dict)


def _is_bot(raw: dict[str, Any]) -> bool:
    author = raw.get("author")
    return isinstance(author, dict) and author.get("isBot") is True


def _meta(raw: dict[str, Any]) -> dict[str, str]:
    forwarded = raw.get("forwardedMessage")
    found = {"bot": "true"} if _is_bot(raw) else {}
    if _is_forwarded(raw):
        found["forwarded"] = "true"
    names = [name for owner in (raw, forwarded) for name in _attached(owner)]
    if names:
        found["attachments"] = ", ".join(names)[:200]
    return found


def _attached(owner: object) -> Iterator[str]:
    files = owner.get("attachments") if isinstance(owner, dict) else None
    for file in files[:10] if isinstance(files, list) else ():
        if isinstance(file, dict) and (name := label(file.get("fileName"))) is not None:
            yield name

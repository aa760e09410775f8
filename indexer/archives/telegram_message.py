"""What one message of Telegram Desktop's export says, and in which chat."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import tzinfo
from typing import Any

from indexer.archives.files import ReadOptions
from indexer.archives.identity import Identities, source_id
from indexer.archives.times import parse_time
from indexer.archives.wording import label, says_something, tidy
from schemas.records import Dropped, Message, Record, Skipped

DELETED_ACCOUNT = "Удалённый аккаунт"
SAVED_MESSAGES = "Избранное"
_PLACEHOLDER = re.compile(
    r"\((?:File|Photo|Video|Sticker|Voice message)[^()]*(?:not included|unavailable|exceeds)[^()]*\)"
)


class Chat:
    """What is known of the chat whose messages are being read."""

    def __init__(self, stem: str, number: int | None) -> None:
        self.fields: dict[str, Any] = {}
        self.identities = Identities()
        self.read = 0
        self._stem, self._number = stem, number

    @property
    def id(self) -> str:
        """Telegram's own id, else the file's stem, with name or number where the file holds many chats."""
        own = source_id(self.fields.get("id"))
        if own is not None:
            return own
        if self._number is None:
            return self._stem
        return f"{self._stem}/{label(self.fields.get('name')) or self._number}"

    @property
    def title(self) -> str | None:
        """The chat's name, also for those that Telegram leaves nameless."""
        name = label(self.fields.get("name"))
        if name is None and self.fields.get("type") == "saved_messages":
            return SAVED_MESSAGES
        if name is None and self.fields.get("type") == "personal_chat":
            return DELETED_ACCOUNT
        return name


def safely(raw: Any, chat: Chat, place: str, options: ReadOptions) -> list[Record]:
    """The records of one raw message, whatever is in it."""
    try:
        return list(_records(raw, chat, place, options))
    except Exception as error:
        return [Skipped(place, "a message that is not understood", type(error).__name__)]


def _records(raw: Any, chat: Chat, place: str, options: ReadOptions) -> Iterator[Record]:
    if not isinstance(raw, dict):
        yield Skipped(place, "a message that is no object", "")
        return
    kind = raw.get("type", "message")
    if kind == "service":
        yield Dropped("service", len(_plain(raw)[0] or ""))
        return
    if kind == "unsupported":
        yield Dropped("unsupported", 0)
        return
    if kind != "message":
        yield Skipped(place, "an unknown type of message", f"type {str(kind)[:40]!r}")
        return
    text, placeholders = _plain(raw)
    if placeholders:
        yield Dropped("placeholder", placeholders)
    if text is None:
        yield Skipped(place, "a text that is no text", "")
        return
    text = tidy("\n".join(part for part in (text, *_poll(raw.get("poll"))) if part))
    if not says_something(text):
        yield Dropped("empty", len(text))
        return
    at = _time(raw, "date", options.zone)
    author, author_id = _author(raw)
    chat_id = chat.id
    yield Message(
        chat_id=chat_id,
        id=source_id(raw.get("id")) or chat.identities.derive(chat_id, author_id or author, at, text),
        source="telegram",
        role="user",
        text=text,
        place=place,
        at=at,
        chat_title=chat.title,
        author=author,
        author_id=author_id,
        edited=_time(raw, "edited", options.zone),
        reply_to=source_id(raw.get("reply_to_message_id")),
        meta={
            key: value
            for key in ("forwarded_from", "via_bot", "media_type", "file_name")
            if (value := label(raw.get(key))) is not None and not _PLACEHOLDER.fullmatch(value)
        },
    )


def _plain(raw: dict[str, Any]) -> tuple[str | None, int]:
    """The text with the targets of its links, and how many characters of placeholders were left out of it."""
    text = raw.get("text")
    if not isinstance(text, str | list):
        entities = raw.get("text_entities")
        text = entities if isinstance(entities, list) else text
    joined = _joined(text)
    if joined is None:
        return ("", 0) if text is None else (None, 0)
    kept = _PLACEHOLDER.sub("", joined) if joined.lstrip().startswith("(") else joined
    return kept, len(joined) - len(kept)


def _joined(text: object) -> str | None:
    if isinstance(text, str):
        return text
    if not isinstance(text, list):
        return None
    return "".join(part if isinstance(part, str) else _part(part) for part in text)


def _part(part: object) -> str:
    if not isinstance(part, dict) or not isinstance(part.get("text"), str):
        return ""
    text: str = part["text"]
    href = part.get("href")
    if part.get("type") == "text_link" and isinstance(href, str) and href and href not in text:
        return f"{text} ({href})"
    return text


def _poll(poll: object) -> Iterator[str]:
    if not isinstance(poll, dict):
        return
    yield _joined(poll.get("question")) or ""
    answers = poll.get("answers")
    for answer in answers if isinstance(answers, list) else ():
        if isinstance(answer, dict) and (text := _joined(answer.get("text"))):
            yield f"— {text}"


def _author(raw: dict[str, Any]) -> tuple[str | None, str | None]:
    own = raw.get("from_id")
    author_id = source_id(own)
    if author_id is not None and author_id.isdecimal():
        author_id = f"user{author_id}"  # exports before 2021 wrote bare numbers
    name = label(raw.get("from"))
    if name is None and (author_id is not None or "from" in raw):
        name = DELETED_ACCOUNT
    return name, author_id


def _time(raw: dict[str, Any], key: str, zone: tzinfo) -> int | None:
    exact = parse_time(raw.get(f"{key}_unixtime"), zone)
    return exact if exact is not None else parse_time(raw.get(key), zone)

"""What one message of Telegram Desktop's `result.json` says."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from datetime import tzinfo
from functools import lru_cache
from typing import Any

from indexer.archives.identity import source_id
from indexer.archives.telegram.chat import DELETED_ACCOUNT, Chat
from indexer.archives.telegram.rich import rich_text
from indexer.archives.times import parse_time
from indexer.archives.wording import label, says_something, tidy
from schemas.records import Dropped, Message, Record, Skipped

PLACEHOLDER = re.compile(
    r"\((?:File|Photo|Video|Story|Sticker|Voice message)"
    r"[^()]{0,99}(?:not included|unavailable|exceeds)[^()]{0,99}\)"
)
# What else than `text` is said: a message of these has words of its own. A shared contact has not: its name
# and telephone are a third party's.
_SAYING = frozenset(
    {"poll", "todo_list", "rich_message", "invoice_information"}
    | {"place_name", "address", "game_title", "game_description"}
)
_KEPT = {
    "forwarded_from": "forwarded_from",
    "forwarded_from_id": "forwarded_from_id",
    "saved_from": "saved_from",
    "via_bot": "via_bot",
    "author": "signature",
    "media_type": "media_type",
    "file_name": "file_name",
}


def records_of(raw: Any, chat: Chat, zone: tzinfo) -> list[Record]:
    """The records of one raw message, whatever is in it.

    Args:
        raw: an element of a chat's `messages`.
        chat: the chat.
        zone: of the local times that old exports give alone.
    """
    try:
        return _records(raw, chat, zone)
    except Exception as error:
        return [Skipped(chat.place(None), "a message that is not understood", type(error).__name__)]


def _records(raw: Any, chat: Chat, zone: tzinfo) -> list[Record]:
    if not isinstance(raw, dict):
        return [Skipped(chat.place(None), "a message that is no object", "")]
    kind, own, topic = raw.get("type", "message"), source_id(raw.get("id")), chat.topic(raw)
    if kind != "message":
        return [_other(raw, kind, chat, own)]
    text, left_out = _written(raw)
    drops: list[Record] = [Dropped("placeholder", left_out)] if left_out else []
    if text is None:
        return [*drops, Skipped(chat.place(own), "a text that is no text", "")]
    if not _SAYING.isdisjoint(raw):
        text = "\n".join(part for part in (text, *_said(raw)) if part)
    text = tidy(text)
    if not says_something(text):
        return [*drops, Dropped("empty", len(text))]
    at = _time(raw.get("date_unixtime"), raw.get("date"), zone)
    author, author_id = _author(raw)
    meta = {} if _KEPT.keys().isdisjoint(raw) else _meta(raw)
    if topic is not None:
        meta["topic"] = topic
    message = Message(
        chat_id=chat.id,
        id=chat.message_id(own) if own else chat.identities.derive(chat.id, author_id or author, at, text),
        source="telegram",
        role="user",
        text=text,
        place=chat.place(own),
        at=at,
        chat_title=chat.title,
        author=author,
        author_id=author_id,
        edited=_time(raw.get("edited_unixtime"), raw.get("edited"), zone),
        reply_to=chat.reply_to(raw),
        meta=meta,
    )
    return [*drops, message]


def _other(raw: dict[str, Any], kind: object, chat: Chat, own: str | None) -> Record:
    if kind == "service":
        if raw.get("action") == "topic_created":
            chat.open_topic(raw)
        return Dropped("service", len(_written(raw)[0] or ""))
    if kind == "unsupported":
        return Dropped("unsupported", 0)
    return Skipped(chat.place(own), "an unknown type of message", f"type {str(kind)[:40]!r}")


def _written(raw: dict[str, Any]) -> tuple[str | None, int]:
    """The text with the targets of its links, and how many characters of placeholders were left out of it.

    None for what is no text at all.
    """
    text = raw.get("text")
    if not isinstance(text, str | list):
        entities = raw.get("text_entities")
        text = entities if isinstance(entities, list) else text
    joined = _joined(text)
    if joined is None:
        return ("", 0) if text is None else (None, 0)
    if "(" not in joined or not joined.lstrip().startswith("("):
        return joined, 0
    kept = PLACEHOLDER.sub("", joined)
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


def _said(raw: dict[str, Any]) -> Iterator[str]:
    """The words of polls, to-do lists, places, games, invoices and rich messages."""
    yield from _listed(raw.get("poll"), "question")
    yield from _listed(raw.get("todo_list"), "title")
    for key in ("place_name", "address", "game_title", "game_description"):
        yield _joined(raw.get(key)) or ""
    invoice = raw.get("invoice_information")
    if isinstance(invoice, str):  # the exporter writes the object as JSON inside a string
        try:
            invoice = json.loads(invoice)
        except ValueError:
            invoice = None
    if isinstance(invoice, dict):
        for key in ("title", "description"):
            yield _joined(invoice.get(key)) or ""
    yield rich_text(raw.get("rich_message"))


def _listed(whole: object, heading: str) -> Iterator[str]:
    if not isinstance(whole, dict):
        return
    yield _joined(whole.get(heading)) or ""
    answers = whole.get("answers")
    for answer in answers if isinstance(answers, list) else ():
        if isinstance(answer, dict) and (text := _joined(answer.get("text"))):
            yield f"— {text}"


def _meta(raw: dict[str, Any]) -> dict[str, str]:
    found: dict[str, str] = {}
    for key, name in _KEPT.items():
        if key not in raw:
            continue
        value = DELETED_ACCOUNT if key == "forwarded_from" and raw[key] is None else label(raw[key])
        if value is not None and not PLACEHOLDER.fullmatch(value):
            found[name] = value
    return found


def _author(raw: dict[str, Any]) -> tuple[str | None, str | None]:
    name, own = raw.get("from"), raw.get("from_id")
    if isinstance(name, str) and isinstance(own, str):
        return _named(name, own)
    author_id = source_id(own)
    author = label(name)
    if author is None:
        author = DELETED_ACCOUNT if author_id is not None or "from" in raw else label(raw.get("author"))
    return author, _prefixed(author_id)


@lru_cache(maxsize=4096)
def _named(name: str, own: str) -> tuple[str, str | None]:
    return label(name) or DELETED_ACCOUNT, _prefixed(source_id(own))


def _prefixed(author_id: str | None) -> str | None:
    """Exports before 2021 wrote bare numbers."""
    return f"user{author_id}" if author_id is not None and author_id.isdecimal() else author_id


def _time(exact: object, local: object, zone: tzinfo) -> int | None:
    if exact is None and local is None:
        return None
    found = parse_time(exact, zone)
    return found if found is not None else parse_time(local, zone)

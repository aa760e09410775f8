"""Plain JSONL, our plainest door: {role, content or text, ts, and optionally id, chat, session, author}."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from indexer.archives.files import ArchiveFile, ReadOptions
from indexer.archives.identity import Identities, source_id
from indexer.archives.lines import Entry, entries, first_objects
from indexer.archives.times import parse_time
from indexer.archives.wording import asides_of, label, read_content, says_something
from schemas.records import ROLES, Dropped, Message, Record, Role, Skipped

ALIASES: dict[str, Role] = {
    **{role: role for role in ROLES},
    "human": "user",
    "ai": "assistant",
    "bot": "assistant",
    "model": "assistant",
    "function": "tool",
    "developer": "system",
}
_TEXT_KEYS = ("content", "text")
_TIME_KEYS = ("ts", "timestamp", "at", "date")
# Lines of Claude Code, Codex, Telethon and others hold texts too, but mean more than these keys tell.
_FOREIGN_KEYS = frozenset(
    {
        "payload",
        "record_type",
        "sessionId",
        "parentUuid",
        "uuid",
        "parentId",
        "message",
        "messages",
        "mapping",
    }
    | {"chat_messages", "sender_id", "leafUuid", "snapshot"}
)
_FOREIGN_BLOCKS = frozenset({"input_text", "output_text"})


class Jsonl:
    """Reads files of one message a line."""

    name = "jsonl"

    def fits(self, file: ArchiveFile) -> bool:
        """True when the first lines hold messages and none belongs to another program's format.

        A text alone is no message: a folder may hold lists of queries or documents beside its talks. Given by
        name it is taken for one.
        """
        objects = first_objects(file)
        if any(_is_foreign(value) for value in objects):
            return False
        return any(_has_text(value) and (file.given or _is_said(value)) for value in objects)

    def read(self, file: ArchiveFile, options: ReadOptions) -> Iterator[Record]:
        """Yield the messages in the order of the lines."""
        identities = Identities()
        for entry in entries(file):
            if not isinstance(entry, Entry):
                yield entry
                continue
            try:
                yield from _records(entry, file.stem, options, identities)
            except Exception as error:
                yield Skipped(entry.place, "a record that is not understood", type(error).__name__)


def _has_text(value: dict[str, Any]) -> bool:
    return any(key in value for key in _TEXT_KEYS)


def _is_said(value: dict[str, Any]) -> bool:
    return any(key in value for key in ("role", "author", *_TIME_KEYS))


def _is_foreign(value: dict[str, Any]) -> bool:
    if not _FOREIGN_KEYS.isdisjoint(value):
        return True
    content = value.get("content")
    return isinstance(content, list) and any(
        isinstance(block, dict) and str(block.get("type")) in _FOREIGN_BLOCKS for block in content
    )


def _records(entry: Entry, stem: str, options: ReadOptions, identities: Identities) -> Iterator[Record]:
    value = entry.value
    if not _has_text(value):
        yield Skipped(entry.place, "a line without text or content", "each message needs one of the two keys")
        return
    try:
        said = read_content(_first(value, _TEXT_KEYS), options)
    except TypeError:
        yield Skipped(entry.place, "a text that is no text", "content must be text or a list of blocks")
        return
    role, author = _speaker(value)
    if (role == "tool" and not options.tool_results) or (role == "thinking" and not options.thinking):
        yield Dropped("tool_result" if role == "tool" else "thinking", len(said.text))
        return
    yield from said.drops
    chat = source_id(value.get("chat")) or stem
    own = source_id(value.get("id"))
    message = Message(
        chat_id=chat,
        id=own or "",
        source="jsonl",
        role=role,
        text=said.text,
        place=entry.place,
        at=parse_time(_first(value, _TIME_KEYS), options.zone),
        chat_title=label(value.get("chat_title")) or label(value.get("title")),
        author=author,
        author_id=source_id(value.get("author_id")),
        session=source_id(value.get("session")),
        edited=parse_time(value.get("edited"), options.zone),
        reply_to=source_id(value.get("reply_to")),
    )
    yield from asides_of(message, said.asides)
    if says_something(message.text):
        yield replace(message, id=own or identities.derive(chat, author or role, message.at, message.text))
    elif not said.asides and not said.drops:
        yield Dropped("empty", len(message.text))


def _first(value: dict[str, Any], keys: tuple[str, ...]) -> object:
    return next((value[key] for key in keys if value.get(key) is not None), None)


def _speaker(value: dict[str, Any]) -> tuple[Role, str | None]:
    """Role and author; a role that is none of ours is taken for the name of a person."""
    raw = label(value.get("role"))
    author = label(value.get("author"))
    if raw is None:
        return "user", author
    role = ALIASES.get(raw.casefold())
    return (role, author) if role is not None else ("user", author or raw)

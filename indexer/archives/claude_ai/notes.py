"""What a Claude.ai account keeps beside its talks: the knowledge of projects, and what was remembered."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import UTC
from typing import Any

from indexer.archives.conversation_branch import Talk, told
from indexer.archives.conversations import Conversation, Form, Said, Turn, conversations
from indexer.archives.files import ArchiveFile
from indexer.archives.identity import derived_id, source_id
from indexer.archives.times import parse_time
from indexer.archives.wording import label, says_something, tidy
from schemas.records import Dropped, Message, Record, Role, Skipped

_PROJECTS = Form(
    turns="docs.item",
    fields=frozenset({"uuid", "name", "description", "prompt_template", "created_at", "updated_at"}),
    begin=re.compile(r'\{\s{0,99}"uuid"\s{0,9}:\s{0,9}"[^"]{0,99}"\s{0,9},\s{0,99}"name"'),
    turn_begin=re.compile(r'\{\s{0,99}"uuid"\s{0,9}:\s{0,9}"[^"]{0,99}"\s{0,9},\s{0,99}"filename"'),
)
_MEMORIES = Form(
    turns="memory_files.item",
    fields=frozenset({"conversations_memory", "project_memories", "account_uuid"}),
    begin=re.compile(r'\{\s{0,99}"conversations_memory"'),
    turn_begin=re.compile(r'\{\s{0,99}"path"\s{0,9}:'),
    required=False,
)


def project_notes(file: ArchiveFile) -> Iterator[Record]:
    """The documents of projects as notes, their instructions as instructions; a chat for each project."""
    for found in conversations(file, _PROJECTS, _document):
        if not isinstance(found, Conversation):
            yield found
            continue
        fields = found.fields
        chat = f"project:{source_id(fields.get('uuid')) or file.stem}"
        talk = Talk("claude", chat, label(fields.get("name")), parse_time(fields.get("created_at"), UTC))
        yield from _note(file, talk, "note", "description", fields.get("description"))
        yield from _note(file, talk, "instruction", "instructions", fields.get("prompt_template"))
        yield from told(talk, found.turns, file)


def memory_notes(file: ArchiveFile) -> Iterator[Record]:
    """What was remembered of all talks and of each project, and the files of the memory, as notes."""
    for found in conversations(file, _MEMORIES, _remembered):
        if not isinstance(found, Conversation):
            yield found
            continue
        fields = found.fields
        own = Talk("claude", f"memory:{source_id(fields.get('account_uuid')) or file.stem}", None, None)
        yield from _note(file, own, "note", "conversations", fields.get("conversations_memory"))
        projects = fields.get("project_memories")
        for project, text in projects.items() if isinstance(projects, dict) else ():
            talk = Talk("claude", f"project:{source_id(project) or 'unknown'}", None, None)
            yield from _note(file, talk, "note", "memory", text)
        yield from told(own, found.turns, file)


def _note(file: ArchiveFile, talk: Talk, role: Role, id: str, text: object) -> Iterator[Record]:
    """A text that stands by itself; nothing where there is none."""
    place = f"{file.name}#{(talk.chat or '').rpartition(':')[2]}/{id}"
    if text is not None and not isinstance(text, str):
        yield Skipped(place, "a text that is no text", "")
    elif text and says_something(text):
        yield Message(
            talk.chat or "", id, "claude", role, tidy(text), place, talk.begun, chat_title=talk.title
        )


def _document(key: str | None, raw: Any, place: str) -> Turn | Skipped:
    return _file_of(raw, place, "filename", "created_at", None)


def _remembered(key: str | None, raw: Any, place: str) -> Turn | Skipped:
    return _file_of(raw, place, "path", "updated_at", "updated_at")


def _file_of(raw: Any, place: str, name_key: str, time_key: str, edit_key: str | None) -> Turn | Skipped:
    if not isinstance(raw, dict):
        return Skipped(place, "a document that is no object", "")
    name, content = label(raw.get(name_key)), raw.get("content")
    if not isinstance(content, str):
        return Skipped(place, "a document without a text", "")
    at = parse_time(raw.get(time_key), UTC)
    text = tidy(f"{name}\n{content}" if name else content)
    id = source_id(raw.get("uuid")) or name or derived_id("", None, at, text)
    if not says_something(content):
        return Turn(id, None, at=at, records=(Dropped("empty", len(content)),))
    edited = parse_time(raw.get(edit_key), UTC) if edit_key else None
    said = Said(id, "note", text, at, edited=edited, meta={"file_name": name[:200]} if name else {})
    return Turn(id, None, at=at, records=(said,))

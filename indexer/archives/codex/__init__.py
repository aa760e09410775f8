"""Codex rollouts, `~/.codex/sessions/YYYY/MM/DD/rollout-<time>-<uuid>.jsonl`, and their legacy form."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import UTC
from typing import Any

from indexer.archives.codex.item import asked, joined, prompt, result, thought
from indexer.archives.codex.twins import Twins
from indexer.archives.files import ArchiveFile, ReadOptions
from indexer.archives.identity import Identities, source_id
from indexer.archives.injected import project_of
from indexer.archives.lines import Entry, entries, first_objects
from indexer.archives.times import parse_time
from indexer.archives.wording import label, says_something
from schemas.records import Dropped, Message, Record, Role, Skipped

_KINDS = frozenset({"session_meta", "turn_context", "response_item", "event_msg", "compacted"})
_SCREEN: dict[str, Role] = {"user_message": "user", "agent_message": "assistant"}
_UUID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")
# Items that say nothing: what they hold is encrypted, a counter or a state of the program.
_SILENT_ITEMS = frozenset({"token_count", "ghost_snapshot", "compaction", "compaction_summary", "other"})


class Codex:
    """Reads rollouts as a flat talk; sub-agents are workers, forks name the talk that they repeat."""

    name = "codex"

    def fits(self, file: ArchiveFile) -> bool:
        """True when a first line is one of a rollout, of a legacy rollout or of Codex's own lists."""
        return any(_is_modern(value) or _is_legacy(value) or _is_list(value) for value in first_objects(file))

    def read(self, file: ArchiveFile, options: ReadOptions) -> Iterator[Record]:
        """Yield the messages in the order of the file; a text that was written twice comes once."""
        try:
            first = first_objects(file, most=1)
        except OSError:
            first = []
        if any(map(_is_list, first)):
            yield Dropped("support_file", 0)
            return
        yield from _Rollout(file, options).read()


def _is_modern(value: Mapping[str, Any]) -> bool:
    kind = value.get("type")
    return isinstance(kind, str) and kind in _KINDS and isinstance(value.get("payload"), dict)


def _is_legacy(value: Mapping[str, Any]) -> bool:
    if "record_type" in value or ("instructions" in value and "id" in value and "timestamp" in value):
        return True
    content = value.get("content")
    return (
        value.get("type") == "message"
        and isinstance(content, list)
        and any(
            isinstance(block, dict) and block.get("type") in ("input_text", "output_text")
            for block in content
        )
    )


def _is_list(value: Mapping[str, Any]) -> bool:
    """`history.jsonl`, the prompts of all sessions once more, and `session_index.jsonl`, their names."""
    own = value.get("session_id") or value.get("id")
    return isinstance(own, str) and value.keys() in (
        {"session_id", "ts", "text"},
        {"id", "thread_name", "updated_at"},
    )


@dataclass(frozen=True, slots=True)
class _Session:
    """Whose rollout it is."""

    id: str
    project: str | None = None
    parent: str | None = None
    worker: bool = False

    @classmethod
    def of(cls, meta: Mapping[str, Any], fallback: str) -> _Session:
        own = source_id(meta.get("id")) or source_id(meta.get("session_id")) or fallback
        source = meta.get("source")
        spawned = meta.get("thread_source") == "subagent" or (
            isinstance(source, dict) and any("agent" in key.lower() or "spawn" in key for key in source)
        )
        parent = source_id(meta.get("forked_from_id")) or source_id(meta.get("parent_thread_id"))
        parent = parent or (_spawner(source) if isinstance(source, dict) else None)
        return cls(own, project_of(meta.get("cwd")), parent if parent != own else None, spawned)


def _spawner(source: Mapping[str, Any]) -> str | None:
    """The thread that started a sub-agent: `{"subagent": {"thread_spawn": {"parent_thread_id": …}}}`."""
    level: object = source
    for _ in range(3):
        if not isinstance(level, dict):
            break
        if parent := source_id(level.get("parent_thread_id")):
            return parent
        level = next((inner for inner in level.values() if isinstance(inner, dict)), None)
    return None


class _Rollout:
    def __init__(self, file: ArchiveFile, options: ReadOptions) -> None:
        self._file, self._options = file, options
        found = _UUID.search(file.base)
        self._session = _Session(found.group() if found else file.stem)
        self._known = False
        self._twins = Twins()
        self._identities = Identities()
        self._seen: set[str] = set()
        self._tools: dict[str, str] = {}

    def read(self) -> Iterator[Record]:
        for entry in entries(self._file):
            yield from map(self._told, self._twins.step())
            if not isinstance(entry, Entry):
                self._twins.take(entry)
                continue
            try:
                found = list(self._records(entry))
            except Exception as error:
                skip = Skipped(entry.place, "a line that is not understood", type(error).__name__)
                found = [(skip, False)]
            for record, screen in found:
                self._twins.take(record, screen)
        yield from map(self._told, self._twins.rest())

    def _told(self, record: Record) -> Record:
        """The record as it is yielded: an id is given when it is sure that the message is told."""
        if not isinstance(record, Message):
            return record
        if record.id and record.id not in self._seen:
            self._seen.add(record.id)
            return record
        own = self._identities.derive(record.chat_id, record.role, record.at, record.text)
        return replace(record, id=own)

    def _records(self, entry: Entry) -> Iterator[tuple[Record, bool]]:
        """The records of a line, and whether each is a message of the screen."""
        value = entry.value
        kind = value.get("type")
        if isinstance(kind, str) and kind in _KINDS:
            payload = value.get("payload")
            if isinstance(payload, dict):
                yield from self._payload(entry, kind, payload)
            else:
                yield Skipped(entry.place, "a line without a payload", "it has no {…} under payload"), False
        elif "record_type" in value:
            yield Dropped("state", 0), False
        elif kind is None and "id" in value and "timestamp" in value:
            self._settle(value)
        elif isinstance(kind, str) and "payload" not in value:
            yield from ((record, False) for record in self._item(entry, value))
        else:
            yield Skipped(entry.place, "an unknown type of line", f"type {str(kind)[:40]!r}"), False

    def _payload(self, entry: Entry, kind: str, payload: dict[str, Any]) -> Iterator[tuple[Record, bool]]:
        if kind == "session_meta":
            self._settle(payload)
        elif kind == "turn_context":
            if self._session.project is None:
                self._session = replace(self._session, project=project_of(payload.get("cwd")))
        elif kind == "event_msg":
            yield from self._event(entry, payload)
        elif kind == "compacted":  # its replacement_history repeats what was said
            yield self._message(entry, payload, "summary", joined(payload.get("message"))), False
        else:
            yield from ((record, False) for record in self._item(entry, payload))

    def _settle(self, meta: Mapping[str, Any]) -> None:
        """Take the first header: a fork goes on with those of its ancestors."""
        if not self._known:
            self._known = True
            self._session = _Session.of(meta, self._session.id)

    def _event(self, entry: Entry, event: Mapping[str, Any]) -> Iterator[tuple[Record, bool]]:
        role = _SCREEN.get(str(event.get("type")))
        if role is None:
            yield Dropped("event", 0), False
            return
        text, drops = joined(event.get("message")), list[Dropped]()
        if role == "user":
            text, drops = prompt(text)
        yield from ((drop, False) for drop in drops)
        if says_something(text) or not drops:
            yield self._message(entry, event, role, text), True

    def _item(self, entry: Entry, item: Mapping[str, Any]) -> Iterator[Record]:
        kind = item.get("type")
        if kind == "message":
            yield from self._talk(entry, item)
        elif kind == "reasoning":
            text = thought(item)
            if self._options.thinking and says_something(text):
                yield self._message(entry, item, "thinking", text)
            else:
                yield Dropped("thinking", len(text))
        elif isinstance(kind, str) and kind.endswith("_call"):
            self._note_tool(item)
            yield Dropped("tool_call", asked(item))
        elif isinstance(kind, str) and kind.endswith("_output"):
            yield self._result(entry, item)
        elif kind in _SILENT_ITEMS:
            yield Dropped("event", 0)
        else:
            yield Skipped(entry.place, "an unknown type of item", f"type {str(kind)[:40]!r}")

    def _talk(self, entry: Entry, item: Mapping[str, Any]) -> Iterator[Record]:
        role, content = item.get("role"), item.get("content")
        if content is None:
            yield Skipped(entry.place, "a message without content", "its item has no key content")
        elif role == "user":
            text, drops = prompt(content)
            yield from drops
            if says_something(text) or not drops:
                yield self._message(entry, item, "user", text)
        elif role == "assistant":
            yield self._message(entry, item, "assistant", joined(content))
        elif role in ("developer", "system"):
            yield Dropped("instructions", len(joined(content)))
        else:
            yield Skipped(entry.place, "an unknown role", f"role {str(role)[:40]!r}")

    def _note_tool(self, item: Mapping[str, Any]) -> None:
        call, name = item.get("call_id"), label(item.get("name"))
        if self._options.tool_results and isinstance(call, str) and name is not None:
            self._tools[call] = name

    def _result(self, entry: Entry, item: Mapping[str, Any]) -> Record:
        text = result(item.get("output"))
        call = item.get("call_id")
        tool = self._tools.pop(call, None) if isinstance(call, str) else None
        if not self._options.tool_results or not says_something(text):
            return Dropped("tool_result", len(text))
        message = self._message(entry, item, "tool", text)
        return replace(message, author=tool) if isinstance(message, Message) else message

    def _message(self, entry: Entry, item: Mapping[str, Any], role: Role, text: str) -> Message | Dropped:
        if not says_something(text):
            return Dropped("empty", len(text))
        at = parse_time(entry.value.get("timestamp"), UTC)
        session = self._session
        return Message(
            chat_id=session.id,
            id=source_id(item.get("id")) or "",
            source=Codex.name,
            role=role,
            text=text,
            place=entry.place,
            at=at if at is not None else parse_time(item.get("timestamp"), UTC),
            chat_title=session.project,
            session=session.id,
            agent="worker" if session.worker else None,
            copied_from=session.parent,
            meta={"project": session.project} if session.project is not None else {},
        )

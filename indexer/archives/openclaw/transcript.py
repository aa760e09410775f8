"""One OpenClaw session as a tree of entries: which branch is active, and what each entry says."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC
from itertools import islice
from typing import Any

from indexer.archives.files import ReadOptions
from indexer.archives.guarding import understood
from indexer.archives.identity import Identities, source_id
from indexer.archives.lines import Entry
from indexer.archives.openclaw.branch import ActiveBranch
from indexer.archives.openclaw.cleaning import NOTE_FILE, RECALL, cleaned
from indexer.archives.openclaw.index import Facts, Index
from indexer.archives.times import parse_time
from indexer.archives.wording import asides_of, content_text, label, read_content, says_something, tidy
from schemas.records import Dropped, Message, Record, Role, Skipped

Entries = Callable[[], Iterator[Entry | Skipped | Dropped]]
_SILENT = frozenset(
    {"session", "model_change", "thinking_level_change", "label", "session_info", "reset", "leaf"}
)
_SESSION_NAME = re.compile(
    r"(?:\d{4}-\d{2}-\d{2}T[\d-]+Z?_)?(?P<id>.+?)(?:-topic-[^.]+)?\.jsonl(?:\.|$)", re.DOTALL
)
_LONGEST_PATH = 4096
_MARKER = re.compile(r"sqlite:[^:]+:(?P<id>[^:]+):.")


class Session:
    """Whose transcript it is: id, title and what the agent's index tells of it."""

    def __init__(self, id: str, index: Index, meta: Mapping[str, str]) -> None:
        self.id = id
        self.title: str | None = None
        self.meta = dict(meta)
        self.agent: str | None = None
        self.parent: str | None = None
        self._index = index

    def settle(self, id: str | None, name: str | None, parent: str | None) -> None:
        """Take what the transcript itself tells: it knows better than its file name and the index."""
        known = self._index.get(id or self.id) or self._index.get(self.id) or Facts()
        self.id = id or self.id
        self.title = name or known.title
        self.agent = "worker" if known.worker else None
        self.parent = next((one for one in (parent, known.parent) if one and one != self.id), None)
        for key, value in (("session_key", known.key), ("chat_type", known.chat_type)):
            if value:
                self.meta[key] = value


def session_of_name(base: str) -> str | None:
    """The session id in the name of a transcript or of an archive of one, or None."""
    match = _SESSION_NAME.match(base)
    return match["id"] if match else None


def parent_of_header(value: object) -> str | None:
    """The session that a header's `parentSession` names: by its file, by a place in a database, or by id."""
    written = source_id(value)
    if written is None or len(written) > _LONGEST_PATH:
        return None
    if match := _MARKER.match(written):
        return match["id"]
    base = re.split(r"[/\\]", written)[-1]
    if (session := session_of_name(base)) is not None:
        return session
    # A session key (agent:main:main) names a place in the agent's index, which holds another session by now.
    return written if base == written and ":" not in written else None


class Transcript:
    """Reads a session in two passes: the first for the tree and the title, the second for the words."""

    def __init__(self, session: Session, options: ReadOptions) -> None:
        self._session, self._options = session, options
        self._identities = Identities()
        self._side: frozenset[str] = frozenset()
        self._note_calls: set[str] = set()

    def read(self, source: Entries) -> Iterator[Record]:
        """Yield every entry's records in the order of the source; memory holds ids, never texts."""
        count = self._survey(source())
        # The gateway appends while we read: what came after the first pass is for the next build.
        for entry in islice(source(), count):
            if not isinstance(entry, Entry):
                yield entry
                continue
            yield from understood(self._records(entry), entry.place, "an entry that is not understood")

    def _survey(self, found: Iterator[Entry | Skipped | Dropped]) -> int:
        count, branch = 0, ActiveBranch()
        own = name = parent = None
        for entry in found:
            count += 1
            if not isinstance(entry, Entry):
                continue
            value = entry.value
            if value.get("type") == "session":
                own = own or source_id(value.get("id"))
                parent = parent or parent_of_header(value.get("parentSession"))
                continue
            if value.get("type") == "session_info":
                name = label(value.get("name")) or name
            branch.take(value)
        self._session.settle(own, name, parent)
        self._side = branch.side()
        return count

    def _records(self, entry: Entry) -> Iterator[Record]:
        value = entry.value
        kind = value.get("type")
        if kind == "message":
            yield from self._message(entry, value.get("message"))
        elif kind in ("compaction", "branch_summary"):
            yield from self._said(entry, "summary", value.get("summary"), {"kind": str(kind)})
        elif kind == "custom_message":
            custom = str(value.get("customType"))
            text = content_text(value.get("content"))
            yield Dropped("recalled" if RECALL.search(custom) else "custom", len(text))
        elif kind == "custom":
            yield Dropped("custom", 0)
        elif kind not in _SILENT:
            yield Skipped(entry.place, "an unknown type of entry", f"type {str(kind)[:40]!r}")

    def _message(self, entry: Entry, message: object) -> Iterator[Record]:
        if not isinstance(message, dict):
            yield Skipped(entry.place, "a message without a body", "")
            return
        role = message.get("role")
        if role in ("user", "assistant", "system"):
            yield from self._talk(entry, role, message)
        elif role in ("toolResult", "bashExecution", "tool"):
            yield from self._tool(entry, message)
        elif role in ("branchSummary", "compactionSummary"):
            text = message.get("summary") or message.get("content")
            yield from self._said(entry, "summary", text, {"kind": str(role)})
        elif role in ("custom", "hookMessage"):
            text = content_text(message.get("content"))
            yield Dropped(
                "recalled" if RECALL.search(str(message.get("customType"))) else "custom", len(text)
            )
        else:
            yield Skipped(entry.place, "an unknown role", f"role {str(role)[:40]!r}")

    def _talk(self, entry: Entry, role: Role, message: dict[str, Any]) -> Iterator[Record]:
        content = message.get("content")
        self._note_reads(content)
        said = read_content(content, self._options)
        text = said.text
        yield from said.drops
        if said.asides:
            yield from asides_of(self._build(entry, role, text, {}, aside=True), said.asides)
        if role == "assistant" and not text and message.get("stopReason") in ("error", "aborted"):
            yield Dropped("error", len(str(message.get("errorMessage") or "")))
            return
        if role == "assistant" and not text and (said.drops or said.asides):
            return  # a turn of thinking and calls alone; both have been counted
        clean = cleaned(role, text)
        yield from clean.drops
        if clean.noise is not None or not says_something(clean.text):
            yield Dropped(clean.noise or "empty", len(clean.text))
            return
        yield self._build(
            entry, clean.role or role, clean.text, clean.meta, author=clean.author, author_id=clean.author_id
        )

    def _tool(self, entry: Entry, message: dict[str, Any]) -> Iterator[Record]:
        bash = message.get("role") == "bashExecution"
        text = content_text(message.get("output" if bash else "content"))
        tool = "bash" if bash else label(message.get("toolName"))
        if bash and isinstance(message.get("command"), str):
            text = tidy(f"$ {message['command']}\n{text}")
        kind = "tool_result"
        if not self._options.tool_results:
            yield Dropped(kind, len(text))
            return
        if message.get("toolCallId") in self._note_calls:
            kind = "note_copy"
        elif tool is not None and RECALL.search(tool):
            kind = "recalled"
        if kind != "tool_result" or not says_something(text):
            yield Dropped(kind, len(text))
            return
        failed = {"error": "true"} if message.get("isError") is True else {}
        yield self._build(entry, "tool", text, failed, author=tool)

    def _note_reads(self, content: object) -> None:
        """Remember calls that read a note: their results are copies of it."""
        if not self._options.tool_results or not isinstance(content, list):
            return
        for block in content:
            if not isinstance(block, dict) or block.get("type") != "toolCall":
                continue
            asked = json.dumps(block.get("arguments"), ensure_ascii=False, default=str)
            if isinstance(block.get("id"), str) and NOTE_FILE.search(asked):
                self._note_calls.add(block["id"])

    def _said(self, entry: Entry, role: Role, content: object, meta: Mapping[str, str]) -> Iterator[Record]:
        text = content_text(content)
        if says_something(text):
            yield self._build(entry, role, text, meta)
        else:
            yield Dropped("empty", len(text))

    def _build(
        self,
        entry: Entry,
        role: Role,
        text: str,
        meta: Mapping[str, str],
        author: str | None = None,
        author_id: str | None = None,
        aside: bool = False,
    ) -> Message:
        value = entry.value
        message = value.get("message")
        at = parse_time(message.get("timestamp"), UTC) if isinstance(message, dict) else None
        at = at if at is not None else parse_time(value.get("timestamp"), UTC)
        own = source_id(value.get("id"))
        session = self._session
        return Message(
            chat_id=session.id,
            id=own
            or ("" if aside else self._identities.derive(session.id, author_id or author or role, at, text)),
            source="openclaw",
            role=role,
            text=text,
            place=entry.place,
            at=at,
            chat_title=session.title,
            author=author,
            author_id=author_id,
            session=session.id,
            agent=session.agent,
            side_branch=own in self._side,
            # Eight hex digits are unique in their session alone; a fork keeps them and the time.
            origin=f"{own}@{at}" if own is not None and at is not None else None,
            copied_from=session.parent,
            meta={**session.meta, **meta},
        )

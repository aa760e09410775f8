"""Claude Code transcripts: `~/.claude/projects/<path>/<uuid>.jsonl` and `agent-*.jsonl`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from datetime import UTC
from itertools import islice
from typing import Any

from indexer.archives.claude_code.cleaning import cleaned_prompt, is_error, queued_prompt, without_reminders
from indexer.archives.claude_code.survey import TALK, TITLES, Survey, is_aside, survey
from indexer.archives.files import ArchiveFile, ReadOptions
from indexer.archives.guarding import understood
from indexer.archives.identity import Identities, source_id
from indexer.archives.injected import project_of
from indexer.archives.lines import Entry, entries, first_objects
from indexer.archives.times import parse_time
from indexer.archives.wording import Content, asides_of, content_text, label, read_content, says_something
from schemas.records import Dropped, Message, Record, Role, Skipped

# Lines about the program, not of the talk; a later version may write others, which are told as unknown.
_SERVICE = frozenset(
    {"file-history-snapshot", "queue-operation", "progress", "mode", "permission-mode", "last-prompt"}
    | {"agent-name", "agent-color", "agent-setting", "pr-link", "tag", "relocated", "continued-in"}
    | {"content-replacement", "attribution-snapshot", "fork-context-ref", "worktree-state", "cost-state"}
)


class ClaudeCode:
    """Reads sessions as they were talked; sub-agents are workers, turns taken back are side branches."""

    name = "claude_code"

    def fits(self, file: ArchiveFile) -> bool:
        """True when a first line is one of Claude Code's."""
        return any(_is_own(value) or _is_prompt_history(value) for value in first_objects(file))

    def read(self, file: ArchiveFile, options: ReadOptions) -> Iterator[Record]:
        """Yield the messages in the order of the file; a line that was copied within it comes once."""
        if any(map(_is_prompt_history, _readable(file))):
            yield Dropped("support_file", 0)
            return
        yield from Transcript(file, options).read()


def _readable(file: ArchiveFile) -> list[dict[str, Any]]:
    try:
        return first_objects(file, most=1)
    except OSError:
        return []


def _is_own(value: Mapping[str, Any]) -> bool:
    kind = value.get("type")
    if not isinstance(kind, str):
        return False
    if kind in TALK:
        return isinstance(value.get("message"), dict) and ("uuid" in value or "sessionId" in value)
    if kind == "summary":
        return "leafUuid" in value
    if kind == "file-history-snapshot":
        return "snapshot" in value
    return "sessionId" in value and (kind in _SERVICE or "uuid" in value)


def _is_prompt_history(value: Mapping[str, Any]) -> bool:
    """`~/.claude/history.jsonl`: the prompts of all sessions once more."""
    return "display" in value and "pastedContents" in value and "project" in value


class Transcript:
    """Reads a file in two passes: the first for the trees and the titles, the second for the words."""

    def __init__(self, file: ArchiveFile, options: ReadOptions) -> None:
        self._file, self._options = file, options
        self._survey = Survey()
        self._identities = Identities()
        self._seen: dict[str, int] = {}
        self._texts: set[int] = set()
        self._active: set[str] = set()
        self._beside: set[str] = set()
        self._projects: dict[str, str] = {}

    def read(self) -> Iterator[Record]:
        """Yield every line's records in the order of the file."""
        self._survey = survey(self._file)
        # The agent appends while we read: what came after the first pass is for the next build.
        for entry in islice(entries(self._file), self._survey.count):
            if not isinstance(entry, Entry):
                yield entry
                continue
            yield from understood(self._records(entry), entry.place, "a line that is not understood")

    def _records(self, entry: Entry) -> Iterator[Record]:
        value = entry.value
        kind = value.get("type")
        if not isinstance(kind, str):
            yield Skipped(entry.place, "an unknown type of line", f"type {str(kind)[:40]!r}")
        elif kind in TALK:
            yield from self._line(entry, value.get("message"))
        elif kind == "attachment":
            prompt = queued_prompt(value.get("attachment"))
            if prompt is None:
                yield Dropped("attachment", 0)
            else:
                yield from self._line(entry, {"role": "user", "content": prompt})
        elif kind == "system":
            text = value.get("content")
            yield Dropped("system", len(text) if isinstance(text, str) else 0)
        elif kind in TITLES:
            yield Dropped("title", len(label(value.get(TITLES[kind])) or ""))
        elif kind in _SERVICE:
            yield Dropped(kind.replace("-", "_"), 0)
        else:
            yield Skipped(entry.place, "an unknown type of line", f"type {kind[:40]!r}")

    def _line(self, entry: Entry, message: object) -> Iterator[Record]:
        if not isinstance(message, dict):
            yield Skipped(entry.place, "a message without a body", "its line has no {…} under message")
            return
        content = message.get("content")
        if content is None:
            yield Skipped(entry.place, "a message without content", "its message has no key content")
            return
        own = source_id(entry.value.get("uuid"))
        known = self._seen.get(own) if own is not None else None
        if known is not None and known == hash(text := content_text(content)):
            yield Dropped("repeat", len(text))
            return
        if known is not None:  # other words under a uuid that is taken: a damaged line, but words
            entry = Entry(entry.place, {**entry.value, "uuid": None})
        said = read_content(content, self._options)
        if entry.value.get("isMeta") is True:
            yield Dropped("meta", len(said.text))
        elif entry.value.get("type") == "assistant":
            yield from self._answer(entry, message, said)
        else:
            yield from self._prompt(entry, said)
        if own is not None:
            self._seen.setdefault(own, hash(said.text))

    def _prompt(self, entry: Entry, said: Content) -> Iterator[Record]:
        yield from said.drops
        if said.asides:
            asides = tuple((role, without_reminders(text)) for role, text in said.asides)
            for aside in asides_of(self._build(entry, "user", ""), asides):
                yield aside if says_something(aside.text) else Dropped("reminder", 0)
        role: Role = "summary" if entry.value.get("isCompactSummary") is True else "user"
        text, drops = cleaned_prompt(said.text) if role == "user" else (said.text, [])
        yield from drops
        if says_something(text):
            yield self._told(self._build(entry, role, text))
        elif text or not (drops or said.drops or said.asides):
            yield Dropped("empty", len(text))

    def _answer(self, entry: Entry, message: Mapping[str, Any], said: Content) -> Iterator[Record]:
        turn = source_id(message.get("id"))
        self._follow(source_id(entry.value.get("uuid")), turn)
        yield from said.drops
        if not said.text:
            if not (said.drops or said.asides):
                yield Dropped("empty", 0)
            if not said.asides:
                return
        base = self._build(entry, "assistant", said.text)
        for aside in asides_of(base, said.asides):
            yield Dropped("repeat", len(aside.text)) if self._is_copy(turn, aside) else aside
        if is_error(entry.value, message, said.text):
            yield Dropped("error", len(said.text))
        elif not says_something(said.text):
            if said.text:
                yield Dropped("empty", len(said.text))
        elif self._is_copy(turn, base):
            yield Dropped("repeat", len(said.text))
        else:
            yield self._told(base)

    def _is_copy(self, turn: str | None, message: Message) -> bool:
        """Whether a part of one answer was written before: a stream leaves several lines of one text."""
        if turn is None:
            return False
        key = hash((turn, message.chat_id, message.role, message.text))
        known = key in self._texts
        self._texts.add(key)
        return known

    def _told(self, message: Message) -> Message:
        if message.id:
            return message
        return replace(
            message, id=self._identities.derive(message.chat_id, message.role, message.at, message.text)
        )

    def _build(self, entry: Entry, role: Role, text: str) -> Message:
        value = entry.value
        chat = source_id(value.get("sessionId")) or self._file.stem
        own = source_id(value.get("uuid"))
        aside = is_aside(value)
        project = project_of(value.get("cwd"))
        if project is not None:
            self._projects.setdefault(chat, project)
        # The file of a sub-agent knows no title, and the first title that is told stays.
        title = self._survey.titles.get(chat) or (None if aside else self._projects.get(chat))
        fork = value.get("forkedFrom")
        fork = fork if isinstance(fork, dict) else {}
        return Message(
            chat_id=chat,
            id=own or "",
            source=ClaudeCode.name,
            role=role,
            text=text,
            place=entry.place,
            at=parse_time(value.get("timestamp"), UTC),
            chat_title=title,
            session=f"{chat}/{label(value.get('agentId')) or 'sidechain'}" if aside else chat,
            agent="worker" if aside else None,
            side_branch=self._is_side(own, value),
            origin=source_id(fork.get("messageUuid")) or own,
            copied_from=source_id(fork.get("sessionId")),
            meta={"project": project} if project is not None else {},
        )

    def _follow(self, own: str | None, turn: str | None) -> None:
        """Note an answer that is on the branch, whichever of its lines the talk went on from."""
        if turn is None:
            return
        if not self._is_off(own):
            self._active.add(turn)
        elif own is not None and turn in self._active:
            self._beside.add(own)  # the talk went on below an earlier line of the same answer

    def _is_side(self, own: str | None, value: Mapping[str, Any]) -> bool:
        """Whether a line is off the active branch.

        Results of calls that ran side by side, and what was typed meanwhile, hang beside the branch that they
        belong to.
        """
        if not self._is_off(own):
            return False
        hanging = "toolUseResult" in value or value.get("type") == "attachment"
        return not hanging or self._is_off(source_id(value.get("parentUuid")))

    def _is_off(self, own: str | None) -> bool:
        return own in self._survey.side and own not in self._beside

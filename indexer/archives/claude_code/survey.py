"""The first look at a Claude Code transcript: titles of its sessions, and lines off their active branches."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from indexer.archives.branches import Tree
from indexer.archives.files import ArchiveFile
from indexer.archives.identity import source_id
from indexer.archives.lines import raw_lines
from indexer.archives.wording import label

MAX_TITLE = 100
TALK = frozenset({"user", "assistant"})
# How a line tells the title of a session, the weakest first: a summary of it, the model's, the owner's.
TITLES = {"summary": "summary", "ai-title": "aiTitle", "custom-title": "customTitle"}
_RANKS = {kind: rank for rank, kind in enumerate(TITLES)}
# How Claude Code itself writes the lines of a talk: the keys that count stand before the message.
_USUAL = re.compile(
    rb'\{"parentUuid": ?"([!#-\[\]-~]{1,200})", ?"isSidechain": ?false,[^{}]{0,2000}?'
    rb'"sessionId": ?"([!#-\[\]-~]{1,200})",[^{}]{0,2000}?"type": ?"(?:user|assistant)", ?"message": ?\{'
)
_SAID = (b'"type":"user"', b'"type":"assistant"', b'"type": "user"', b'"type": "assistant"')
_TITLE_MARKS = (b'"leafUuid"', b'"aiTitle"', b'"customTitle"')


@dataclass(frozen=True, slots=True)
class Survey:
    """What must be known of a whole file before its first message is told.

    Attributes:
        count: at most how many records its lines are, broken ones included.
        titles: title by session id.
        side: uuids off the active branches.
    """

    count: int = 0
    titles: Mapping[str, str] = field(default_factory=dict)
    side: frozenset[str] = frozenset()


def survey(file: ArchiveFile) -> Survey:
    """Read a file once for its tree and titles; few lines are parsed, and memory holds ids."""
    count, found = 1, _Findings()  # one more may tell of the file's encoding
    for line in raw_lines(file):
        count += 1
        found.take(line)
    return Survey(count, found.titles(), found.side())


class _Findings:
    def __init__(self) -> None:
        self._tree = Tree()
        self._session_of: dict[str, str] = {}
        self._leaves: dict[str, str] = {}
        self._known: dict[str, str] = {}
        self._titles: list[tuple[int, str, str]] = []
        self._has_parents = True

    def take(self, line: bytes) -> None:
        """Take a line: by its few keys where they can be told from those of an inner object, else parsed."""
        if b'"uuid":' not in line:
            if any(mark in line for mark in _TITLE_MARKS):
                self._parsed(line)
            return
        if b'"agentId":' in line:
            self._parsed(line)
        elif (match := _USUAL.match(line)) and (own := _once(line, b'"uuid":', match.end())):
            self._link(own, match[1].decode(), match[2].decode(), said=True)
        else:
            self._unusual(line)

    def _unusual(self, line: bytes) -> None:
        inner = line.find(b"{", 1)
        own = _only(line, b'"uuid":', inner)
        parent, session = _only(line, b'"parentUuid":', inner), _only(line, b'"sessionId":', inner)
        if own is None or parent is None or session is None:
            self._parsed(line)
        elif not _is_true(line, b'"isSidechain":'):
            self._link(own, parent, session, _is_said(line, inner))

    def _parsed(self, line: bytes) -> None:
        try:
            value = json.loads(line)
        except (ValueError, RecursionError):
            return
        if not isinstance(value, dict):
            return
        kind = value.get("type")
        if not isinstance(kind, str):
            return
        if kind in TITLES:
            self._title(kind, value)
        own = source_id(value.get("uuid"))
        if own is None or is_aside(value):
            return
        parent = source_id(value.get("parentUuid")) or source_id(value.get("logicalParentUuid"))
        said = kind in TALK
        if parent is None and kind == "assistant":
            self._has_parents = False  # an answer to nothing: these lines do not tell their parents
        # Only a prompt can start afresh: over a compaction or the line of a hook the talk goes on.
        joint = parent is None and (
            kind != "user" or value.get("isMeta") is True or value.get("isCompactSummary") is True
        )
        self._link(own, parent, source_id(value.get("sessionId")) or "", said, joint)

    def _link(self, own: str, parent: str | None, session: str, said: bool, joint: bool = False) -> None:
        if own in self._tree:
            return
        session = self._known.setdefault(session, session)
        self._tree.add(own, parent, joint)
        self._session_of[own] = session
        if said:  # a hook's late line hangs from an older one, so it is no leaf
            self._leaves[session] = own

    def _title(self, kind: str, value: dict[str, Any]) -> None:
        title = _short(label(value.get(TITLES[kind])))
        of = source_id(value.get("leafUuid" if kind == "summary" else "sessionId"))
        if title is not None and of is not None:
            self._titles.append((_RANKS[kind], of, title))

    def titles(self) -> dict[str, str]:
        """The strongest, then the latest title of each session; a summary of a talk elsewhere is none."""
        found: dict[str, str] = {}
        for rank, of, title in sorted(self._titles, key=lambda told: told[0]):
            session = of if rank else self._session_of.get(of)
            if session is not None:
                found[session] = title
        return found

    def side(self) -> frozenset[str]:
        """What lies on the active branch of no session."""
        if not self._leaves or not self._has_parents:
            return frozenset()
        return self._tree.side(*self._leaves.values())


def _short(title: str | None) -> str | None:
    # A title stands in the header of every chunk, and a summary may be a paragraph.
    if title is None or len(title) <= MAX_TITLE:
        return title
    return (title[:MAX_TITLE].rpartition(" ")[0] or title[:MAX_TITLE]).rstrip() + "…"


def is_aside(value: Mapping[str, Any]) -> bool:
    """True for a line of a sub-agent."""
    return value.get("isSidechain") is True or isinstance(value.get("agentId"), str)


def _only(line: bytes, key: bytes, inner: int) -> str | None:
    r"""The text behind a key that stands before any inner object, or once; None where that needs a parser.

    Inside a JSON string the key's quotes would be escaped, so `"uuid":` is always a key.
    """
    at = line.find(key)
    if at < 0 or (at > inner and line.find(key, at + len(key)) >= 0):
        return None
    return _text_at(line, at + len(key))


def _once(line: bytes, key: bytes, begin: int) -> str | None:
    """The text behind a key that stands once from a place on, else None."""
    at = line.find(key, begin)
    if at < 0 or line.find(key, at + len(key)) >= 0:
        return None
    return _text_at(line, at + len(key))


def _text_at(line: bytes, at: int) -> str | None:
    at += line.startswith(b" ", at)
    end = line.find(b'"', at + 1)
    if not line.startswith(b'"', at) or end < 0:
        return None
    found = line[at + 1 : end]
    return found.decode().strip() or None if found.isascii() and b"\\" not in found else None


def _is_true(line: bytes, key: bytes) -> bool:
    at = line.find(key) + len(key)
    return at >= len(key) and line.startswith((b"true", b" true"), at)


def _is_said(line: bytes, inner: int) -> bool:
    return any(line.find(mark, 0, inner) >= 0 for mark in _SAID) or any(mark in line for mark in _SAID)

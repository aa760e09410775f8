"""Judged queries: what is asked, where, and which messages answer it."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import Any

from schemas.problems import SettingsError


@dataclass(frozen=True, slots=True)
class JudgedQuery:
    """One query with its gold.

    Attributes:
        text: as a person would type it.
        relevant: ids of the messages that answer it; empty where nothing does.
        chat: id of the chat that holds them, and that is searched; None: every chat, ids of any.
        kind: figures are also given by kind.
        answerable: whether the archive answers it at all. A near miss may have relevant messages (the right
            subject) and no answer.
        among: ids of the chats that are searched instead, also in a pooled set; none: see `chat`.
    """

    text: str
    relevant: tuple[str, ...] = ()
    chat: str | None = None
    kind: str = ""
    answerable: bool = True
    among: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class JudgedSet:
    """Queries over one index.

    Attributes:
        name: as the report shows it.
        queries: in the order of their file.
        pooled: search all chats, whatever chat a query names; its gold stays in that chat.
        now: what "last week" is counted back from; None: the newest message of the index.
    """

    name: str
    queries: Sequence[JudgedQuery]
    pooled: bool = False
    now: datetime | None = None

    def of_kinds(self, kinds: Iterable[str]) -> JudgedSet:
        """The part of some kinds; all of it where none is named."""
        wanted = set(kinds)
        kept = [query for query in self.queries if not wanted or query.kind in wanted]
        return replace(self, queries=kept)

    def first(self, count: int | None) -> JudgedSet:
        """At most so many queries, evenly from the whole list, so that no kind is lost at its end."""
        if count is None or count >= len(self.queries):
            return self
        picked = [self.queries[number * len(self.queries) // count] for number in range(count)]
        return replace(self, queries=picked)


def read_queries(path: Path) -> list[JudgedQuery]:
    """The judged queries of a JSONL file.

    A line holds `text` (or `q`), `relevant` (or `rel`: message ids), and optionally `chat`, `kind` and
    `answerable` (true where there are relevant messages, unless it says otherwise).

    Raises:
        SettingsError: a line is none, or the file holds none.
    """
    queries = []
    for number, line in enumerate(path.read_text("utf-8-sig").splitlines(), 1):
        if not line.strip():
            continue
        try:
            queries.append(_query(json.loads(line)))
        except (ValueError, TypeError, AttributeError) as error:
            raise SettingsError(
                f"Line {number} of {path.name} is no judged query: {error}.",
                'write {"text": "…", "relevant": ["message id", …], "chat": "…", "kind": "…"}',
            ) from None
    if not queries:
        raise SettingsError(f"{path.name} holds no judged query.", "write one a line, as JSON")
    return queries


def _query(value: dict[str, Any]) -> JudgedQuery:
    text = value.get("text", value.get("q"))
    relevant = value.get("relevant", value.get("rel", []))
    chat = value.get("chat")
    answerable = value.get("answerable")
    if not isinstance(text, str) or not text.strip():
        raise ValueError("it has no text")
    if not isinstance(relevant, list):
        raise ValueError("relevant is no list of message ids")
    if answerable is not None and not isinstance(answerable, bool):
        raise ValueError("answerable is neither true nor false")
    return JudgedQuery(
        text=text,
        relevant=tuple(dict.fromkeys(str(id_) for id_ in relevant)),
        chat=None if chat is None else str(chat),
        kind=str(value.get("kind", "")),
        answerable=bool(relevant) if answerable is None else answerable,
    )

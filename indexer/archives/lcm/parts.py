"""What stands beside the text of a message in lcm.db: its thinking, and what went to and came from tools."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import apsw

from indexer.archives.databases import text_of
from indexer.archives.files import ReadOptions
from indexer.archives.openclaw.cleaning import NOTE_FILE, RECALL
from indexer.archives.wording import label, says_something, tidy
from schemas.records import Role

# Copies of what the index holds already; kept they would be found instead of it.
FED_BACK = frozenset({"recalled", "note_copy"})
_TEXTS = ("text_content", "tool_name", "tool_input", "tool_output")


@dataclass(frozen=True, slots=True)
class Part:
    """One part of a message.

    Attributes:
        kind: thinking, tool_result, tool_call, recalled or note_copy.
        characters: how long its text is.
        role: what it is kept as, or None where it is only counted.
        text: its text, where it is kept.
        tool: the tool's name, or None.
    """

    kind: str
    characters: int
    role: Role | None = None
    text: str = ""
    tool: str | None = None


class Parts:
    """The parts of messages, asked for a few messages at a time.

    Args:
        connection: to the database.
        known: the columns of `message_parts`; without its `message_id` there are no parts.
        options: whether thinking and tool results are kept.
    """

    def __init__(self, connection: apsw.Connection, known: frozenset[str], options: ReadOptions) -> None:
        self._connection, self._options = connection, options
        self._there = known >= {"message_id", "part_type"}
        chosen = ", ".join(f"CAST({name} AS BLOB)" if name in known else "NULL" for name in _TEXTS)
        order = "message_id, ordinal" if "ordinal" in known else "message_id, rowid"
        self._sql = (
            f"SELECT message_id, CAST(part_type AS BLOB), {chosen} FROM message_parts"
            f" WHERE message_id IN (SELECT value FROM json_each(?)) ORDER BY {order}"
        )

    def of(self, messages: Sequence[Any]) -> Mapping[Any, list[Part]]:
        """The parts by message, in order; the text itself is none of them.

        Raises:
            apsw.Error: a damaged page.
        """
        found: dict[Any, list[Part]] = defaultdict(list)
        ids = [id for id in messages if isinstance(id, int | str)]
        if self._there and ids:
            for message, kind, *texts in self._connection.execute(self._sql, (json.dumps(ids),)):
                part = self._part(text_of(kind), *map(text_of, texts))
                if part is not None:
                    found[message].append(part)
        return found

    def _part(self, kind: str, text: str, name: str, given: str, answer: str) -> Part | None:
        if kind == "reasoning":
            return self._kept("thinking", tidy(text), "thinking" if self._options.thinking else None)
        if kind != "tool":
            return None
        result = tidy(answer or text)
        if not result:
            return Part("tool_call", len(tidy(given)))
        tool = label(name)
        what = "tool_result"
        if tool is not None and RECALL.search(tool):
            what = "recalled"
        elif NOTE_FILE.search(given):
            what = "note_copy"
        role: Role | None = "tool" if self._options.tool_results and what == "tool_result" else None
        return self._kept(what if self._options.tool_results else "tool_result", result, role, tool)

    @staticmethod
    def _kept(kind: str, text: str, role: Role | None, tool: str | None = None) -> Part:
        if role is None or not says_something(text):
            return Part(kind, len(text))
        return Part(kind, len(text), role, text, tool)

"""Which branch of an OpenClaw session is the active one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from indexer.archives.branches import Tree
from indexer.archives.identity import source_id

# Entries that the agent itself goes on from; what a plugin leaves between them moves nothing.
_TALK = frozenset(
    {"message", "thinking_level_change", "model_change", "compaction", "reset", "branch_summary"}
    | {"custom", "custom_message", "label", "session_info"}
)


class ActiveBranch:
    """Follows the leaf of a session: it moves with each entry, and back where an entry `leaf` says so."""

    def __init__(self) -> None:
        self._tree = Tree()
        self._leaf: str | None = None
        # Where the next entry is appended: off the leaf where a plugin's entry or a side one came last.
        self._cursor: str | None = None
        self._jumps: dict[str, str | None] = {}

    def take(self, value: Mapping[str, Any]) -> None:
        """Take the next entry; one without an id (version 1 is linear) lies on no branch."""
        own = source_id(value.get("id"))
        if own is None:
            return
        kind, parent = value.get("type"), self._landed(source_id(value.get("parentId")))
        if kind == "leaf":
            self._jump(own, parent, value)
            return
        aside = value.get("appendMode") == "side"
        if not aside and parent is not None and parent == self._cursor:
            parent = self._leaf if self._leaf is not None else parent
        self._tree.add(own, parent, joint=kind == "reset")
        self._cursor = own
        if not aside and isinstance(kind, str) and kind in _TALK:
            self._leaf = own

    def side(self) -> frozenset[str]:
        """The ids off the branch that ends in the leaf; all of them after a jump to before the first."""
        return self._tree.side(*(leaf for leaf in (self._leaf,) if leaf is not None))

    def _jump(self, own: str, parent: str | None, value: Mapping[str, Any]) -> None:
        target = self._landed(source_id(value.get("targetId")))
        known = target in self._tree if target is not None else value.get("targetId", "") is None
        if not known:  # a jump to nowhere moves nothing
            self._jumps[own] = parent
            return
        self._jumps[own] = self._leaf = target
        self._cursor = self._landed(source_id(value.get("appendParentId"))) or target

    def _landed(self, id: str | None) -> str | None:
        return self._jumps.get(id, id) if id is not None else None

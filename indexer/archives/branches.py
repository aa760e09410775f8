"""Talks that are trees, because a turn was edited or taken back: which entries lie off the active branch."""

from __future__ import annotations


class Tree:
    """Parents of entries, in the order of the file; memory holds ids."""

    def __init__(self) -> None:
        self._parents: dict[str, str | None] = {}
        self._before: dict[str, str | None] = {}
        self._joints: set[str] = set()
        self._last: str | None = None

    def __contains__(self, own: str) -> bool:
        return own in self._parents

    def add(self, own: str, parent: str | None, joint: bool = False) -> None:
        """Take an entry.

        Args:
            own: its id.
            parent: the id that it names as its parent, or None.
            joint: it starts afresh without leaving the branch (a reset, a compaction): if it or the entry
                after it names no parent, the entry before counts as one.
        """
        self._parents[own] = parent
        self._before.setdefault(own, self._last)
        if joint:
            self._joints.add(own)
        self._last = own

    def side(self, *leaves: str) -> frozenset[str]:
        """The ids that lie on no branch from one of the leaves up.

        A parent that is not there (its line is broken) is taken to be the entry before: one bad line must
        not turn the whole talk above it into a side branch.
        """
        found: set[str] = set()
        for leaf in leaves:
            at: str | None = leaf
            while at is not None and at not in found:
                found.add(at)
                at = self._above(at)
        return frozenset(self._parents.keys() - found)

    def _above(self, own: str) -> str | None:
        parent, before = self._parents[own], self._before[own]
        if parent is None:
            return before if own in self._joints or before in self._joints else None
        return parent if parent in self._parents else before

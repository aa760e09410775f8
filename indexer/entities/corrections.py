"""A person's corrections of the graph, as a function from the key of a mention to that of its entity."""

from __future__ import annotations

from collections.abc import Iterable

from indexer.text.names import written_key
from schemas.records import Correction


class Corrections:
    """Corrections laid over each other in the order in which they were made.

    Args:
        made: the older ones first; a later one beats an earlier one on the same name.
    """

    def __init__(self, made: Iterable[Correction] = ()) -> None:
        self._merged: dict[str, str] = {}
        self._split: set[str] = set()
        self._names: dict[str, str] = {}
        self._ignored: set[str] = set()
        for correction in made:
            self._lay(correction)

    def _lay(self, correction: Correction) -> None:
        key, value = correction.key, correction.value
        if correction.action == "merge" and value is not None:
            self._split.discard(key)
            self._ignored.discard(key)
            if self.target(value) != key:
                self._merged[key] = value
        elif correction.action == "split":
            self._merged.pop(key, None)
            self._split.add(key)
        elif correction.action == "rename" and value is not None:
            self._names[key] = value
        elif correction.action == "ignore":
            self._ignored.add(key)

    def __bool__(self) -> bool:
        return bool(self._merged or self._split or self._names or self._ignored)

    def target(self, key: str) -> str:
        """The key that stands for this one after all merges."""
        seen = {key}
        while key in self._merged and self._merged[key] not in seen:
            key = self._merged[key]
            seen.add(key)
        return key

    def own_key(self, surface: str) -> str | None:
        """The key of a written form that was split off, whatever the rules would merge it into; else None."""
        if not self._split:
            return None
        key = written_key(surface)
        return key if key in self._split else None

    def is_split(self, key: str) -> bool:
        """Whether this name stays an entity of its own."""
        return key in self._split

    def is_ignored(self, key: str) -> bool:
        """Whether this name is no entity."""
        return key in self._ignored

    def name(self, key: str) -> str | None:
        """How the entity is to be shown, or None for the vote of its mentions."""
        return self._names.get(key)

    def merged(self) -> dict[str, str]:
        """Every merged key with the one that stands for it."""
        return {key: self.target(key) for key in self._merged}

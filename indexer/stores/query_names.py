"""The entities that a query names, among its other words."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from itertools import islice

from indexer.stores.graph_names import GraphNames
from indexer.stores.graph_records import StoredEntity
from indexer.text.lemmas import analyser
from indexer.text.names import name_key, name_words
from indexer.text.spelling import tolerance

# Longest name, in words, that a query is searched for.
_LONGEST_NAME = 4

# Words of a query that are looked up; a pasted page names nothing in particular.
_QUERY_WORDS = 64

# A misspelt word of a query may be one of a few names; more are guesses.
_SHORTEST_MISSPELT, _MISSPELT_WORDS, _NEAR_WORDS = 5, 4, 4

_HYPHEN = re.compile("[-‐‑]")


class QueryNames:
    """Looks for names in queries.

    Args:
        names: of the graph.
    """

    def __init__(self, names: GraphNames) -> None:
        self._names = names

    def named_in(self, query: str, known: Callable[[str], bool] | None = None) -> list[StoredEntity]:
        """Entities that a query names, in any inflection; the longest names win, none overlaps another.

        Args:
            query: as typed.
            known: whether a word stands somewhere in the archive. With it, a word of five letters or more
                that is neither known nor in the dictionary is read as a name one slip away.
        """
        words = name_words(query)[:_QUERY_WORDS]
        spans = [
            (start, end)
            for length in range(_LONGEST_NAME, 0, -1)
            for start, end in ((start, start + length) for start in range(len(words) - length + 1))
        ]
        keys = {span: name_key(" ".join(words[slice(*span)])) for span in spans}
        # What is no name as a whole may hold one: OpenClaw-плагин.
        parts = {at: [name_key(part) for part in _HYPHEN.split(word)[:8]] for at, word in enumerate(words)}
        found = self._names.by_keys({*keys.values(), *(key for both in parts.values() for key in both)})
        taken: set[int] = set()
        entities: dict[int, StoredEntity] = {}
        for start, end in spans:
            key = keys[start, end]
            if key in found and taken.isdisjoint(range(start, end)):
                taken.update(range(start, end))
                entities[found[key].id] = found[key]
        for at in parts.keys() - taken:
            entities.update({found[key].id: found[key] for key in parts[at] if key in found})
        if known is not None:
            entities.update(self._misspelt(words, taken, known))
        return list(entities.values())

    def _misspelt(
        self, words: Sequence[str], taken: set[int], known: Callable[[str], bool]
    ) -> dict[int, StoredEntity]:
        entities: dict[int, StoredEntity] = {}
        doubtful = (
            at
            for at, word in enumerate(words)
            if at not in taken and _may_be_misspelt(word) and not known(word)
        )
        for at in islice(doubtful, _MISSPELT_WORDS):
            near = [word for away, word in self._names.near(words[at], 1) if away][:_NEAR_WORDS]
            spans = [
                (start, start + length)
                for length in range(_LONGEST_NAME, 0, -1)
                for start in range(max(0, at - length + 1), min(at, len(words) - length) + 1)
                if taken.isdisjoint(range(start, start + length))
            ]
            keys = {
                (*span, word): name_key(" ".join([*words[span[0] : at], word, *words[at + 1 : span[1]]]))
                for span in spans
                for word in near
            }
            found = self._names.by_keys(set(keys.values()))
            for start, end in spans:  # the longest name first
                named = [found[keys[start, end, word]] for word in near if keys[start, end, word] in found]
                if named:
                    best = min(named, key=lambda entity: entity.id)
                    taken.update(range(start, end))
                    entities[best.id] = best
                    break
        return entities


def _may_be_misspelt(word: str) -> bool:
    """A word long enough to be told from others by a slip, and none of the dictionary."""
    return len(word) >= _SHORTEST_MISSPELT and tolerance(word) > 0 and not analyser().word_is_known(word)

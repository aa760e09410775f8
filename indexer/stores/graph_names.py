"""From a name as a person writes it to entities: in any inflection, unfinished, misspelt, or mistyped."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from functools import cached_property, lru_cache
from itertools import islice, product
from typing import Any, Literal

import apsw

from indexer.stores.database import row, rows
from indexer.stores.graph_records import ENTITY, StoredEntity
from indexer.text.aliases import table
from indexer.text.lemmas import analyser, terms
from indexer.text.names import name_key, name_words
from indexer.text.normal import normal, tokens
from indexer.text.spelling import Spelling, swapped, tolerance

Sort = Literal["mentions", "recency"]

VOCABULARY = "CREATE VIRTUAL TABLE temp.entity_vocab USING fts5vocab('main', 'entity_fts', 'row')"

# Longest name, in words, that a query is searched for.
_LONGEST_NAME = 4

# Words of a query that are looked up; a pasted page names nothing in particular.
_QUERY_WORDS = 64
_NAME_WORDS = 16

# A misspelt word of a query may be one of a few names; more are guesses.
_SHORTEST_MISSPELT, _MISSPELT_WORDS, _NEAR_WORDS = 5, 4, 4
_NEAR_FORMS, _SPELLINGS = 8, 64

# Entities that one written form may mean.
_MEANINGS = 50

_HYPHEN = re.compile("[-‐‑]")
_ORDER: dict[Sort, str] = {"mentions": "e.id", "recency": "e.last_at DESC, e.id"}


class GraphNames:
    """The names of one `entity_graph.db`; safe to use from many threads.

    Args:
        connection: lends a connection on which VOCABULARY was executed.
    """

    def __init__(self, connection: Callable[[], AbstractContextManager[apsw.Connection]]) -> None:
        self._connection = connection
        self._near = lru_cache(maxsize=4_096)(self._spelt_like)

    @cached_property
    def spelling(self) -> Spelling:
        """All words of all names, to compare a misspelt one with; read when it is first asked for."""
        with self._connection() as db:
            words = [word for (word,) in rows(db, "SELECT term FROM temp.entity_vocab")]
        return Spelling([*words, *table()])

    # --- in a query -------------------------------------------------------------------------------------

    def in_query(self, query: str, known: Callable[[str], bool] | None = None) -> list[StoredEntity]:
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
        found = self._by_keys({*keys.values(), *(key for both in parts.values() for key in both)})
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
            entities.update(self._misspelt_in(words, taken, known))
        return list(entities.values())

    def _misspelt_in(
        self, words: Sequence[str], taken: set[int], known: Callable[[str], bool]
    ) -> dict[int, StoredEntity]:
        entities: dict[int, StoredEntity] = {}
        doubtful = (
            at
            for at, word in enumerate(words)
            if at not in taken and _may_be_misspelt(word) and not known(word)
        )
        for at in islice(doubtful, _MISSPELT_WORDS):
            near = [word for away, word in self._near(words[at], 1) if away][:_NEAR_WORDS]
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
            found = self._by_keys(set(keys.values()))
            for start, end in spans:  # the longest name first
                named = [found[keys[start, end, word]] for word in near if keys[start, end, word] in found]
                if named:
                    best = min(named, key=lambda entity: entity.id)
                    taken.update(range(start, end))
                    entities[best.id] = best
                    break
        return entities

    # --- one name ---------------------------------------------------------------------------------------

    def meant(self, name: str, forgiving: bool = True) -> list[StoredEntity]:
        """The entities that a name means, in any inflection or known form.

        Args:
            name: as written.
            forgiving: where nothing is called so, take the one whose name is spelt most like it.
        """
        found = list(self._by_keys([name_key(name)]).values()) or self._by_form(name)
        return found or (self._most_like(name) if forgiving else [])

    def nearest(self, name: str, limit: int) -> list[StoredEntity]:
        """Names like one that means nothing: those that share a word with it, or a word spelt nearly so."""
        found = self.search(name, None, limit)
        if found:
            return found
        words = tokens(name)[:_NAME_WORDS]
        forms = [form for word in words for form in _forms(word) if self._stands(form)]
        near = [spelt for word in words for _, spelt in self._near(word, tolerance(word) + 1)]
        expression = " OR ".join(_quoted([*forms, *near[:_NEAR_FORMS]]))
        return self._matching(expression, None, limit, "mentions") if expression else []

    def _by_keys(self, keys: Iterable[str]) -> dict[str, StoredEntity]:
        with self._connection() as db:
            found = rows(
                db,
                f"""SELECT k.key, {ENTITY} FROM entity_key k JOIN entity e ON e.id = k.entity
                    WHERE k.key IN (SELECT value FROM json_each(?))""",
                (_json(sorted(keys)),),
            )
        return {key: StoredEntity(*values) for key, *values in found}

    def _by_form(self, name: str) -> list[StoredEntity]:
        """Entities that appear or are shown in exactly this form, those that do so most often first."""
        form = " ".join(normal(name).split())
        with self._connection() as db:
            found = rows(
                db,
                f"""SELECT {ENTITY} FROM alias a JOIN entity e ON e.id = a.entity WHERE a.form = ?
                    GROUP BY e.id ORDER BY sum(a.count) DESC, e.id LIMIT ?""",
                (form, _MEANINGS),
            )
        words = tokens(form)[:_NAME_WORDS]
        # A name that a person has given need not stand in any text.
        shown = self._matching(f'name : "{" ".join(words)}"', None, _MEANINGS, "mentions") if words else []
        same = [entity for entity in shown if " ".join(normal(entity.name).split()) == form]
        return list({entity.id: entity for entity in (*map(_entity, found), *same)}.values())

    def _most_like(self, name: str) -> list[StoredEntity]:
        words = name_words(name)[:_NAME_WORDS]
        wrong = [at for at, word in enumerate(words) if not any(map(self._stands, tokens(word)))]
        choices = [self._near(words[at], tolerance(words[at]))[:_NEAR_FORMS] for at in wrong]
        if not wrong or not all(choices):
            return []
        away: dict[str, int] = {}
        for chosen in islice(product(*choices), _SPELLINGS):
            spelt = dict(zip(wrong, (word for _, word in chosen), strict=True))
            key = name_key(" ".join(spelt.get(at, word) for at, word in enumerate(words)))
            away[key] = min(away.get(key, 99), sum(distance for distance, _ in chosen))
        found = self._by_keys(away)
        return [found[min(found, key=lambda key: (away[key], found[key].id))]] if found else []

    # --- lists ------------------------------------------------------------------------------------------

    def search(
        self, query: str, type_: str | None, limit: int, sort: Sort = "mentions"
    ) -> list[StoredEntity]:
        """Entities by name: the exact ones first, then those that hold it, and misspelt ones if none does.

        Args:
            query: words of a name in any inflection; the last one may be unfinished. Empty lists all. What
                finds nothing is tried in the other keyboard layout.
            type_: only of this type.
            limit: how many.
            sort: order inside each of the groups.
        """
        if not query.strip():
            return self._listed(type_, limit, sort)
        return self._found(query, type_, limit, sort) or self._found(swapped(query), type_, limit, sort)

    def _listed(self, type_: str | None, limit: int, sort: Sort) -> list[StoredEntity]:
        kind, bound = _of_type(type_)
        with self._connection() as db:
            found = rows(
                db,
                f"SELECT {ENTITY} FROM entity e WHERE true{kind} ORDER BY {_ORDER[sort]} LIMIT ?",
                (*bound, limit),
            )
        return list(map(_entity, found))

    def _found(self, query: str, type_: str | None, limit: int, sort: Sort) -> list[StoredEntity]:
        called = list(self._by_keys([name_key(query)]).values())
        called += sorted(self._by_form(query), key=_sorting(sort))
        exact = {entity.id: entity for entity in called if type_ in (None, entity.type)}
        words = tokens(query)[:_NAME_WORDS]
        if not words:
            return list(exact.values())[:limit]
        groups = [_quoted(_forms(word)) for word in words]
        groups[-1].append(f'"{words[-1]}"*')
        held = self._matching(_all(groups), type_, limit + len(exact), sort)
        if not exact and not held:
            spelt = self._spelt(words, groups)
            held = self._matching(_all(spelt), type_, limit, sort) if spelt else []
        return list({entity.id: entity for entity in (*exact.values(), *held)}.values())[:limit]

    def _spelt(self, words: Sequence[str], groups: Sequence[list[str]]) -> list[list[str]] | None:
        """The groups with those of unknown words replaced by the nearest words; None where one has none."""
        spelt = []
        for word, group in zip(words, groups, strict=True):
            if self._matches(" OR ".join(group)):
                spelt.append(group)
                continue
            near = self._near(word, tolerance(word))
            nearest = [other for away, other in near if away == near[0][0]][:_NEAR_FORMS]
            if not nearest:
                return None
            spelt.append(_quoted(nearest))
        return spelt if any(one is not other for one, other in zip(spelt, groups, strict=True)) else None

    def _matching(self, expression: str, type_: str | None, limit: int, sort: Sort) -> list[StoredEntity]:
        kind, bound = _of_type(type_)
        # Full text comes in the order of its rows, which is that of mentions: SQLite stops at the limit.
        order = "f.rowid" if sort == "mentions" else _ORDER[sort]
        with self._connection() as db:
            found = rows(
                db,
                f"""SELECT {ENTITY} FROM entity_fts f CROSS JOIN entity e ON e.id = f.rowid
                    WHERE entity_fts MATCH ?{kind} ORDER BY {order} LIMIT ?""",
                (expression, *bound, limit),
            )
        return list(map(_entity, found))

    def _stands(self, word: str) -> bool:
        """Whether a word stands in a name, in any inflection."""
        return self._matches(" OR ".join(_quoted(_forms(word))))

    def _matches(self, expression: str) -> bool:
        with self._connection() as db:
            return (
                row(db, "SELECT 1 FROM entity_fts WHERE entity_fts MATCH ? LIMIT 1", (expression,))
                is not None
            )

    def _spelt_like(self, word: str, edits: int) -> list[tuple[int, str]]:
        """Words of names near a word as written, else near what it would be in the nominative."""
        near = self.spelling.near(word, edits)
        return near or self.spelling.near(name_key(word), edits)


def _may_be_misspelt(word: str) -> bool:
    """A word long enough to be told from others by a slip, and none of the dictionary."""
    return len(word) >= _SHORTEST_MISSPELT and tolerance(word) > 0 and not analyser().word_is_known(word)


def _forms(word: str) -> list[str]:
    return list(dict.fromkeys((word, *terms(word))))


def _quoted(words: Iterable[str]) -> list[str]:
    # Tokens hold letters and digits alone; the quotes keep AND, OR, NOT and NEAR ordinary words.
    return [f'"{word}"' for word in words]


def _all(groups: Iterable[Iterable[str]]) -> str:
    return " AND ".join(f"({' OR '.join(group)})" for group in groups)


def _of_type(type_: str | None) -> tuple[str, tuple[str, ...]]:
    return (" AND e.type = ?", (type_,)) if type_ else ("", ())


def _entity(values: Sequence[Any]) -> StoredEntity:
    return StoredEntity(*values)


def _sorting(sort: Sort) -> Callable[[StoredEntity], tuple[int, ...]]:
    if sort == "mentions":
        return lambda entity: (entity.id,)
    return lambda entity: (-(entity.last_at or 0), entity.id)


def _json(values: Sequence[object] | Mapping[str, object]) -> str:
    return json.dumps(values, ensure_ascii=False)

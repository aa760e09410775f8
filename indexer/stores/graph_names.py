"""From a name as a person writes it to entities: in any inflection, unfinished, misspelt, or mistyped."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from functools import cached_property, lru_cache
from itertools import islice, product
from typing import Any, Literal

import apsw

from indexer.stores.database import row, rows
from indexer.stores.graph_records import ENTITY, StoredEntity
from indexer.text.aliases import table
from indexer.text.lemmas import lemmas, terms
from indexer.text.names import name_key, name_words
from indexer.text.normal import normal, tokens
from indexer.text.spelling import Spelling, swapped, tolerance

Sort = Literal["mentions", "recency"]

VOCABULARY = "CREATE VIRTUAL TABLE temp.entity_vocab USING fts5vocab('main', 'entity_fts', 'row')"

# Words of a name that are looked up.
_NAME_WORDS = 16

# Spellings of a word, ways to put those of several words together, and nominatives that a word may have.
_NEAR_FORMS, _SPELLINGS, _GUESSES = 8, 64, 4

# Entities that one written form may mean.
_MEANINGS = 50

_ORDER: dict[Sort, str] = {"mentions": "e.id", "recency": "e.last_at DESC, e.id"}


class GraphNames:
    """The names of one `entity_graph.db`; safe to use from many threads.

    Args:
        connection: lends a connection on which VOCABULARY was executed.

    Attributes:
        near: words of names near a word, nearest first, by word and slips.
    """

    def __init__(self, connection: Callable[[], AbstractContextManager[apsw.Connection]]) -> None:
        self._connection = connection
        self.near = lru_cache(maxsize=4_096)(self._spelt_like)

    @cached_property
    def spelling(self) -> Spelling:
        """All words of all names, to compare a misspelt one with; read when it is first asked for."""
        with self._connection() as db:
            words = [word for (word,) in rows(db, "SELECT term FROM temp.entity_vocab")]
        return Spelling([*words, *table()])

    # --- one name ---------------------------------------------------------------------------------------

    def meant(self, name: str, forgiving: bool = True) -> list[StoredEntity]:
        """The entities that a name means, in any inflection or known form.

        Args:
            name: as written.
            forgiving: where nothing is called so, take the one whose name is spelt most like it.
        """
        found = list(self.by_keys([name_key(name)]).values()) or self._by_form(name)
        return found or (self._most_like(name) if forgiving else [])

    def nearest(self, name: str, limit: int) -> list[StoredEntity]:
        """Names like one that means nothing: those that share a word with it, or a word spelt nearly so."""
        found = self.search(name, None, limit)
        if found:
            return found
        words = tokens(name)[:_NAME_WORDS]
        forms = [form for word in words for form in _forms(word) if self._stands(form)]
        near = [spelt for word in words for _, spelt in self.near(word, tolerance(word) + 1)]
        expression = " OR ".join(_quoted([*forms, *near[:_NEAR_FORMS]]))
        return self._matching(expression, None, limit, "mentions") if expression else []

    def by_keys(self, keys: Iterable[str]) -> dict[str, StoredEntity]:
        """Entities by merge key; unknown keys are left out."""
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
        choices = [self._choices(word) for word in name_words(name)[:_NAME_WORDS]]
        away: dict[str, int] = {}
        for chosen in islice(product(*choices), _SPELLINGS):
            key = name_key(" ".join(word for _, word in chosen))
            away[key] = min(away.get(key, 99), sum(distance for distance, _ in chosen))
        found = self.by_keys(away)
        return [found[min(found, key=lambda key: (away[key], found[key].id))]] if found else []

    def _choices(self, word: str) -> list[tuple[int, str]]:
        """What a word of a name may have been meant for: itself where names hold it, else words near it."""
        near = self.near(word, tolerance(word))[:_NEAR_FORMS]
        if (0, word) in near or (not near and any(map(self._stands, tokens(word)))):
            return [(0, word)]
        return near

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
        called = list(self.by_keys([name_key(query)]).values())
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
            near = self.near(word, tolerance(word))
            nearest = [other for away, other in near if away == near[0][0]][:_NEAR_FORMS]
            if not nearest:
                return None
            spelt.append(_quoted(dict.fromkeys(form for other in nearest for form in _forms(other))))
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
        """Words of names near a word as written, else near what it may be in the nominative."""
        near = self.spelling.near(word, edits)
        if near or word.isascii():  # the stem of an English word is no form of a name
            return near
        guessed = dict.fromkeys((name_key(word), *lemmas(word))) if tolerance(word) else ()
        return sorted(
            {found for form in islice(guessed, _GUESSES) for found in self.spelling.near(form, edits)}
        )


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

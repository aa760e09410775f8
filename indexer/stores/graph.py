"""Reading a generation's `entity_graph.db`: names to entities, entities to chunks, relations, evidence."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from indexer.stores.database import Pool, row, rows
from indexer.text.lemmas import terms
from indexer.text.names import name_key, name_words
from indexer.text.normal import tokens
from schemas.sql import graph as sql

# Longest name, in words, that a query is searched for.
_LONGEST_NAME = 4

# Words of a query that are looked up; a pasted page names nothing in particular.
_QUERY_WORDS = 64

_HYPHEN = re.compile("[-‐‑]")


@dataclass(frozen=True, slots=True)
class StoredEntity:
    """An entity as the service shows it; times are UTC ms."""

    id: int
    name: str
    type: str
    mentions: int
    chunks: int
    first_at: int | None
    last_at: int | None


@dataclass(frozen=True, slots=True)
class StoredRelation:
    """One relation of an entity, seen from it: `other` is None where the object is no entity."""

    predicate: str
    other: StoredEntity | None
    object_name: str
    count: int
    npmi: float | None
    first_at: int | None
    last_at: int | None
    evidence: str | None


@dataclass(frozen=True, slots=True)
class StoredMention:
    """Where an entity is named."""

    chunk_id: str
    chat_id: str
    message_id: str
    at: int | None


_ENTITY = "e.id, e.name, e.type, e.mentions, e.chunks, e.first_at, e.last_at"


class GraphStore:
    """`entity_graph.db` of one generation, opened read-only; safe to use from many threads."""

    def __init__(self, path: Path) -> None:
        self._pool = Pool(path, sql.VERSION)
        self._connection = self._pool.connection

    def close(self) -> None:
        """Close every connection; call it when no request is left."""
        self._pool.close()

    def named_in(self, query: str) -> list[StoredEntity]:
        """Entities that a query names, in any inflection; the longest names win, none overlaps another."""
        words = name_words(query)[:_QUERY_WORDS]
        spans = [
            (start, end)
            for length in range(_LONGEST_NAME, 0, -1)
            for start, end in ((start, start + length) for start in range(len(words) - length + 1))
        ]
        keys = {span: name_key(" ".join(words[slice(*span)])) for span in spans}
        # What is no name as a whole may hold one: OpenClaw-плагин.
        parts = {at: [name_key(part) for part in _HYPHEN.split(word)[:8]] for at, word in enumerate(words)}
        found = self._by_keys(sorted({*keys.values(), *(key for both in parts.values() for key in both)}))
        taken: set[int] = set()
        entities: dict[int, StoredEntity] = {}
        for start, end in spans:
            key = keys[start, end]
            if key in found and taken.isdisjoint(range(start, end)):
                taken.update(range(start, end))
                entities[found[key].id] = found[key]
        for at in parts.keys() - taken:
            entities.update({found[key].id: found[key] for key in parts[at] if key in found})
        return list(entities.values())

    def by_name(self, name: str) -> list[StoredEntity]:
        """The entity of exactly this name, in any inflection."""
        return list(self._by_keys([name_key(name)]).values())

    def _by_keys(self, keys: Sequence[str]) -> dict[str, StoredEntity]:
        with self._connection() as db:
            found = rows(
                db,
                f"""SELECT k.key, {_ENTITY} FROM entity_key k JOIN entity e ON e.id = k.entity
                    WHERE k.key IN (SELECT value FROM json_each(?))""",
                (json.dumps(list(keys), ensure_ascii=False),),
            )
        return {key: StoredEntity(*values) for key, *values in found}

    def search(self, query: str, type_: str | None, limit: int) -> list[StoredEntity]:
        """Entities by name, most mentioned first among the exact and then the partial matches.

        Args:
            query: words of a name in any inflection; the last one may be unfinished. Empty lists all.
            type_: only of this type.
            limit: how many.
        """
        words = tokens(query)
        kind = " AND e.type = ?" if type_ else ""
        bound = (type_,) if type_ else ()
        with self._connection() as db:
            if not words:
                if query.strip():
                    return []
                found = rows(
                    db,
                    f"SELECT {_ENTITY} FROM entity e WHERE true{kind} ORDER BY e.mentions DESC, e.id LIMIT ?",
                    (*bound, limit),
                )
                return [StoredEntity(*values) for values in found]
            found = rows(
                db,
                f"""SELECT {_ENTITY} FROM entity_fts f JOIN entity e ON e.id = f.rowid
                    WHERE entity_fts MATCH ?{kind}
                    ORDER BY e.id IN (SELECT entity FROM entity_key WHERE key = ?) DESC,
                             e.mentions DESC, e.id LIMIT ?""",
                (_expression(words), *bound, name_key(query), limit),
            )
        return [StoredEntity(*values) for values in found]

    def entity(self, entity: int) -> StoredEntity | None:
        """One entity, or None."""
        with self._connection() as db:
            found = row(db, f"SELECT {_ENTITY} FROM entity e WHERE e.id = ?", (entity,))
        return StoredEntity(*found) if found else None

    def aliases(self, entity: int) -> list[tuple[str, int]]:
        """The forms an entity appears in, with counts, most frequent first."""
        with self._connection() as db:
            return rows(
                db, "SELECT alias, count FROM alias WHERE entity = ? ORDER BY count DESC, alias", (entity,)
            )

    def relations(self, entity: int, limit: int) -> list[StoredRelation]:
        """Relations of an entity, strongest first, whichever side it stands on."""
        with self._connection() as db:
            found = rows(
                db,
                f"""SELECT r.predicate, CASE WHEN r.subject = ?1 THEN r.object_name ELSE s.name END,
                           r.count, r.npmi, r.first_at, r.last_at, r.evidence, {_ENTITY}
                    FROM relation r JOIN entity s ON s.id = r.subject
                    LEFT JOIN entity e ON e.id = CASE WHEN r.subject = ?1 THEN r.object ELSE r.subject END
                    WHERE r.subject = ?1 OR r.object = ?1
                    ORDER BY r.npmi IS NULL, r.count DESC, r.npmi DESC, r.id LIMIT ?2""",
                (entity, limit),
            )
        return [
            StoredRelation(predicate, StoredEntity(*other) if other[0] is not None else None, name, *rest)
            for predicate, name, *rest_other in found
            for rest, other in [(rest_other[:5], rest_other[5:])]
        ]

    def newest(self, entity: int, limit: int) -> list[StoredMention]:
        """Newest mentions of an entity, one a message."""
        with self._connection() as db:
            found = rows(
                db,
                """SELECT min(chunk_id), chat_id, message_id, max(at) FROM mention WHERE entity = ?
                   GROUP BY chat_id, message_id ORDER BY max(at) DESC NULLS LAST, message_id LIMIT ?""",
                (entity, limit),
            )
        return [StoredMention(*values) for values in found]

    def chunk_rows(self, entity: int) -> list[int]:
        """Dense ids of the chunks that mention an entity, in the vectors' store of the same generation."""
        with self._connection() as db:
            found = rows(db, "SELECT DISTINCT chunk FROM mention WHERE entity = ?", (entity,))
        return [row for (row,) in found]

    def message_ids(self, entity: int) -> list[tuple[str, str]]:
        """(chat id, message id) of the messages that mention an entity."""
        with self._connection() as db:
            return rows(db, "SELECT DISTINCT chat_id, message_id FROM mention WHERE entity = ?", (entity,))

    def names_in(self, chunk_ids: Sequence[str]) -> dict[str, list[str]]:
        """Names mentioned in each chunk, most mentioned entities first."""
        with self._connection() as db:
            found = rows(
                db,
                """SELECT DISTINCT m.chunk_id, e.name, e.mentions
                   FROM mention m JOIN entity e ON e.id = m.entity
                   WHERE m.chunk_id IN (SELECT value FROM json_each(?)) ORDER BY e.mentions DESC, e.name""",
                (json.dumps(list(chunk_ids)),),
            )
        named: dict[str, list[str]] = {}
        for chunk_id, name, _ in found:
            named.setdefault(chunk_id, []).append(name)
        return named

    def neighbours(self, entity: int, limit: int) -> list[tuple[StoredEntity, float]]:
        """Strongest co-occurring entities with their NPMI."""
        return [
            (relation.other, relation.npmi)
            for relation in self.relations(entity, limit)
            if relation.other is not None and relation.npmi is not None
        ]


def _expression(words: Sequence[str]) -> str:
    groups = [" OR ".join(dict.fromkeys(f'"{form}"' for form in (word, *terms(word)))) for word in words[:16]]
    groups[-1] += f' OR "{words[min(len(words), 16) - 1]}"*'
    return " AND ".join(f"({group})" for group in groups)

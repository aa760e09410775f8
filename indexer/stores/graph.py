"""Reading a generation's `entity_graph.db`: names to entities, entities to chunks, relations, evidence."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path

from indexer.stores.connections import Connections
from indexer.stores.database import Pool, row, rows
from indexer.stores.graph_names import VOCABULARY, GraphNames, Sort
from indexer.stores.graph_records import (
    ENTITY,
    StoredAlias,
    StoredEdge,
    StoredEntity,
    StoredMention,
    StoredRelation,
    StoredSpan,
)
from indexer.stores.query_names import QueryNames
from schemas.sql import graph as sql

__all__ = [
    "GraphStore",
    "Sort",
    "StoredAlias",
    "StoredEdge",
    "StoredEntity",
    "StoredMention",
    "StoredRelation",
    "StoredSpan",
]

# Other meanings of one form that are told.
_MEANINGS = 5


class GraphStore:
    """`entity_graph.db` of one generation, opened read-only; safe to use from many threads.

    Attributes:
        names: from what a person writes to entities.
        connections: what ties entities together.
    """

    def __init__(self, path: Path) -> None:
        self._pool = Pool(path, sql.VERSION, (VOCABULARY,))
        self._connection = self._pool.connection
        self.names = GraphNames(self._connection)
        self._query_names = QueryNames(self.names)
        self.connections = Connections(self._connection)

    def close(self) -> None:
        """Close every connection; call it when no request is left."""
        self._pool.close()

    def named_in(self, query: str, known: Callable[[str], bool] | None = None) -> list[StoredEntity]:
        """Entities that a query names; see `QueryNames.named_in`."""
        return self._query_names.named_in(query, known)

    def by_name(self, name: str, forgiving: bool = True) -> list[StoredEntity]:
        """Entities that a name means; see `GraphNames.meant`."""
        return self.names.meant(name, forgiving)

    def search(
        self, query: str, type_: str | None, limit: int, sort: Sort = "mentions"
    ) -> list[StoredEntity]:
        """Entities by name; see `GraphNames.search`."""
        return self.names.search(query, type_, limit, sort)

    def entity(self, entity: int) -> StoredEntity | None:
        """One entity, or None."""
        with self._connection() as db:
            found = row(db, f"SELECT {ENTITY} FROM entity e WHERE e.id = ?", (entity,))
        return StoredEntity(*found) if found else None

    def entities(self, ids: Sequence[int]) -> dict[int, StoredEntity]:
        """Entities by id; unknown ones are left out."""
        with self._connection() as db:
            found = rows(
                db,
                f"SELECT {ENTITY} FROM entity e WHERE e.id IN (SELECT value FROM json_each(?))",
                (json.dumps(list(ids)),),
            )
        return {values[0]: StoredEntity(*values) for values in found}

    def keys(self, entity: int) -> list[str]:
        """The merge keys of an entity: its own first, then those of the names that were merged into it."""
        with self._connection() as db:
            found = rows(
                db,
                """SELECT k.key FROM entity_key k JOIN entity e ON e.id = k.entity
                   WHERE k.entity = ? ORDER BY k.key != e.key, k.key""",
                (entity,),
            )
        return [key for (key,) in found]

    def aliases(self, entity: int) -> list[StoredAlias]:
        """The forms an entity appears in, most frequent first, with what else each form means elsewhere."""
        with self._connection() as db:
            found = rows(
                db, "SELECT alias, count FROM alias WHERE entity = ? ORDER BY count DESC, alias", (entity,)
            )
            shared = rows(
                db,
                """SELECT DISTINCT a.alias, e.name, e.id FROM alias a JOIN alias o ON o.form = a.form
                   JOIN entity e ON e.id = o.entity WHERE a.entity = ?1 AND o.entity != ?1 ORDER BY e.id""",
                (entity,),
            )
        others: dict[str, list[str]] = {}
        for form, name, _ in shared:
            others.setdefault(form, []).append(name)
        return [StoredAlias(form, count, tuple(others.get(form, ())[:_MEANINGS])) for form, count in found]

    def relations(self, entity: int, limit: int) -> list[StoredRelation]:
        """Relations of an entity, strongest first, whichever side it stands on."""
        with self._connection() as db:
            found = rows(
                db,
                f"""SELECT r.predicate, CASE WHEN r.subject = ?1 THEN r.object_name ELSE s.name END,
                           r.count, r.npmi, r.first_at, r.last_at, r.evidence, {ENTITY}
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

    def spans(self, chunk_id: str, entities: Sequence[int]) -> list[StoredSpan]:
        """Where some entities are named in a chunk."""
        with self._connection() as db:
            found = rows(
                db,
                """SELECT entity, chat_id, message_id, start, end FROM mention
                   WHERE chunk_id = ? AND entity IN (SELECT value FROM json_each(?)) ORDER BY id""",
                (chunk_id, json.dumps(list(entities))),
            )
        return [StoredSpan(*values) for values in found]

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

"""Writing a generation's `entity_graph.db`."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from indexer.entities.graph import Graph, Relation
from indexer.stores.database import create, finish
from indexer.text.lemmas import lemma_column, raw_column
from indexer.text.normal import normal
from schemas.sql import graph as sql

# Forms of one entity that are filed for the full text, most frequent first.
_FORMS = 20

# How much a relation without an NPMI tells: a name is the same thing, an author or a host stands beside much.
_TELLING = {"alias_of": 1.0, "said_by": 0.5, "links_to": 0.5, "in_chat": 0.25}


def write_graph(path: Path, graph: Graph, chunk_rows: Mapping[str, int]) -> dict[str, int]:
    """Write the whole graph into a new file.

    Args:
        path: of the new file.
        graph: what to write.
        chunk_rows: rows of `chat_vectors.db` by chunk id.

    Returns:
        Counts: entities, relations, mentions.
    """
    db = create(path, sql.DDL, sql.VERSION)
    forms: defaultdict[int, list[str]] = defaultdict(list)
    for entity, form, _ in graph.aliases:
        forms[entity].append(form)
    db.executemany(
        "INSERT INTO entity VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
        ((e.id, e.key, e.name, e.type, e.mentions, e.chunks, e.first_at, e.last_at) for e in graph.entities),
    )
    db.executemany("INSERT INTO entity_key VALUES (?, ?)", graph.keys)
    db.executemany(
        "INSERT INTO alias VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING",
        ((entity, alias, count, normal(alias)) for entity, alias, count in graph.aliases),
    )
    db.executemany(
        "INSERT INTO mention (entity, chunk, chunk_id, chat_id, message_id, at, start, end)"
        " VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
        (
            (m.entity, chunk_rows[m.chunk_id], m.chunk_id, m.chat_id, m.message_id, m.at, m.start, m.end)
            for m in graph.mentions
        ),
    )
    db.executemany(
        "INSERT INTO relation"
        " (subject, predicate, object, object_name, count, npmi, first_at, last_at, evidence, weight)"
        " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        map(_relation_row, graph.relations),
    )
    # `name` as people read it, `forms` with lemmas and the merge key: any inflection finds the entity, from
    # the plain sqlite3 program too.
    db.executemany(
        "INSERT INTO entity_fts (rowid, name, forms) VALUES (?, ?, ?)",
        (
            (
                entity.id,
                raw_column(entity.name),
                lemma_column(" ".join((entity.name, entity.key, *forms[entity.id][:_FORMS]))),
            )
            for entity in graph.entities
        ),
    )
    for statement in sql.INDEXES:
        db.execute(statement)
    finish(db)
    return {
        "entities": len(graph.entities),
        "relations": len(graph.relations),
        "mentions": len(graph.mentions),
    }


def weight(relation: Relation) -> float:
    """How strongly a relation ties its ends together, 0 to 1; less where it was seen seldom."""
    telling = _TELLING.get(relation.predicate, 0.0) if relation.npmi is None else max(0.0, relation.npmi)
    return round(telling * relation.count / (relation.count + 1), 6)


def _relation_row(r: Relation) -> tuple[Any, ...]:
    span = (r.count, r.npmi, r.first_at, r.last_at, r.evidence)
    return (r.subject, r.predicate, r.object, r.object_name, *span, weight(r))

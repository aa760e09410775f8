"""A graph written by hand: who is named in which chunk, and who is related to whom."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from indexer.entities.graph import Entity, Graph, PlacedMention, Predicate, Relation
from indexer.stores.graph import GraphStore
from indexer.stores.graph_writer import write_graph
from indexer.text.names import name_key

DAY = 86_400_000

# (subject, predicate, object, count, NPMI or None)
Tie = tuple[str, Predicate, str, int, float | None]


def graph_store(
    path: Path,
    chunks: Sequence[str],
    ties: Sequence[Tie] = (),
    forms: Mapping[str, Mapping[str, int]] | None = None,
    types: Mapping[str, str] | None = None,
) -> GraphStore:
    """A store over some chunks.

    Args:
        path: of the new database.
        chunks: names in each, by comma; a chunk is a message of its own, a day after the one before.
        ties: relations.
        forms: forms with their counts, by name; the name itself by default.
        types: by name; NAME by default.
    """
    places: dict[str, list[int]] = {}
    for at, held in enumerate(chunks):
        for name in filter(None, held.split(",")):
            places.setdefault(name.strip(), []).append(at)
    ranked = sorted(places, key=lambda name: (-len(places[name]), name))
    ids = {name: number for number, name in enumerate(ranked, 1)}
    entities = tuple(
        Entity(
            *(ids[name], name_key(name), name, (types or {}).get(name, "NAME"), len(at), len(at)),
            first_at=at[0] * DAY,
            last_at=at[-1] * DAY,
        )
        for name, at in ((name, places[name]) for name in ranked)
    )
    aliases = tuple(
        (ids[name], form, count)
        for name in ranked
        for form, count in (forms or {}).get(name, {name: len(places[name])}).items()
    )
    mentions = tuple(
        PlacedMention(ids[name], f"c{at}", "chat", f"m{at}", at * DAY, 0, len(name))
        for name in ranked
        for at in places[name]
    )
    relations = tuple(
        Relation(ids[one], kind, ids[other], other, count, npmi, 0, DAY, "c0" if npmi else None)
        for one, kind, other, count, npmi in ties
    )
    keys = tuple(sorted((entity.key, entity.id) for entity in entities))
    graph = Graph(entities, keys, aliases, mentions, relations)
    write_graph(path, graph, {f"c{at}": at + 1 for at in range(len(chunks))})
    return GraphStore(path)

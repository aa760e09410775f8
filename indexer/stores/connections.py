"""What ties two entities of `entity_graph.db` together, and the ways from one to another.

Beside the relations there is a tie `together`: both are named in one chunk or message, too seldom for an
NPMI of its own. It is weaker than any relation. Every look is bounded, whatever stands in the graph.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from itertools import pairwise

import apsw

from indexer.stores.database import rows
from indexer.stores.graph_records import StoredEdge

TOGETHER = "together"

# The weakest relation (NPMI .1, seen twice) weighs .067.
_TOGETHER_WEIGHT = 0.05

# A measure, a day or a version stands beside everything and leads nowhere.
LOOSE = ("DATE", "IP", "MONEY", "VERSION")

# Bounds of one look for paths: partners and chunks of an end, mentions that are compared; then the partners
# among which the middle of three steps is looked for, and the chunks of each.
_PARTNERS, _CHUNKS, _MENTIONS = 300, 200, 2_000
_MIDDLE, _MIDDLE_CHUNKS = 40, 50

# Entity ids and the weight of the weakest step.
_Way = tuple[tuple[int, ...], float]

_EDGE = "r.subject, r.predicate, r.object, r.count, r.npmi, r.first_at, r.last_at, r.evidence, r.weight"


@dataclass(frozen=True, slots=True)
class _Partner:
    """An entity one step away: how strongly, and in how many chunks it stands itself."""

    weight: float
    chunks: int


class Connections:
    """The ties of one `entity_graph.db`; safe to use from many threads.

    Args:
        connection: lends a connection.
    """

    def __init__(self, connection: Callable[[], AbstractContextManager[apsw.Connection]]) -> None:
        self._connection = connection

    # --- relations --------------------------------------------------------------------------------------

    def strongest(self, entities: Iterable[int], most: int) -> list[StoredEdge]:
        """The strongest relations between entities that each of some has, at most so many on either side."""
        with self._connection() as db:
            found = rows(
                db,
                f"""SELECT {_EDGE} FROM json_each(?1) x CROSS JOIN relation r ON r.id IN (
                        SELECT id FROM (
                            SELECT id FROM relation WHERE subject = x.value AND object IS NOT NULL
                            ORDER BY weight DESC LIMIT ?2)
                        UNION ALL
                        SELECT id FROM (
                            SELECT id FROM relation WHERE object = x.value ORDER BY weight DESC LIMIT ?2))""",
                (json.dumps(list(entities)), most),
            )
        return sorted({StoredEdge(*values) for values in found}, key=_strength)

    def among(self, entities: Sequence[int]) -> list[StoredEdge]:
        """Every relation of two of some entities, strongest first."""
        listed = json.dumps(list(entities))
        with self._connection() as db:
            found = rows(
                db,
                f"""SELECT {_EDGE} FROM relation r WHERE r.subject IN (SELECT value FROM json_each(?1))
                    AND r.object IN (SELECT value FROM json_each(?1))""",
                (listed,),
            )
        return sorted((StoredEdge(*values) for values in found), key=_strength)

    def between(self, one: int, other: int) -> StoredEdge | None:
        """The strongest tie of two entities, or None; evidence that it lacks is borrowed from `together`."""
        related = [edge for edge in self.among([one, other]) if edge.subject != edge.object]
        if related and related[0].evidence is not None:
            return related[0]
        together = self.together(one, other)
        if not related:
            return together
        edge = related[0]
        if together is None:
            return edge
        return StoredEdge(
            edge.subject,
            edge.predicate,
            edge.object,
            edge.count,
            edge.npmi,
            together.first_at if edge.first_at is None else edge.first_at,
            together.last_at if edge.last_at is None else edge.last_at,
            together.evidence,
            edge.weight,
        )

    # --- together ---------------------------------------------------------------------------------------

    def together(self, one: int, other: int) -> StoredEdge | None:
        """That two entities are named in one chunk or one message, or None.

        Of an entity with more than 2,000 mentions only so many are compared.
        """
        with self._connection() as db:
            sizes = dict(
                rows(db, "SELECT id, mentions FROM entity WHERE id IN (?, ?)", (one, other)),
            )
            if len(sizes) < 2:
                return None
            rarer, commoner = sorted((one, other), key=lambda entity: sizes[entity])
            found = rows(
                db,
                """SELECT m.chat_id, m.message_id, m.at, m.chunk_id,
                          max(o.chat_id = m.chat_id AND o.message_id = m.message_id)
                   FROM (SELECT * FROM mention WHERE entity = ?1 ORDER BY chunk DESC LIMIT ?3) m
                   CROSS JOIN mention o ON o.entity = ?2 AND o.chunk = m.chunk GROUP BY m.id""",
                (rarer, commoner, _MENTIONS),
            ) or _same_messages(db, rarer, commoner)
        if not found:
            return None
        messages = {(chat, message) for chat, message, *_ in found}
        times = [at for _, _, at, _, _ in found if at is not None]
        # The newest message that names both shows it best.
        *_, evidence, _ = max(found, key=lambda row: (row[4], -1 if row[2] is None else row[2], row[3]))
        count = len(messages)
        return StoredEdge(
            one,
            TOGETHER,
            other,
            count,
            None,
            min(times, default=None),
            max(times, default=None),
            evidence,
            _together_weight(count),
        )

    # --- paths ------------------------------------------------------------------------------------------

    def paths(self, start: int, end: int, most: int, hub: float) -> list[tuple[int, ...]]:
        """Ways of at most three steps from one entity to another.

        Args:
            start: an entity's id.
            end: another one's.
            most: how many are wanted.
            hub: an entity in more chunks than this stands beside everything.

        Returns:
            Entity ids from start to end; those through a hub last, fewest steps first, then the strongest
            weakest step. A way of three steps that a way of two cuts short is left out.
        """
        near, far = self._partners(start), self._partners(end)
        found: list[_Way] = []
        if end in near or start in far or self.together(start, end):
            found.append(((start, end), 1.0))
        near.pop(end, None)
        far.pop(start, None)
        chunks = {id_: partner.chunks for both in (near, far) for id_, partner in both.items()}
        found += [
            ((start, id_, end), min(near[id_].weight, far[id_].weight)) for id_ in near.keys() & far.keys()
        ]

        def rank(way: _Way) -> tuple[bool, int, float, tuple[int, ...]]:
            ids, weakest = way
            return any(chunks[id_] > hub for id_ in ids[1:-1]), len(ids), -weakest, ids

        if sum(not rank(way)[0] for way in found) < most:
            found += self._long(start, end, near, far)
        return [ids for ids, _ in sorted(found, key=rank)[:most]]

    def _partners(self, entity: int) -> dict[int, _Partner]:
        """Entities one step away: by the strongest relations, and by chunks."""
        with self._connection() as db:
            found = rows(
                db,
                """WITH step (other, weight) AS (
                       SELECT * FROM (SELECT object, weight FROM relation
                           WHERE subject = ?1 AND object IS NOT NULL ORDER BY weight DESC LIMIT ?2)
                       UNION ALL
                       SELECT * FROM (SELECT subject, weight FROM relation
                           WHERE object = ?1 ORDER BY weight DESC LIMIT ?2))
                   SELECT s.other, max(s.weight), e.chunks FROM step s JOIN entity e ON e.id = s.other
                   WHERE s.other != ?1 GROUP BY s.other""",
                (entity, _PARTNERS),
            )
            beside = rows(
                db,
                """SELECT g.entity, g.count, e.chunks FROM (
                       SELECT o.entity, count(DISTINCT o.chunk) AS count
                       FROM (SELECT DISTINCT chunk FROM mention WHERE entity = ?1
                             ORDER BY chunk DESC LIMIT ?2) c
                       CROSS JOIN mention o ON o.chunk = c.chunk GROUP BY o.entity) g
                   JOIN entity e ON e.id = g.entity
                   WHERE g.entity != ?1 AND e.type NOT IN (SELECT value FROM json_each(?4))
                   ORDER BY g.count DESC, g.entity LIMIT ?3""",
                (entity, _CHUNKS, _PARTNERS, json.dumps(LOOSE)),
            )
        partners = {id_: _Partner(_together_weight(count), chunks) for id_, count, chunks in beside}
        partners.update((id_, _Partner(weight, chunks)) for id_, weight, chunks in found)
        return partners

    def _long(
        self, start: int, end: int, near: Mapping[int, _Partner], far: Mapping[int, _Partner]
    ) -> list[_Way]:
        left = {id_: partner for id_, partner in near.items() if id_ not in far}
        right = {id_: partner for id_, partner in far.items() if id_ not in near}
        if not left or not right:
            return []
        best: dict[tuple[int, int], float] = {}
        for one, other, weight in (*self._related(left, right), *self._beside(left, right)):
            best[one, other] = max(weight, best.get((one, other), 0.0))
        return [
            ((start, one, other, end), min(left[one].weight, weight, right[other].weight))
            for (one, other), weight in best.items()
        ]

    def _related(self, left: Iterable[int], right: Iterable[int]) -> list[tuple[int, int, float]]:
        both = json.dumps(list(left)), json.dumps(list(right))
        # The plus keeps SQLite from asking for every single pair.
        statement = """SELECT r.subject, r.object, r.weight FROM json_each(?1) x
            CROSS JOIN relation r ON r.subject = x.value
            WHERE +r.object IN (SELECT value FROM json_each(?2))"""
        with self._connection() as db:
            forth, back = rows(db, statement, both), rows(db, statement, both[::-1])
        return [*forth, *((one, other, weight) for other, one, weight in back)]

    def _beside(
        self, left: Mapping[int, _Partner], right: Mapping[int, _Partner]
    ) -> list[tuple[int, int, float]]:
        """Pairs that are named in one chunk, among the strongest partners that stand in few chunks."""
        chosen = [
            json.dumps(
                sorted(
                    (id_ for id_, partner in side.items() if partner.chunks <= _MIDDLE_CHUNKS),
                    key=lambda id_: (-side[id_].weight, id_),
                )[:_MIDDLE]
            )
            for side in (left, right)
        ]
        with self._connection() as db:
            found = rows(
                db,
                """SELECT m.entity, o.entity, count(DISTINCT m.chunk) FROM json_each(?1) x
                   CROSS JOIN mention m ON m.entity = x.value CROSS JOIN mention o ON o.chunk = m.chunk
                   WHERE +o.entity IN (SELECT value FROM json_each(?2)) GROUP BY m.entity, o.entity""",
                chosen,
            )
        return [(one, other, _together_weight(count)) for one, other, count in found]

    def steps(self, way: Sequence[int]) -> list[StoredEdge]:
        """The ties of a way, one for each two neighbours; none at all where one is past the bounds."""
        edges = [self.between(one, other) for one, other in pairwise(way)]
        return [edge for edge in edges if edge is not None] if None not in edges else []


def _strength(edge: StoredEdge) -> tuple[float, int, int, int, str]:
    return -edge.weight, -edge.count, edge.subject, edge.object, edge.predicate


def _together_weight(count: int) -> float:
    return _TOGETHER_WEIGHT * count / (count + 1)


def _same_messages(
    db: apsw.Connection, rarer: int, commoner: int
) -> list[tuple[str, str, int | None, str, int]]:
    """Mentions of one entity in messages that name the other too, in another chunk of a long message."""
    found = [
        {
            (chat, message): (at, chunk)
            for chat, message, at, chunk in rows(
                db,
                """SELECT chat_id, message_id, at, chunk_id FROM mention WHERE entity = ?
                   ORDER BY chunk DESC LIMIT ?""",
                (entity, _MENTIONS),
            )
        }
        for entity in (rarer, commoner)
    ]
    return [(*place, *found[0][place], 1) for place in found[0].keys() & found[1].keys()]

"""Which entities stand together more often than chance would have it: counts and NPMI, all in numpy."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

# One message is a thought, one chunk is a talk: naming both across two messages of a chunk is half as good.
SAME_MESSAGE, SAME_CHUNK = 1.0, 0.5
LEAST_COUNT = 2.0
LEAST_NPMI = 0.1
STRONGEST = 20
HALF_LIFE = 365 * 24 * 3600 * 1000
# Distinct (message, entity) pairs of one chunk that are paired; 600 characters of prose hold fewer.
CROWD = 60

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]


class Incidence(NamedTuple):
    """Where entities stand: equally long columns, one row a (chunk, message, entity).

    `message` numbers follow the order of the talk.
    """

    chunk: Ints
    message: Ints
    entity: Ints


class Pairs(NamedTuple):
    """Entity pairs that were kept, `first` < `second`; columns of equal length."""

    first: Ints
    second: Ints
    support: Floats
    npmi: Floats
    message: Ints  # the newest message that supports the pair best
    chunk: Ints  # a chunk that shows both
    earliest: Ints
    latest: Ints


def npmi(together: Floats, left: Floats, right: Floats, total: int) -> Floats:
    """Normalised pointwise mutual information (Bouma 2009), -1 to 1.

    Args:
        together: messages that hold both, at most the smaller of the two counts.
        left: messages that hold the first.
        right: messages that hold the second.
        total: all messages.

    Returns:
        ln(p(a,b) / p(a)p(b)) / -ln p(a,b); 1 where both are in every message.
    """
    joint = together / total
    with np.errstate(divide="ignore", invalid="ignore"):
        value = np.log(joint * total * total / (left * right)) / -np.log(joint)
    return np.where(joint >= 1.0, 1.0, np.clip(value, -1.0, 1.0))


def pairs(rows: Incidence, totals: Ints, messages: int, at: Ints) -> Pairs:
    """Pairs worth keeping: counted at least twice, NPMI above .1, among the 20 strongest of one of the two.

    Strength is NPMI · log2(1 + count), halved for every year between the pair's last message and the newest
    of all: NPMI alone favours what was seen twice, and no clock is asked. Seen from one of the two, a partner
    of very many others is worth less.

    Args:
        rows: where entities stand; duplicates are harmless.
        totals: messages of each entity, by entity number.
        messages: all messages.
        at: time of each message, UTC ms, a negative number where unknown.

    Returns:
        The pairs, sorted by first and second.
    """
    left, right, message, chunk, weight = _together(rows)
    width = int(totals.size) + 1
    code, place = np.unique(left * width + right, return_inverse=True)
    # Once per pair and message, the better weight wins (it sorts last).
    order = np.lexsort((weight, message, place))
    place, message, chunk, weight = place[order], message[order], chunk[order], weight[order]
    last = np.ones(place.size, dtype=bool)
    last[:-1] = (place[1:] != place[:-1]) | (message[1:] != message[:-1])
    place, message, chunk, weight = place[last], message[last], chunk[last], weight[last]

    count = np.bincount(place, weights=weight, minlength=code.size).astype(np.float64)
    first, second = code // width, code % width
    capped = np.minimum(count, np.minimum(totals[first], totals[second]))
    value = npmi(capped, totals[first].astype(float), totals[second].astype(float), max(messages, 1))
    earliest, latest = _times(place, at[message], code.size)
    strength = value * np.log2(1 + count) * _faded(latest, at)
    good = (count >= LEAST_COUNT) & (value > LEAST_NPMI)
    good[good] = _strongest(first[good], second[good], strength[good], width)

    order = np.lexsort((message, weight, place))
    best = np.zeros(code.size, dtype=np.int64)
    best[place[order]] = order  # the last write of a pair is its best row
    return Pairs(
        first[good],
        second[good],
        count[good],
        value[good],
        message[best[good]],
        chunk[best[good]],
        earliest[good],
        latest[good],
    )


def _together(rows: Incidence) -> tuple[Ints, Ints, Ints, Ints, Floats]:
    """Every two entities of one chunk: smaller, larger, the later message, the chunk, the weight."""
    order = np.lexsort((rows.entity, rows.message, rows.chunk))
    table = np.stack([rows.chunk[order], rows.message[order], rows.entity[order]])
    if table.shape[1]:
        fresh = np.ones(table.shape[1], dtype=bool)
        fresh[1:] = (table[:, 1:] != table[:, :-1]).any(axis=0)
        table = table[:, fresh]
    starts = (
        np.flatnonzero(np.r_[True, table[0, 1:] != table[0, :-1]]) if table.shape[1] else np.zeros(0, int)
    )
    sizes = np.minimum(np.diff(np.r_[starts, table.shape[1]]), CROWD)
    found: list[tuple[Ints, Ints]] = [(np.zeros(0, np.int64), np.zeros(0, np.int64))]
    for size in np.unique(sizes):
        i, j = np.triu_indices(int(size), 1)
        base = starts[sizes == size][:, None]
        found.append(((base + i).ravel(), (base + j).ravel()))
    earlier = np.concatenate([rows_of for rows_of, _ in found])
    later = np.concatenate([rows_of for _, rows_of in found])
    apart = table[2, earlier] != table[2, later]
    earlier, later = earlier[apart], later[apart]
    low = np.minimum(table[2, earlier], table[2, later])
    high = np.maximum(table[2, earlier], table[2, later])
    weight = np.where(table[1, earlier] == table[1, later], SAME_MESSAGE, SAME_CHUNK)
    return low, high, table[1, later], table[0, later], weight


def _faded(latest: Ints, at: Ints) -> Floats:
    """1 for the newest message of all, half of it a year before; 1 as well where no time is known."""
    newest = at.max(initial=-1)
    age = np.where(latest < 0, 0, newest - latest)
    return np.power(0.5, age / HALF_LIFE)


def _strongest(first: Ints, second: Ints, strength: Floats, width: int) -> NDArray[np.bool_]:
    """Which pairs are among the strongest of either end; ties fall to the smaller numbers."""
    ends = np.concatenate([first, second])
    others = np.concatenate([second, first])
    number = np.tile(np.arange(first.size), 2)
    partners = np.bincount(ends, minlength=width)
    damped = np.tile(strength, 2) / np.log2(2 + partners[others] / STRONGEST)
    order = np.lexsort((others, -damped, ends))
    sorted_ends = ends[order]
    begins = np.searchsorted(sorted_ends, sorted_ends, side="left")
    rank = np.arange(order.size) - begins
    keep = np.zeros(first.size, dtype=bool)
    keep[number[order[rank < STRONGEST]]] = True
    return keep


def _times(place: Ints, at: Ints, size: int) -> tuple[Ints, Ints]:
    """Earliest and latest known time of each group, -1 where none is known."""
    known = at >= 0
    earliest = np.full(size, np.iinfo(np.int64).max, dtype=np.int64)
    latest = np.full(size, -1, dtype=np.int64)
    np.minimum.at(earliest, place[known], at[known])
    np.maximum.at(latest, place[known], at[known])
    earliest[latest < 0] = -1
    return earliest, latest

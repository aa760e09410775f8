"""From mentions to the entity graph: votes, merged names, co-occurrence and exact structural relations."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple
from urllib.parse import urlsplit

import numpy as np

from indexer.entities.cooccurrence import Incidence, pairs
from indexer.entities.corrections import Corrections
from indexer.entities.graph import Entity, Graph, MessageMentions, Place, PlacedMention, Predicate, Relation
from indexer.entities.merging import fuller_names
from indexer.entities.promotion import promoted
from indexer.entities.tally import Support, Tally
from indexer.text.names import name_key
from schemas.records import Mention

__all__ = ["Entity", "Graph", "MessageMentions", "Place", "PlacedMention", "Relation", "graph_of"]

NONE = Corrections()
# A measure, a day or a version stands beside everything and relates to nothing.
LOOSE = frozenset({"DATE", "MONEY", "VERSION", "IP"})
AUTHORS, CHATS = 5, 20
# Chunks of one message that may hold the same place: the overlap is at most half a chunk.
_OVERLAPPING = 4


def graph_of(messages: Iterable[MessageMentions], corrections: Corrections = NONE) -> Graph:
    """The graph of an archive; pure, deterministic, no clock.

    Args:
        messages: every message that is indexed, those of one talk in its order; one without mentions only
            counts in the total.
        corrections: what a person has corrected.

    Returns:
        The graph. Ids depend on the mentions alone, not on the order of the talks.
    """
    listed = promoted([message for message in messages if message.places])
    fuller = fuller_names(listed)
    tallies: defaultdict[str, Tally] = defaultdict(Tally)
    merged: defaultdict[str, Counter[str]] = defaultdict(Counter)
    located: list[list[_Located]] = []
    for message in listed:
        located.append(_located(message, fuller, corrections))
        _count(message, located[-1], tallies, merged)
    ranked = sorted(tallies.items(), key=lambda item: (-item[1].mentions, item[0]))
    ids = {key: number for number, (key, _) in enumerate(ranked, 1)}
    entities = tuple(
        Entity(
            ids[key],
            key,
            corrections.name(key) or tally.name,
            tally.type,
            tally.mentions,
            len(tally.chunks),
            tally.first,
            tally.last,
        )
        for key, tally in ranked
    )
    aliases = tuple(
        (ids[key], form, count)
        for key, tally in ranked
        for form, count in sorted(tally.forms.items(), key=lambda item: (-item[1], item[0]))
    )
    mentions = tuple(
        PlacedMention(
            ids[key], chunk, message.chat_id, message.message_id, message.at, mention.start, mention.end
        )
        for message, found in zip(listed, located, strict=True)
        for key, mention, chunks in found
        for chunk in chunks
    )
    relations = (
        *_co_occurs(listed, located, ids, entities),
        *_structural(ranked, ids, entities),
        *_alias_of(merged, ids, entities),
    )
    keys = dict(ids)
    for lone, targets in merged.items():
        keys.setdefault(lone, ids[min(targets, key=lambda key: (-targets[key], key))])
    for key, target in corrections.merged().items():
        if target in ids:
            keys[key] = ids[target]
    for entity in entities:
        if corrections.name(entity.key) is not None:
            keys.setdefault(name_key(entity.name), entity.id)  # found by the name that a person gave it
    return Graph(entities, tuple(sorted(keys.items())), aliases, mentions, relations)


class _Located(NamedTuple):
    """A mention under its final key, with the chunks that hold it."""

    key: str
    mention: Mention
    chunks: tuple[str, ...]


def _located(
    message: MessageMentions, fuller: Mapping[tuple[str, str], str], corrections: Corrections
) -> list[_Located]:
    if not message.mentions:
        return []
    places = sorted(message.places, key=lambda place: (place.start, place.end))
    starts = [place.start for place in places]
    found = []
    for mention in message.mentions:
        surface = message.text[mention.start : mention.end]
        own = corrections.own_key(surface)
        if own is not None:
            mention = replace(mention, key=own, name=surface)
        key = _key(message.chat_id, mention, fuller, corrections)
        if key is not None:
            found.append(_Located(key, mention, _chunks(places, starts, mention)))
    return found


def _key(
    chat_id: str, mention: Mention, fuller: Mapping[tuple[str, str], str], corrections: Corrections
) -> str | None:
    """The key of the entity that a mention is of; None for one that a person wants ignored."""
    key = mention.key
    if corrections.is_ignored(key):
        return None
    if mention.type == "PER" and not corrections.is_split(key):
        key = fuller.get((chat_id, key), key)
    key = corrections.target(key)
    return None if corrections.is_ignored(key) else key


def _chunks(places: Sequence[Place], starts: Sequence[int], mention: Mention) -> tuple[str, ...]:
    """The chunks that hold a mention whole; the last that begins before it where a cut went through it."""
    right = bisect_right(starts, mention.start)
    holding = []
    for place in reversed(places[max(0, right - _OVERLAPPING) : right]):
        if mention.end <= place.end:
            holding.append(place.chunk_id)
    return tuple(dict.fromkeys(reversed(holding))) or (places[max(0, right - 1)].chunk_id,)


def _count(
    message: MessageMentions,
    located: Sequence[_Located],
    tallies: defaultdict[str, Tally],
    merged: defaultdict[str, Counter[str]],
) -> None:
    """Add one message's mentions to the tallies; structural relations count a message once."""
    related: dict[str, str] = {}
    for key, mention, chunks in located:
        tally = tallies[key]
        tally.types[mention.type] += 1
        if key == mention.key:
            tally.names[mention.name] += 1
        else:
            merged[mention.key][key] += 1
            tally.fallback = mention.name
        tally.forms[" ".join(message.text[mention.start : mention.end].split())] += 1
        tally.chunks.update(chunks)
        tally.mentions += 1
        tally.seen(message.at)
        if mention.type not in LOOSE:
            related.setdefault(key, chunks[0])
        host = _host(mention)
        if host:
            tally.links.setdefault(host, Support()).add(message.at, chunks[0])
    for key, chunk in related.items():
        if message.author:
            tallies[key].authors.setdefault(message.author, Support()).add(message.at, chunk)
        chat = message.chat_title or message.chat_id
        tallies[key].chats.setdefault(chat, Support()).add(message.at, chunk)


def _host(mention: Mention) -> str | None:
    """The host of an address, or None."""
    if mention.type == "EMAIL":
        return mention.name.rpartition("@")[2].casefold()
    if mention.type != "URL":
        return None
    try:
        host = urlsplit(mention.name if "://" in mention.name else f"//{mention.name}").hostname
    except ValueError:
        return None
    return host.removeprefix("www.") if host and host != mention.name.casefold() else None


def _co_occurs(
    listed: Sequence[MessageMentions],
    located: Sequence[Sequence[_Located]],
    ids: Mapping[str, int],
    entities: Sequence[Entity],
) -> Iterator[Relation]:
    chunk_ids: dict[str, int] = {}
    rows: list[tuple[int, int, int]] = []
    for number, found in enumerate(located):
        for key, mention, chunks in found:
            if mention.type not in LOOSE:
                rows += [(chunk_ids.setdefault(chunk, len(chunk_ids)), number, ids[key]) for chunk in chunks]
    columns = np.array(rows, dtype=np.int64).reshape(-1, 3).T
    width = len(entities) + 1
    totals = np.bincount(np.unique(columns[1] * width + columns[2]) % width, minlength=width).astype(np.int64)
    at = np.array([-1 if message.at is None else message.at for message in listed], dtype=np.int64)
    kept = pairs(Incidence(*columns), totals, len(listed), at)
    names = list(chunk_ids)
    for first, second, count, npmi, _, chunk, earliest, latest in zip(
        *(c.tolist() for c in kept), strict=True
    ):
        yield Relation(
            first,
            "co_occurs",
            second,
            entities[second - 1].name,
            math.ceil(count),
            round(npmi, 4),
            None if earliest < 0 else earliest,
            None if latest < 0 else latest,
            names[chunk],
        )


def _structural(
    ranked: Sequence[tuple[str, Tally]], ids: Mapping[str, int], entities: Sequence[Entity]
) -> Iterator[Relation]:
    by_name = {entity.name: entity.id for entity in reversed(entities)}
    for key, tally in ranked:
        kinds: tuple[tuple[Predicate, dict[str, Support], int], ...] = (
            ("said_by", tally.authors, AUTHORS),
            ("in_chat", tally.chats, CHATS),
            ("links_to", tally.links, 1),
        )
        for predicate, supports, most in kinds:
            best = sorted(supports.items(), key=lambda item: (-item[1].count, item[0]))[:most]
            for name, support in best:
                other = None if predicate == "in_chat" else by_name.get(name) or ids.get(name_key(name))
                yield Relation(
                    ids[key],
                    predicate,
                    None if other == ids[key] else other,
                    name,
                    support.count,
                    None,
                    support.first,
                    support.last,
                    support.chunk,
                )


def _alias_of(
    merged: Mapping[str, Counter[str]], ids: Mapping[str, int], entities: Sequence[Entity]
) -> Iterator[Relation]:
    """A lone name that is an entity of its own elsewhere, and what it stood for in some talk."""
    for lone, targets in sorted(merged.items()):
        if lone in ids:
            for target, count in sorted(targets.items()):
                name = entities[ids[target] - 1].name
                yield Relation(ids[lone], "alias_of", ids[target], name, count, None, None, None, None)

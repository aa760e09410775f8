"""`letopis why-not`: one message followed from its file to its place in a search."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from service.cli.options import print_json, settings_of, shared
from service.cli.summary import line
from service.query import shown_time
from service.render import clean, local

if TYPE_CHECKING:
    from datetime import tzinfo

    from indexer.stores import Unit
    from indexer.stores.generation import Generation
    from indexer.stores.ledger.trace import SeenIn
    from schemas.settings import Settings
    from service.cli.whereabouts import Whereabouts
    from service.standing import Standing

_TEXT = 160

# The last place that --limit and --offset can show.
_REACHED = 1_100

# Files and chunks that are listed; the JSON names all.
_LISTED = 5

_MATCHES = {
    "id": "found by its id",
    "text": "found by its text",
    "part": "found by a part of its text",
    "words": "the nearest in words; it may be another message than the one that you mean",
}


@dataclass(frozen=True, slots=True)
class _Search:
    """How a query ranks the message, by message and by chunk."""

    query: str
    limit: int
    degraded: list[str]
    standings: list[Standing]


@click.command("why-not")
@click.argument("message", nargs=-1, required=True)
@click.option("--chat", metavar="CHAT", help="Its talk, by id or title.")
@click.option("--for", "query", metavar="QUERY", help="The search that should find it.")
@shared
def why_not(
    message: tuple[str, ...],
    chat: str | None,
    query: str | None,
    config: Path | None,
    data: Path | None,
    as_json: bool,
) -> int:
    """Follow one MESSAGE, given by its id or its text, and say why a search does not find it.

    From the file that it was read from, over what was redacted, forgotten or left out, to the chunks and
    vectors that it has; with --for, its rank in every leg of that search and what stands above it. Nothing
    is written, and a running build is not waited for.
    """
    from indexer.stores.ledger import LEDGER_NAME
    from schemas.problems import SettingsError
    from service.cli.whereabouts import opened_trace, whereabouts
    from service.requests import parse_search

    wanted = " ".join(message).strip()
    if not wanted:
        raise SettingsError("There is no message named.", "give its id or its text")
    if query is not None:
        parse_search([("q", query)])  # a query that no search would take is told before anything is opened
    settings = settings_of(config, data)
    generation, trace = _published(settings.data), None
    try:
        trace = opened_trace(settings.data / LEDGER_NAME)
        found = whereabouts(generation, trace, wanted, chat)
        search = _asked(settings, generation, found, query) if generation and query is not None else None
        if as_json:
            print_json(_as_json(generation, found, search))
        else:
            click.echo("\n".join(_lines(generation, found, search, settings.zone)))
    finally:
        if trace is not None:
            trace.close()
        if generation is not None:
            generation.close()
    return 0


def _published(data: Path) -> Generation | None:
    from indexer.stores.generation import open_current
    from schemas.problems import IndexMissing

    try:
        return open_current(data)
    except IndexMissing:
        return None


def _asked(settings: Settings, generation: Generation, found: Whereabouts, query: str) -> _Search:
    """Ask the query as a search without filters does, in both units."""
    from datetime import UTC, datetime

    from service.evidence import asked_of
    from service.queries import QueryEmbedders
    from service.query import filter_of
    from service.repair import repaired
    from service.requests import parse_search
    from service.standing import standing

    request, now = parse_search([("q", query)]), datetime.now(UTC)
    repair = repaired(query, generation.store)
    embedders = QueryEmbedders(settings, os.environ)
    try:
        spaces = generation.store.spaces()
        vectors, degraded = embedders.vectors(repair.text, spaces) if spaces else ([], [])
    finally:
        embedders.close()
    keep = filter_of(request, settings.zone, now)
    asked = asked_of(request, keep, vectors, settings.zone, now, repair=repair)
    units: tuple[Unit, ...] = ("message", "chunk") if found.row else ()
    standings = [standing(generation, asked, found.row, unit) for unit in units]
    return _Search(query, request.limit, list(degraded), standings)


def _as_json(generation: Generation | None, found: Whereabouts, search: _Search | None) -> dict[str, Any]:
    told = {"generation": generation.name if generation else None, **found.as_json()}
    told["reasons"] = _reasons(generation, found, search)
    told["search"] = search and {
        "query": search.query,
        "limit": search.limit,
        "degraded": search.degraded,
        "units": {one.unit: one.as_json() for one in search.standings},
    }
    return told


# --- the way into the index ---------------------------------------------------------------------------------


def _lines(
    generation: Generation | None, found: Whereabouts, search: _Search | None, zone: tzinfo
) -> Iterator[str]:
    at = local(shown_time(found.at) or "", zone) if found.at is not None else "without a date"
    talk = clean(found.chat_title or found.chat)
    yield f"Message {clean(found.id)} of the chat {talk}: {_MATCHES[found.match]}."
    if not found.forgotten:
        yield line("said", f"{at}, {clean(found.author or '') or 'nobody named'} ({found.role})")
        yield line("text", clean(found.text, _TEXT))
        if found.redacted:
            yield line("redacted", f"{found.redacted} secrets, which no search finds")
        yield from _files(found)
        yield line("index", f"generation {generation.name}" if generation and found.row else "not in it")
    for chunk in found.chunks[:_LISTED]:
        yield line("chunk", f"{chunk.id}, vectors: {', '.join(chunk.vectors) or 'none yet'}")
    if len(found.chunks) > _LISTED:
        yield line("chunk", f"and {len(found.chunks) - _LISTED:,} more")
    for one in search.standings if search else ():
        yield ""
        yield from _standing(one)
    yield ""
    yield from (f"→ {reason}" for reason in _reasons(generation, found, search))


def _files(found: Whereabouts) -> Iterator[str]:
    if found.in_ledger is None:
        yield line("file", f"unknown without the ledger; one of {len(found.files)} of {found.source}:")
    elif found.place:
        yield line("place", clean(found.place, 200))
    for file in found.files[:_LISTED]:
        yield line("file", _file(file))
    if len(found.files) > _LISTED:
        yield line("file", f"and {len(found.files) - _LISTED:,} more")


def _file(file: SeenIn) -> str:
    said = f"{clean(file.path, 200)} ({file.kind}): {file.messages:,} messages"
    if file.dropped:
        said += ", left out: " + ", ".join(f"{count:,} {clean(kind)}" for kind, count in file.dropped.items())
    if file.skipped:
        said += f", {file.skipped:,} records not understood"
    return f"{said}, gone since" if file.gone else said


# --- the search ---------------------------------------------------------------------------------------------


def _standing(one: Standing) -> Iterator[str]:
    from service.cli.explanation import legs_table

    unit = "As a message" if one.unit == "message" else f"As a chunk ({one.id})"
    place = f", place {one.place:,}" if one.place is not None else ""
    rank = f"rank {one.rank:,}{place}" if one.rank is not None else "no rank"
    yield f"{unit}: score {one.score:.4f}, {rank}"
    yield from legs_table(one.legs)
    for above in one.above:
        yield f"   above: {above.place}. {clean(above.id)}  score {above.score:.4f}  {clean(above.text)}"


def _reasons(generation: Generation | None, found: Whereabouts, search: _Search | None) -> list[str]:
    """What keeps it from being found, each with the remedy; at last that nothing does."""
    told = list(_missing(generation, found))
    for one in search.standings if search else ():
        told += _lost(found, one, search.limit if search else 0)
    if search and search.degraded:
        told += [f"The search was asked without all vectors: {sentence}." for sentence in search.degraded]
    return told or ["It is in the index, whole; ask for it with --for QUERY to see how a search ranks it."]


def _missing(generation: Generation | None, found: Whereabouts) -> Iterator[str]:
    if found.forgotten:
        yield "It was forgotten for good (`letopis forget`) and is not read again from any file."
    elif not found.row:
        what = f"generation {generation.name}" if generation else "a generation, since none is published"
        yield f"It was read, but is not in {what}; `letopis build` publishes it."
    elif found.in_ledger is False:
        yield "It is in the generation but no longer in the ledger; the next `letopis build` leaves it out."
    if found.hidden:
        yield f"A search leaves it out unless it asks for {' and '.join(found.hidden)}."
    if found.row and not found.chunks:
        yield "It stands in no chunk, so that no vector finds it: its text is empty or all white space."
    if found.chunks and not any(chunk.vectors for chunk in found.chunks):
        yield "Its chunks have no vector yet: only words and names find it until `letopis build` embeds them."


def _lost(found: Whereabouts, one: Standing, limit: int) -> Sequence[str]:
    unit = f"unit={one.unit}"
    if one.lost == "none":
        return [f"{unit}: it is found, at place {one.place} of the {limit} shown."]
    if one.lost == "filter":
        asked = " ".join(f"--{name}" for name in found.hidden)
        return [f"{unit}: the filter of every search leaves it out; ask with {asked}."]
    if one.lost == "copy":
        return [f"{unit}: it is merged into {one.copy_of}, an equal text or another window of the message."]
    if one.lost == "limit":
        remedy = "--limit or --offset" if (one.place or 0) <= _REACHED else "its own words or a filter"
        return [f"{unit}: it is at place {one.place:,}, past the limit of {limit}; ask with {remedy}."]
    if one.id is None:
        return []
    return [f"{unit}: no leg finds it: neither its words and names nor its meaning are near the query."]

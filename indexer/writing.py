"""From the ledger to the two databases of a generation, chat by chat, in one sequential pass."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from indexer import weighing
from indexer.entities.corrections import Corrections
from indexer.entities.graph import MessageMentions, Place
from indexer.entities.relations import graph_of
from indexer.reading import root_id
from indexer.report import Progress, Report
from indexer.stores.generation import current_manifest
from indexer.stores.graph_writer import write_graph
from indexer.stores.ledger import Ledger
from indexer.stores.manifest import GRAPH_NAME, VECTORS_NAME, Manifest
from indexer.stores.vectors import VectorsWriter
from indexer.weighing import UNMEASURED
from schemas.records import Space


@dataclass(frozen=True, slots=True)
class Content:
    """What a generation is to hold.

    Attributes:
        fingerprint: equal for equal content.
        versions: of everything that shapes it.
        extractor: whose mentions.
        data: the data folder, which the manifest's places are relative to.
        roots: archive roots that are known by path in this run.
        spares: providers without a part, with their reasons.
    """

    fingerprint: str
    versions: dict[str, str]
    extractor: str
    data: Path
    roots: Sequence[Path]
    spares: dict[str, str]


def write(
    ledger: Ledger, content: Content, name: str, folder: Path, at: int, report: Report, progress: Progress
) -> Manifest:
    """Write both databases into a folder; the manifest is returned, without the files' hashes."""
    chats = ledger.messages.chats()
    progress.stage("writing", len(chats))
    vectors = VectorsWriter(folder / VECTORS_NAME, ledger)
    for chat in chats:
        vectors.chat(*chat)
        progress.advance()
    spaces = ledger.vectors.spaces()
    measured = {id_: _measured(ledger, id_, space) for id_, space, _ in spaces}
    weights = {id_: UNMEASURED if weight is None else weight for id_, weight in measured.items()}
    counts = vectors.close(weights)
    progress.stage("relations", None)
    made = Corrections(correction for _, correction, _ in ledger.corrections.all())
    graph = graph_of(_mentions(ledger, content.extractor, [chat[0] for chat in chats]), made)
    counts |= write_graph(folder / GRAPH_NAME, graph, vectors.rows)
    report.entities["entities"], report.entities["relations"] = counts["entities"], counts["relations"]
    return Manifest(
        generation=name,
        built_at=at,
        fingerprint=content.fingerprint,
        counts={key: counts[key] for key in ("chats", "messages", "chunks", "entities", "relations")},
        spaces=[
            {
                "name": space.name,
                "provider": space.provider,
                "weight": weights[id_],
                "measured": measured[id_] is not None,
                "vectors": counts[space.name],
                "coverage": round(counts[space.name] / max(1, counts["chunks"]), 6),
            }
            for id_, space, _ in spaces
        ],
        entities={"backend": content.extractor.split("/")[0], "version": content.extractor},
        versions=content.versions,
        sources=_sources(ledger, content),
        spares=content.spares,
    )


def _measured(ledger: Ledger, id_: int, space: Space) -> float | None:
    chunks, followers = ledger.vectors.neighbours(space, id_, weighing.SAMPLE)
    chats = ledger.vectors.largest(space, id_, weighing.CHATS, weighing.CHUNKS)
    return weighing.weight(chunks, followers, [chat for chat in chats if len(chat) >= weighing.MIN_CHUNKS])


def _mentions(ledger: Ledger, extractor: str, chats: Sequence[str]) -> Iterator[MessageMentions]:
    for chat_id in chats:
        mentions = ledger.mentions.of(extractor, chat_id)
        holders: dict[str, list[Place]] = {}
        for chunk, _ in ledger.chunks.of(chat_id):
            for piece in chunk.pieces:
                end = piece.message_start + piece.end - piece.start
                holders.setdefault(piece.message_id, []).append(Place(chunk.id, piece.message_start, end))
        for message in ledger.messages.talk(chat_id):
            if message.id in holders:
                yield MessageMentions(
                    chat_id=chat_id,
                    message_id=message.id,
                    text=message.text,
                    places=tuple(holders[message.id]),
                    at=message.at,
                    mentions=mentions.get(message.id, ()),
                    author=message.author,
                    chat_title=message.chat_title,
                    handle=message.meta.get("sender_username"),
                )


def _sources(ledger: Ledger, content: Content) -> list[dict[str, Any]]:
    places = {root_id(root): root.resolve() for root in content.roots}
    previous = current_manifest(content.data)
    # A job that reads no archive knows no roots: a file is still where it was.
    before = {(s["path"], s["sha256"]): s.get("locate") for s in (previous.sources if previous else ())}
    return [
        {
            "path": source["path"],
            "kind": source["kind"],
            "size": source["size"],
            "mtime_ns": source["mtime_ns"],
            "sha256": source["sha256"],
            "messages": source["messages"],
            "last_at": source["last_at"],
            "gone": bool(source["gone"]),
            "ailment": json.loads(str(source["health"]))[1] if source["health"] else None,
            "locate": _located(places.get(str(source["root"])), str(source["path"]), content.data)
            or before.get((source["path"], source["sha256"])),
        }
        for source in ledger.sources.all()
    ]


def _located(root: Path | None, path: str, data: Path) -> str | None:
    """Where the service finds the file again: relative to the data folder, or from the home folder (`~`)."""
    if root is None:
        return None
    inner = path.partition("!")[0]
    file = root / inner if root.is_dir() else root
    home = Path.home()
    if file.is_relative_to(home) and not data.resolve().is_relative_to(home):
        return f"~/{file.relative_to(home)}"
    return os.path.relpath(file, data.resolve())

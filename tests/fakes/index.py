"""A small published index, built in a moment: hash vectors, patterns for names, no environment."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from indexer.pipeline import Build, Options
from indexer.report import Report
from indexer.stores.generation import Check
from indexer.stores.ledger import Ledger, SourceFile
from indexer.stores.manifest import VECTORS_NAME
from indexer.stores.sqlite import SqliteStore
from indexer.stores.vectors import VectorsWriter
from schemas.records import Chunk, Message, Piece, Space
from schemas.settings import Settings
from service.engine import LiveEngine

Line = dict[str, Any]


def said(text: str, id: str | None = None, **more: Any) -> Line:
    """One line of plain JSONL."""
    line: Line = {"role": "user", "content": text, **more}
    return line if id is None else line | {"id": id}


def settings_for(data: Path, **more: Any) -> Settings:
    """Settings of a data folder that need neither model nor network."""
    values: dict[str, Any] = {
        "data": data,
        "timezone": "UTC",
        "embedding": {"order": ["hash"], "floor": False},
        "entities": {"backend": "patterns"},
    }
    return Settings(**values | more)


def archive(folder: Path, lines: Iterable[Line], name: str = "talk.jsonl") -> Path:
    """Write one JSONL file; its stem is the chat where a line names none."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / name
    path.write_text("".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines), "utf-8")
    return path


def build(settings: Settings, *paths: Path, checks: Sequence[Check] = (), **options: Any) -> Report:
    """One build of some archives; the report says which generation came of it."""
    chosen = Options(paths=paths, **options)
    return Build(settings, chosen, checks, environment={}, sleep=lambda _: None).run()


def published(root: Path, lines: Iterable[Line], name: str = "talk.jsonl", **more: Any) -> Settings:
    """Settings of a fresh index over some messages."""
    settings = settings_for(root / "index", **more)
    build(settings, archive(root / "archive", lines, name))
    return settings


def engine_over(settings: Settings) -> LiveEngine:
    """The engine over an index; use it as a context manager."""
    return LiveEngine(settings, environment={})


def filled(ledger: Ledger, chats: Mapping[str, Sequence[str]], workers: Collection[str] = ()) -> list[bytes]:
    """Put talks into a ledger, one message a chunk, past readers and cutter; the hashes of their chunks.

    Texts among `workers` are of sub-agents.
    """
    hashes: list[bytes] = []
    for chat, texts in chats.items():
        source = SourceFile("root", f"{chat}.jsonl", "jsonl", 1, 1, "00", "1")
        messages = [
            Message(
                *(chat, f"m{at}", "jsonl", "user", text, f"{chat}:{at}"),
                at=1_700_000_000_000 + at * 1000,
                agent="worker" if text in workers else None,
            )
            for at, text in enumerate(texts)
        ]
        ledger.absorb(source, ((one, hashlib.sha256(one.text.encode()).digest()) for one in messages))
        chunks = [
            Chunk(f"c_{chat}_{at}", chat, None, at, "", one.text, _whole(one), one.at, one.at)
            for at, one in enumerate(messages)
        ]
        cut = [(chunk, hashlib.sha256(chunk.id.encode()).digest()) for chunk in chunks]
        ledger.chunks.replace(chat, cut)
        hashes += [digest for _, digest in cut]
    return hashes


def _whole(message: Message) -> tuple[Piece, ...]:
    return (Piece(message.id, 0, len(message.text), 0),)


def store_of(
    root: Path,
    chats: Mapping[str, Sequence[str]],
    spaces: Mapping[Space, NDArray[np.float32]],
    workers: Collection[str] = (),
) -> SqliteStore:
    """A store over talks with the given vectors, one row a text; a row of zeros stands for none."""
    with Ledger(root / "ledger") as ledger:
        hashes = filled(ledger, chats, workers)
        for space, vectors in spaces.items():
            there = np.flatnonzero(np.abs(vectors).max(axis=1) > 0)
            ledger.vectors.keep(ledger.vectors.space_id(space), [hashes[at] for at in there], vectors[there])
        writer = VectorsWriter(root / VECTORS_NAME, ledger)
        for chat in ledger.messages.chats():
            writer.chat(*chat)
        writer.close({held.id: 0.5 for held in ledger.vectors.spaces()})
    return SqliteStore(root / VECTORS_NAME)

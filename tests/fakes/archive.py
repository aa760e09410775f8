"""A tiny archive with its data folder: talks of short, all different messages, built and asked for real."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from indexer.narrowing import EVERYTHING, Narrowing
from indexer.pipeline import Build, Options
from indexer.report import Report
from indexer.spending import Budget
from indexer.stores.generation import CURRENT, Check, current_manifest
from indexer.stores.ledger import Ledger
from indexer.stores.manifest import Manifest
from schemas.http import Answer, SearchRequest
from schemas.settings import Chunking, Embedding, Entities, Settings
from service.checks import CHECKS
from service.engine import LiveEngine
from tests.fakes.gemini import FakeGemini
from tests.fakes.ollama import FakeOllama

GEMINI = "gemini/gemini-embedding-2-preview/768/1"
KEY = "AQ.Ab8-not-a-real-key-0123456789"

# One message of `said` fills a window of this size by itself, so that messages and chunks can be counted.
SIZE = 60

_DAY = 86_400_000
_BEGIN = 1_767_225_600_000  # 2026-01-01

_WHO = ("Анна", "Борис", "Вера", "Глеб")
_WHAT = ("сервер", "отчёт", "поезд", "огород", "договор", "роман", "чайник", "маршрут", "концерт", "насос")
_DONE = ("починили", "отложили", "купили", "обсудили", "потеряли", "нашли", "продали", "забыли")


def said(
    chat: str, count: int, first: int = 0, authors: Sequence[str] = _WHO[:2], **more: object
) -> list[dict[str, object]]:
    """Messages of one chat, a minute apart, each of them one chunk of SIZE."""
    return [
        {
            "id": f"{chat}-{number}",
            "chat": chat,
            "role": "user",
            "author": authors[number % len(authors)],
            "ts": _BEGIN + number * 60_000,
            "content": f"В чате {chat} {_DONE[number % 8]} {_WHAT[number % 10]} номер {number:04d}",
            **more,
        }
        for number in range(first, first + count)
    ]


@dataclass
class Home:
    """An archive folder and a data folder, with everything that a build takes.

    Attributes:
        folder: holds `archive/` and `data/`.
        environment: keys and hosts of the providers.
        embedding: the section of the settings.
        chunking: the section of the settings.
        slept: every wait that a build asked for, seconds; no time passes.
    """

    folder: Path
    environment: dict[str, str] = field(default_factory=dict)
    embedding: dict[str, Any] = field(default_factory=lambda: {"order": ["hash"]})
    chunking: Chunking = field(default_factory=lambda: Chunking(size=SIZE, overlap=0))
    slept: list[float] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.archive.mkdir(parents=True, exist_ok=True)

    @property
    def archive(self) -> Path:
        return self.folder / "archive"

    @property
    def data(self) -> Path:
        return self.folder / "data"

    @property
    def settings(self) -> Settings:
        return Settings(
            data=self.data,
            archives=(self.archive,),
            timezone="UTC",
            chunking=self.chunking,
            embedding=Embedding(**self.embedding),
            entities=Entities(backend="patterns"),
        )

    def write(self, name: str, content: Iterable[Mapping[str, object]] | str | bytes) -> Path:
        """Write a file of the archive: lines of JSON, a text or bytes. Each writing gets a newer mtime."""
        path = self.archive / name
        path.parent.mkdir(parents=True, exist_ok=True)
        before = path.stat().st_mtime_ns if path.exists() else _BEGIN * 1_000_000
        if isinstance(content, bytes):
            path.write_bytes(content)
        elif isinstance(content, str):
            path.write_text(content, "utf-8")
        else:
            lines = [json.dumps(line, ensure_ascii=False) for line in content]
            path.write_text("\n".join(lines) + "\n", "utf-8")
        os.utime(path, ns=(before + 1_000_000_000, before + 1_000_000_000))
        return path

    def using(self, gemini: FakeGemini | None = None, ollama: FakeOllama | None = None, **more: Any) -> Home:
        """Point the build at these fakes, in this order, with the hash embedder as the floor."""
        names = [name for name, fake in (("gemini", gemini), ("ollama", ollama)) if fake is not None]
        self.embedding = {"order": [*names, "hash"], "cloud": True, **more}
        self.environment = {}
        if gemini is not None:
            self.environment["GEMINI_API_KEY"] = KEY
            self.embedding["gemini"] = {"base_url": gemini.url}
        if ollama is not None:
            self.environment["OLLAMA_HOST"] = ollama.url
        return self

    def making(
        self,
        *,
        checks: Sequence[Check] = CHECKS,
        cancelled: Callable[[], bool] = lambda: False,
        budget: Budget | None = None,
        paths: Sequence[Path] = (),
        full: bool = False,
        mirror: bool = False,
        force: bool = False,
        narrowing: Narrowing = EVERYTHING,
    ) -> Build:
        """A build that has not run yet."""
        return Build(
            settings=self.settings,
            options=Options(paths, full, mirror, force, budget or Budget(), narrowing),
            checks=checks,
            environment=self.environment,
            cancelled=cancelled,
            sleep=self.slept.append,
        )

    def build(self, **more: Any) -> Report:
        """Run a build to its end; see `making`."""
        return self.making(**more).run()

    @property
    def current(self) -> str | None:
        """The published generation's name."""
        path = self.data / CURRENT
        return path.read_text("ascii").strip() if path.exists() else None

    @property
    def manifest(self) -> Manifest:
        """Of the published generation."""
        found = current_manifest(self.data)
        assert found is not None
        return found

    def published(self) -> dict[str, int]:
        """Vectors by space in the published generation."""
        return {space["name"]: space["vectors"] for space in self.manifest.spaces}

    def kept(self) -> dict[str, int]:
        """Vectors of present chunks by space in the ledger."""
        with Ledger(self.data) as ledger:
            return {held.space.name: held.covered for held in ledger.vectors.spaces()}

    def messages(self) -> int:
        """Messages in the published generation."""
        return self.manifest.counts["messages"]

    @contextmanager
    def engine(self) -> Iterator[LiveEngine]:
        """The service's engine over the data folder, with the same environment."""
        with LiveEngine(self.settings, self.environment) as engine:
            yield engine

    def search(self, q: str, **more: Any) -> Answer:
        """One search in the published generation."""
        with self.engine() as engine:
            return engine.search(SearchRequest(q=q, **more))

    def left_behind(self) -> dict[str, bytes]:
        """The raw bytes of every file in the data folder, by its place."""
        return {
            path.relative_to(self.data).as_posix(): path.read_bytes()
            for path in sorted(self.data.rglob("*"))
            if path.is_file()
        }

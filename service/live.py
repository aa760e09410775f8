"""The published generation, opened, and swapped for the next one while requests run.

A watcher looks at CURRENT, verifies and opens the new generation beside the old one, and swaps them in one
step. Running requests keep the generation that they began with; it is closed when the last of them is done.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import Self

from indexer.stores.generation import Generation, current_name, open_generation
from indexer.stores.manifest import NAME as MANIFEST
from schemas.problems import IndexMissing, LetopisError

log = logging.getLogger("letopis.live")

POLL = 0.5


class _Lease:
    """A generation with the number of requests that hold it."""

    def __init__(self, generation: Generation, written: tuple[int, int, int]) -> None:
        self.generation = generation
        self.written = written
        self.holders = 0
        self.retired = False


def _written(folder: Path) -> tuple[int, int, int]:
    """What tells a folder from another one of the same name, when the data folder was made anew."""
    try:
        status = (folder / MANIFEST).stat()
    except OSError:
        return 0, 0, 0
    return status.st_dev, status.st_ino, status.st_mtime_ns


class LiveIndex:
    """The current generation of a data folder.

    Args:
        data: the data folder.
        opened: called with every generation before it is served (to warm caches).
    """

    def __init__(self, data: Path, opened: Callable[[Generation], None] = lambda _: None) -> None:
        self._data = data
        self._opened = opened
        self._lock = threading.Lock()
        self._lease: _Lease | None = None
        self._fault: LetopisError | None = None
        self._stop = threading.Event()
        self._watcher = threading.Thread(target=self._watch, name="letopis-live", daemon=True)

    def start(self) -> Self:
        """Open what is published, and begin to watch; having no index yet is no error."""
        self.refresh()
        self._watcher.start()
        return self

    def close(self) -> None:
        """Stop watching and close the generation."""
        self._stop.set()
        if self._watcher.is_alive():
            self._watcher.join()
        with self._lock:
            self._retire()

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    @contextmanager
    def lease(self) -> Iterator[Generation]:
        """The current generation, for one request.

        Raises:
            IndexMissing: nothing has been published.
            IndexCorrupt: what is published can't be opened, and nothing older is held.
        """
        with self._lock:
            lease = self._lease
            if lease is None:
                # Raised again and again: without its old traceback, which would grow with every request.
                fault = self._fault or IndexMissing("There is no index yet.", "run `letopis build PATH`")
                raise fault.with_traceback(None)
            lease.holders += 1
        try:
            yield lease.generation
        finally:
            with self._lock:
                lease.holders -= 1
                if lease.retired and not lease.holders:
                    lease.generation.close()

    @property
    def fault(self) -> LetopisError | None:
        """Why the newest published generation is not the one that is served, or None."""
        return self._fault

    def refresh(self) -> None:
        """Look at CURRENT once, and swap if it names another generation."""
        try:
            name = current_name(self._data)
            written = _written(self._data / name)
            if self._lease is not None and (name, written) == (
                self._lease.generation.name,
                self._lease.written,
            ):
                self._fault = None
                return
            generation = open_generation(self._data / name)
        except LetopisError as error:
            if self._fault is None or self._fault.message != error.message:
                log.warning("%s", error.line())
            self._fault = error
            return
        try:
            self._opened(generation)
        except BaseException:
            generation.close()
            raise
        with self._lock:
            self._retire()
            self._lease = _Lease(generation, written)
            self._fault = None
        log.info("serving generation %s", generation.name)

    def _retire(self) -> None:
        lease, self._lease = self._lease, None
        if lease is not None:
            lease.retired = True
            if not lease.holders:
                lease.generation.close()

    def _watch(self) -> None:
        while not self._stop.wait(POLL):
            try:
                self.refresh()
            except Exception:  # the watcher must outlive whatever one look met
                log.exception("looking at CURRENT failed")

"""Searches that found nothing, one a line in a file of the owner's choice; without that setting, nowhere.

What was asked is as private as the archive: the file is the owner's alone, and it never grows past LIMIT.
"""

from __future__ import annotations

import json
import logging
import os
import threading
from datetime import UTC, datetime
from pathlib import Path

from schemas.http import SearchRequest

LIMIT = 1_000_000

_FILTERS = ("chat", "author", "role", "agent", "source", "entity", "since", "until", "min_score")

log = logging.getLogger("letopis.empty_searches")


class EmptySearches:
    """Notes searches without a hit; safe from many threads.

    Args:
        path: of the file, or None to note nothing.
    """

    def __init__(self, path: Path | None) -> None:
        self._path = path
        self._lock = threading.Lock()

    def note(self, request: SearchRequest, now: datetime) -> None:
        """Append one search; a file that is full or can't be written is told once and left alone."""
        if self._path is None or request.offset:  # past the last page there is nothing, and that is no miss
            return
        given = request.model_dump(include=set(_FILTERS), exclude_defaults=True)
        at = now.astimezone(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
        line = json.dumps({"at": at, "q": request.q, "filters": given}, ensure_ascii=False) + "\n"
        with self._lock:
            try:
                self._append(line.encode("utf-8", "replace"))
            except OSError as error:
                self._stop(f"can't be written: {error.strerror or type(error).__name__}")

    def _append(self, line: bytes) -> None:
        path = self._path
        if path is None:
            return
        handle = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        try:
            if os.fstat(handle).st_size + len(line) > LIMIT:
                self._stop(f"holds {LIMIT:,} bytes and takes no more; move it away and start again")
            else:
                os.write(handle, line)
        finally:
            os.close(handle)

    def _stop(self, reason: str) -> None:
        if self._path is not None:
            log.warning("the file %s of empty searches %s", self._path.name, reason)
        self._path = None

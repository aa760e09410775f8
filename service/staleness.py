"""What has grown since the generation was built; one cheap look at the files, at most every half a minute."""

from __future__ import annotations

import hashlib
import os
import threading
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from indexer.stores.generation import Generation

_FRESH = 30.0

# The nightly job missed a night.
OLD_HOURS = 36

# Sentences about single sources in one answer; a moved archive of thousands of files would fill a context.
_NAMED = 10


class Staleness:
    """Answers from a cache; the files are looked at by the request that finds it old."""

    def __init__(self, data: Path) -> None:
        self._data = data
        self._lock = threading.Lock()
        self._hashes: dict[tuple[str, int], str] = {}
        self._known: tuple[str, float, list[str]] = ("", 0.0, [])

    def of(self, generation: Generation) -> list[str]:
        """Sentences: one a source that has grown or changed, one if the last build is too old."""
        with self._lock:
            name, at, known = self._known
            if name != generation.name or time.monotonic() - at > _FRESH:
                known = [*self._grown(generation), *_old(generation)]
                self._known = (generation.name, time.monotonic(), known)
            return known

    def _grown(self, generation: Generation) -> list[str]:
        grown: list[str] = []
        seen: set[str] = set()
        for source in generation.manifest.sources:
            place = source.get("locate")
            if not place or place in seen or "!" in str(source["path"]):
                continue
            seen.add(place)
            path = Path(place).expanduser() if place.startswith("~") else self._data / place
            try:
                status = path.stat()
            except OSError:
                continue  # a source that vanished keeps its messages: nothing is missing from the index
            if self._differs(path, status, source):
                grown.append(f"{source['path']} has changed since this generation was built")
        return grown if len(grown) <= _NAMED else [*grown[: _NAMED - 1], _rest(len(grown) - _NAMED + 1)]

    def _differs(self, path: Path, status: os.stat_result, source: Mapping[str, Any]) -> bool:
        if status.st_size != source["size"]:
            return True
        if status.st_mtime_ns == source["mtime_ns"]:
            return False
        # Touched, copied back, synchronised: only the content tells, and it is hashed once a time.
        key = (str(path), status.st_mtime_ns)
        if key not in self._hashes:
            try:
                with path.open("rb") as file:
                    self._hashes[key] = hashlib.file_digest(file, "sha256").hexdigest()
            except OSError:
                return False
        return bool(self._hashes[key] != source["sha256"])


def _rest(count: int) -> str:
    return f"{count} more sources have changed since this generation was built"


def _old(generation: Generation) -> list[str]:
    hours = (time.time() - generation.manifest.built_at / 1000) / 3600
    return [f"the last build is {hours:.0f} h old"] if hours > OLD_HOURS else []

"""What has grown since the generation was built; one cheap look at the files, at most every half a minute."""

from __future__ import annotations

import threading
import time
from pathlib import Path

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
            if (status.st_size, status.st_mtime_ns) != (source["size"], source["mtime_ns"]):
                grown.append(f"{source['path']} has changed since this generation was built")
        return grown if len(grown) <= _NAMED else [*grown[: _NAMED - 1], _rest(len(grown) - _NAMED + 1)]


def _rest(count: int) -> str:
    return f"{count} more sources have changed since this generation was built"


def _old(generation: Generation) -> list[str]:
    hours = (time.time() - generation.manifest.built_at / 1000) / 3600
    return [f"the last build is {hours:.0f} h old"] if hours > OLD_HOURS else []

"""What `/v1/status` tells: what is served, what the last run did, what is missing, how much room is left."""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from indexer.stores.generation import LAST_RUN
from indexer.stores.manifest import Manifest
from schemas.problems import LetopisError
from service.query import shown_time

_NOTHING: dict[str, Any] = {
    "generation": None,
    "built_at": None,
    "counts": {},
    "spaces": [],
    "entities": {},
    "versions": {},
    "sources": [],
    "stale": [],
    "degraded": [],
    "bytes": 0,
}


def status_of(
    data: Path, manifest: Manifest | None, stale: Sequence[str], fault: LetopisError | None
) -> dict[str, Any]:
    """The whole status.

    Args:
        data: the data folder.
        manifest: of the generation that is served, or None.
        stale: what has grown since.
        fault: why the newest published generation is not the one that is served, or None.
    """
    served = _served(manifest) if manifest is not None else dict(_NOTHING)
    used = served.pop("bytes")
    return served | {
        "stale": list(stale),
        "degraded": [*served["degraded"], *([fault.line()] if fault else [])],
        "health": _ailing(data),
        "last_run": _last_run(data),
        "disk": {"generation_bytes": used, "free_bytes": _free(data)},
    }


def _served(manifest: Manifest) -> dict[str, Any]:
    return {
        "generation": manifest.generation,
        "built_at": shown_time(manifest.built_at),
        "counts": manifest.counts,
        "spaces": manifest.spaces,
        "entities": manifest.entities,
        "versions": manifest.versions,
        "sources": [
            {
                "path": source["path"],
                "kind": source["kind"],
                "messages": source["messages"],
                "last_seen": shown_time(source["last_at"]),
                "health": _health(source),
            }
            for source in manifest.sources
        ],
        "degraded": [
            f"vector: {space['name']} covers {space['coverage']:.0%} of the chunks"
            for space in manifest.spaces
            if space["coverage"] < 1 and space["provider"] in ("local", "hash")
        ],
        "bytes": sum(file["size"] for file in manifest.files.values()),
    }


def _health(source: Mapping[str, Any]) -> str:
    """ok, empty or gone; silent, unknown or unrecognised where the last build found a fault."""
    if source["gone"]:
        return "gone"
    return source.get("ailment") or ("ok" if source["messages"] else "empty")


def _ailing(data: Path) -> list[str]:
    """What the last build said of sources that do not tell what they used to."""
    try:
        found = json.loads((data / LAST_RUN).read_text("utf-8"))["health"]
        return [str(sentence) for sentence in found]
    except (OSError, ValueError, KeyError, TypeError):
        return []


def _last_run(data: Path) -> dict[str, Any] | None:
    try:
        run = json.loads((data / LAST_RUN).read_text("utf-8"))
        return {key: run[key] for key in ("at", "exit", "new", "left", "spent")}
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _free(data: Path) -> int:
    there = next(path for path in (data, *data.absolute().parents) if path.exists())
    return shutil.disk_usage(there).free

"""The manifest of a generation: what it holds, with which versions, and the sha256 of each file."""

from __future__ import annotations

import hashlib
import json
import os
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from schemas.problems import IndexCorrupt

NAME = "manifest.json"
VERSION = 1

VECTORS_NAME = "chat_vectors.db"
GRAPH_NAME = "entity_graph.db"


@dataclass(frozen=True, slots=True)
class Manifest:
    """What a generation says of itself.

    Attributes:
        generation: its number, six digits.
        built_at: UTC ms when it was written.
        fingerprint: hash over ledger content, settings, analyser, lexicon and extractor versions.
        counts: chats, messages, chunks, entities, relations.
        spaces: name, weight, vectors and coverage (0–1) of each space.
        entities: backend, version and a note on a fallback.
        versions: analyser, lexicon, chunker, redactor.
        sources: files read: path, place relative to the data folder, size, mtime_ns, sha256,
            messages, last_at.
        spares: providers of the order that took no part, each with its reason.
        files: size and sha256 by file name.
        version: of this record.
    """

    generation: str
    built_at: int
    fingerprint: str
    counts: dict[str, int]
    spaces: list[dict[str, Any]]
    entities: dict[str, Any]
    versions: dict[str, str]
    sources: list[dict[str, Any]]
    spares: dict[str, str] = field(default_factory=dict)
    files: dict[str, dict[str, Any]] = field(default_factory=dict)
    version: int = VERSION

    def write(self, folder: Path) -> None:
        """Write it beside the databases, flushed to disk."""
        path = folder / NAME
        with path.open("w", encoding="utf-8") as file:
            json.dump(asdict(self), file, ensure_ascii=False, indent=1, sort_keys=True)
            file.flush()
            os.fsync(file.fileno())


def read(folder: Path) -> Manifest:
    """Read a generation's manifest.

    Raises:
        IndexCorrupt: it is missing, damaged, or of another version.
    """
    try:
        values = json.loads((folder / NAME).read_bytes())
        version = values["version"]
        if version == VERSION:
            return Manifest(**values)
    except (OSError, ValueError, TypeError, KeyError):
        raise IndexCorrupt(
            f"The manifest of generation {folder.name} can't be read.",
            "run `letopis generations use` with another one, or `letopis build --full`",
        ) from None
    # Looked at before the keys: a newer manifest may hold some that are unknown here.
    raise IndexCorrupt(
        f"Generation {folder.name} has manifest version {version}, this program reads {VERSION}.",
        "update letopis, or run `letopis build --full`",
    )


def digest(path: Path) -> dict[str, Any]:
    """Size and sha256 of a file."""
    with path.open("rb") as file:
        return {"size": path.stat().st_size, "sha256": hashlib.file_digest(file, "sha256").hexdigest()}


def check_files(folder: Path, manifest: Manifest) -> None:
    """Compare both databases with the manifest (an integrity_check saw 2 of 60 byte flips, a sha256 all 60).

    Raises:
        IndexCorrupt: a file is missing or differs.
    """
    for name in (VECTORS_NAME, GRAPH_NAME):
        try:
            sound = digest(folder / name) == manifest.files.get(name)
        except OSError:
            sound = False
        if not sound:
            raise IndexCorrupt(
                f"{name} of generation {folder.name} does not match its manifest.",
                "run `letopis generations use` with another one, or `letopis build --full`",
            )

"""Generations: immutable folders beside each other, and the pointer CURRENT that names the published one.

A new one is written into a hidden folder, verified, fsynced, renamed, and published by replacing CURRENT:
the only step that a reader can notice. A crash leaves a hidden folder, which the next build removes.
"""

from __future__ import annotations

import contextlib
import os
import re
import shutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import apsw

from indexer.stores import Store
from indexer.stores.graph import GraphStore
from indexer.stores.manifest import (
    GRAPH_NAME,
    NAME,
    VECTORS_NAME,
    Manifest,
    check_files,
    digest,
    read,
)
from indexer.stores.sqlite import SqliteStore
from schemas.problems import BuildRefused, IndexCorrupt, IndexMissing, LetopisError

CURRENT = "CURRENT"
LAST_RUN = "last_run.json"

_NAME = re.compile(r"^[0-9]{6}$")
_WRITING = ".writing-"


@dataclass(frozen=True, slots=True)
class Generation:
    """An opened generation: both databases and the manifest, always of one folder."""

    name: str
    manifest: Manifest
    store: Store
    graph: GraphStore

    def close(self) -> None:
        """Close both databases."""
        self.store.close()
        self.graph.close()


# A check tells in one sentence what is wrong with a new generation, or None.
Check = Callable[[Generation, Manifest | None], str | None]


def names(data: Path) -> list[str]:
    """Generations on disk, oldest first."""
    if not data.is_dir():
        return []
    return sorted(entry.name for entry in data.iterdir() if _NAME.match(entry.name) and entry.is_dir())


def current_name(data: Path) -> str:
    """The published generation.

    Raises:
        IndexMissing: nothing has been published.
        IndexCorrupt: CURRENT does not hold a name.
    """
    try:
        name = (data / CURRENT).read_text("ascii").strip()
    except FileNotFoundError:
        raise IndexMissing("There is no index in the data folder yet.", "run `letopis build PATH`") from None
    except (OSError, UnicodeDecodeError):
        name = ""
    if not _NAME.match(name):
        raise IndexCorrupt(
            "The file CURRENT does not name a generation.", "run `letopis generations use NAME`"
        )
    return name


def current_manifest(data: Path) -> Manifest | None:
    """The manifest of the published generation, or None where there is none that can be read."""
    try:
        return read(data / current_name(data))
    except LetopisError:
        return None


def open_generation(folder: Path, verify: bool = True) -> Generation:
    """Open a generation's databases.

    Args:
        folder: where it stands.
        verify: compare every file's sha256 with the manifest first.

    Raises:
        IndexCorrupt: it does not match its manifest, or can't be opened.
        DatabaseError: it was written by another version.
    """
    manifest = read(folder)
    if verify:
        check_files(folder, manifest)
    try:
        store = SqliteStore(folder / VECTORS_NAME)
        try:
            graph = GraphStore(folder / GRAPH_NAME)
        except BaseException:
            store.close()
            raise
    except apsw.Error as error:
        raise IndexCorrupt(
            f"Generation {folder.name} can't be read: {error}.",
            "run `letopis generations use` with another one, or `letopis build --full`",
        ) from None
    return Generation(manifest.generation, manifest, store, graph)


def open_current(data: Path) -> Generation:
    """Open the published generation; see `open_generation` and `current_name` for the errors."""
    return open_generation(data / current_name(data))


def begin(data: Path) -> tuple[str, Path]:
    """A name and an empty hidden folder for the next generation; leftovers of crashed builds are removed."""
    for entry in data.glob(f"{_WRITING}*"):
        shutil.rmtree(entry, ignore_errors=True)
    last = max([*names(data), _published(data)], default="")
    name = f"{int(last or 0) + 1:06d}"
    folder = data / f"{_WRITING}{name}"
    folder.mkdir(parents=True)
    return name, folder


def _published(data: Path) -> str:
    # A generation removed by hand must not get its number twice: a client may still cite it.
    with contextlib.suppress(LetopisError):
        return current_name(data)
    return ""


def sealed(folder: Path, manifest: Manifest) -> Manifest:
    """Write the manifest with the size and sha256 of both databases, and flush the folder to disk."""
    files = {name: digest(folder / name) for name in (VECTORS_NAME, GRAPH_NAME)}
    full = replace(manifest, files=files)
    for name in (VECTORS_NAME, GRAPH_NAME):
        _fsync(folder / name)
    full.write(folder)
    _fsync(folder)
    return full


def publish(data: Path, folder: Path, checks: Sequence[Check], previous: Manifest | None) -> Manifest:
    """Check a sealed folder and make it the current generation, in one atomic step.

    Raises:
        BuildRefused: a check failed; the folder is removed and CURRENT stays.
    """
    generation = open_generation(folder)
    try:
        faults = [fault for check in checks if (fault := check(generation, previous)) is not None]
    finally:
        generation.close()
    if faults:
        shutil.rmtree(folder, ignore_errors=True)
        raise BuildRefused(
            " ".join(faults), "look at the report; `letopis build --force` publishes all the same"
        )
    final = data / generation.name
    folder.rename(final)
    _fsync(data)
    point(data, generation.name)
    return generation.manifest


def point(data: Path, name: str) -> None:
    """Replace CURRENT atomically."""
    fresh = data / f".{CURRENT}.new"
    with fresh.open("w", encoding="ascii") as file:
        file.write(name + "\n")
        file.flush()
        os.fsync(file.fileno())
    fresh.replace(data / CURRENT)
    _fsync(data)


def use(data: Path, name: str) -> Manifest:
    """Roll back or forward to a generation that is on disk, after opening and checking it.

    Raises:
        IndexMissing: there is no such generation.
        IndexCorrupt: it does not match its manifest, or can't be opened.
        DatabaseError: it was written by another version.
    """
    if name not in names(data):
        raise IndexMissing(
            f"There is no generation {name}.", f"choose one of: {', '.join(names(data)) or 'none'}"
        )
    generation = open_generation(data / name)
    generation.close()
    point(data, name)
    return generation.manifest


def prune(data: Path, keep: int = 2) -> list[str]:
    """Remove all but the newest `keep` generations; the published one always stays.

    Returns:
        The names that were removed.
    """
    spare = names(data)[:-keep] if keep > 0 else names(data)
    removed = [name for name in spare if name != _published(data)]
    for name in removed:
        # Without a manifest a half-removed folder can't be taken for a generation.
        (data / name / NAME).unlink(missing_ok=True)
        shutil.rmtree(data / name, ignore_errors=True)
    return removed


def _fsync(path: Path) -> None:
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)

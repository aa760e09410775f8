"""The queries' vectors, embedded once: kept in a file a space, by the hash of model and text."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from indexer.stores import SpaceInfo
from schemas.records import Space
from service.evidence import QueryVector
from service.queries import QueryEmbedders

Vector = NDArray[np.float32]


class QueryVectors:
    """Embeds queries in every space of an index.

    Args:
        embedders: of the service.
        spaces: of the generation.
        folder: where vectors are kept from one run to the next; None keeps them for this run alone.
    """

    def __init__(self, embedders: QueryEmbedders, spaces: Sequence[SpaceInfo], folder: Path | None) -> None:
        self._embedders = embedders
        self._spaces = embedders.ranked(spaces)
        self._folder = folder
        self._known = {info.space: self._read(info.space) for info in self._spaces}
        self._fresh: set[Space] = set()
        self.missing: set[str] = set()

    def of(self, texts: Sequence[str], advance: Callable[[], None] = lambda: None) -> list[list[QueryVector]]:
        """The vectors of each text, better spaces first; `missing` then names those that could not be had."""
        found = []
        for text in texts:
            found.append(self._of(text))
            advance()
        self._write()
        return found

    def _of(self, text: str) -> list[QueryVector]:
        known = [(info, self._known[info.space].get(_key(info.space, text))) for info in self._spaces]
        kept = [QueryVector(info, vector) for info, vector in known if vector is not None]
        if len(kept) == len(self._spaces):
            return kept
        vectors, degraded = self._embedders.vectors(text, self._spaces)
        self.missing.update(degraded)
        for vector in vectors:
            space = vector.info.space
            self._known[space][_key(space, text)] = vector.vector
            self._fresh.add(space)
        return vectors

    def _path(self, space: Space) -> Path | None:
        name = hashlib.sha256(space.name.encode()).hexdigest()[:12]
        return None if self._folder is None else self._folder / f"queries-{name}.npz"

    def _read(self, space: Space) -> dict[str, Vector]:
        path = self._path(space)
        if path is None or not path.exists():
            return {}
        with np.load(path, allow_pickle=False) as kept:
            return dict(zip(kept["keys"].tolist(), kept["vectors"], strict=True))

    def _write(self) -> None:
        for space in self._fresh:
            path = self._path(space)
            if path is None:
                continue
            known = self._known[space]
            path.parent.mkdir(parents=True, exist_ok=True)
            partial = path.with_suffix(".new.npz")
            np.savez(partial, keys=np.array(list(known)), vectors=np.stack(list(known.values())))
            partial.replace(path)
        self._fresh.clear()


def _key(space: Space, text: str) -> str:
    return hashlib.sha256(f"{space.name}\0{text}".encode()).hexdigest()

"""Taking over the index of another program: its texts as an archive, its vectors as spaces of their own.

The texts go the way of every archive (read, redact, cut, extract, publish), cut where that index had cut
them. Its vectors are kept by the hash of those chunks, in a space for each length of vector, under the model
that the owner names: the file does not say it, and two models may share a length.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import apsw
import numpy as np

from indexer.archives.databases import columns, opened
from indexer.archives.files import ArchiveFile
from indexer.archives.seed import Seed
from indexer.archives.seed.table import SeedTable, VectorRow, Vectors
from indexer.embedders import unavailable
from indexer.embedders.imported import MAKERS
from indexer.embedders.validation import normalised
from indexer.embedding import Embedding
from indexer.import_report import Imported, Taken
from indexer.pipeline import Build
from indexer.reading import root_id
from indexer.rehearsal import scratch
from indexer.stores.ledger import Ledger
from schemas.problems import ArchiveError, Interrupted, SettingsError
from schemas.records import Space

SEED_NAME = "chat_vectors.db"

_BATCH = 500


def seed_file(path: Path) -> ArchiveFile:
    """The database at a path, or in a folder.

    Raises:
        ArchiveError: there is none, or it is another one.
    """
    found = (path / SEED_NAME if path.is_dir() else path).resolve()
    try:
        status = found.stat()
        file = ArchiveFile(found, found.name, status.st_size, status.st_mtime_ns, given=True)
        fits = Seed().fits(file)
    except OSError as error:
        raise ArchiveError(
            f"{found.name} can't be read: {error.strerror or type(error).__name__}.", "check the path"
        ) from None
    if not fits:
        if file.is_sqlite:
            _check_readable(file)
        raise ArchiveError(
            f"{found.name} is no index to import: it has no table chunks with a column text.",
            f"name the old {SEED_NAME}; its entity_graph.db is not needed, names are found anew",
        )
    return file


def looked_at(file: ArchiveFile) -> Vectors:
    """How many vectors of which length there are, before anything is asked or read.

    Raises:
        ArchiveError: the database can't be read.
    """
    try:
        with opened(file) as connection:
            return SeedTable(connection, file).vectors()
    except (apsw.Error, OSError, UnicodeError) as error:
        raise _unreadable(file, error) from None


def _check_readable(file: ArchiveFile) -> None:
    try:
        with opened(file) as connection:
            columns(connection, "chunks")
    except (apsw.Error, OSError, UnicodeError) as error:
        raise _unreadable(file, error) from None


def _unreadable(file: ArchiveFile, error: Exception) -> ArchiveError:
    return ArchiveError(
        f"{file.name} can't be read: {type(error).__name__}.",
        "restore it from a backup, or copy it by SQLite",
    )


@dataclass(slots=True, kw_only=True)
class Import(Build):
    """One import into a data folder; a build whose archive is the older index.

    Args:
        file: see `seed_file`.
        models: the space of each length of vector; lengths without one are counted and left out.
    """

    file: ArchiveFile
    models: Mapping[int, Space]
    imported: Imported = field(default_factory=Imported)

    def rehearse(self) -> None:
        """Read, cut and count in a private copy of the ledger; the data folder is only read.

        Raises:
            ArchiveError: the database can't be read.
            Interrupted: cancelled.
        """
        with scratch(self.settings) as (_, ledger):
            self._take_texts(ledger)
            self._take_vectors(ledger, keep=False)

    def _paths(self) -> list[Path]:
        return []

    def _run(self, ledger: Ledger, paths: object) -> None:
        self._take_texts(ledger)
        self._take_vectors(ledger, keep=True)
        self._complete(ledger)

    def _take_texts(self, ledger: Ledger) -> None:
        self._reading(ledger).take(self.file, Seed())
        told = self.report.messages
        told.update(new=0, changed=0)
        source = ledger.sources.find(root_id(self.file.path), self.file.name)
        read = ledger.sources.messages(source.id) if source else 0
        self.imported.known = read - told["new"] - told["changed"]
        told["total"] = ledger.messages.count()
        self._chunk(ledger)

    # --- vectors ----------------------------------------------------------------------------------------

    def _take_vectors(self, ledger: Ledger, keep: bool) -> None:
        batches: dict[int, list[VectorRow]] = {}
        rechunked: set[bytes] = set()
        self.progress.stage("vectors", None)
        for row in self._vector_rows():
            if self.cancelled():
                raise Interrupted(
                    "Stopped while taking over vectors.", "run the same import again; it goes on from here"
                )
            self.progress.advance()
            if row.fault:
                self.imported.faults[row.fault] += 1
                continue
            batch = batches.setdefault(row.dims, [])
            batch.append(row)
            if len(batch) == _BATCH:
                self._take_batch(ledger, batches.pop(row.dims), keep, rechunked)
        for batch in batches.values():
            self._take_batch(ledger, batch, keep, rechunked)
        self.imported.vectors = dict(sorted(self.imported.vectors.items(), reverse=True))
        self.imported.rechunked = len(rechunked)

    def _vector_rows(self) -> Iterator[VectorRow]:
        seen, damaged = 0, False
        try:
            with opened(self.file) as connection:
                table = SeedTable(connection, self.file)
                for row in table.vector_rows():
                    if isinstance(row, VectorRow):
                        seen += 1
                        yield row
                    else:
                        damaged = True
                # A row can be there, and its text be read, while its vector lies on a damaged page.
                lost = table.vectors().rows - seen if damaged else 0
        except (apsw.Error, OSError, UnicodeError) as error:
            self.report.fault(_unreadable(self.file, error).line())
            return
        if lost:
            self.imported.faults["a vector on a damaged page"] += lost

    def _take_batch(self, ledger: Ledger, batch: list[VectorRow], keep: bool, rechunked: set[bytes]) -> None:
        dims = batch[0].dims
        taken = self.imported.vectors.setdefault(dims, Taken(self.models.get(dims)))
        taken.rows += len(batch)
        floats = np.frombuffer(b"".join(row.raw for row in batch), "<f4").reshape(len(batch), dims)
        unit, finite, zero = normalised(floats.astype(np.float64))
        hashes: list[bytes] = []
        sound: list[int] = []
        for at, row in enumerate(batch):
            digest = hashlib.sha256(row.text.encode()).digest()
            if not finite[at]:
                taken.faults["NaN or infinity"] += 1
            elif zero[at]:
                taken.faults["a zero vector"] += 1
            elif ledger.chunks.has(digest):
                hashes.append(digest)
                sound.append(at)
            else:
                taken.unused[self._why_unused(ledger, row, rechunked)] += 1
        if taken.space is None:
            return
        space = ledger.vectors.space_id(taken.space)
        # A rehearsal counts as an import does, without the room that the numbers take.
        new = ledger.vectors.keep(space, hashes, unit[sound] if keep else unit[sound, :0])
        taken.new += new
        taken.known += len(hashes) - new
        if keep:
            taken.renamed += ledger.vectors.disown(space, hashes)

    def _why_unused(self, ledger: Ledger, row: VectorRow, rechunked: set[bytes]) -> str:
        windows = ledger.messages.windows(row.chat_id, row.message_id)
        if windows is None:
            return "its message is left out (noise, no words, or forgotten)"
        if not windows:
            key = f"{row.chat_id}\x1f{row.message_id}"
            rechunked.add(hashlib.sha256(key.encode()).digest())
            return "its message lost a secret and is cut anew"
        return "its text lies inside another chunk, or says nothing"

    # --- what builds do besides -------------------------------------------------------------------------

    def _fill(self, embedding: Embedding) -> None:
        """The floor alone, unless the owner allows requests: the import is there to pay for nothing twice."""
        others = [name for name in self.settings.embedding.order if name in MAKERS]
        if not others or self.options.budget.requests is not None:
            embedding.fill()
            return
        embedding.fill_floor()
        waiting = [name for name in others if unavailable(name, self.settings, self.environment) is None]
        if waiting:
            self.report.notes.append(
                f"{waiting[0]}: the next `letopis build` embeds these chunks in its own space as well, "
                "within its budgets."
            )


@dataclass(slots=True, kw_only=True)
class Drop(Build):
    """Giving an imported space up, and publishing a generation without it; the texts stay.

    Args:
        space: its name, as the status shows it.
        dropped: how many vectors went.
    """

    space: str
    dropped: int = 0

    def _paths(self) -> list[Path]:
        return []

    def _run(self, ledger: Ledger, paths: object) -> None:
        imported = {held.space.name: held.id for held in ledger.vectors.spaces() if held.space.bare}
        if self.space not in imported:
            raise SettingsError(
                f"There is no imported space {self.space}.",
                f"name one of: {', '.join(imported)}" if imported else "none was imported",
            )
        self.dropped = ledger.vectors.drop(imported[self.space])
        self.report.messages["total"], self.report.chunks["total"] = (
            ledger.messages.count(),
            ledger.chunks.count(),
        )
        self._complete(ledger)

    def _fill(self, embedding: Embedding) -> None:
        """Embed nothing: the next build does what is left."""

"""The ledger: the truth, written by the indexer alone, committed batch by batch.

One writer by flock; WAL. Everything expensive lives here: what was read, what was embedded (by content hash),
what was extracted. A generation is derived from it and can be thrown away.
"""

from __future__ import annotations

import fcntl
from collections.abc import Callable, Iterable
from pathlib import Path
from types import TracebackType
from typing import Self

import apsw

from indexer.stores.database import transaction, user_version
from indexer.stores.ledger.absorption import Absorption
from indexer.stores.ledger.chunks import Chunks
from indexer.stores.ledger.corrections import Corrections
from indexer.stores.ledger.forgetting import Extent, Forgetting, Rule
from indexer.stores.ledger.mentions import Mentions
from indexer.stores.ledger.messages import Messages
from indexer.stores.ledger.meta import Meta
from indexer.stores.ledger.runs import Runs
from indexer.stores.ledger.sources import SourceFile, Sources, SourceState
from indexer.stores.ledger.vectors import Held, Vectors
from schemas.problems import DatabaseError, LedgerBusy
from schemas.records import Message
from schemas.sql import ledger as sql

__all__ = ["LEDGER_NAME", "Extent", "Held", "Ledger", "Rule", "SourceFile", "SourceState"]

LEDGER_NAME = "ledger.db"
LOCK_NAME = "indexer.lock"


class Ledger:
    """`ledger.db` of a data folder, open for writing; one noun of it an attribute.

    Attributes:
        meta: small remembered values, the revision and the identity.
        sources: archive files that were read.
        messages: what they hold.
        forgetting: what must go and never come back.
        chunks: windows over the messages, and which chats must be cut anew.
        vectors: spaces and the vectors in them, by content hash.
        corrections: what a person has corrected in the graph.
        mentions: names found in the texts, by content hash.
        runs: builds and what they spent.

    Raises:
        LedgerBusy: another indexer holds the lock.
        DatabaseError: the file was written by a newer program, or is no database.
    """

    def __init__(self, data: Path) -> None:
        data.mkdir(parents=True, exist_ok=True, mode=0o700)
        self._lock = (data / LOCK_NAME).open("a")
        try:
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            self._lock.close()
            raise LedgerBusy(
                "Another indexer is at work in this data folder.", "wait for it, or stop it"
            ) from None
        self._db = apsw.Connection(str(data / LEDGER_NAME))
        self.meta = Meta(self._db)
        self.sources = Sources(self._db)
        self.messages = Messages(self._db, self.meta)
        self.forgetting = Forgetting(self._db, self.meta)
        self.chunks = Chunks(self._db, self.meta)
        self.vectors = Vectors(self._db, self.meta)
        self.corrections = Corrections(self._db, self.meta)
        self.mentions = Mentions(self._db, self.meta)
        self.runs = Runs(self._db)
        try:
            self._prepare()
        except apsw.Error as error:
            self.close()
            raise DatabaseError(
                f"{LEDGER_NAME} can't be opened: {error}.",
                "put it aside (paid vectors are in it) and build again",
            ) from None
        except BaseException:
            self.close()
            raise

    def _prepare(self) -> None:
        self._db.set_busy_timeout(5000)
        found = user_version(self._db)
        if found > sql.VERSION:
            raise DatabaseError(
                f"{LEDGER_NAME} has schema version {found}, newer than this program's {sql.VERSION}.",
                "update letopis",
            )
        self._db.execute("PRAGMA journal_mode=WAL")
        self._db.execute("PRAGMA synchronous=NORMAL")
        self._db.execute("PRAGMA secure_delete=ON")  # what was forgotten must not linger in free pages
        if found == 0:
            with transaction(self._db):
                for statement in sql.DDL:
                    self._db.execute(statement)
                self._db.execute(f"PRAGMA user_version={sql.VERSION}")
                self.meta.identify()
        for version in range(found, sql.VERSION) if found else ():
            with transaction(self._db):
                for statement in sql.MIGRATIONS[version]:
                    self._db.execute(statement)
                self._db.execute(f"PRAGMA user_version={version + 1}")

    def absorb(
        self,
        file: SourceFile,
        messages: Iterable[tuple[Message, bytes]],
        report: Callable[[], str] = str,
        partial: bool = False,
    ) -> dict[str, int]:
        """Take in one archive file, all or nothing.

        Args:
            file: what was read, and with which reading version.
            messages: redacted messages with the sha256 of their text, in the order of the talk.
            report: called after the last message for JSON text that is kept with the file, so that it may
                count while reading.
            partial: only a part of the file is given; what was read of it before stays.

        Returns:
            Counts: read, new, changed, duplicate (seen in another file too), removed (of a note file).
        """
        with transaction(self._db):
            return Absorption(self._db, self.meta, file, partial).take(messages, report)

    def close(self) -> None:
        """Close the database and give the lock back."""
        self._db.close()
        self._lock.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

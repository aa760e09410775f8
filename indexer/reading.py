"""Archives into the ledger: discovered, read, redacted, absorbed file by file; unchanged ones are passed."""

from __future__ import annotations

import hashlib
import json
import re
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import astuple, replace
from pathlib import Path

from indexer import redaction
from indexer.accounting import Account, remembered
from indexer.archives import ArchiveFile, Reader, ReadOptions, discover, ignored, reader_of, unknown
from indexer.archives.databases import journal_of
from indexer.archives.streams import DamagedFile
from indexer.health import Finding, of_file, of_rhythm, unrecognised
from indexer.narrowing import EVERYTHING, Narrowing
from indexer.redaction.message import clean, one_line
from indexer.report import Progress, Report
from indexer.stores.ledger import Ledger, SourceFile, SourceState
from indexer.stores.ledger.forgetting import DUE, PURGE
from indexer.stores.ledger.sources import NOTES
from schemas.problems import ArchiveError, Interrupted
from schemas.records import Dropped, Message, Record, Skipped

# Raise with any change of what the readers yield: archives are then read anew.
READERS_VERSION = 5

_BLOCK = 1 << 20

# In so many builds a source must have grown before its silence means something: an export never grows.
_NIGHTS = 2


class Reading:
    """One pass over the archives.

    Args:
        ledger: takes the messages in.
        options: for the readers.
        report: counts.
        progress: is told of every file.
        cancelled: asked between messages.
        full: read every file anew.
        narrowing: the part that is read.
    """

    def __init__(
        self,
        ledger: Ledger,
        options: ReadOptions,
        report: Report,
        progress: Progress,
        cancelled: Callable[[], bool],
        full: bool = False,
        narrowing: Narrowing = EVERYTHING,
    ) -> None:
        self._ledger = ledger
        self._narrowing = narrowing
        self._options = options
        self._report = report
        self._progress = progress
        self._cancelled = cancelled
        self._full = full
        self._present: list[int] = []
        self._roots: list[str] = []
        self._unread: set[tuple[str, str]] = set()
        self._findings: list[Finding] = []
        self._now = time.time_ns() // 1_000_000

    def read(self, roots: Sequence[Path]) -> None:
        """Read every archive; one that can't be read as a whole costs the others nothing."""
        self._progress.stage("reading", None)
        self._redact_again()
        for root in roots:
            try:
                for found in discover(root):
                    self._found(root, found)
            except ArchiveError as error:
                self._report.skip(Skipped(root.name, error.message, error.hint))
                self._report.fault(error.line())
            else:
                self._roots.append(root_id(root))
        self._present += self._met_but_unread()
        gone = self._ledger.sources.mark_gone(self._present, self._roots)
        self._report.files["gone"] += gone
        self._report.messages["removed"] += self._ledger.messages.drop_gone_notes()
        for root in roots:
            if root_id(root) in self._roots:
                self._listen(root)
        for finding in self._findings:
            self._report.ail(finding, self._now)

    def _listen(self, root: Path) -> None:
        """Whether a source that grew from night to night has gone quiet."""
        id_ = root_id(root)
        for kind, last_at in self._ledger.sources.newest(id_):
            rhythm = self._ledger.sources.rhythm(id_, kind, last_at)
            if rhythm.grew < _NIGHTS:
                continue
            days = self._ledger.sources.days(id_, kind)
            finding = of_rhythm(f"{kind} in {one_line(root.name)}", days, self._now, rhythm.noticed)
            self._ledger.sources.quiet_since(id_, kind, finding.noticed if finding else None)
            if finding is not None:
                self._findings.append(finding)

    def take(self, file: ArchiveFile, reader: Reader) -> None:
        """Absorb one file by a reader of its own, as a root of its own that no later build looks at."""
        self._progress.stage("reading", None)
        self._redact_again()
        self._file(file.path, file, reader)

    def _redact_again(self) -> None:
        """A newer redactor sees what an older one missed, also in texts whose source is gone."""
        version = str(redaction.VERSION)
        if self._ledger.meta.get("redactor") != version:
            if self._ledger.messages.rewrite(redaction.redacted):
                self._ledger.meta.put(PURGE, DUE)  # once the chunks are cut anew
            self._ledger.meta.put("redactor", version)

    def _found(self, root: Path, found: ArchiveFile | Skipped) -> None:
        if isinstance(found, Skipped):
            self._skip(root, found)
        elif not ignored(found):
            self._file(root, found)

    def _skip(self, root: Path, skipped: Skipped) -> None:
        self._report.skip(skipped)
        self._unread.add((root_id(root), skipped.place))

    def _met_but_unread(self) -> Iterator[int]:
        """Files that are there and could not be read this time: a note must not leave the index for that."""
        for source in self._ledger.sources.all() if self._unread else ():
            root, path = str(source["root"]), str(source["path"])
            above = [path[: mark.start()] for mark in re.finditer("[/!]", path)]
            if any((root, place) in self._unread for place in (path, *above)):
                yield int(str(source["id"]))

    def _file(self, root: Path, file: ArchiveFile, reader: Reader | None = None) -> None:
        known = self._ledger.sources.find(root_id(root), file.name)
        # What was read whole holds every part of it.
        same = known is not None and known.reading in self._readings() and not self._full
        at_rest = journal_of(file) is None
        if known and same and at_rest and (known.size, known.mtime_ns) == (file.size, file.mtime_ns):
            self._unchanged(known.id)
            return
        try:
            reader = reader or reader_of(file)
            if reader is None:
                self._skip(root, unknown(file))
                if known is not None:
                    self._note(known.id, unrecognised(file.name, known.kind, self._now))
                return
            digest = sha256_of(file)
        except OSError as error:
            reason = f"can't be read: {error.strerror or 'damaged'}"
            self._skip(root, Skipped(file.name, reason, "check the file"))
            return
        if known is not None and same and known.sha256 == digest:
            self._ledger.sources.restat(known.id, file.size, file.mtime_ns)
            self._unchanged(known.id)
            return
        self._absorb(root, file, reader, digest, known)

    def _unchanged(self, source: int) -> None:
        self._present.append(source)
        for skipped in remembered(self._ledger.sources.report(source)).skipped:
            self._report.skip(skipped)
        finding = self._ledger.sources.finding(source)
        if finding is not None:
            self._findings.append(Finding(*finding))
        self._report.files["unchanged"] += 1
        self._progress.advance()

    def _absorb(
        self, root: Path, file: ArchiveFile, reader: Reader, digest: str, known: SourceState | None
    ) -> None:
        account = Account()
        before = None
        if known is not None:
            before = (known.size, remembered(self._ledger.sources.report(known.id)))
        source = SourceFile(
            root=root_id(root),
            path=file.name,
            kind=reader.name,
            size=file.size,
            mtime_ns=file.mtime_ns,
            sha256=digest,
            reading=self._readings()[0],
        )
        counts = self._ledger.absorb(
            source, self._messages(reader, file, account), account.as_json, partial=bool(self._narrowing)
        )
        state = self._ledger.sources.find(root_id(root), file.name)
        if state is not None:
            self._present.append(state.id)
            self._examine(state.id, file, reader, account, before, counts["changed"])
        for skipped in account.skipped:
            self._report.skip(skipped)
        self._report.count(account)
        self._report.files["read"] += 1
        self._report.messages.update(counts)
        self._progress.advance()

    def _examine(
        self,
        source: int,
        file: ArchiveFile,
        reader: Reader,
        account: Account,
        before: tuple[int, Account] | None,
        changed: int,
    ) -> None:
        """A note may well grow without a word for us, and a part of an archive tells little of it."""
        finding = None
        if reader.name != NOTES and not self._narrowing:
            finding = of_file(file.name, file.size, account, before, changed, self._now)
        self._note(source, finding)

    def _note(self, source: int, finding: Finding | None) -> None:
        kept = self._ledger.sources.note_finding(source, astuple(finding) if finding else None)
        if kept is not None:
            self._findings.append(Finding(*kept))

    def _messages(
        self, reader: Reader, file: ArchiveFile, account: Account
    ) -> Iterator[tuple[Message, bytes]]:
        for record in self._records(reader, file):
            if self._cancelled():
                raise Interrupted("Stopped while reading.", "run `letopis build` again; it goes on from here")
            if isinstance(record, Skipped):
                account.take(replace(record, reason=redaction.redacted(record.reason)))
            elif isinstance(record, Dropped):
                account.take(record)
            elif self._narrowing.keeps(record):
                account.take(record)
                yield clean(record, account.redacted)
            else:
                account.take(Dropped("outside", len(record.text)))

    def _records(self, reader: Reader, file: ArchiveFile) -> Iterator[Record]:
        """What the reader yields; one that breaks its promise costs this file and no other."""
        try:
            yield from reader.read(file, self._options)
        except Exception as error:
            yield Skipped(
                file.name, "its reader failed", f"{type(error).__name__}; what came before was kept"
            )

    def _readings(self) -> list[str]:
        """How this run reads, and how a run reads that would make its reading needless."""
        options, narrowing = self._options, self._narrowing
        whole = (
            f"{READERS_VERSION}.{redaction.VERSION}.{options.zone}.{int(options.tool_results)}"
            f".{int(options.thinking)}.{int(options.deleted_sessions)}"
        )
        if not narrowing:
            return [whole]
        part = json.dumps([narrowing.since, sorted(narrowing.chats)], ensure_ascii=False)
        return [f"{whole} {hashlib.sha256(part.encode()).hexdigest()[:12]}", whole]


def root_id(root: Path) -> str:
    """An archive root's identity that tells no path: 12 hex digits of the hash of its absolute path."""
    return hashlib.sha256(str(root.resolve()).encode("utf-8", "surrogateescape")).hexdigest()[:12]


def sha256_of(file: ArchiveFile) -> str:
    """Hash of the file as it is on disk, compressed or not; of a zip member as it is unpacked.

    Of a damaged member what can be unpacked counts: its reader keeps what comes before the damage. A database
    whose owner is writing counts with its journal: the file itself changes hours later.
    """
    digest = hashlib.sha256()
    with file.path.open("rb") if file.member is None else file.open() as stream, suppress(DamagedFile):
        while block := stream.read(_BLOCK):
            digest.update(block)
    if (journal := journal_of(file)) is not None:
        with journal.open("rb") as stream:
            while block := stream.read(_BLOCK):
                digest.update(block)
    return digest.hexdigest()

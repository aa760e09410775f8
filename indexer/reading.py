"""Archives into the ledger: discovered, read, redacted, absorbed file by file; unchanged ones are passed."""

from __future__ import annotations

import hashlib
import json
import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from indexer import redaction
from indexer.archives import ArchiveFile, Reader, ReadOptions, discover, ignored, reader_of, unknown
from indexer.report import Progress, Report
from indexer.stores.ledger import Ledger, SourceFile
from indexer.text.normal import scrubbed
from schemas.problems import ArchiveError, Interrupted
from schemas.records import Dropped, Message, Skipped

# Raise with any change of what the readers yield: archives are then read anew.
READERS_VERSION = 3

_BLOCK = 1 << 20

# Broken records that are remembered of a file, to be counted again while it stays as it is.
_KEPT = 1_000


@dataclass(slots=True)
class _FileReport:
    """What one file brought, kept in the ledger so that an unchanged file still counts."""

    skipped: list[Skipped] = field(default_factory=list)
    dropped: Counter[str] = field(default_factory=Counter)
    characters: Counter[str] = field(default_factory=Counter)
    redacted: Counter[str] = field(default_factory=Counter)
    messages: int = 0

    def as_json(self) -> str:
        skipped = [(one.place, one.reason, one.hint) for one in self.skipped[:_KEPT]]
        return json.dumps(
            {
                "skipped": skipped,
                "dropped": dict(self.dropped),
                "characters": dict(self.characters),
                "redacted": dict(self.redacted),
            },
            ensure_ascii=False,
        )


class Reading:
    """One pass over the archives.

    Args:
        ledger: takes the messages in.
        options: for the readers.
        full: read every file anew.
        report: counts.
        progress: is told of every file.
        cancelled: asked between messages.
    """

    def __init__(
        self,
        ledger: Ledger,
        options: ReadOptions,
        report: Report,
        progress: Progress,
        cancelled: Callable[[], bool],
        full: bool = False,
    ) -> None:
        self._ledger = ledger
        self._options = options
        self._report = report
        self._progress = progress
        self._cancelled = cancelled
        self._full = full
        self._present: list[int] = []
        self._roots: list[str] = []
        self._unread: set[tuple[str, str]] = set()

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

    def _redact_again(self) -> None:
        """A newer redactor sees what an older one missed, also in texts whose source is gone."""
        version = str(redaction.VERSION)
        if self._ledger.meta.get("redactor") != version:
            if self._ledger.messages.rewrite(redaction.redacted):
                self._ledger.meta.put("purge", "due")  # once the chunks are cut anew
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

    def _file(self, root: Path, file: ArchiveFile) -> None:
        known = self._ledger.sources.find(root_id(root), file.name)
        reading = self._reading_version()
        same = known is not None and known.reading == reading and not self._full
        if known is not None and same and (known.size, known.mtime_ns) == (file.size, file.mtime_ns):
            self._unchanged(known.id)
            return
        try:
            reader = reader_of(file)
            if reader is None:
                self._skip(root, unknown(file))
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
        self._absorb(root, file, reader, digest, reading)

    def _unchanged(self, source: int) -> None:
        self._present.append(source)
        for skipped in json.loads(self._ledger.sources.report(source))["skipped"]:
            self._report.skip(Skipped(*skipped))
        self._report.files["unchanged"] += 1
        self._progress.advance()

    def _absorb(self, root: Path, file: ArchiveFile, reader: Reader, digest: str, reading: str) -> None:
        facts = _FileReport()
        source = SourceFile(
            root=root_id(root),
            path=file.name,
            kind=reader.name,
            size=file.size,
            mtime_ns=file.mtime_ns,
            sha256=digest,
            reading=reading,
        )
        counts = self._ledger.absorb(source, self._messages(reader, file, facts), facts.as_json)
        state = self._ledger.sources.find(root_id(root), file.name)
        if state is not None:
            self._present.append(state.id)
        for skipped in facts.skipped:
            self._report.skip(skipped)
        for kind, count in facts.dropped.items():
            self._report.drop(Dropped(kind, facts.characters[kind], count))
        self._report.redacted.update(facts.redacted)
        self._report.files["read"] += 1
        self._report.messages.update(counts)
        self._progress.advance()

    def _messages(
        self, reader: Reader, file: ArchiveFile, facts: _FileReport
    ) -> Iterator[tuple[Message, bytes]]:
        for record in reader.read(file, self._options):
            if self._cancelled():
                raise Interrupted("Stopped while reading.", "run `letopis build` again; it goes on from here")
            if isinstance(record, Skipped):
                facts.skipped.append(replace(record, reason=redaction.redacted(record.reason)))
            elif isinstance(record, Dropped):
                facts.dropped[record.kind] += record.count
                facts.characters[record.kind] += record.characters
            else:
                facts.messages += 1
                yield _clean(record, facts.redacted)

    def _reading_version(self) -> str:
        options = self._options
        return (
            f"{READERS_VERSION}.{redaction.VERSION}.{options.zone}.{int(options.tool_results)}"
            f".{int(options.thinking)}.{int(options.deleted_sessions)}"
        )


def _clean(message: Message, counts: Counter[str]) -> tuple[Message, bytes]:
    """The message without secrets, in its text and in everything else that is stored of it."""
    text = redaction.redacted(scrubbed(message.text), counts)
    clean = replace(
        message,
        text=text,
        chat_id=scrubbed(message.chat_id),
        id=scrubbed(message.id),
        chat_title=_plain(message.chat_title),
        author=_plain(message.author),
        author_id=_scrubbed(message.author_id),
        session=_scrubbed(message.session),
        reply_to=_scrubbed(message.reply_to),
        origin=_scrubbed(message.origin),
        copied_from=_scrubbed(message.copied_from),
        # Spans of a text that the redactor changed mean nothing any more.
        windows=message.windows if text == message.text else (),
        place=scrubbed(message.place),
        meta={scrubbed(key): redaction.redacted(scrubbed(value)) for key, value in message.meta.items()},
    )
    return clean, hashlib.sha256(text.encode()).digest()


def _scrubbed(value: str | None) -> str | None:
    return None if value is None else scrubbed(value)


def _plain(name: str | None) -> str | None:
    """A title or a name on one line: it stands in headers and must not forge one."""
    if name is None:
        return None
    return redaction.redacted(" ".join(scrubbed(name).split()))[:200] or None


def root_id(root: Path) -> str:
    """An archive root's identity that tells no path: 12 hex digits of the hash of its absolute path."""
    return hashlib.sha256(str(root.resolve()).encode("utf-8", "surrogateescape")).hexdigest()[:12]


def sha256_of(file: ArchiveFile) -> str:
    """Hash of the file as it is on disk, compressed or not; of a zip member as it is unpacked."""
    digest = hashlib.sha256()
    with file.path.open("rb") if file.member is None else file.open() as stream:
        while block := stream.read(_BLOCK):
            digest.update(block)
    return digest.hexdigest()

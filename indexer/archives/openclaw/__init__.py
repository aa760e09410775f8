"""OpenClaw transcripts: session files with their archives, and the agent's own transcript database."""

from __future__ import annotations

import re
from collections.abc import Iterator

from indexer.archives.files import ArchiveFile, ReadOptions
from indexer.archives.lines import entries, first_objects, unreadable
from indexer.archives.openclaw.database import is_transcripts, transcripts
from indexer.archives.openclaw.index import agent_of, index_of
from indexer.archives.openclaw.transcript import Session, Transcript, session_of_name
from schemas.records import Dropped, Record

_DELETED = re.compile(r"\.jsonl\.deleted\.")
# `sessions.json` under another name: session keys, each with what is known of its session.
_INDEX = re.compile(rb"(?:\xef\xbb\xbf)?\s*\{\s*\"[^\"\n]{1,300}\"\s*:\s*\{")


class OpenClaw:
    """Reads sessions as trees: the active branch as it was talked, side branches marked."""

    name = "openclaw"

    def fits(self, file: ArchiveFile) -> bool:
        """True for a session file (by its header, else its entries), a database of events, or an index."""
        if file.is_sqlite:
            return is_transcripts(file)
        if _is_index(file):
            return True
        return any(
            value.get("type") == "session"
            or (
                value.get("type") == "message"
                and isinstance(value.get("message"), dict)
                and "uuid" not in value
            )
            for value in first_objects(file)
        )

    def read(self, file: ArchiveFile, options: ReadOptions) -> Iterator[Record]:
        """Yield the messages in the order of the file; of `.deleted` archives only when asked for."""
        if _DELETED.search(file.base) and not options.deleted_sessions:
            yield Dropped("deleted_session", 0)
            return
        try:
            is_database, is_index = file.is_sqlite, _is_index(file)
        except OSError as error:
            yield unreadable(file.name, error)
            return
        if is_database:
            yield from transcripts(file, options)
        elif is_index:
            yield Dropped("support_file", 0)
        else:
            agent = agent_of(file)
            session = Session(
                session_of_name(file.base) or file.stem,
                index_of(file),
                {"agent_id": agent} if agent else {},
            )
            yield from Transcript(session, options).read(lambda: entries(file))


def _is_index(file: ArchiveFile) -> bool:
    head = file.head
    return (
        _INDEX.match(head) is not None
        and b'"sessionId"' in head
        and b'"updatedAt"' in head
        and b"\n{" not in head
    )

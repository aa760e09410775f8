"""A build's reading and chunking, done for real in a private copy of the ledger that is deleted afterwards.

The data folder is only read, its lock is not taken, and a build may run at the same time.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import quote

import apsw

from indexer.pipeline import Build, Options
from indexer.report import Progress, Report
from indexer.stores.ledger import LEDGER_NAME, Ledger
from schemas.problems import DatabaseError, SettingsError
from schemas.settings import Settings


class _Rehearsal(Build):
    """The first two steps of the build, on another ledger."""

    def read_and_chunk(self, ledger: Ledger, paths: Sequence[Path]) -> None:
        self._read(ledger, paths)
        self._chunk(ledger)


@contextmanager
def rehearsed(
    settings: Settings,
    options: Options,
    environment: Mapping[str, str],
    progress: Progress,
    cancelled: Callable[[], bool],
) -> Iterator[tuple[Report, Ledger, Callable[[], int]]]:
    """The report of the rehearsal, the ledger as the build would leave it, and what tells its bytes on disk.

    Args:
        settings: those of the build.
        options: those of the build.
        environment: keys and hosts of the providers.
        progress: is told of reading and chunking.
        cancelled: asked between messages.

    Raises:
        SettingsError: there is no archive to read.
        DatabaseError: the ledger can't be copied, or was written by a newer program.
        Interrupted: cancelled.
    """
    paths = list(options.paths) or list(settings.archives)
    if not paths:
        raise SettingsError(
            "There is no archive to read.", "name one: `letopis build --dry-run PATH`, or set archives"
        )
    with scratch(settings) as (folder, ledger):
        rehearsal = _Rehearsal(
            settings.model_copy(update={"data": folder}),
            options,
            environment=environment,
            progress=progress,
            cancelled=cancelled,
        )
        rehearsal.read_and_chunk(ledger, paths)
        yield (
            rehearsal.report,
            ledger,
            lambda: sum(path.stat().st_size for path in folder.glob(f"{LEDGER_NAME}*")),
        )


@contextmanager
def scratch(settings: Settings) -> Iterator[tuple[Path, Ledger]]:
    """A private copy of the ledger in a folder that is deleted afterwards.

    Raises:
        DatabaseError: the ledger can't be copied, or was written by a newer program.
    """
    with tempfile.TemporaryDirectory(prefix="letopis-") as name:
        folder = Path(name)
        _copy(settings.data / LEDGER_NAME, folder / LEDGER_NAME)
        with Ledger(folder) as ledger:
            yield folder, ledger


def _copy(ledger: Path, target: Path) -> None:
    """Copy a ledger without leaving a trace beside it.

    Without a write-ahead log nobody writes, and `immutable` keeps SQLite from making one. With one a build
    runs, or was killed: then the log's files are there already and are read along. A build that begins in the
    middle of the first way is noticed by its log, and the copy is made anew by the second.
    """
    if not ledger.is_file():
        return
    log = ledger.with_name(f"{ledger.name}-wal")
    try:
        quiet = not log.exists()
        _back_up(ledger, target, "&immutable=1" if quiet else "")
        if quiet and log.exists():
            target.unlink()
            _back_up(ledger, target, "")
    except apsw.Error as error:
        raise DatabaseError(
            f"The ledger can't be copied for the dry run: {error}.", "check the room in the temporary folder"
        ) from None


def _back_up(ledger: Path, target: Path, how: str) -> None:
    flags = apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI
    source = apsw.Connection(f"file:{quote(str(ledger))}?mode=ro{how}", flags=flags)
    copy = apsw.Connection(str(target))
    try:
        source.set_busy_timeout(5000)
        with copy.backup("main", source, "main") as backup:
            backup.step()
    finally:
        copy.close()
        source.close()

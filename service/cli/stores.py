"""The doctor's look at what is read and what was built: archives, data folder, generations, lock."""

from __future__ import annotations

import fcntl
import os
import stat
from collections.abc import Iterator

from schemas.problems import ArchiveError, LetopisError
from schemas.settings import Settings
from service.cli.finding import Finding, failed, good, warned
from service.cli.quantities import counted


def archives(settings: Settings) -> Iterator[Finding]:
    """Each archive of the settings: is it there, can it be read, does it hold anything."""
    if not settings.archives:
        yield warned(
            "archives", "No archive is configured.", "`letopis init` finds yours; or `letopis build PATH`"
        )
    from indexer.archives import discover, reader_of
    from indexer.archives.files import ArchiveFile

    for root in settings.archives:
        name = root.name or "/"
        try:
            # The first file that a reader knows is proof enough: a large archive is not walked to its end.
            known = next(
                (
                    reader
                    for file in discover(root)
                    if isinstance(file, ArchiveFile) and (reader := reader_of(file))
                ),
                None,
            )
        except ArchiveError as error:
            yield failed("archive", error.message, error.hint or "check the path and its rights")
            continue
        if known is None:
            yield warned("archive", f"{name} holds no file of a known format.", "check the path")
        else:
            yield good("archive", f"{name} can be read ({known.name}).")


def data_folder(settings: Settings) -> Iterator[Finding]:
    """Whether it can be written, and who else can look inside."""
    data = settings.data
    if not data.exists():
        yield good("data folder", f"{data.name} is not there yet; the first build makes it.")
    elif not os.access(data, os.W_OK | os.X_OK):
        yield failed(
            "data folder", f"{data.name} can't be written by this user.", "mend its owner or its rights"
        )
    elif stat.S_IMODE(data.stat().st_mode) & 0o077:
        yield warned(
            "data folder",
            f"{data.name} can be read by other users of this machine.",
            "chmod 700 the data folder",
        )
    else:
        yield good("data folder", f"{data.name} can be written, and is closed to others.")


def generations(settings: Settings) -> Iterator[Finding]:
    """The hashes of every generation on disk, and whether CURRENT names one of them."""
    from indexer.stores.generation import current_name, names, open_generation

    data = settings.data
    found = names(data)
    if not found and not (data / "CURRENT").exists():
        yield warned("generation", "No index has been built yet.", "run `letopis build PATH`")
        return
    for name in found:
        try:
            open_generation(data / name).close()
        except LetopisError as error:
            yield failed("generation", error.message, error.hint or "run `letopis build --full`")
        else:
            yield good("generation", f"{name} matches its manifest.")
    try:
        current = current_name(data)
    except LetopisError as error:
        yield failed("published", error.message, error.hint or "run `letopis generations use NAME`")
        return
    if current in found:
        yield good("published", f"{current} is served, of {counted(len(found), 'generation')} on disk.")
    else:
        yield failed(
            "published",
            f"CURRENT names {current}, which is not on disk.",
            "run `letopis generations use` with one that is, or `letopis build --full`",
        )


def lock(settings: Settings) -> Iterator[Finding]:
    """Whether an indexer is at work."""
    try:
        with (settings.data / "indexer.lock").open("rb") as file:
            try:
                fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
            except BlockingIOError:
                yield warned("lock", "An indexer is at work in this data folder.", "wait for it, or stop it")
                return
    except FileNotFoundError:
        yield good("lock", "No build has run here yet.")
        return
    except OSError as error:
        yield failed(
            "lock", f"The lock file can't be opened: {error.strerror}.", "mend its owner or its rights"
        )
        return
    yield good("lock", "No indexer is at work.")

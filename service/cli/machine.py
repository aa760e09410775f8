"""The doctor's look at the machine: database driver, disk, clock, port and token."""

from __future__ import annotations

import json
import shutil
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path

from schemas.problems import SettingsError
from schemas.settings import Settings
from service.cli.finding import Finding, failed, good, warned
from service.cli.quantities import size

# The oldest SQLite that our statements were run on; apsw brings its own.
SQLITE_NEEDED = (3, 46)
VECTORS_NEEDED = "v0.1.9"

# Room for a small index; a large one needs the next generation beside the kept ones.
LEAST_ROOM = 200_000_000

# What two machines may differ by without anyone's fault.
_CLOCK_SLACK = 300.0

# Older than this the clock was never set (a board without a battery starts at the epoch).
_RELEASED = 1_767_225_600.0  # 2026-01-01


def drivers() -> Iterator[Finding]:
    """The database driver, and the vector extension in it."""
    import apsw

    from indexer.stores.database import with_vectors

    found = apsw.sqlite_lib_version()
    needed = ".".join(map(str, SQLITE_NEEDED))
    if tuple(map(int, found.split(".")[:2])) >= SQLITE_NEEDED:
        yield good("driver", f"apsw {apsw.apsw_version()} with SQLite {found}.")
    else:
        yield failed(
            "driver", f"SQLite {found} is older than {needed}.", "install letopis anew: make install"
        )
    connection = apsw.Connection(":memory:")
    try:
        with_vectors(connection)
        version = str(connection.execute("SELECT vec_version()").get)
    except (apsw.Error, ImportError, OSError, AttributeError) as error:
        yield failed("sqlite-vec", f"It can't be loaded: {error}.", "install letopis anew: make install")
    else:
        if version == VECTORS_NEEDED:
            yield good("sqlite-vec", f"{version} loads.")
        else:
            yield failed("sqlite-vec", f"{version} is not {VECTORS_NEEDED}.", "pip install sqlite-vec==0.1.9")
    finally:
        connection.close()


def disk(settings: Settings) -> Iterator[Finding]:
    """Room for the next generation beside the ones that are kept."""
    from indexer.stores.generation import current_manifest

    manifest = current_manifest(settings.data)
    held = sum(file["size"] for file in manifest.files.values()) if manifest else 0
    needed = max(LEAST_ROOM, 2 * held)
    free = shutil.disk_usage(_existing(settings.data)).free
    told = f"{size(free)} free; a build wants {size(needed)}."
    if free >= needed:
        yield good("disk", told)
    else:
        yield failed("disk", told, "make room, or move the data folder: --data DIR")


def clock(settings: Settings) -> Iterator[Finding]:
    """A clock that stands before the last build would hide every new message behind `since`."""
    from indexer.stores.generation import current_manifest

    manifest = current_manifest(settings.data)
    latest = max(_RELEASED, manifest.built_at / 1000 if manifest else 0.0)
    behind = latest - time.time()
    if behind > _CLOCK_SLACK:
        event = "the last build" if manifest else "this program was made"
        yield failed(
            "clock",
            f"The clock stands {behind / 3600:.1f} h before {event}.",
            "set the machine's time (timedatectl set-ntp true)",
        )
    else:
        yield good("clock", f"The time zone of times without one is {settings.zone}.")


def network(settings: Settings) -> Iterator[Finding]:
    """Whether the service could bind its port, and may do so without a token."""
    from service.guard import access, is_loopback
    from service.server import listen, url_of

    host, port = settings.service.host, settings.service.port
    try:
        listen(host, port).close()
        yield good("port", f"{port} on {host} is free.")
    except SettingsError as error:
        if _is_ours(url_of(host, port)):
            yield good("port", f"A Letopis service answers on {host}, port {port}.")
        else:
            yield failed("port", error.message, error.hint)
    try:
        token = access(settings).token
    except SettingsError as error:
        yield failed("token", error.message, error.hint)
        return
    if token:
        yield good("token", f"A token of {len(token)} bytes is asked for.")
    elif is_loopback(host):
        yield good("token", "None is needed: only this machine can reach the service.")
    else:
        yield warned("token", "None is set.")


def _is_ours(url: str) -> bool:
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    try:
        with opener.open(f"{url}/livez", timeout=1.0) as answer:
            return bool(json.loads(answer.read(200)) == {"status": "ok"})
    except (OSError, ValueError):
        return False


def _existing(path: Path) -> Path:
    while not path.exists():
        path = path.parent
    return path

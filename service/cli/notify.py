"""`notify.command`: told when a build ends badly, and when it is well again; never a reason to fail."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click

TIMEOUT = 30.0

_BAD = (1, 3)


def last_exit(data: Path) -> int | None:
    """How the run before this one ended, or None where there was none."""
    from indexer.stores.generation import LAST_RUN

    try:
        return int(json.loads((data / LAST_RUN).read_text("utf-8"))["exit"])
    except (OSError, ValueError, KeyError, TypeError):
        return None


def notify(
    command: str | None, code: int, before: int | None, report: Mapping[str, Any], timeout: float = TIMEOUT
) -> None:
    """Run the command with the report on stdin after exit 1 or 3, and after the first good run behind one.

    Args:
        command: of `notify.command`, for the shell; None does nothing.
        code: the exit code of this run.
        before: that of the run before.
        report: plain data.
        timeout: seconds; then the command is killed.
    """
    if command is None or not (code in _BAD or (code == 0 and before in _BAD)):
        return
    try:
        done = subprocess.run(
            command,
            shell=True,
            input=json.dumps(report, ensure_ascii=False).encode(),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            timeout=timeout,
        )
    except subprocess.TimeoutExpired:
        click.echo(f"notify.command took more than {timeout:.0f} s and was ended.", err=True)
    except OSError as error:
        click.echo(f"notify.command could not be run: {error.strerror}.", err=True)
    else:
        if done.returncode:
            click.echo(f"notify.command ended with {done.returncode}.", err=True)

"""Where a long build stands: bars on a terminal, one plain line a stage elsewhere; always on stderr."""

from __future__ import annotations

import sys
from types import TracebackType
from typing import TYPE_CHECKING, Self

import click

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID


class Lines:
    """One line a stage, for cron, logs and pipes."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Nothing to take down."""

    def stage(self, name: str, total: int | None) -> None:
        """Name the stage, unless there is nothing to do in it."""
        if total != 0:
            click.echo(f"{name} …" if total is None else f"{name}: {total:,} …", err=True)

    def advance(self, count: int = 1) -> None:
        """Lines do not move."""


class Bars:
    """A bar a stage."""

    def __init__(self) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

        self._progress: Progress = Progress(
            TextColumn("{task.description}", markup=False),
            BarColumn(),
            MofNCompleteColumn(),
            TimeRemainingColumn(),
            console=Console(stderr=True),
        )
        self._task: TaskID | None = None

    def __enter__(self) -> Self:
        self._progress.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is None:
            self._close_stage()
        self._progress.stop()

    def stage(self, name: str, total: int | None) -> None:
        """Complete the bar of the stage before and begin another."""
        self._close_stage()
        if total != 0:
            self._task = self._progress.add_task(name, total=total)

    def advance(self, count: int = 1) -> None:
        """Move the bar."""
        if self._task is not None:
            self._progress.advance(self._task, count)

    def _close_stage(self) -> None:
        if self._task is not None:
            task = self._progress.tasks[self._progress.task_ids.index(self._task)]
            if task.total is None:  # it was as large as it turned out, and what counts nothing is one thing
                done = task.completed or 1
                self._progress.update(self._task, total=done, completed=done)
            self._task = None


def shown() -> Lines | Bars:
    """Bars if stderr is a terminal, else lines."""
    return Bars() if sys.stderr.isatty() else Lines()

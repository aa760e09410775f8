"""Runs trials in a process of their own, which may hang, die or eat memory without taking the tests along."""

from __future__ import annotations

import multiprocessing
import resource
import signal
from collections.abc import Iterable
from multiprocessing.connection import Connection
from typing import Any, Protocol

SECONDS = 10
# So many times longer may it wait, for a file or for other work of the machine.
IDLE = 3
MAX_MEGABYTES = 300
_ALARMS = (signal.SIGPROF, signal.SIGALRM)


class Trials(Protocol):
    """Numbered trials."""

    def kind(self, number: int) -> str:
        """What is tried, in words."""
        ...

    def faults(self, number: int) -> Iterable[str]:
        """Try it; what went wrong, a sentence each."""
        ...


def run(trials: Trials, numbers: range, seconds: int = SECONDS, megabytes: int = MAX_MEGABYTES) -> list[str]:
    """Try these numbers in a process of their own, begun anew behind one that hung or died.

    Returns:
        `#number kind: fault` of each fault, among them what took longer than `seconds` or more memory at once
        than `megabytes`.
    """
    context = multiprocessing.get_context("fork")
    found: list[str] = []
    current = context.Value("i", numbers.start)
    left = numbers
    while left:
        ours, theirs = context.Pipe(duplex=False)
        worker = context.Process(target=_work, args=(trials, left, current, theirs, seconds, megabytes))
        worker.start()
        theirs.close()
        while True:
            try:
                number, fault = ours.recv()
            except EOFError:
                break
            found.append(f"#{number} {trials.kind(number)}: {fault}")
        worker.join()
        if worker.exitcode == 0:
            break
        number = current.value
        late = -(worker.exitcode or 0) in _ALARMS
        what = f"longer than {seconds} s" if late else f"exit {worker.exitcode}"
        found.append(f"#{number} {trials.kind(number)}: {what}")
        left = range(number + 1, numbers.stop)
    return found


def _work(
    trials: Trials, numbers: range, current: Any, sink: Connection, seconds: int, megabytes: int
) -> None:
    # The default action ends the process wherever it is, in C too. Busy seconds are counted apart: on a
    # machine with other work a sound trial may wait for longer.
    for alarm in _ALARMS:
        signal.signal(alarm, signal.SIG_DFL)
    before = _megabytes()
    for number in numbers:
        current.value = number
        signal.setitimer(signal.ITIMER_PROF, seconds)
        signal.setitimer(signal.ITIMER_REAL, seconds * IDLE)
        for fault in trials.faults(number):
            sink.send((number, fault))
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.setitimer(signal.ITIMER_REAL, 0)
        if (more := _megabytes() - before) > megabytes:
            sink.send((number, f"{more} MB of memory in use at once"))
            before += more
    sink.close()


def _megabytes() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10

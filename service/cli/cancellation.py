"""Ctrl-C and SIGTERM: the first asks the build to stop at a batch, the second ends the process at once."""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from types import FrameType, TracebackType
from typing import Self

# Shows the cursor that a progress bar has hidden.
_SHOW_CURSOR = b"\x1b[?25h\n"

_SLICE = 0.2


class Cancellation:
    """While open, signals set a flag instead of raising in the middle of a write."""

    def __init__(self) -> None:
        self._asked = False
        self._former: dict[signal.Signals, signal._HANDLER] = {}

    def __enter__(self) -> Self:
        if threading.current_thread() is threading.main_thread():
            for sign in (signal.SIGINT, signal.SIGTERM):
                self._former[sign] = signal.signal(sign, self._handle)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for sign, handler in self._former.items():
            signal.signal(sign, handler)

    def asked(self) -> bool:
        """Whether the build is to stop."""
        return self._asked

    def sleep(self, seconds: float) -> None:
        """Sleep, but not longer than until the build is asked to stop."""
        until = time.monotonic() + seconds
        while not self._asked and (left := until - time.monotonic()) > 0:
            time.sleep(min(left, _SLICE))

    def _handle(self, number: int, frame: FrameType | None) -> None:
        # os.write: the buffered streams may be in the middle of a write of their own.
        if self._asked:
            if sys.stderr.isatty():
                os.write(2, _SHOW_CURSOR)
            # What was paid for is committed, and a half-written generation is removed by the next build.
            os._exit(1)
        self._asked = True
        os.write(2, b"\nStopping at the next batch; once more ends at once.\n")

"""How much of this machine one client can use: body bytes, calls at once, time for an answer.

A body is judged by its Content-Length before a byte of it is read, and counted while it is read, because a
chunked body announces nothing. An engine call can't be killed once it runs; it keeps its slot until it really
ends, so calls that hang use up slots and the rest is told `overloaded`, instead of threads piling up.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TypeVar

import anyio
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from schemas.problems import RequestError

MAX_BODY = 64 * 1024
MAX_CALLS = 32
MAX_SECONDS = 30.0

Result = TypeVar("Result")


class BodyLimit:
    """ASGI middleware that lets at most `limit` bytes of a body in."""

    def __init__(self, app: ASGIApp, limit: int = MAX_BODY) -> None:
        self.app = app
        self.limit = limit

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Check the announced length, then count what really comes; raises RequestError."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        announced = announced_length(scope["headers"])
        if announced > self.limit:
            raise body_too_large(announced, self.limit)
        read = 0

        async def counted() -> Message:
            nonlocal read
            message = await receive()
            read += len(message.get("body", b""))
            if read > self.limit:
                raise body_too_large(read, self.limit)
            return message

        await self.app(scope, counted, send)


def announced_length(headers: list[tuple[bytes, bytes]]) -> int:
    """The largest Content-Length among the headers; 0 if there is none or it is no number."""
    lengths = [value for name, value in headers if name == b"content-length" and value.isdigit()]
    return max((int(length[:20]) for length in lengths), default=0)


def body_too_large(size: int, limit: int) -> RequestError:
    """The refusal of a body, with both numbers."""
    return RequestError(
        "body_too_large",
        f"The body has {size:,} bytes or more; at most {limit:,} are read.",
        "send the search keys alone",
    )


class Calls:
    """A bounded set of engine calls on threads.

    Args:
        limit: how many may run at once, hung ones included.
        seconds: how long a caller waits who names no time of its own.
    """

    def __init__(self, limit: int = MAX_CALLS, seconds: float = MAX_SECONDS) -> None:
        self.limit = limit
        self.seconds = seconds
        self.running = 0
        self._lock = threading.Lock()

    async def run(self, call: Callable[[], Result], timeout_ms: int | None = None) -> Result:
        """Run a blocking call beside the event loop.

        Raises:
            RequestError: overloaded, when every slot is taken; timeout, when the answer is late.
        """
        slot = self._take()
        seconds = timeout_ms / 1000 if timeout_ms else self.seconds
        try:
            with anyio.fail_after(seconds) as scope:
                return await anyio.to_thread.run_sync(
                    slot.occupied, call, abandon_on_cancel=True, limiter=anyio.CapacityLimiter(1)
                )
        except TimeoutError:
            if not scope.cancelled_caught:  # the engine's own, not ours
                raise
            raise RequestError(
                "timeout",
                f"No answer within {seconds * 1000:,.0f} ms.",
                "allow more with timeout_ms, or narrow the search with chat, since or until",
            ) from None
        finally:
            if not slot.started:
                slot.free()

    def _take(self) -> _Slot:
        with self._lock:
            if self.running >= self.limit:
                raise RequestError(
                    "overloaded",
                    f"All {self.limit} calls that may run at once are running.",
                    "ask again in a second",
                    retry_after=1,
                )
            self.running += 1
        return _Slot(self)

    def _give_back(self) -> None:
        with self._lock:
            self.running -= 1


class _Slot:
    """One place among the calls, freed once, by whoever ends last."""

    def __init__(self, calls: Calls) -> None:
        self.started = False
        self._calls = calls
        self._freed = False

    def occupied(self, call: Callable[[], Result]) -> Result:
        self.started = True
        try:
            return call()
        finally:
            self.free()

    def free(self) -> None:
        if not self._freed:
            self._freed = True
            self._calls._give_back()

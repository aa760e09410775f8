"""One request and its answer: an id, the safe headers, a log line, a count, and a fault that tells nothing.

The outermost layer of ours. What is logged: method, route template, status, time, request id; for a fault the
type's name and our own frames. Never the query, an exception's message (it may quote the text), or a header.
"""

from __future__ import annotations

import logging
import secrets
import time
import traceback
from pathlib import Path

from starlette.datastructures import MutableHeaders
from starlette.requests import ClientDisconnect
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from schemas.problems import LetopisError
from service.metrics import Metrics
from service.problems import INTERNAL, problem_response

log = logging.getLogger("letopis.http")

HEADERS = {
    "X-Content-Type-Options": "nosniff",
    "Cache-Control": "no-store",
    "Referrer-Policy": "no-referrer",
    "X-Frame-Options": "DENY",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'",
}

# The customary number, for the log and the metrics alone.
CLIENT_GONE = 499

_OURS = ("schemas", "indexer", "service")
_ROOT = Path(__file__).resolve().parent.parent


class Exchange:
    """ASGI middleware around everything else."""

    def __init__(self, app: ASGIApp, metrics: Metrics) -> None:
        self.app = app
        self.metrics = metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request, whatever happens inside."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        request_id = secrets.token_hex(8)
        head = scope["method"] == "HEAD"
        # HEAD is GET without the body (RFC 9110 9.3.2); the routes below know GET alone.
        inner: Scope = {**scope, "method": "GET" if head else scope["method"]}
        inner["state"] = {**scope.get("state", {}), "request_id": request_id}
        status = 0
        started = time.perf_counter()

        async def answer(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                headers = MutableHeaders(scope=message)
                headers["X-Request-Id"] = request_id
                for name, value in HEADERS.items():
                    headers.setdefault(name, value)
            elif head:
                message = {**message, "body": b""}
            await send(message)

        try:
            await self.app(inner, receive, answer)
        except ClientDisconnect:  # in the middle of its body: nobody is left to answer
            status = status or CLIENT_GONE
        except Exception as error:
            if status:  # the answer has begun: all that is left is to cut it
                log.error("%s broke its answer: %s", request_id, fault(error))
                raise ConnectionAbortedError(request_id) from None
            if not isinstance(error, LetopisError):
                log.error("%s failed: %s", request_id, fault(error))
            known = error if isinstance(error, LetopisError) else INTERNAL
            await problem_response(known, request_id)(inner, receive, answer)
        finally:
            seconds = time.perf_counter() - started
            route = getattr(inner.get("route"), "path", "unmatched")
            self.metrics.observe(route, status, seconds)
            log.info(
                "%s %s %d %.1f ms %s", method_name(scope["method"]), route, status, seconds * 1000, request_id
            )


def method_name(method: str) -> str:
    """The method for the log: a client may write anything there, so an unusual one is `OTHER`."""
    return method if method in ("GET", "HEAD", "POST", "OPTIONS", "PUT", "DELETE", "PATCH") else "OTHER"


def fault(error: BaseException) -> str:
    """An exception's type and our own frames, innermost last; never its message or a full path."""
    frames = []
    for frame in traceback.extract_tb(error.__traceback__):
        try:
            place = Path(frame.filename).resolve().relative_to(_ROOT)
        except ValueError:
            continue
        if place.parts[0] in _OURS:
            frames.append(f"{place.as_posix()}:{frame.lineno} {frame.name}")
    return f"{type(error).__name__} in {' > '.join(frames) or 'code that is not ours'}"

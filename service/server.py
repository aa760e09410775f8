"""The process: a socket, uvicorn on it, and a clean end."""

from __future__ import annotations

import contextlib
import errno
import json
import os
import signal
import socket
import threading
from collections.abc import Callable, Iterator

import h11
import uvicorn
from fastapi import FastAPI
from uvicorn.protocols.http.h11_impl import H11Protocol

from schemas.problems import SettingsError
from schemas.settings import Settings
from service.app import Engine, create_app
from service.guard import is_wildcard
from service.problems import MEDIA_TYPE
from service.requests import CURL_HINT

GRACE_SECONDS = 10


def serve(engine: Engine, settings: Settings, on_ready: Callable[[str], None] | None = None) -> None:
    """Serve until SIGINT or SIGTERM; running requests get 10 s to end.

    Args:
        engine: what answers.
        settings: `service.host`, `service.port` (0 takes a free one) and who is let in.
        on_ready: told the real URL once connections are accepted.

    Raises:
        SettingsError: the address can't be bound, or needs a token.
    """
    app = create_app(engine, settings)
    with listen(settings.service.host, settings.service.port) as listener:
        Server(app, on_ready).run([listener])


def listen(host: str, port: int) -> socket.socket:
    """Bind a TCP socket.

    Raises:
        SettingsError: the port is taken, needs more rights, or the address is not this machine's.
    """
    name = host.strip("[]")
    family = socket.AF_INET6 if ":" in name else socket.AF_INET
    # The protocol is named because asyncio sets TCP_NODELAY only where it is: without, each answer on a kept
    # connection waits 40 ms for the client's delayed ACK.
    listener = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    if os.name == "posix":  # on Windows the option lets two servers share a port
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((name, port))
        # Listening here and not in the loop: of two that start at once, one is told now.
        listener.listen(128)
    except OSError as error:
        listener.close()
        raise _unbound(host, port, error) from None
    return listener


def _unbound(host: str, port: int, error: OSError) -> SettingsError:
    if error.errno == errno.EADDRINUSE:
        return SettingsError(
            f"Port {port} on {host} is taken by another program.",
            "stop it, or choose another: service.port or --port (0 takes a free one)",
        )
    if error.errno == errno.EACCES:
        return SettingsError(
            f"Port {port} on {host} needs more rights.", "choose one above 1023: service.port or --port"
        )
    reason = error.strerror or type(error).__name__
    return SettingsError(
        f"Can't listen on {host}, port {port}: {reason}.",
        "give an address of this machine: service.host or --host, e.g. 127.0.0.1",
    )


def url_of(host: str, port: int) -> str:
    """Where a client on this machine reaches a bound address."""
    if is_wildcard(host):
        host = "::1" if ":" in host else "127.0.0.1"
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


class Server(uvicorn.Server):
    """uvicorn that tells its real URL, and whose end by a signal is an ordinary return.

    No access log (it would hold the query), no server header, and `X-Forwarded-*` means nothing here.
    """

    def __init__(self, app: FastAPI, on_ready: Callable[[str], None] | None = None) -> None:
        config = uvicorn.Config(
            app,
            http=Protocol,
            ws="none",
            lifespan="off",
            log_config=None,
            access_log=False,
            server_header=False,
            proxy_headers=False,
            timeout_graceful_shutdown=GRACE_SECONDS,
        )
        super().__init__(config)
        self.on_ready = on_ready

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Accept connections, then tell where."""
        await super().startup(sockets)
        if self.on_ready is not None and sockets:
            self.on_ready(url_of(*sockets[0].getsockname()[:2]))

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Stop on SIGINT and SIGTERM; uvicorn would raise the signal anew after a clean end."""
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        former = {sign: signal.signal(sign, self.handle_exit) for sign in (signal.SIGINT, signal.SIGTERM)}
        try:
            yield
        finally:
            for sign, handler in former.items():
                signal.signal(sign, handler)


class Protocol(H11Protocol):
    """uvicorn's h11 protocol whose 400 teaches: raw Cyrillic in a URL is no HTTP and stops here."""

    def send_400_response(self, msg: str) -> None:
        """Answer bytes that are no HTTP, most often `curl 'URL?q=привет'`."""
        body = json.dumps(
            {
                "type": "urn:letopis:problem:invalid_parameter",
                "title": "This is not valid HTTP",
                "status": 400,
                "detail": "The request line or a header holds bytes that HTTP does not allow, "
                "e.g. Cyrillic that is not percent-encoded.",
                "instance": "",
                "code": "invalid_parameter",
                "hint": CURL_HINT,
                "errors": [],
            },
            ensure_ascii=False,
        ).encode()
        headers = [
            ("content-type", MEDIA_TYPE),
            ("content-length", str(len(body))),
            ("cache-control", "no-store"),
            ("x-content-type-options", "nosniff"),
            ("connection", "close"),
        ]
        with contextlib.suppress(h11.LocalProtocolError):  # an answer has begun: just close
            for event in (
                h11.Response(status_code=400, headers=headers, reason=b"Bad Request"),
                h11.Data(data=body),
                h11.EndOfMessage(),
            ):
                self.transport.write(self.conn.send(event) or b"")
        self.transport.close()

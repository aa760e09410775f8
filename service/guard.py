"""Who may talk to a service that holds a person's memory.

The attacks, and what stops each:

- DNS rebinding. A page on evil.example lets its name resolve to 127.0.0.1 and reads the answers as "its own
  site". The browser still sends `Host: evil.example`, so an unknown Host is refused.
- Cross-origin reads and writes. A page anywhere may fetch() http://127.0.0.1:8077, or post a plain HTML form
  there: no preflight is asked for a form, text/plain or GET. Such a request carries the page's Origin, which
  must be one of our own hosts. We send no CORS header, so nothing could be read anyway; this stops the work.
- `Origin: null`. Sandboxed frames, data: and file: pages all share it; it names nobody, so it is refused.
- Requests without an Origin (images, scripts, frames in a foreign page). Browsers mark them with
  `Sec-Fetch-Site: cross-site`; only a person's click on a link to the search page itself is let through.
- Other machines. A bind beyond loopback needs a token; it is compared as bytes in constant time, because
  compare_digest raises on a non-ASCII str and a plain == tells by its time how much was right.

A valid token replaces the Host check (a page that was rebound can't know it), never the Origin check. The
answer to a refusal says which setting lets an honest name in.
"""

from __future__ import annotations

import hmac
import ipaddress
import re
from collections.abc import Iterable
from dataclasses import dataclass
from urllib.parse import urlsplit

from starlette.types import ASGIApp, Receive, Scope, Send

from schemas.problems import RequestError, SettingsError
from schemas.settings import Settings

MIN_TOKEN_BYTES = 16
# No token here: a container's health check has none, and these tell nothing of the archive.
OPEN_PATHS = frozenset({"/livez", "/readyz"})
HOSTS_HINT = "add that name to service.allowed_hosts if it is yours"

_HOST = re.compile(r"(\[[0-9a-f:.]+\]|[^\s:/?#@\[\]\\,]+)(?::([0-9]{1,5}))?", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Host:
    """A name or address, lower case and without brackets, with its port if one is given."""

    name: str
    port: int | None = None


@dataclass(frozen=True, slots=True)
class Access:
    """Who is let in.

    Attributes:
        hosts: names beside loopback; one without a port stands for every port.
        token: the bytes a client must show, or None when none is needed.
    """

    hosts: frozenset[Host]
    token: bytes | None = None


def access(settings: Settings) -> Access:
    """Read who is let in from the settings.

    Raises:
        SettingsError: a bind beyond loopback without a token of 16 bytes, or an allowed host that is none.
    """
    service = settings.service
    secret = service.token.get_secret_value().strip() if service.token else ""
    token = secret.encode("utf-8", "surrogateescape")
    if not is_loopback(service.host) and len(token) < MIN_TOKEN_BYTES:
        raise SettingsError(
            f"The address {service.host} can be reached by other machines and needs a token of at least "
            f"{MIN_TOKEN_BYTES} bytes; it has {len(token)}.",
            "set LETOPIS_SERVICE__TOKEN (openssl rand -hex 24), or bind to 127.0.0.1",
        )
    hosts = set() if is_wildcard(service.host) else {Host(service.host.lower().strip("[]"))}
    for entry in service.allowed_hosts:
        host = parse_host(entry)
        if host is None:
            raise SettingsError(
                f"service.allowed_hosts holds {entry!r}, which is no host name.",
                "write a name or address alone, e.g. host.docker.internal or letopis:8077",
            )
        hosts.add(host)
    return Access(frozenset(hosts), token or None)


def parse_host(header: str) -> Host | None:
    """Read a Host header or an allowed host; None if it is not one (`user@`, a path, two names)."""
    match = _HOST.fullmatch(header.strip())
    if match is None:
        return None
    name = match[1].strip("[]").rstrip(".").lower()
    return Host(name, int(match[2]) if match[2] else None) if name else None


def is_loopback(name: str) -> bool:
    """Whether only this machine can mean itself by that name: localhost, 127.0.0.0/8, ::1."""
    if name.lower() == "localhost":
        return True
    try:
        return ipaddress.ip_address(name.strip("[]")).is_loopback
    except ValueError:
        return False


def is_wildcard(name: str) -> bool:
    """Whether a bind address stands for every interface: nobody's name, so never a valid Host."""
    try:
        return ipaddress.ip_address(name.strip("[]")).is_unspecified
    except ValueError:
        return name == ""


def host_allowed(header: str, allowed: Iterable[Host]) -> bool:
    """Whether a Host header names us."""
    host = parse_host(header)
    if host is None:
        return False
    return is_loopback(host.name) or any(
        host.name == known.name and known.port in (None, host.port) for known in allowed
    )


def origin_allowed(origin: str, allowed: Iterable[Host]) -> bool:
    """Whether an Origin header is one of our own pages; `null` never is."""
    try:
        scheme, host, path, query, fragment = urlsplit(origin)
    except ValueError:
        return False
    if scheme not in ("http", "https") or path or query or fragment:
        return False
    return host_allowed(host, allowed)


def fetched_by_stranger(site: str, mode: str, path: str, method: str) -> bool:
    """Whether a browser says that a foreign page asks, other than by a link to the search page."""
    followed_link = mode == "navigate" and path == "/" and method in ("GET", "HEAD")
    return site == "cross-site" and not followed_link


def token_matches(authorization: bytes, token: bytes) -> bool:
    """Whether an Authorization header shows the token; time does not tell how much of it was right."""
    scheme, _, shown = authorization.partition(b" ")
    return scheme.lower() == b"bearer" and hmac.compare_digest(shown.strip(), token)


def refusal(scope: Scope, access: Access) -> RequestError | None:
    """Judge a request by its headers; None lets it in."""
    headers: dict[bytes, bytes] = {}
    for name, value in scope["headers"]:
        if name in (b"host", b"origin", b"authorization") and name in headers:
            # Two of them: proxies and servers disagree on which one counts.
            return RequestError("forbidden_origin", f"Two {name.decode()} headers came.", "send it once")
        headers[name] = value
    path, method = scope["path"], scope["method"]

    def text(name: bytes) -> str:
        return headers.get(name, b"").decode("latin-1")

    if b"origin" in headers and not origin_allowed(text(b"origin"), access.hosts):
        return RequestError("forbidden_origin", "A page of another site asks this service.", HOSTS_HINT)
    if fetched_by_stranger(text(b"sec-fetch-site"), text(b"sec-fetch-mode"), path, method):
        return RequestError("forbidden_origin", "A page of another site asks this service.", HOSTS_HINT)
    if access.token is not None:
        if token_matches(headers.get(b"authorization", b""), access.token):
            return None
        if path not in OPEN_PATHS:
            return RequestError(
                "unauthorized",
                "This service needs its token; the one shown is missing or wrong.",
                "send Authorization: Bearer with the value of service.token",
            )
    if not host_allowed(text(b"host"), access.hosts):
        return RequestError("forbidden_origin", "The Host header names a host that is not ours.", HOSTS_HINT)
    return None


class Guard:
    """ASGI middleware that lets in whom `refusal` does not refuse."""

    def __init__(self, app: ASGIApp, access: Access) -> None:
        self.app = app
        self.access = access

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Raise the refusal before anything of the request is read; the exchange renders it."""
        if scope["type"] == "websocket":
            await send({"type": "websocket.close", "code": 1008})
            return
        error = refusal(scope, self.access) if scope["type"] == "http" else None
        if error is not None:
            raise error
        await self.app(scope, receive, send)

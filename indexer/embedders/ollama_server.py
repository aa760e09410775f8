"""Where the Ollama server is, whether that is this machine, and which models it has."""

from __future__ import annotations

import ipaddress
import json
from collections.abc import Mapping
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

if TYPE_CHECKING:
    from schemas.settings import Settings

DEFAULT_HOST = "http://127.0.0.1:11434"

# A server that is up answers in a millisecond.
_PROBE_TIMEOUT = 1.0


def address(settings: Settings, environment: Mapping[str, str]) -> str:
    """The server's URL: the setting, else OLLAMA_HOST in any form that Ollama takes, else the default.

    An address to listen on (0.0.0.0, ::, or a port alone) means this machine.
    """
    host = (settings.embedding.ollama.host or environment.get("OLLAMA_HOST", "")).strip() or DEFAULT_HOST
    scheme, found, rest = host.partition("://")
    if not found:
        scheme, rest = "http", host
    parts = urlsplit(f"{scheme}://{rest}")
    name = parts.hostname or "127.0.0.1"
    if name in {"0.0.0.0", "::"}:
        name = "127.0.0.1"
    try:
        port = parts.port or {"http": 80, "https": 443}.get(scheme if found else "", 11434)
    except ValueError:
        port = 11434
    shown = f"[{name}]" if ":" in name else name
    return f"{scheme}://{shown}:{port}{parts.path.rstrip('/')}"


def is_local(host: str) -> bool:
    """Whether a URL points to this machine, by its literal name: no name is resolved."""
    name = urlsplit(host).hostname or ""
    try:
        return ipaddress.ip_address(name).is_loopback
    except ValueError:
        return name == "localhost" or name.endswith(".localhost")


def models_of(host: str) -> list[str]:
    """The server's models, asked by the standard library: a look costs no SDK import.

    Raises:
        OSError: no server.
        ValueError, KeyError, TypeError: something else than Ollama answers there.
    """
    import urllib.request

    handlers = [urllib.request.ProxyHandler({})] if is_local(host) else []
    with urllib.request.build_opener(*handlers).open(f"{host}/api/tags", timeout=_PROBE_TIMEOUT) as answer:
        return [str(model["model"]) for model in json.loads(answer.read())["models"]]

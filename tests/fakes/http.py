"""Ways to ask the application: in process, and over a real socket."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import httpx
from fastapi import FastAPI

from schemas.settings import Settings
from service.app import Engine, create_app
from service.server import Server, listen


def ask(
    app: FastAPI, method: str, url: str, base: str = "http://localhost:8077", **more: Any
) -> httpx.Response:
    async def asked() -> httpx.Response:
        transport = httpx.ASGITransport(app)
        async with httpx.AsyncClient(transport=transport, base_url=base) as client:
            return await client.request(method, url, **more)

    return asyncio.run(asked())


@contextmanager
def serving(engine: Engine, settings: Settings | None = None) -> Iterator[str]:
    """A real server on a free port of loopback; yields its URL."""
    ready = threading.Event()
    urls: list[str] = []

    def told(url: str) -> None:
        urls.append(url)
        ready.set()

    with listen("127.0.0.1", 0) as listener:
        server = Server(create_app(engine, settings or Settings()), told)
        thread = threading.Thread(target=server.run, args=([listener],), daemon=True)
        thread.start()
        try:
            assert ready.wait(10)
            yield urls[0]
        finally:
            server.should_exit = True
            thread.join(10)

"""An Ollama server: `/api/embed`, `/api/tags`, `/api/version`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .server import LoopbackServer, Reply, Vectors, replied


def not_a_number_inside(vectors: Vectors, answer: Callable[[Vectors], Any]) -> Reply:
    """What bge-m3 does with certain texts."""
    return replied(500, {"error": "failed to encode response: json: unsupported value: NaN"})


def forbidden(vectors: Vectors, answer: Callable[[Vectors], Any]) -> Reply:
    """A reverse proxy that wants a login."""
    return replied(403, {"error": "forbidden"})


def busy(vectors: Vectors, answer: Callable[[Vectors], Any]) -> Reply:
    """A hosted server's rate limit."""
    return replied(429, {"error": "too many requests"})


class FakeOllama(LoopbackServer):
    """Has the given models; any other is a 404."""

    def __init__(self, *models: str, dims: int = 1024) -> None:
        super().__init__()
        self.models = models or ("bge-m3:latest",)
        self.dims = dims
        self.looks: list[str] = []

    def look(self, path: str) -> Reply:
        self.looks.append(path)
        if path == "/api/tags":
            return replied(200, {"models": [{"name": name, "model": name} for name in self.models]})
        if path == "/api/version":
            return replied(200, {"version": "0.20.2"})
        return super().look(path)

    def texts_of(self, path: str, body: dict[str, Any]) -> list[str] | None:
        if path != "/api/embed":
            return None
        texts = body["input"]
        return [texts] if isinstance(texts, str) else list(texts)

    def answer(self, vectors: Vectors) -> Any:
        return {"model": "fake", "embeddings": vectors, "total_duration": 1}

    def rejection(self, text: str) -> Reply:
        return replied(400, {"error": "the input length exceeds the context length"})

    def _reply(self, path: str, headers: dict[str, str], body: dict[str, Any]) -> Reply:
        name = str(body.get("model", ""))
        if name not in self.models and f"{name}:latest" not in self.models:
            return replied(404, {"error": f'model "{name}" not found, try pulling it first'})
        return super()._reply(path, headers, body)

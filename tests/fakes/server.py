"""A loopback HTTP server that records requests and answers them, or fails as it was told to."""

from __future__ import annotations

import json
import threading
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self

import numpy as np

from indexer.embedders.hash import features


@dataclass(frozen=True, slots=True)
class Call:
    """One request as it arrived."""

    path: str
    headers: dict[str, str]
    body: dict[str, Any]
    texts: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Reply:
    """One answer: `cut` closes the connection without it, `hang` holds it back until the server ends."""

    status: int = 200
    body: bytes = b"{}"
    headers: dict[str, str] = field(default_factory=lambda: {"Content-Type": "application/json"})
    cut: bool = False
    hang: bool = False


def replied(status: int, body: object, **headers: str) -> Reply:
    return Reply(status, json.dumps(body).encode(), {"Content-Type": "application/json", **headers})


# A fault takes the vectors that the sound answer would hold, and the sound answer as a function of vectors.
Vectors = list[list[float]]
Fault = Callable[[Vectors, Callable[[Vectors], Any]], Reply]


def server_error(vectors: Vectors, answer: Callable[[Vectors], Any]) -> Reply:
    return replied(500, {"error": {"code": 500, "message": "internal", "status": "INTERNAL"}})


def unavailable(vectors: Vectors, answer: Callable[[Vectors], Any]) -> Reply:
    return replied(503, {"error": {"code": 503, "message": "overloaded", "status": "UNAVAILABLE"}})


def hang(vectors: Vectors, answer: Callable[[Vectors], Any]) -> Reply:
    return Reply(hang=True)


def drop(vectors: Vectors, answer: Callable[[Vectors], Any]) -> Reply:
    return Reply(cut=True)


def one_fewer(vectors: Vectors, answer: Callable[[Vectors], Any]) -> Reply:
    return replied(200, answer(vectors[:-1]))


def other_dims(vectors: Vectors, answer: Callable[[Vectors], Any]) -> Reply:
    return replied(200, answer([*vectors[:-1], vectors[-1][:-1]]))


def not_a_number(vectors: Vectors, answer: Callable[[Vectors], Any]) -> Reply:
    return replied(200, answer([*vectors[:-1], [float("nan"), *vectors[-1][1:]]]))


def zeros(vectors: Vectors, answer: Callable[[Vectors], Any]) -> Reply:
    return replied(200, answer([*vectors[:-1], [0.0] * len(vectors[-1])]))


def empty_object(vectors: Vectors, answer: Callable[[Vectors], Any]) -> Reply:
    return replied(200, {})


def cut_json(vectors: Vectors, answer: Callable[[Vectors], Any]) -> Reply:
    body = json.dumps(answer(vectors)).encode()
    return Reply(200, body[: len(body) // 2])


def html(vectors: Vectors, answer: Callable[[Vectors], Any]) -> Reply:
    return Reply(200, b"<html><body>Sign in to the network</body></html>", {"Content-Type": "text/html"})


# What every provider may do at any time; each of them is an outage.
OUTAGES: dict[str, Fault] = {
    "server error": server_error,
    "unavailable": unavailable,
    "hang": hang,
    "drop": drop,
    "one fewer": one_fewer,
    "other dims": other_dims,
    "not a number": not_a_number,
    "zeros": zeros,
    "empty object": empty_object,
    "cut JSON": cut_json,
    "HTML": html,
}


class LoopbackServer:
    """Base of the fakes: a context manager on port 0 of 127.0.0.1.

    Attributes:
        calls: every embedding request, in order.
        faults: taken one a request, from the left; empty means a sound answer. None in the queue is one too.
        broken: this fault for every request while it is set.
        poison: a text that holds one of these gets a 400.
    """

    dims = 64

    def __init__(self) -> None:
        self.calls: list[Call] = []
        self.faults: deque[Fault | None] = deque()
        self.broken: Fault | None = None
        self.poison: set[str] = set()
        self._leaving = threading.Event()
        self._lock = threading.Lock()
        fake = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            wbufsize = -1  # head and body in one packet, else Nagle costs 40 ms an answer

            def do_GET(self) -> None:
                self._send(fake.look(self.path))

            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers.get("Content-Length", 0))) or b"{}")
                with fake._lock:
                    reply = fake._reply(self.path, {k.lower(): v for k, v in self.headers.items()}, body)
                self._send(reply)

            def _send(self, reply: Reply) -> None:
                if reply.hang:
                    fake._leaving.wait(30)
                if reply.hang or reply.cut:
                    self.close_connection = True
                    return
                self.send_response(reply.status)
                for name, value in reply.headers.items():
                    self.send_header(name, value)
                self.send_header("Content-Length", str(len(reply.body)))
                self.end_headers()
                self.wfile.write(reply.body)

            def log_message(self, format: str, *args: Any) -> None:
                return

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self._server.block_on_close = False
        self.url = f"http://127.0.0.1:{self._server.server_port}"

    def __enter__(self) -> Self:
        threading.Thread(target=self._server.serve_forever, args=(0.005,), daemon=True).start()
        return self

    def __exit__(self, *exception: object) -> None:
        self._leaving.set()
        self._server.shutdown()
        self._server.server_close()

    @property
    def texts(self) -> list[str]:
        """Every text that arrived, prefixes included, in order."""
        return [text for call in self.calls for text in call.texts]

    def look(self, path: str) -> Reply:
        """The answer to a GET."""
        return replied(404, {"error": "not found"})

    def texts_of(self, path: str, body: dict[str, Any]) -> list[str] | None:
        """The texts of an embedding request, or None if the path is none."""
        raise NotImplementedError

    def vectors_of(self, texts: list[str], body: dict[str, Any]) -> Vectors:
        """One vector a text: equal texts (prefix aside) get equal vectors; norms are not 1 on purpose."""
        return [(features(_core(text), self.dims) * 3.0).tolist() for text in texts]

    def answer(self, vectors: Vectors) -> Any:
        """The body of a sound answer."""
        raise NotImplementedError

    def rejection(self, text: str) -> Reply:
        """The answer to a batch that holds a poisonous text."""
        raise NotImplementedError

    def _reply(self, path: str, headers: dict[str, str], body: dict[str, Any]) -> Reply:
        texts = self.texts_of(path, body)
        if texts is None:
            return replied(404, {"error": {"code": 404, "message": "not found", "status": "NOT_FOUND"}})
        self.calls.append(Call(path, headers, body, tuple(texts)))
        fault = self.broken or (self.faults.popleft() if self.faults else None)
        vectors = self.vectors_of(texts, body)
        if fault is not None:
            return fault(vectors, self.answer)
        for text in texts:
            if any(poison in text for poison in self.poison):
                return self.rejection(text)
        return replied(200, self.answer(vectors))


_PREFIXES = (
    "title: none | text: ",
    "task: search result | query: ",
    "search_document: ",
    "search_query: ",
    "passage: ",
    "query: ",
)


def _core(text: str) -> str:
    for prefix in _PREFIXES:
        if text.startswith(prefix):
            return text.removeprefix(prefix)
    return text.partition("\nQuery:")[2] or text


def nearest(query: np.ndarray[Any, Any], documents: np.ndarray[Any, Any]) -> int:
    """The row with the highest cosine; both sides are unit vectors."""
    return int(np.argmax(documents @ query))

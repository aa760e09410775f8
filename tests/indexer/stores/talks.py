"""Small talks and files for the ledger's tests."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from typing import Any

from indexer.stores.ledger import Ledger, SourceFile
from schemas.records import Chunk, Message, Piece

HOUR = 3_600_000


def message(id_: str, text: str = "привет", at: int | None = None, **more: Any) -> Message:
    values: dict[str, Any] = {"chat_id": "talk", "source": "jsonl", "role": "user", "place": f"a.jsonl:{id_}"}
    return Message(id=id_, text=text, at=at, **(values | more))


def file(path: str = "a.jsonl", mtime: int = 1_000, kind: str = "jsonl") -> SourceFile:
    return SourceFile("root", path, kind, 10, mtime * 1_000_000, "00", "1")


def hashed(messages: Iterable[Message]) -> Iterator[tuple[Message, bytes]]:
    return ((one, hashlib.sha256(one.text.encode()).digest()) for one in messages)


def absorb(ledger: Ledger, source: SourceFile, *messages: Message) -> dict[str, int]:
    return ledger.absorb(source, hashed(messages))


def texts(ledger: Ledger, chat: str = "talk") -> list[str]:
    return [one.text for one in ledger.messages.talk(chat)]


def chunk(text: str, chat: str = "talk", ordinal: int = 0, at: int | None = None) -> tuple[Chunk, bytes]:
    made = Chunk(f"c_{text}", chat, None, ordinal, "", text, (Piece("1", 0, len(text), 0),), at, at)
    return made, hashlib.sha256(made.indexed.encode()).digest()

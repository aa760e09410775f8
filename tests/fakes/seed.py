"""An older index as its own program writes it: `chunks` of 600 characters that share 100, with vectors."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

import apsw
import numpy as np

from indexer.embedders.hash import features

SIZE, OVERLAP = 600, 100

DDL = """CREATE TABLE chunks (
  chunk_id TEXT PRIMARY KEY, message_id, conv_id, role TEXT, chunk_index INTEGER, text TEXT, created_at,
  embedding BLOB
)"""


def cut(text: str, size: int = SIZE, overlap: int = OVERLAP) -> list[str]:
    """As that program cuts: its last chunk often lies inside the one before."""
    return [text[at : at + size] for at in range(0, max(1, len(text)), size - overlap)]


def vector(text: str, dims: int) -> bytes:
    """What a fake server answers for the bare text: little-endian float32, not of norm 1."""
    return (features(text, dims) * 3.0).astype("<f4").tobytes()


@dataclass
class FakeSeed:
    """Writes `chat_vectors.db`.

    Attributes:
        path: the database.
        told: messages written so far.
    """

    path: Path
    told: int = 0
    texts: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        with_table = not self.path.exists()
        self.db = apsw.Connection(str(self.path))
        self.db.execute("PRAGMA synchronous=OFF")
        if with_table:
            self.db.execute(DDL)

    def say(
        self,
        text: str,
        dims: int = 768,
        conv: object = 1,
        role: str | None = "user",
        at: object = None,
        id: object = None,
        embedding: bytes | str | None = b"",
    ) -> str:
        """One message, cut and embedded; `embedding` replaces every vector of it. Returns its id."""
        self.told += 1
        message = self.told if id is None else id
        when = f"2026-03-{1 + self.told // 1440:02d} {self.told // 60 % 24:02d}:{self.told % 60:02d}:00"
        for index, chunk in enumerate(cut(text)):
            blob = vector(chunk, dims) if embedding == b"" else embedding
            values = (message, conv, role, index, chunk, when if at is None else at, blob)
            key = f"{conv}/{message}/{index}/{dims}"
            self.db.execute("INSERT INTO chunks VALUES (?, ?, ?, ?, ?, ?, ?, ?)", (key, *values))
        self.texts[str(message)] = text
        return str(message)

    def all(self, texts: Iterable[str], dims: int = 768, conv: object = 1) -> None:
        for text in texts:
            self.say(text, dims, conv)

    def close(self) -> Path:
        self.db.close()
        return self.path


def long_text(words: int, salt: str = "") -> str:
    """Sentences that repeat nothing, so that every overlap is the true one."""
    chance = np.random.default_rng(sum(salt.encode()) + words)
    stems = ("сервер", "граф", "память", "чанк", "вектор", "отчёт", "поезд", "огород", "docker", "насос")
    return " ".join(
        f"{stems[int(chance.integers(10))]}{int(chance.integers(1000))}{'.' if at % 9 == 8 else ''}"
        for at in range(words)
    )

"""The databases: their writers and readers, each with its queries.

What the service asks of a store is `Store`; SQLite (`indexer.stores.sqlite`) is the built-in engine. To add
another (PostgreSQL with pgvector), satisfy the Protocol and run the store's conformance test over it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from indexer.text.vocabulary import Vocabulary
from schemas.records import Filter, Space

Unit = Literal["chunk", "message"]

# An exact form counts a little on top of its lemma, about .17 of the term's idf: мой stands before мои. With
# .4 LoCoMo's any@10 falls from .901 to .893.
RAW_WEIGHT = 0.1

# The time, in UTC ms, of what has none.
NO_TIME = np.iinfo(np.int64).min

Ids = NDArray[np.int64]
Scores = NDArray[np.float32]
Mask = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Term:
    """One word (or compound) of a query.

    Attributes:
        word: as it stands in the query, in the normal form.
        raw: the tokens that must stand side by side in the raw column.
        lemmas: alternatives in the lemma column, each a sequence of tokens; empty: the raw form alone.
    """

    word: str
    raw: tuple[str, ...]
    lemmas: tuple[tuple[str, ...], ...] = ()

    @property
    def forms(self) -> frozenset[str]:
        """Every token that it is sought by."""
        return frozenset((*self.raw, *(token for tokens in self.lemmas for token in tokens)))


@dataclass(frozen=True, slots=True)
class TextScores:
    """The lexical leg's answer: ids, positive BM25 (greater is better), and what a perfect hit could get."""

    ids: Ids
    bm25: Scores
    upper_bound: float


@dataclass(frozen=True, slots=True)
class StoredPiece:
    """A message inside a stored chunk."""

    message: int
    start: int
    end: int
    message_start: int


@dataclass(frozen=True, slots=True)
class StoredChunk:
    """A chunk as the service shows it."""

    id: int
    chunk_id: str
    chat_id: str
    chat_title: str | None
    source: str
    text: str
    first_at: int | None
    pieces: tuple[StoredPiece, ...]


@dataclass(frozen=True, slots=True)
class StoredMessage:
    """A message as the service shows it."""

    id: int
    message_id: str
    chat_id: str
    chat_title: str | None
    source: str
    role: str
    author: str | None
    at: int | None
    text: str


@dataclass(frozen=True, slots=True)
class SpaceInfo:
    """A space that holds vectors in this generation, and the weight of its vector leg."""

    id: int
    space: Space
    weight: float
    vectors: int


class Store(Protocol):
    """One generation, read. Ids are dense: chunks 1…n and messages 1…n in the order of the talk."""

    def size(self, unit: Unit) -> int:
        """How many chunks or messages there are."""

    def spaces(self) -> Sequence[SpaceInfo]:
        """The spaces that hold vectors."""

    def mask(self, keep: Filter, unit: Unit) -> Mask:
        """Which chunks or messages a filter keeps; index 0 is unused."""

    def text(
        self, terms: Sequence[Term], keep: Filter, unit: Unit, raw_weight: float = RAW_WEIGHT
    ) -> TextScores:
        """BM25 of the chunks or messages that match any term, filtered before they are counted.

        `raw_weight` is that of an exact form; its lemma counts 1.
        """

    def near(self, one: Term, other: Term) -> Ids:
        """The chunks in which two words stand within a few words of each other, in any order."""

    def knows(self, word: str) -> bool:
        """Whether a word in the normal form stands in some chunk, in any inflection."""

    def vocabulary(self) -> Vocabulary:
        """The words and lemmas of all chunks; read once."""

    def cosines(self, space: int, vector: NDArray[np.float32], keep: Filter) -> tuple[Ids, Scores]:
        """The whole cosine array of a space over the kept chunks that it covers."""

    def chunks(self, ids: Sequence[int]) -> Mapping[int, StoredChunk]:
        """Chunks by id."""

    def messages(self, ids: Sequence[int]) -> Mapping[int, StoredMessage]:
        """Messages by id."""

    def neighbours(self, unit: Unit) -> tuple[Ids, Ids]:
        """For every chunk the one before and after it in its session, for every message in its chat.

        0 where there is none. The talk of a worker and the main one pass over each other.
        """

    def membership(self) -> tuple[Ids, Ids]:
        """Parallel arrays (chunk, message), sorted by chunk."""

    def times(self) -> tuple[Ids, Ids]:
        """First and last time of every chunk, UTC ms; the least integer where it is unknown."""

    def authors(self) -> Sequence[tuple[str | None, str | None, int]]:
        """(name, id, code) of every author."""

    def author_lemmas(self) -> frozenset[str]:
        """Every lemma of every word of an author's name."""

    def message_authors(self) -> NDArray[np.signedinteger]:
        """The author's code of every message."""

    def asking(self) -> Mask:
        """Which messages end with a question mark."""

    def alone(self) -> Ids:
        """By chunk the message that it holds a window of and nothing else; 0 for any other chunk."""

    def share(self, messages: Mask) -> Scores:
        """How much of each chunk's text some messages hold, 0–1; `messages` is a mask by row."""

    def chunk_rows(self, chunk_ids: Sequence[str]) -> Mapping[str, int]:
        """Dense ids of chunks by their public ids; unknown ones are left out."""

    def message_rows(self, pairs: Sequence[tuple[str, str]]) -> Sequence[int]:
        """Dense ids of messages by (chat id, message id); unknown ones are left out."""

    def messages_called(self, message_id: str) -> Sequence[int]:
        """Dense ids of the messages of any chat that have this id."""

    def close(self) -> None:
        """Give everything back; call it when no request is left."""

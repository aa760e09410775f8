"""Patience with a provider: waits out a short quota, and finds the one text that it refuses.

A 429 says "later", not "broken": the same call is made again with the same model, because another model would
mean another space. What lasts longer than `max_wait` is a spent quota, and the next run goes on.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

import numpy as np
from numpy.typing import NDArray

from schemas.problems import Interrupted, Quota, QuotaExhausted, Refusal, TextRejected
from schemas.records import Space

if TYPE_CHECKING:
    from . import Embedder

T = TypeVar("T")

MAX_WAIT = 900.0

# Jitter is added on top of what the provider asked for, never taken from it.
_JITTER = 0.25

# Backoff for a provider that keeps saying "now": 1, 2, 4 … 60 seconds.
_MAX_BACKOFF = 60.0

# How long Ctrl-C may go unnoticed in a wait, seconds.
_SLICE = 0.5


@dataclass(frozen=True, slots=True)
class Embedded:
    """What came of one batch.

    Attributes:
        vectors: shape (len(accepted), dims), unit rows.
        accepted: index into the batch of each row, ascending.
        rejected: index into the batch → the provider's reason.
    """

    vectors: NDArray[np.float32]
    accepted: tuple[int, ...]
    rejected: dict[int, str]


class Patient:
    """An embedder that waits out short quotas of another one.

    Args:
        embedder: who embeds.
        max_wait: seconds that the waits of one call may sum up to.
        cancelled: asked about twice a second while waiting.
        sleep: takes seconds.
        jitter: a number in [0, 1).
    """

    def __init__(
        self,
        embedder: Embedder,
        max_wait: float = MAX_WAIT,
        cancelled: Callable[[], bool] = lambda: False,
        sleep: Callable[[float], None] = time.sleep,
        jitter: Callable[[], float] = random.random,
    ) -> None:
        self._embedder = embedder
        self._max_wait = max_wait
        self._cancelled = cancelled
        self._sleep = sleep
        self._jitter = jitter

    @property
    def identity(self) -> Space:
        """The space of the wrapped embedder."""
        return self._embedder.identity

    def recognises(self, space: Space) -> bool:
        """As the wrapped embedder says."""
        return self._embedder.recognises(space)

    @property
    def english_only(self) -> bool:
        """As the wrapped embedder says."""
        return self._embedder.english_only

    @property
    def workers(self) -> int:
        """As the wrapped embedder says."""
        return self._embedder.workers

    @property
    def paid(self) -> bool:
        """As the wrapped embedder says."""
        return self._embedder.paid

    @property
    def max_batch(self) -> int:
        """As the wrapped embedder says."""
        return self._embedder.max_batch

    def warm(self) -> None:
        """Warm the wrapped embedder."""
        self._patiently(self._embedder.warm)

    def documents(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """As the wrapped embedder, after any waits.

        Raises:
            QuotaExhausted: the waits of this call would exceed `max_wait`.
            Interrupted: cancelled while waiting.
        """
        return self._patiently(lambda: self._embedder.documents(texts))

    def query(self, text: str) -> NDArray[np.float32]:
        """As the wrapped embedder, after any waits; raises as `documents` does."""
        return self._patiently(lambda: self._embedder.query(text))

    def close(self) -> None:
        """Close the wrapped embedder."""
        self._embedder.close()

    def _patiently(self, call: Callable[[], T]) -> T:
        waited, backoff = 0.0, 1.0
        while True:
            try:
                return call()
            except Quota as quota:
                wait = max(quota.wait, backoff) * (1.0 + _JITTER * self._jitter())
                if waited + wait > self._max_wait:
                    raise QuotaExhausted(
                        f"{quota.message} Waiting {waited + wait:.0f} s is more than the allowed "
                        f"{self._max_wait:.0f} s.",
                        "the next run goes on from here",
                    ) from None
            self._wait(wait)
            waited, backoff = waited + wait, min(2.0 * backoff, _MAX_BACKOFF)

    def _wait(self, seconds: float) -> None:
        while seconds > 0.0:
            if self._cancelled():
                raise Interrupted("Stopped while waiting for a quota.", "run it again to go on")
            self._sleep(min(seconds, _SLICE))
            seconds -= _SLICE
        if self._cancelled():
            raise Interrupted("Stopped while waiting for a quota.", "run it again to go on")


def embed_documents(embedder: Embedder, texts: Sequence[str]) -> Embedded:
    """Embed a batch; texts that the provider refuses are found by halving and named, the others are kept.

    Args:
        embedder: a `Patient` one, if quotas are to be waited out.
        texts: at most `embedder.max_batch`.

    Raises:
        Refusal: it refused every text of a batch of two or more, so the texts are not the reason.
        EmbedderError: any other fault; nothing of the batch is returned.
    """
    rows: dict[int, NDArray[np.float32]] = {}
    rejected: dict[int, str] = {}
    parts = [range(len(texts))]
    while parts:
        part = parts.pop()
        try:
            vectors = embedder.documents([texts[index] for index in part])
        except TextRejected as rejection:
            if len(part) == 1:
                rejected[part[0]] = rejection.message
            else:
                half = len(part) // 2
                parts += part[half:], part[:half]
        else:
            rows.update(zip(part, vectors, strict=True))
    if len(texts) > 1 and len(rejected) == len(texts):
        raise Refusal(
            f"{embedder.identity.provider} refused all {len(texts)} texts of a batch: {rejected[0]}",
            "check the model and its settings under [embedding]",
        )
    accepted = tuple(sorted(rows))
    dims = embedder.identity.dims
    vectors = np.stack([rows[index] for index in accepted]) if rows else np.empty((0, dims), np.float32)
    return Embedded(vectors, accepted, rejected)

"""Counting while the graph is made: one entity, and the support of a structural relation."""

from __future__ import annotations

from collections import Counter

TRAINED = ("PER", "LOC", "ORG")
# Share of the mentions from which a model's type beats the untyped NAME.
_TYPED = 0.25


class Tally:
    """One entity while it is being counted."""

    __slots__ = (
        "authors",
        "chats",
        "chunks",
        "fallback",
        "first",
        "forms",
        "last",
        "links",
        "mentions",
        "names",
        "types",
    )

    def __init__(self) -> None:
        self.types: Counter[str] = Counter()
        self.names: Counter[str] = Counter()
        self.forms: Counter[str] = Counter()
        self.chunks: set[str] = set()
        self.mentions = 0
        self.fallback = ""
        self.first: int | None = None
        self.last: int | None = None
        self.authors: dict[str, Support] = {}
        self.chats: dict[str, Support] = {}
        self.links: dict[str, Support] = {}

    def seen(self, at: int | None) -> None:
        """Widen the time of its mentions; `at` is UTC ms or unknown."""
        self.first, self.last = _span(self.first, self.last, at)

    @property
    def type(self) -> str:
        """By vote; a type of the model outvotes NAME from a quarter of the mentions on."""
        ranked = sorted(self.types.items(), key=lambda item: (-item[1], item[0]))
        trained = [kind for kind, _ in ranked if kind in TRAINED]
        if ranked[0][0] == "NAME" and trained and self.types[trained[0]] >= _TYPED * self.types.total():
            return trained[0]
        return ranked[0][0]

    @property
    def name(self) -> str:
        """By vote; a form with a capital wins a tie."""
        if not self.names:
            return self.fallback
        return min(self.names, key=lambda name: (-self.names[name], name.islower(), name))


class Support:
    """How often, when, and where a structural relation was seen."""

    __slots__ = ("chunk", "count", "first", "last")

    def __init__(self) -> None:
        self.count = 0
        self.first: int | None = None
        self.last: int | None = None
        self.chunk: str | None = None

    def add(self, at: int | None, chunk: str) -> None:
        """Count one message; the newest one's chunk is the evidence."""
        self.count += 1
        self.first, self.last = _span(self.first, self.last, at)
        if at is None or at == self.last or self.chunk is None:
            self.chunk = chunk


def _span(first: int | None, last: int | None, at: int | None) -> tuple[int | None, int | None]:
    if at is None:
        return first, last
    return (at if first is None else min(first, at)), (at if last is None else max(last, at))

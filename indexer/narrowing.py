"""A build of a part of the archives: since a time, or of some talks."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from indexer.text.normal import normal
from schemas.records import Message


@dataclass(frozen=True, slots=True)
class Narrowing:
    """The part of the archives that one build reads.

    Attributes:
        since: earliest time, UTC ms inclusive; messages without a time fall out when it is set.
        chats: ids or titles of talks; empty means all.
    """

    since: int | None = None
    chats: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return self.since is not None or bool(self.chats)

    def keeps(self, message: Message) -> bool:
        """Whether a message is in it: its chat by exact id or by title in the normal form."""
        if self.since is not None and (message.at is None or message.at < self.since):
            return False
        if not self.chats or message.chat_id in self.chats:
            return True
        return message.chat_title is not None and normal(message.chat_title) in _titles(self.chats)


@lru_cache(maxsize=8)
def _titles(chats: tuple[str, ...]) -> frozenset[str]:
    """In the normal form, once a build and not once a message."""
    return frozenset(map(normal, chats))


EVERYTHING = Narrowing()

"""One chat of a Telegram export: its id and title, the ids of its messages, its topics."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from indexer.archives.identity import Identities, source_id
from indexer.archives.wording import label

DELETED_ACCOUNT = "Удалённый аккаунт"
# Telegram leaves these without a name.
_TITLES = {
    "saved_messages": "Избранное",
    "personal_chat": DELETED_ACCOUNT,
    "replies": "Ответы",
    "verification_codes": "Коды подтверждения",
}
# What Telegram Desktop adds to the ids of a group's messages where it exports them inside the supergroup that
# the group became (kMigratedMessagesIdShift in export_data_types.cpp): both count from 1.
MIGRATED = -1_000_000_000
_PEER = re.compile(r"(?:user|chat|channel)([0-9]{1,20})")


@dataclass(frozen=True, slots=True)
class Supergroup:
    """What a group became: the chat that its messages belong to."""

    id: str
    title: str | None


class Chat:
    """What is known of the chat whose messages are being read.

    Args:
        name: of the file, for places.
        stem: of the file, the id of a chat that has none.
        number: of the chat in a file of many, or None.
        grown: by the id of an old group, the supergroup that it became.

    Attributes:
        id: Telegram's own id (of a group that grew, the supergroup's), else the file's stem, with the name or
            the number where the file holds many chats.
        title: the chat's name, also for those that Telegram leaves nameless.
        read: how many of its messages were read.
    """

    def __init__(self, name: str, stem: str, number: int | None, grown: Mapping[str, Supergroup]) -> None:
        self._name = name
        self._stem, self._number, self._grown = stem, number, grown
        self._fields: dict[str, Any] = {}
        self._topics: dict[str, str] = {}  # by the id of the message that opened it
        self._within: dict[str, str] = {}  # by message id, the id of its topic
        self.identities = Identities()
        self.read = 0
        self._settle()

    def learn(self, key: str, value: object) -> None:
        """Take in the chat's `name`, `type` or `id`."""
        self._fields[key] = value
        self._settle()

    def _settle(self) -> None:
        name, kind = label(self._fields.get("name")), self._fields.get("type")
        known = source_id(self._fields.get("id"))
        if known is None:
            known = self._stem if self._number is None else f"{self._stem}/{name or self._number}"
        became = self._grown.get(known)
        self._own = known
        self._prefix = f"{self._name}#" if self._number is None else f"{self._name}#{known}/"
        self.id = became.id if became else known
        self.title = (became.title if became else None) or name
        if self.title is None and isinstance(kind, str):
            self.title = _TITLES.get(kind)
        self._shifted = became is not None

    def place(self, own: str | None) -> str:
        """Where a message stands, by its own id; one without an id is named by its number in the chat."""
        return self._prefix + (own or str(self.read))

    def message_id(self, own: str) -> str:
        """The id of one of its messages, which never is that of another message of the same talk."""
        return _shifted(own, self._own) if self._shifted else own

    def reply_to(self, raw: dict[str, Any]) -> str | None:
        """The id of the message that this one answers; None where that one is in another chat."""
        if "reply_to_message_id" not in raw:
            return None
        answered = source_id(raw["reply_to_message_id"])
        peer = raw.get("reply_to_peer_id")
        if answered is None or peer is None:
            return self.message_id(answered) if answered else None
        match = _PEER.fullmatch(peer) if isinstance(peer, str) else None
        other = (match[1] if match else source_id(peer)) or ""
        if other == self._own:
            return self.message_id(answered)
        became = self._grown.get(other)
        return _shifted(answered, other) if became is not None and became.id == self.id else None

    def topic(self, raw: dict[str, Any]) -> str | None:
        """The title of the forum topic that a message stands in, or None.

        The exporter writes no topic. A message of one answers either the service message that opened it or
        another message of it.
        """
        if not self._topics or "reply_to_message_id" not in raw or "reply_to_peer_id" in raw:
            return None
        answered, own = source_id(raw["reply_to_message_id"]), source_id(raw.get("id"))
        if answered is None:
            return None
        topic = answered if answered in self._topics else self._within.get(answered)
        if topic is None:
            return None
        if own is not None:
            self._within[own] = topic
        return self._topics[topic]

    def open_topic(self, raw: dict[str, Any]) -> None:
        """Take in the service message that opens a topic."""
        own, title = source_id(raw.get("id")), label(raw.get("title"))
        if own is not None and title is not None:
            self._topics[own] = title


def _shifted(own: str, chat: str) -> str:
    try:
        return str(int(own) + MIGRATED)
    except ValueError:
        return f"{chat}/{own}"

"""Message ids for sources that have none: from content, never from a line number."""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from json.encoder import encode_basestring_ascii

_UUID = re.compile(r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")


def derived_id(chat: str, author: str | None, at: int | None, text: str, n: int = 0) -> str:
    """The id of a message whose source gives none.

    The same message in two overlapping exports gets the same id; two equal messages of one export differ
    in `n`.

    Args:
        chat: the chat's id.
        author: author id, name or role.
        at: UTC ms, or None.
        text: the message's text.
        n: how many equal messages stood before it in the same export.

    Returns:
        `h_` and 16 hex digits.
    """
    # As json.dumps([chat, author, at, text, n]) writes it, in a third of the time: one id a message is made.
    parts = (
        encode_basestring_ascii(chat),
        "null" if author is None else encode_basestring_ascii(author),
        "null" if at is None else str(at),
        encode_basestring_ascii(text),
    )
    return "h_" + hashlib.sha256(f"[{', '.join(parts)}, {n}]".encode()).hexdigest()[:16]


class Identities:
    """Counts equal messages of one export, so that each gets its own derived id."""

    def __init__(self) -> None:
        self._seen: Counter[str] = Counter()

    def derive(self, chat: str, author: str | None, at: int | None, text: str) -> str:
        """The next derived id for these contents; grows by one small key per distinct message."""
        first = derived_id(chat, author, at, text)
        n = self._seen.get(first, 0)
        self._seen[first] = n + 1
        return derived_id(chat, author, at, text, n) if n else first


# Ids stand in every row and answer; the longest seen, paths of notes and sessions, stay far below.
MAX_ID = 512


def source_id(value: object) -> str | None:
    """An id as the source wrote it, as text; None for what can't be one (empty, bool, float, too long, …)."""
    if isinstance(value, str):
        if len(value) > MAX_ID:
            return None
        return value.replace("\x00", "").encode("utf-8", "replace").decode().strip() or None
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value) if abs(value) < 10**40 else None
    return None


def origin_of(id: str) -> str | None:
    """The id where it is a UUID, hence unique over all chats of its source; else None."""
    return id if _UUID.fullmatch(id) else None

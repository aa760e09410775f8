"""Message ids for sources that have none: from content, never from a line number."""

from __future__ import annotations

import hashlib
import json
from collections import Counter


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
    key = json.dumps([chat, author, at, text, n])
    return "h_" + hashlib.sha256(key.encode()).hexdigest()[:16]


class Identities:
    """Counts equal messages of one export, so that each gets its own derived id."""

    def __init__(self) -> None:
        self._seen: Counter[str] = Counter()

    def derive(self, chat: str, author: str | None, at: int | None, text: str) -> str:
        """The next derived id for these contents; grows by one small key per distinct message."""
        first = derived_id(chat, author, at, text)
        n = self._seen[first]
        self._seen[first] += 1
        return derived_id(chat, author, at, text, n) if n else first


def source_id(value: object) -> str | None:
    """An id as the source wrote it, as text; None for what can't be one (empty, bool, float, list, …)."""
    if isinstance(value, str):
        return value.replace("\x00", "").encode("utf-8", "replace").decode().strip() or None
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value) if abs(value) < 10**40 else None
    return None

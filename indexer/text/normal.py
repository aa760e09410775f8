"""The normal form that index and query share, and its tokens.

NFC first: FTS5's unicode61 strips the breve of a decomposed й and would file мой under мои. Then casefold,
ё→е, stress marks away, lone surrogates to U+FFFD (SQLite and UTF-8 refuse them).
"""

from __future__ import annotations

import re
import unicodedata

_SURROGATE = re.compile("[\ud800-\udfff]")
_TOKEN = re.compile(r"[^\W_]+")


def scrubbed(text: str) -> str:
    """The text with lone surrogates replaced by U+FFFD and NUL removed; code points otherwise unchanged."""
    return _SURROGATE.sub("\ufffd", text).replace("\x00", "")


def normal(text: str) -> str:
    """The normal form of any string; idempotent, never raises. Its length may differ from the input's."""
    folded = _folded(_SURROGATE.sub("\ufffd", text))
    if unicodedata.is_normalized("NFC", folded) and folded.casefold() == folded:
        return folded
    while (again := _folded(folded)) != folded:  # a dropped stress mark lets е and its dots join to a new ё
        folded = again
    return folded


def _folded(text: str) -> str:
    folded = unicodedata.normalize("NFC", text).casefold()
    # Two replaces: translate is a hundred times slower on a long text.
    return unicodedata.normalize("NFC", folded).replace("ё", "е").replace("\u0301", "")


def tokens(text: str) -> list[str]:
    """Letter and digit runs of the text's normal form, in order."""
    return _TOKEN.findall(normal(text))


def has_words(text: str) -> bool:
    """Whether the text holds a letter or a digit; without one it is neither embedded nor indexed."""
    return _TOKEN.search(text) is not None

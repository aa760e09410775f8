"""One kind of secret: what it looks like, and what tells it from ordinary talk."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

# A word of its own: keys are written in ASCII, whatever alphabet stands around them.
EDGE = r"(?<![A-Za-z0-9_])"
STOP = r"(?![A-Za-z0-9_])"


# A value up to its closing quote, else up to the next space; JSON inside of JSON has a backslash there.
VALUE = (
    r"(?P<quote>[\"'`«“])?(?P<value>(?(quote)(?:(?!(?P=quote)|[»”])[^\n\\]){4,200}"
    r"|(?:[^\s\"'`«»“”,;\\]|\\(?![\"'nrt])){4,500}))"
)


@dataclass(frozen=True, slots=True)
class Rule:
    """How one kind of secret is found.

    Attributes:
        kind: stands in the placeholder and in the counts.
        near: one of these stands in the casefolded text, else the pattern is not run.
        pattern: linear in the text.
        group: of the pattern, the secret itself.
        sound: whether a match is a secret and no ordinary talk.
    """

    kind: str
    near: tuple[str, ...]
    pattern: re.Pattern[str]
    group: int | str = 0
    sound: Callable[[re.Match[str]], bool] = lambda _: True


def has_digit(text: str) -> bool:
    """Whether a digit stands in it."""
    return any(char.isdigit() for char in text)


def looks_random(value: str) -> bool:
    """Letters and digits mixed, or both cases mixed over a length that no name has."""
    letters = any(char.isalpha() for char in value)
    if has_digit(value):
        return (len(value) >= 6 and letters) or len(value) >= 20
    return len(value) >= 16 and value.lower() != value != value.upper() and "." not in value

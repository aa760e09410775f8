"""Secrets are replaced before anything is written: a key that a chunk border cuts escapes every later filter.

Each pattern is linear in the text and is tried only where a cheap literal or word of its kind stands. A
placeholder is `[REDACTED:kind]`. Raise VERSION with any change of the rules: archives are then read anew.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable

from indexer.redaction.assignments import ASSIGNMENTS
from indexer.redaction.cards import CARDS
from indexer.redaction.rule import Rule
from indexer.redaction.talk import TALK
from indexer.redaction.vendors import VENDORS

__all__ = ["RULES", "VERSION", "redacted"]

VERSION = 2

RULES: tuple[Rule, ...] = (*VENDORS, *TALK, *ASSIGNMENTS, *CARDS)

# A replaced secret may bare another one behind it; more than a few layers are a text made to hurt.
_PASSES = 4


def redacted(text: str, counts: Counter[str] | None = None) -> str:
    """The text with every secret replaced by `[REDACTED:kind]`; idempotent.

    Args:
        text: any text.
        counts: is increased by kind; the secret itself is told nowhere.
    """
    for _ in range(_PASSES):
        clean = _pass(text, counts)
        if clean == text:
            break
        text = clean
    return text


def _pass(text: str, counts: Counter[str] | None) -> str:
    folded = text.casefold()
    for rule in RULES:
        if any(near in folded for near in rule.near):
            text = rule.pattern.sub(_replacement(rule, counts), text)
    return text


def _replacement(rule: Rule, counts: Counter[str] | None) -> Callable[[re.Match[str]], str]:
    def replace(match: re.Match[str]) -> str:
        start, end = match.span(rule.group)
        if "[REDACTED:" in match[rule.group] or not rule.sound(match):
            return match[0]
        if counts is not None:
            counts[rule.kind] += 1
        before = match.string[match.start() : start]
        return f"{before}[REDACTED:{rule.kind}]{match.string[end : match.end()]}"

    return replace

"""Payment card numbers: the length and first digits of a card system, sensible groups, and the Luhn sum."""

from __future__ import annotations

import re

from indexer.redaction.rule import Rule

_GAP = r"[ \u00a0-]?"

# 16 to 19 digits in fours, 14 or 15 as 4-6-4 and 4-6-5. Never a leading 0, 1, 7, 8 or 9: epoch milliseconds
# (13 digits), microseconds (16) and ISBNs pass Luhn one time in ten.
_CARD = re.compile(
    rf"(?<![\w.,-])(?:[2-6]\d{{3}}(?:{_GAP}\d{{4}}){{3}}(?:{_GAP}\d{{1,3}})?"
    rf"|3[04-8]\d\d{_GAP}\d{{6}}{_GAP}\d{{4,5}})(?![\w-]|[.,]\d)"
)

# Which systems issue a length: (length, first digits).
_ISSUED = {14: "3", 15: "3", 16: "23456", 17: "56", 18: "56", 19: "2456"}


def _is_card(match: re.Match[str]) -> bool:
    digits = [int(char) for char in match[0] if char.isdigit()]
    doubled = (digit * 2 - 9 * (digit > 4) for digit in digits[-2::-2])
    issued = str(digits[0]) in _ISSUED.get(len(digits), "")
    return issued and len(set(digits)) > 1 and (sum(digits[-1::-2]) + sum(doubled)) % 10 == 0


CARDS: tuple[Rule, ...] = (Rule("card", ("",), _CARD, 0, _is_card),)

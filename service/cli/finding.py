"""One line of the doctor."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Literal

State = Literal["ok", "warn", "fail"]


@dataclass(frozen=True, slots=True)
class Finding:
    """What one check found.

    Attributes:
        check: what was looked at, a word or two.
        state: ok, warn (works, but worth knowing) or fail.
        message: one sentence without paths of the home folder and without secrets.
        hint: the remedy; never empty where the state is fail.
    """

    check: str
    state: State
    message: str
    hint: str = ""

    def as_json(self) -> dict[str, str]:
        """Plain data for JSON."""
        return asdict(self)


def good(check: str, message: str) -> Finding:
    """It is as it should be."""
    return Finding(check, "ok", message)


def warned(check: str, message: str, hint: str = "") -> Finding:
    """It works, but is worth knowing."""
    return Finding(check, "warn", message, hint)


def failed(check: str, message: str, hint: str) -> Finding:
    """It does not work; the hint says what to do."""
    assert hint, "every fault has a remedy"
    return Finding(check, "fail", message, hint)

"""Bytes and minutes as a person says them."""

from __future__ import annotations


def size(count: float) -> str:
    """Bytes in decimal units, e.g. `1.2 GB`."""
    for unit in ("B", "kB", "MB"):
        if count < 1000:
            return f"{count:.0f} {unit}"
        count /= 1000
    return f"{count:,.1f} GB"


def duration(minutes: float) -> str:
    """Minutes in words, e.g. `under a minute`, `12 minutes`, `3.5 hours`."""
    if minutes < 1:
        return "under a minute"
    return f"{minutes:.0f} minutes" if minutes < 90 else f"{minutes / 60:.1f} hours"


def counted(count: int, noun: str) -> str:
    """A number with its noun, e.g. `1 text`, `1,200 texts`."""
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"

"""Short first names: Саша is an Александр or an Александра, Bob a Robert."""

from __future__ import annotations

from functools import cache
from importlib.resources import files

from indexer.text.names import name_key


@cache
def _table() -> dict[str, tuple[str, ...]]:
    lines = files("indexer.entities").joinpath("data", "nicknames.tsv").read_text("utf-8").splitlines()
    table: dict[str, tuple[str, ...]] = {}
    for line in lines:
        if line.startswith("#"):
            continue
        short, _, full = line.partition("\t")
        key = name_key(short)
        keys = (*table.get(key, ()), *map(name_key, full.split("|")))
        table[key] = tuple(one for one in dict.fromkeys(keys) if one != key)
    return table


def full_names(key: str) -> tuple[str, ...]:
    """Keys of the full first names that a short one may stand for.

    Args:
        key: the merge key of a lone first name (`name_key`).

    Returns:
        Merge keys, commonest first; empty for a full or an unknown name. Александр and Александра share one.
    """
    return _table().get(key, ())


@cache
def _english() -> frozenset[str]:
    return frozenset(name for short, full in _table().items() for name in (short, *full) if name.isascii())


def is_english_first_name(word: str) -> bool:
    """Whether a Latin word is an English first name, short or full."""
    return word.lower() in _english()

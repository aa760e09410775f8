"""Slang and Latin twins (докер → Docker, питер → Санкт-Петербург), from `data/aliases.tsv`.

The file has tab-separated columns, the form in lower case, the canonical name and, where it is sure, the type
of what is named (LOC, ORG, NAME); `# ` starts a comment.
"""

from __future__ import annotations

import hashlib
from functools import cache
from importlib.resources import files

from indexer.text.normal import normal, tokens


def _data(name: str) -> str:
    return files("indexer.text").joinpath("data", name).read_text("utf-8")


@cache
def _rows() -> tuple[tuple[str, str, str | None], ...]:
    lines = (line for line in _data("aliases.tsv").splitlines() if line and not line.startswith("# "))
    rows = ([cell.strip() for cell in line.split("\t")] for line in lines)
    return tuple((normal(row[0]), row[1], row[2] if len(row) > 2 else None) for row in rows if len(row) > 1)


@cache
def table() -> dict[str, str]:
    """Form in the normal form → canonical display name."""
    return {form: name for form, name, _ in _rows()}


@cache
def types() -> dict[str, str]:
    """Canonical display name → LOC, ORG or NAME, where the table tells it."""
    return {name: kind for _, name, kind in _rows() if kind}


@cache
def _words() -> dict[str, tuple[str, ...]]:
    return {form: tuple(tokens(name)) for form, name in table().items()}


def canonical(form: str) -> str | None:
    """The canonical name of a slang form or Latin twin, or None."""
    return table().get(normal(form))


def expansions(form: str) -> tuple[str, ...]:
    """Tokens of the canonical name of a form in normal form; empty where there is none."""
    return _words().get(form, ())


@cache
def stop_words() -> frozenset[str]:
    """Russian and English words that carry no topic, in normal form."""
    lines = (line.partition("#")[0] for line in _data("stopwords.txt").splitlines())
    return frozenset(normal(word) for line in lines for word in line.split())


@cache
def lexicon_version() -> str:
    """Hash over the data files: a change of either makes a new generation."""
    data = _data("aliases.tsv") + _data("stopwords.txt")
    return hashlib.sha256(data.encode()).hexdigest()[:12]

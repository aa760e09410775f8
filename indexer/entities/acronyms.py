"""Acronyms that name nobody (API, НДС, CFO): words of a trade that a capital alone makes look like a name."""

from __future__ import annotations

import re
from functools import cache
from importlib.resources import files

# A Russian ending or an English plural hung on it: API-шка, НДСа, PDFs.
_TAIL = re.compile(r"(?<=[A-ZА-ЯЁ0-9])(?:[-'’]?[а-яё]{1,4}|s)$")
# What stands before a person's name with a capital and is no part of it.
_OFFICES = frozenset(
    [
        "CEO",
        "CFO",
        "CTO",
        "COO",
        "CIO",
        "CISO",
        "CMO",
        "CPO",
        "CRO",
        "CDO",
        "CHRO",
        "CSO",
        "VP",
        "SVP",
        "EVP",
        "HR",
        "PM",
        "PO",
        "SRE",
        "QA",
        "Mr",
        "Mrs",
        "Ms",
        "Dr",
        "Prof",
        "Sir",
    ]
)


_ROMAN = re.compile(r"(?=[XVI]{2})X{0,3}(?:IX|IV|V?I{0,3})")


@cache
def _terms() -> frozenset[str]:
    lines = files("indexer.entities").joinpath("data", "acronyms.txt").read_text("utf-8").splitlines()
    return frozenset(word for line in lines if not line.startswith("#") for word in line.split())


def is_term(word: str) -> bool:
    """Whether a word in capitals is an acronym of the list, in any inflection, or a Roman number below 40."""
    return word in _terms() or _TAIL.sub("", word) in _terms() or _ROMAN.fullmatch(word) is not None


def opens_with_office(words: list[str]) -> bool:
    """Whether a run of capitalised words begins with an office and holds more (CFO Ivora Tinn)."""
    return len(words) > 1 and words[0] in _OFFICES


def only_terms(words: list[str]) -> bool:
    """Whether each word of a run is such an acronym (OTLP HTTP)."""
    return bool(words) and all(map(is_term, words))

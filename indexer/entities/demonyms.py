"""Adjectives that stand alone for a place: российской → Россия, франкфуртскую → Франкфурт."""

from __future__ import annotations

import re
from functools import cache, lru_cache
from importlib.resources import files

from indexer.text.lemmas import analyser

_STEM = re.compile(r"^(.{2,}?)(?:ск|цк)ий$")
# What a town lost before -ский: Курск, Париж, Уфа, Казань, Сомали, Вена.
_ENDINGS = ("ск", "", "а", "ь", "я", "о", "и", "ы", "к")
_SOFTENED = {"ж": "г", "ч": "к", "ш": "х"}


@cache
def _table() -> dict[str, str]:
    lines = files("indexer.entities").joinpath("data", "place_adjectives.tsv").read_text("utf-8").splitlines()
    rows = (line.split("\t") for line in lines if line and not line.startswith("#"))
    return {row[0]: row[1] for row in rows}


@lru_cache(maxsize=10_000)
def place_of(surface: str) -> str | None:
    """The place behind a lone adjective, or None.

    Lands and countries in any form but a nominative with a capital (Английский is a channel, Белорусская a
    station); towns only in small letters, since Киевская with a capital is a street.

    Args:
        surface: the mention as it stands in the text.
    """
    if not surface.isalpha():
        return None
    parses = [parse for parse in analyser().parse(surface.lower()) if parse.tag.case]
    if any("Geox" in parse.tag and parse.normal_form.endswith("ск") for parse in parses):
        return None  # в Уральске, за Уральском
    adjectives = [parse for parse in parses if "ADJF" in parse.tag]
    if not adjectives or (surface[:1].isupper() and any(parse.tag.case == "nomn" for parse in parses)):
        return None
    lemma = adjectives[0].normal_form
    land = _table().get(lemma)
    if land is not None or surface[:1].isupper():
        return land
    return _town(lemma)


def _town(lemma: str) -> str | None:
    match = _STEM.match(lemma)
    if match is None:
        return None
    stem = match.group(1)
    hard = stem[:-1] + _SOFTENED.get(stem[-1], stem[-1])  # Рижский, Пражский
    for name in (*(stem + ending for ending in _ENDINGS), *(hard + ending for ending in _ENDINGS)):
        for parse in analyser().parse(name):
            if parse.is_known and "Geox" in parse.tag and parse.normal_form == name:
                return name[:1].upper() + name[1:]
    return None

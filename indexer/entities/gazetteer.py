"""Names known beforehand (докер → Docker, питер → Санкт-Петербург) and Latin names seen by their capitals."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache, lru_cache
from importlib.resources import files
from typing import NamedTuple

from indexer.entities.acronyms import only_terms, opens_with_office
from indexer.entities.patterns import Span
from indexer.text.aliases import stop_words, table, types
from indexer.text.lemmas import analyser, lemmas
from indexer.text.names import slang
from indexer.text.normal import normal

_WORD = re.compile(r"(?<![\w/.@#-])[^\W_]+(?:-[^\W_]+)*[+#]{0,2}(?![\w/@]|\.\w)")
# Slang forms and product names that are ordinary words as well: taken only where they have a capital.
_ORDINARY = frozenset(
    {
        "нижний",
        "лама",
        "альфа",
        "мак",
        "зум",
        "раст",
        "вим",
        "дс",
        "go",
        "react",
        "slack",
        "zoom",
        "notion",
        "windows",
        "flask",
        "discord",
        "ts",
        "pg",
        "torch",
        "rust",
        "клауд",
        "реакт",
        "слак",
        "озон",
        "кафка",
        "мегафон",
        "мистраль",
        "эластик",
        "тесла",
        "штаты",
        "эмираты",
        "спринг",
        "java",
        "scala",
        "swift",
        "elixir",
        "bash",
        "helm",
        "apache",
        "celery",
        "sentry",
        "azure",
        "elastic",
        "oracle",
        "chroma",
        "cursor",
        "copilot",
        "postman",
        "angular",
        "spring",
        "selenium",
        "whisper",
        "fedora",
        "alpine",
        "excel",
        "chrome",
        "steam",
        "apple",
        "amazon",
        "stripe",
        "obsidian",
        "mistral",
        "ton",
        "caddy",
        "confluence",
        "flux",
        "perplexity",
        "kandinsky",
    }
)
_HUMPED = re.compile(r"^[A-Z]?[a-z]+[A-Z]|^[A-Z]{2,}[a-z]|\d")
_RUN = re.compile(
    r"(?<![\w/.@#$-])[A-Z][\w'’&+-]{0,40}(?:\.(?:js|NET))?"
    r"(?:[ \u00a0](?:(?:of|de|von|van|der|la|al|the|for|&)[ \u00a0]){0,2}[A-Z][\w'’&+-]{0,40}){0,5}"
    r"(?![\w/@])"
)
_BEGINNING = re.compile(r"(?:^|[.!?…:;\n\r]|[-–—*•>\"«“(])\s*$")
# A Latin name that qualifies a Russian word: Docker-контейнер.
COMPOUND = re.compile(r"([A-Z][A-Za-z0-9.+#]{1,40})-[а-яё]{3,40}$")
_QUALIFIED = re.compile(r"-[а-яё]{3,}")
_LATIN = re.compile("[A-Za-z]")


@cache
def _common_words() -> frozenset[str]:
    """Capitalised English that starts sentences and headings, beyond the stop words."""
    lines = files("indexer.entities").joinpath("data", "common_english.txt").read_text("utf-8").splitlines()
    return frozenset(word for line in lines if not line.startswith("#") for word in line.split())


class Known(NamedTuple):
    """A name of the table: what it is called, what it is, and whether the table says so itself."""

    name: str
    type: str
    sure: bool


def _type(name: str) -> str:
    """PLACE and organisation tags of the dictionary give the type; a product is a NAME."""
    tags = [parse.tag for parse in analyser().parse(normal(name))]
    if tags and "Geox" in tags[0]:
        return "LOC"
    return "ORG" if tags and "Orgn" in tags[0] else "NAME"


@cache
def _names() -> dict[str, Known]:
    names = set(table().values())
    told = types()
    own = {normal(name): Known(name, told.get(name) or _type(name), name in told) for name in names}
    return own | {form: own[normal(name)] for form, name in table().items()}


@lru_cache(maxsize=30_000)
def known(word: str) -> Known | None:
    """The known name behind a word in any inflection, or None."""
    form = normal(word)
    ordinary = _ORDINARY if word[:1].islower() else frozenset()
    found = None if form in ordinary else _names().get(form)
    if found is None and not form.isascii() and len(form) > 3:
        head, hyphen, tail = form.rpartition("-")  # т-банке
        for lemma in lemmas(tail):
            lemma = head + hyphen + lemma
            if lemma not in ordinary and lemma in _names():
                return _names()[lemma]
        name = slang(form)
        found = _names()[normal(name)] if name else None
    return found


def known_words(text: str) -> Iterator[tuple[Span, Known]]:
    """Single words of the text that the table knows."""
    for match in _WORD.finditer(text):
        name = known(match.group())
        if name is not None:
            yield Span(match.start(), match.end(), name.type), name


def latin_names(text: str) -> Iterator[Span]:
    """Runs of capitalised Latin words and words with inner capitals, as NAME.

    A lone capitalised word that opens a sentence of English prose is no name.
    """
    for match in _RUN.finditer(text):
        start, end = _stripped(text, *match.span())
        if end - start < 2:
            continue
        run = text[start:end]
        words = run.split()
        while opens_with_office(words):
            start = text.index(words[1], start + len(words[0]))
            run, words = text[start:end], words[1:]
        if only_terms(words):
            continue
        if len(words) == 1 and not _HUMPED.search(run):
            if run.isupper() and not 2 <= len(run) <= 6:
                continue
            opens = _BEGINNING.search(text[max(0, start - 8) : start]) is not None
            if opens and not run.isupper() and _prose(text, end):
                continue
        yield Span(start, end, "NAME")


def _prose(text: str, end: int) -> bool:
    """Whether an English word in small letters follows."""
    follower = text[end : end + 3].lstrip(" ,'’")[:1]
    return bool(_LATIN.match(follower)) and follower.islower()


def _stripped(text: str, start: int, end: int) -> tuple[int, int]:
    """The run without stop words at its ends and without a possessive."""
    pieces = [(match.start() + start, match.end() + start) for match in re.finditer(r"\S+", text[start:end])]
    while pieces and _common(text[slice(*pieces[0])]):
        pieces.pop(0)
    while pieces and _common(text[slice(*pieces[-1])]):
        pieces.pop()
    if not pieces:
        return start, start
    first, last = pieces[0][0], pieces[-1][1]
    if text[last - 2 : last] in ("'s", "’s"):
        last -= 2
    compound = _QUALIFIED.search(text, first, last)
    if compound:
        last = compound.start()
    while last > first and text[last - 1] in "-'’&_":
        last -= 1
    return first, last


def _common(word: str) -> bool:
    form = normal(word).partition("'")[0].partition("’")[0]
    return form in stop_words() or form in _common_words()

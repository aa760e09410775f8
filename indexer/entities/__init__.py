"""Entities: who and what is named in a message, and what stands together.

Patterns first (they are certain), then the names of the trained model on a truecased copy with the same
offsets, then known names and Latin capitals. Spans never overlap; each becomes a `Mention` with a readable
nominative and the merge key that a query makes as well.
"""

from __future__ import annotations

import re
from collections import Counter, deque
from collections.abc import Iterator, Sequence
from importlib import metadata
from itertools import islice

from indexer.entities import models
from indexer.entities.acronyms import only_terms, opens_with_office
from indexer.entities.candidates import MOST, candidates
from indexer.entities.candidates import TYPE as MAYBE
from indexer.entities.demonyms import place_of
from indexer.entities.dictionary import dictionary_names
from indexer.entities.frame import Names, names_of
from indexer.entities.gazetteer import COMPOUND, Known, known, known_words, latin_names
from indexer.entities.naming import readable
from indexer.entities.nicknames import is_english_first_name
from indexer.entities.patterns import Span, found
from indexer.entities.truecase import is_ordinary, truecased
from indexer.text.aliases import lexicon_version
from indexer.text.names import name_key
from schemas.records import Mention
from schemas.settings import Entities

__all__ = ["Extractor", "extractor", "version_of"]

# Raise it with every change of a rule, a pattern, a name or a key: mentions are then made anew.
RULES = 2
# Characters of one message that the model reads; what lies beyond is searched by patterns alone, so that a
# pasted log costs seconds and not hours (spaCy's own limit is 1,000,000 and a ValueError).
CAP = 200_000
# The model sees a few words around; pieces bound its memory and keep a batch of equal length.
PIECE = 4_000
# Characters given to the pipeline at once: one memory zone, whose strings are freed at its end.
_BATCH = 400_000

_UNSAFE = re.compile("[\ud800-\udfff\x00]")
# One name ends before a slash between blanks, and before a bracket: Иван Петров (Ivan Petrov) are two.
_BORDER = re.compile(r"\s/\s|\s\((?=[^\W\d_])")
# A common noun before a Latin name is no part of it: автосервис Fit Service.
_HEAD = re.compile(r"(?:[а-яё-]+\s)+(?=[A-Z])")
_BEFORE = re.compile(r"([^\W\d_]+)[\s«\"“]*$")
_EDGES = " \t\n\r\u00a0«»\"“”„'’`()[]{}<>,;:!?*_~|—–-"
_NAMES = ("PER", "LOC", "ORG", "NAME")


def version_of(settings: Entities) -> str:
    """What the mentions depend on: backend, model, dictionaries and rules; loads no model.

    Args:
        settings: the `entities` section.

    Returns:
        A short string; when it changes, every message is extracted anew.
    """
    return _version(models.choice(settings.backend))


def extractor(settings: Entities) -> Extractor:
    """The extractor that the settings ask for; loads its model.

    Args:
        settings: the `entities` section.
    """
    return Extractor(settings.backend)


def _version(choice: models.Choice) -> str:
    dictionaries = metadata.version("pymorphy3-dicts-ru")
    parts = (
        choice.used,
        choice.model,
        f"dicts {dictionaries}",
        f"lexicon {lexicon_version()}",
        f"rules {RULES}",
    )
    return "/".join(part for part in parts if part)


class Extractor:
    """Finds mentions in messages.

    Args:
        backend: auto, slovnet, spacy or patterns; what can't be had is replaced and told in `note`.

    Attributes:
        version: see `version_of`.
        backend: slovnet, spacy or patterns, as really used.
        note: why the backend is not the one asked for, one sentence with the remedy, or None.
        capped: messages so far of which only the first 200,000 characters were read by the model.
    """

    def __init__(self, backend: models.Backend = "auto") -> None:
        choice = models.choice(backend)
        self.version = _version(choice)
        self.backend: models.Used = choice.used
        self.note = choice.note
        self.capped = 0
        self._names: Names = names_of(choice.used)

    def extract(self, texts: Sequence[str], *, maybe: bool = False) -> list[tuple[Mention, ...]]:
        """Mentions of each text.

        Args:
            texts: display texts of messages, any Unicode; a longer list is faster (sorted by length inside).
            maybe: whether words in small letters that may be names come as well, at most 40 a text, with the
                type MAYBE; only the whole archive can tell (`indexer.entities.promotion`).

        Returns:
            For each text its mentions sorted by start, never overlapping; offsets are code points of that
            very text.
        """
        results: list[tuple[Mention, ...]] = []
        batch: list[str] = []
        size = 0
        for text in texts:
            batch.append(text)
            size += min(len(text), CAP)
            if size >= _BATCH:
                results += self._extract(batch, maybe)
                batch, size = [], 0
        return results + self._extract(batch, maybe)

    def _extract(self, texts: Sequence[str], maybe: bool) -> list[tuple[Mention, ...]]:
        safe = [_UNSAFE.sub("\ufffd", text) for text in texts]
        cased: list[str] = []
        pieces: list[list[tuple[int, int]]] = []
        for text in safe:
            self.capped += len(text) > CAP
            cased.append(truecased(text[:CAP]) + text[CAP:])
            pieces.append(cut(cased[-1][:CAP], PIECE))
        flat = (copy[start:end] for copy, cuts in zip(cased, pieces, strict=True) for start, end in cuts)
        names = self._names.names(list(flat))
        mentions = []
        for text, copy, cuts in zip(safe, cased, pieces, strict=True):
            spans = [
                Span(start + span.start, start + span.end, span.type)
                for start, _ in cuts
                for span in next(names)
            ]
            mentions.append(_mentions(text, copy, spans, maybe))
        return mentions


def cut(text: str, size: int) -> list[tuple[int, int]]:
    """Borders of pieces of at most `size` characters that cover the text, cut after a line or a blank."""
    borders: list[tuple[int, int]] = []
    start = 0
    while start < len(text):
        end = min(start + size, len(text))
        if end < len(text):
            for sign in ("\n", ". ", " "):
                place = text.rfind(sign, start + size // 2, end)
                if place > 0:
                    end = place + len(sign)
                    break
        borders.append((start, end))
        start = end
    return borders


def _mentions(text: str, cased: str, names: Sequence[Span], maybe: bool) -> tuple[Mention, ...]:
    """Patterns, model names, known names and Latin names; an earlier one keeps its place."""
    taken = bytearray(len(text))
    kept: list[tuple[Span, str | None]] = []

    def keep(span: Span, name: str | None = None) -> bool:
        free = span.end > span.start and 1 not in taken[span.start : span.end]
        if free:
            taken[span.start : span.end] = b"\x01" * (span.end - span.start)
            kept.append((span, name))
        return free

    for start, end in cut(text, 100_000):
        for span in found(text[start:end]):
            keep(Span(span.start + start, span.end + start, span.type))
    for span in names:
        for part in _parts(text, span):
            trimmed, name = _model_name(text, part)
            if name is not None or not is_ordinary(text, trimmed.start, trimmed.end):
                keep(trimmed, name.name if name else None)
    latin = list(latin_names(text))
    # Docker Compose is more than the Docker in it.
    for span in latin:
        if " " in text[span.start : span.end]:
            keep(span)
    for span, name in known_words(text):
        keep(span, name.name)
    for span in dictionary_names(cased):
        keep(span)
    for span in latin:
        told = known(text[span.start : span.end])  # the Hetzner of Hetzner-сервер
        keep(span._replace(type=told.type) if told else span, told.name if told else None)
    if maybe:
        wanted = (keep(span, shown) for span, shown in candidates(text))
        deque(islice(filter(None, wanted), MOST), maxlen=0)
    kept.sort()
    return tuple(_mention(text, cased, span, name) for span, name in _persons(text, kept) if span.type)


def _persons(text: str, kept: list[tuple[Span, str | None]]) -> list[tuple[Span, str | None]]:
    """A Latin name that begins with an English first name is a person's: Bob Dylan.

    So is a Latin word of the name of one person of the text: Ivora Tinn … Ivora.
    """
    kept = [(_person(text, span), name) for span, name in kept]
    full = [text[span.start : span.end] for span, _ in kept if span.type == "PER"]
    words = Counter(word for name in full if " " in name for word in set(name.split()))

    def settled(span: Span) -> Span:
        lone = span.type == "NAME" and words[text[span.start : span.end]] == 1
        return span._replace(type="PER") if lone else span

    return [(settled(span), name) for span, name in kept] if words else kept


def _person(text: str, span: Span) -> Span:
    words = text[span.start : span.end].split()
    is_person = span.type == "NAME" and 1 < len(words) <= 3 and is_english_first_name(words[0])
    return span._replace(type="PER") if is_person else span


def _parts(text: str, span: Span) -> Iterator[Span]:
    """The model's span, or its parts where a slash or a bracket separates two names."""
    at = span.start
    for match in _BORDER.finditer(text, span.start, span.end):
        yield Span(at, match.start(), span.type)
        at = match.end()
    yield Span(at, span.end, span.type)


def _model_name(text: str, span: Span) -> tuple[Span, Known | None]:
    """The model's span without punctuation at its edges; one that the table knows takes the table's type."""
    start, end = span.start, span.end
    while start < end and text[start] in _EDGES and not (text[start] in '«"“' and _closed(text, start, end)):
        start += 1
    while (
        start < end and text[end - 1] in _EDGES and not (text[end - 1] in '»"”' and _opened(text, start, end))
    ):
        end -= 1
    surface = text[start:end]
    if head := _HEAD.match(surface):
        start += head.end()
        surface = text[start:end]
    if compound := COMPOUND.match(surface):
        surface = compound.group(1)
        end = start + len(surface)
    words = surface.split()
    while opens_with_office(words):
        start = text.index(words[1], start + len(words[0]))
        surface, words = text[start:end], words[1:]
    if not any(map(str.isalpha, surface)) or only_terms(words):
        return Span(start, start, span.type), None
    name = known(surface) if " " not in surface else None
    if name is not None and span.type == "PER" and name.type == "LOC" and not surface.islower():
        name = None  # Питер may be a Peter, питер is the town
    return Span(start, end, name.type if name and (name.sure or name.type != "NAME") else span.type), name


def _closed(text: str, start: int, end: int) -> bool:
    return any(sign in text[start + 1 : end] for sign in '»"”')


def _opened(text: str, start: int, end: int) -> bool:
    return any(sign in text[start : end - 1] for sign in '«"“„')


def _mention(text: str, cased: str, span: Span, name: str | None) -> Mention:
    surface = text[span.start : span.end]
    if span.type == MAYBE:
        return Mention(span.start, span.end, span.type, name or surface, name_key(surface))
    if name is not None:
        return Mention(span.start, span.end, span.type, name, name_key(name))
    shown = surface
    if span.type in _NAMES:
        before = _BEFORE.search(text[max(0, span.start - 40) : span.start])
        shown = readable(cased[span.start : span.end], span.type, before.group(1).lower() if before else "")
    # An adjective that stands for a place is filed under the place.
    whole = span.type == "LOC" and place_of(surface) == shown
    return Mention(span.start, span.end, span.type, shown, name_key(shown if whole else surface))

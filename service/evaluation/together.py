"""Sets at size: every set's text in one index, and the chosen ones asked of it, beside their own index.

The questions are the same in both, so that every difference is paired by query. What was asked of a chat that
is not theirs (`foreign`) is no measure here, where all chats are searched at once; instead some questions are
`held_out`: asked of every chat but the one that answers them.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path

from schemas.problems import SettingsError
from service.evaluation.judged import JudgedQuery, JudgedSet
from service.evaluation.sets import ADAPTERS, FOREIGN, Corpus, Line, gigamemory

# Of the joined corpus and its folder.
TOGETHER = "together"

# Kind of the queries that are asked of every chat but their own.
HELD_OUT = "held_out"
_HELD_OUT_A_CHAT = 40


@dataclass(frozen=True, slots=True)
class AtSize:
    """What is to be compared.

    Attributes:
        alone: the chosen corpora, each with its sets.
        joined: all texts, with the same sets under the same names.
        poured: names of the corpora that it holds.
    """

    alone: Sequence[Corpus]
    joined: Corpus
    poured: Sequence[str]


def at_size(path: Path, chosen: Sequence[str], seed: int) -> AtSize:
    """The chosen sets, and one corpus that holds the archives of every set found in the folder.

    Raises:
        SettingsError: a chosen set is not there, or has no several chats to be told apart.
    """
    corpora = _found(path, set(chosen), seed)
    chats = [chat for every in corpora.values() for corpus in every for chat in _chats(corpus)]
    alone: list[Corpus] = []
    joined: list[JudgedSet] = []
    for name in dict.fromkeys(chosen):
        for corpus in corpora[name]:
            if any(query.chat is None for judged in corpus.sets for query in judged.queries):
                raise SettingsError(
                    f"{name} can't be asked of a larger index: its questions name no chat.",
                    f"leave out --set {name}; its text is poured in anyway",
                )
            alone.append(replace(corpus, sets=_sets(corpus, _chats(corpus), seed)))
            joined += _sets(corpus, chats, seed)
    every = [corpus for found in corpora.values() for corpus in found]
    files = {f"{corpus.name}-{name}": lines for corpus in every for name, lines in corpus.files.items()}
    # In any other zone the dates of some set's headers would move, and its texts be others than alone.
    whole = Corpus(TOGETHER, "UTC", files, tuple(joined))
    return AtSize(alone, whole, [corpus.name for corpus in every])


def held_out(
    queries: Sequence[JudgedQuery], chats: Sequence[str], seed: int, count: int = _HELD_OUT_A_CHAT
) -> list[JudgedQuery]:
    """Of every chat some answerable queries, asked of all chats but it.

    Which ones are drawn depends on the queries alone, so that another list of chats is asked the same.
    """
    chance = random.Random(seed)
    found: list[JudgedQuery] = []
    for chat in dict.fromkeys(query.chat for query in queries):
        own = [query for query in queries if query.chat == chat and query.answerable and query.relevant]
        others = tuple(other for other in chats if other != chat)
        found += [
            replace(query, relevant=(), kind=HELD_OUT, answerable=False, among=others)
            for query in chance.sample(own, min(count, len(own)))
        ]
    return found


def _found(path: Path, chosen: set[str], seed: int) -> dict[str, list[Corpus]]:
    """Every set of the folder by name, and what is poured in beside them."""
    corpora: dict[str, list[Corpus]] = {}
    for name, adapter in ADAPTERS.items():
        try:
            corpora[name] = adapter(path, seed)
        except SettingsError:
            if name in chosen:
                raise
    known = {str(line["text"]) for line in _lines(found for every in corpora.values() for found in every)}
    filler = gigamemory(path, known)
    return {**corpora, filler.name: [filler]} if filler.files else corpora


def _sets(corpus: Corpus, chats: Sequence[str], seed: int) -> tuple[JudgedSet, JudgedSet]:
    """Its questions inside their chats, with foreign ones, and of all chats, with held-out ones."""
    inside = next(judged for judged in corpus.sets if not judged.pooled)
    own = [query for query in inside.queries if query.kind != FOREIGN]
    now = max(datetime.fromisoformat(line["ts"]) for line in _lines([corpus]))
    everywhere = [*own, *held_out(own, chats, seed)]
    name = f"{corpus.name}/{TOGETHER}"
    return (
        JudgedSet(name, everywhere, pooled=True, now=now),
        JudgedSet(f"{name}/per-conversation", inside.queries, now=now),
    )


def _chats(corpus: Corpus) -> list[str]:
    return list(dict.fromkeys(str(line["chat"]) for line in _lines([corpus])))


def _lines(corpora: Iterable[Corpus]) -> Iterable[Line]:
    return (line for corpus in corpora for lines in corpus.files.values() for line in lines)

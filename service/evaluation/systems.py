"""Who is measured: the product as it answers, its legs, it without one of its parts, and plain rules."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from indexer.stores import Ids, Unit
from schemas.http import Hit, Mode
from service.evaluation import baselines
from service.evaluation.ablation import ABLATIONS, MERGING
from service.evaluation.asking import DEPTH, Question, Subject
from service.evaluation.results import Ranked, Result, chunk_result
from service.evidence import Findings, gather
from service.joining import joined_windows
from service.paging import collect
from service.paging import ranked as ranked_rows
from service.ranking import WEIGHTS, Weights
from service.search import search

# The one that all others are compared with.
REFERENCE = "hybrid"
# What the name of a system begins with that lacks a part.
WITHOUT = "without "

LEGS: tuple[Mode, ...] = ("vector", "text", "entities")


@dataclass(frozen=True, slots=True)
class Choice:
    """Which systems are measured besides the product."""

    baselines: bool = True
    ablations: bool = False
    legs: tuple[Mode, ...] = LEGS


def names(unit: Unit, choice: Choice) -> list[str]:
    """The systems of one unit, in the order of the report."""
    return [
        REFERENCE,
        *choice.legs,
        *(baselines.RULES if choice.baselines else ()),
        *(
            f"{WITHOUT}{part}"
            for part, change in ABLATIONS.items()
            if choice.ablations and unit in change.units
        ),
    ]


def answers(subject: Subject, question: Question, unit: Unit, choice: Choice) -> Iterator[Ranked]:
    """What each system of `names` answers to one question."""
    yield product(subject, question, unit)
    for mode in choice.legs:
        yield leg(subject, question, unit, mode)
    if choice.baselines:
        lists = baselines.lists(subject, question, unit)
        for rule in baselines.RULES.values():
            yield baselines.ranked(subject, rule(lists), lists.giver, unit, DEPTH[unit])
    for part, change in ABLATIONS.items():
        if choice.ablations and unit in change.units:
            yield leg(subject, question, unit, weights=change.weights, merged=part != MERGING)


def product(subject: Subject, question: Question, unit: Unit) -> Ranked:
    """The answer of `/v1/search`; its confidence is `answerable` where that is given, else the best score."""
    answer = search(
        subject.generation,
        subject.request(question, unit),
        question.vectors,
        subject.zone,
        subject.now,
        repair=subject.repaired(question.judged.text),
    )
    best = answer.hits[0].score if answer.hits else 0.0
    store = subject.generation.store
    if unit == "chunk":
        results = [_shown(subject, hit) for hit in answer.hits]
    else:
        rows = [store.message_rows([(hit.chat.id, hit.id)])[0] for hit in answer.hits]
        results = [subject.reader.part(row, hit.text) for row, hit in zip(rows, answer.hits, strict=True)]
    return Ranked(results, best if answer.answerable is None else answer.answerable)


def _shown(subject: Subject, hit: Hit) -> Result:
    """The messages of a hit, as far as it shows them."""
    found, before = [], 0
    for message in hit.messages:
        (row,) = subject.generation.store.message_rows([(hit.chat.id, message.id)])
        start, end = message.span
        (stretch,) = subject.reader.part(row, hit.text[start:end])
        found.append(replace(stretch, beside=start - before))
        before = end
    return tuple(found)


def leg(
    subject: Subject,
    question: Question,
    unit: Unit,
    mode: Mode = "hybrid",
    weights: Weights = WEIGHTS,
    merged: bool = True,
) -> Ranked:
    """The same ranking with one leg, or with other weights; unmerged, windows and copies stay apart."""
    asked = subject.asked(question, unit, mode, weights)
    findings = gather(subject.generation, asked)
    if merged:
        found = collect(subject.generation, asked, findings).rows
    else:
        rows, scores = ranked_rows(findings)
        found = list(zip(rows[: DEPTH[unit]].tolist(), scores[: DEPTH[unit]].tolist(), strict=True))
    chosen = [row for row, _ in found]
    if unit == "message":
        results = subject.reader.messages(chosen, _giver(findings))
    elif merged:
        shown = joined_windows(subject.generation, findings, weights.joining, chosen)
        results = [chunk_result(shown[row].chunk) for row in chosen]
    else:
        results = subject.reader.results(chosen, unit)
    return Ranked(results, found[0][1] if found else 0.0)


def _giver(findings: Findings) -> Ids:
    return findings.giver if findings.giver is not None else np.zeros(0, np.int64)

"""An index measured on its judged sets: every question asked of every system, in both units."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from indexer.report import Progress
from indexer.stores import Unit
from indexer.stores.generation import open_current
from schemas.problems import SettingsError
from schemas.settings import Settings
from service.evaluation import metrics
from service.evaluation.asking import Question, Subject
from service.evaluation.bootstrap import Values
from service.evaluation.figures import Got, System, summarised
from service.evaluation.judged import JudgedSet
from service.evaluation.systems import REFERENCE, Choice, answers, names
from service.evaluation.vectors import QueryVectors
from service.queries import QueryEmbedders

# Besides the systems of one index: the product over another one that was asked the same.
ALONE = "alone"

# What the product got, by set and unit.
Answered = dict[tuple[str, Unit], Got]

# {set: {unit: {system: {metric: figures}}}}
Report = dict[str, dict[str, dict[str, System]]]


@dataclass(frozen=True, slots=True)
class Plan:
    """What is measured, and how.

    Attributes:
        units: chunk, message.
        kinds: of queries; all where none is named.
        limit: of queries a set.
        choice: of systems.
        seed: of resamples.
        threshold: of `accepted` and `false_accept`.
    """

    units: Sequence[Unit] = ("chunk", "message")
    kinds: Sequence[str] = ()
    limit: int | None = None
    choice: Choice = field(default_factory=Choice)
    seed: int = 7
    threshold: float = 0.5


@dataclass(slots=True)
class Measuring:
    """Measures the published index of a data folder.

    Args:
        settings: of that index.
        environment: keys and hosts of the providers.
        keep: where the queries' vectors stay for the next run; None keeps none.
        plan: what is measured.
        progress: is told of every stage.
        beside: what the product got from another index that was asked the same sets; here it is the system
            `alone`.

    Attributes:
        remarks: what could not take part, a sentence each.
        answered: what the product got.
    """

    settings: Settings
    environment: Mapping[str, str]
    keep: Path | None
    plan: Plan
    progress: Progress
    beside: Mapping[tuple[str, Unit], Got] = field(default_factory=dict)
    remarks: list[str] = field(default_factory=list)
    answered: Answered = field(default_factory=dict)

    def run(self, sets: Sequence[JudgedSet]) -> Report:
        """Measure every set.

        Raises:
            IndexMissing, IndexCorrupt: see `open_current`.
            SettingsError: a set without queries of the wanted kinds, or without gold in this index.
        """
        generation = open_current(self.settings.data)
        embedders = QueryEmbedders(self.settings, self.environment)
        try:
            vectors = QueryVectors(embedders, generation.store.spaces(), self.keep)
            return {
                judged.name: self._set(Subject(generation, self.settings.zone, judged.now), judged, vectors)
                for judged in sets
            }
        finally:
            embedders.close()
            generation.close()

    def _set(
        self, subject: Subject, judged: JudgedSet, vectors: QueryVectors
    ) -> dict[str, dict[str, System]]:
        questions = self._questions(subject, judged.of_kinds(self.plan.kinds).first(self.plan.limit), vectors)
        asked = [question.judged for question in questions]
        found: dict[str, dict[str, System]] = {}
        for unit in self.plan.units:
            self.progress.stage(f"{judged.name}, {unit}", len(questions))
            got = ask(subject, questions, unit, self.plan.choice, self.progress.advance)
            self.answered[judged.name, unit] = got[REFERENCE]
            if (judged.name, unit) in self.beside:
                got[ALONE] = self.beside[judged.name, unit]
            found[unit] = summarised(got, asked, self.plan.seed, self.plan.threshold)
        return found

    def _questions(self, subject: Subject, judged: JudgedSet, vectors: QueryVectors) -> list[Question]:
        if not judged.queries:
            raise SettingsError(
                f"{judged.name} holds no query of the kinds {', '.join(self.plan.kinds)}.",
                "look at the `kind` of its lines",
            )
        gold = subject.gold(judged)
        wanted = sum(len(query.relevant) for query in judged.queries)
        there = sum(map(len, gold))
        if wanted and not there:
            raise SettingsError(
                f"None of the {wanted:,} relevant messages of {judged.name} is in this index.",
                "write ids as `letopis search --json` shows them, and in `chat` a chat's id",
            )
        if there < wanted:
            self.remarks.append(
                f"{judged.name}: {wanted - there:,} of {wanted:,} relevant messages are not in this index."
            )
        self.progress.stage(f"{judged.name}, embedding queries", len(judged.queries))
        texts = [subject.repaired(query.text).text for query in judged.queries]
        embedded = vectors.of(texts, self.progress.advance)
        self.remarks += sorted(vectors.missing.difference(self.remarks))
        return [
            Question(query, rows, found, judged.pooled)
            for query, rows, found in zip(judged.queries, gold, embedded, strict=True)
        ]


def ask(
    subject: Subject,
    questions: Sequence[Question],
    unit: Unit,
    choice: Choice,
    advance: Callable[[], None] = lambda: None,
) -> dict[str, Got]:
    """Ask every question of every system.

    Args:
        subject: the index.
        questions: at least one.
        unit: what is returned.
        choice: of systems.
        advance: called after every question.

    Returns:
        What each system got, by query.
    """
    systems = names(unit, choice)
    rows: dict[str, list[dict[str, float]]] = {name: [] for name in systems}
    confidence: dict[str, list[float]] = {name: [] for name in systems}
    for question in questions:
        for name, ranked in zip(systems, answers(subject, question, unit, choice), strict=True):
            found = metrics.retrieval(ranked, question.gold, subject.session) if question.gold else {}
            rows[name].append(found)
            confidence[name].append(ranked.confidence)
        advance()
    return {name: Got(_columns(rows[name]), np.array(confidence[name])) for name in systems}


def _columns(rows: Sequence[Mapping[str, float]]) -> dict[str, Values]:
    return {metric: np.array([row.get(metric, np.nan) for row in rows]) for metric in metrics.RETRIEVAL}

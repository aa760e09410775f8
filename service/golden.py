"""The gate: a new generation must answer the golden queries about as well as the published one does.

Both generations are asked now, by the same program, the same file and the same vectors: a query that was
added, or a ranking that was changed, never makes the two figures incomparable. Nothing but the bundled model
embeds, so that the gate is free, works without a network and says the same each time.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from statistics import fmean
from typing import Any

from indexer.stores import SpaceInfo
from indexer.stores.generation import Generation, open_generation
from indexer.stores.manifest import Manifest
from schemas.problems import LetopisError, SettingsError
from schemas.settings import Settings
from service.evaluation import metrics
from service.evaluation.asking import Question, Subject
from service.evaluation.judged import JudgedQuery, JudgedSet, read_queries
from service.evaluation.systems import product
from service.evaluation.vectors import QueryVectors
from service.evidence import QueryVector
from service.queries import QueryEmbedders

_DEPTH = 10
_FREE = ("local", "hash")

# Recall is a mean of fractions: a fall of exactly the tolerance must not fail by the last bit.
_EXACT = 1e-9


def golden_queries(path: Path) -> list[JudgedQuery]:
    """The judged queries of the settings' golden file.

    Raises:
        SettingsError: it can't be read, or holds a line that is no judged query.
    """
    try:
        return read_queries(path)
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else "it is not UTF-8"
        raise SettingsError(
            f"The golden file {path.name} can't be read: {reason}.",
            "mend quality.golden or take it out; `letopis build --force` builds without it",
        ) from None


@dataclass(frozen=True, slots=True)
class Answered:
    """What one generation made of one query.

    Attributes:
        recall: share of its relevant messages among the first ten results.
        rank: of the first result that shows one of them, from 1; None where none does.
    """

    recall: float
    rank: int | None


@dataclass(frozen=True, slots=True)
class Worse:
    """A query that lost relevant messages; ranks as in `Answered`."""

    text: str
    before: int | None
    after: int | None


@dataclass(slots=True)
class GoldenGate:
    """A check of the build.

    Args:
        settings: data folder, zone, tolerance.
        queries: judged.
        figures: gets what was measured, for the report.
    """

    settings: Settings
    queries: Sequence[JudgedQuery]
    figures: dict[str, Any] = field(default_factory=dict)

    def __call__(self, generation: Generation, previous: Manifest | None) -> str | None:
        """Ask both generations; the first one only records its figures."""
        published = None if previous is None else self._published(previous)
        embedders = QueryEmbedders(self.settings, {})
        try:
            return self._compared(generation, published, embedders)
        finally:
            embedders.close()
            if published is not None:
                published.close()

    def _published(self, manifest: Manifest) -> Generation | None:
        try:
            return open_generation(self.settings.data / manifest.generation, verify=False)
        except LetopisError:
            return None  # a damaged generation must not keep its successor from being published

    def _compared(
        self, generation: Generation, published: Generation | None, embedders: QueryEmbedders
    ) -> str | None:
        zone = self.settings.zone
        new = Subject(generation, zone)
        old = None if published is None else Subject(published, zone)
        subjects = [subject for subject in (new, old) if subject is not None]
        asked = [found for query in self.queries if (found := _held(query, subjects)).relevant]
        wanted = sum(bool(query.relevant) for query in self.queries)
        self.figures.update({"questions": len(asked), "left_out": wanted - len(asked)})
        if not asked:
            return None
        after = _answers(new, asked, embedders)
        self.figures["after"] = _figures(after)
        if old is None:
            return None
        before = _answers(old, asked, embedders)
        self.figures["before"] = _figures(before)
        self.figures["worse"] = [
            asdict(Worse(query.text, was.rank, now.rank))
            for query, was, now in zip(asked, before, after, strict=True)
            if now.recall < was.recall
        ]
        return self._verdict()

    def _verdict(self) -> str | None:
        before, after = self.figures["before"], self.figures["after"]
        asked = self.figures["questions"]
        tolerance = self.settings.quality.tolerance
        if before["recall@10"] - after["recall@10"] <= tolerance + _EXACT:
            return None
        return (
            f"Recall@10 over {asked} golden queries fell from {before['recall@10']:.3f} to "
            f"{after['recall@10']:.3f} (any@10 from {before['any@10']:.3f} to {after['any@10']:.3f}), "
            f"more than the tolerance of {tolerance:g}."
        )


def _held(query: JudgedQuery, subjects: Sequence[Subject]) -> JudgedQuery:
    """The query with the relevant messages that every generation holds."""
    alone = JudgedSet("", [replace(query, relevant=(id_,)) for id_ in query.relevant])
    there = zip(*(subject.gold(alone) for subject in subjects), strict=True)
    kept = [id_ for id_, rows in zip(query.relevant, there, strict=True) if all(rows)]
    return replace(query, relevant=tuple(kept))


def _answers(subject: Subject, queries: Sequence[JudgedQuery], embedders: QueryEmbedders) -> list[Answered]:
    free = [info for info in subject.generation.store.spaces() if info.space.provider in _FREE]
    vectors = _vectors(embedders, free, [subject.repaired(query.text).text for query in queries])
    gold = subject.gold(JudgedSet("", queries))
    questions = map(Question, queries, gold, vectors)
    return [_answered(subject, question) for question in questions]


def _vectors(
    embedders: QueryEmbedders, spaces: Sequence[SpaceInfo], texts: Sequence[str]
) -> list[list[QueryVector]]:
    found = QueryVectors(embedders, spaces, None).of(texts)
    # A space that failed one query is left out of all, so that every query is asked alike.
    whole = set.intersection(*({vector.info.id for vector in vectors} for vectors in found))
    return [[vector for vector in vectors if vector.info.id in whole] for vectors in found]


def _answered(subject: Subject, question: Question) -> Answered:
    results = product(subject, question, "chunk").results
    rank = next(
        (
            place
            for place, result in enumerate(results, 1)
            if any(stretch.message in question.gold for stretch in result)
        ),
        None,
    )
    return Answered(metrics.recall(results[:_DEPTH], question.gold), rank)


def _figures(answers: Sequence[Answered]) -> dict[str, float]:
    return {
        "recall@10": round(fmean(answer.recall for answer in answers), 4),
        "any@10": round(fmean(answer.recall > 0 for answer in answers), 4),
    }

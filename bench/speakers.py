"""Who said it: does "что ты советовал" find the assistant's answer, "what did I say" the user's own words?

    python -m bench.speakers [--keep FOLDER] [--weights 0,.05,.15,.3] [--unit chunk|message|both]

speakers.jsonl holds made-up talks: a question and the assistant's answer, and in another session what the
user told of the same subject, with a remark on it. Prints any@1 and MRR by who is asked for, and paired 95 %
intervals of the differences from a ranking without the speaker part (weight 0).
"""

from __future__ import annotations

import argparse
import json
import tempfile
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np

from bench.newest import UNITS, Line, asked_of, figures, place, shown
from indexer.stores import Unit
from service.evaluation.asking import Question, Subject
from service.evaluation.bootstrap import Values
from service.evaluation.judged import JudgedQuery, JudgedSet
from service.evaluation.sets import Corpus
from service.ranking import WEIGHTS

TALKS = Path(__file__).with_name("speakers.jsonl")
KINDS = ("assistant", "user")
TOLD = {"answer": "assistant", "reply": "assistant"}


def corpus() -> Corpus:
    """The archive and the judged queries."""
    files: dict[str, list[Line]] = {}
    queries: list[JudgedQuery] = []
    start = datetime(2024, 2, 1, 18, tzinfo=UTC)
    for number, line in enumerate(TALKS.read_text("utf-8").splitlines()):
        talk = json.loads(line)
        for at, part in enumerate(("ask", "answer", "told", "reply")):
            day = start + timedelta(days=number + 40 * (at // 2), minutes=at)
            files.setdefault(f"{talk['chat']}.jsonl", []).append(
                {
                    "chat": talk["chat"],
                    "session": f"{number}-{at // 2}",
                    "id": f"t{number}{part}",
                    "role": TOLD.get(part, "user"),
                    "ts": day.isoformat(),
                    "text": talk[part],
                }
            )
        gold = {"assistant": f"t{number}answer", "user": f"t{number}told"}
        queries += [
            JudgedQuery(text, (gold[kind],), talk["chat"], kind) for kind in KINDS for text in talk[kind]
        ]
    for lines in files.values():
        lines.sort(key=lambda line: str(line["ts"]))
    return Corpus("speakers", "UTC", files, (JudgedSet("speakers", queries, pooled=True),))


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--keep", type=Path)
    parser.add_argument("--weights", default="0,0.05,0.15,0.3")
    parser.add_argument("--unit", choices=("chunk", "message", "both"), default="both")
    arguments = parser.parse_args()
    weights = [float(weight) for weight in arguments.weights.split(",")]
    with (
        tempfile.TemporaryDirectory() as temporary,
        asked_of(corpus(), arguments.keep or Path(temporary)) as (subject, questions),
    ):
        for unit in UNITS if arguments.unit == "both" else (arguments.unit,):
            report(subject, questions, unit, weights)


def report(subject: Subject, questions: Sequence[Question], unit: Unit, weights: Sequence[float]) -> None:
    kinds = [question.judged.kind for question in questions]
    base = _places(subject, questions, unit, 0.0)
    found = {weight: _places(subject, questions, unit, weight) for weight in weights}
    for kind in KINDS:
        print(f"{unit}, {kind}, {kinds.count(kind)} queries")
        for weight, places in found.items():
            for name, measured in figures(places, base, kinds, kind).items():
                print(f"  speaker {weight:<5g} {name:<6} {shown(*measured)}")


def _places(subject: Subject, questions: Sequence[Question], unit: Unit, weight: float) -> Values:
    weights = replace(WEIGHTS, speaker=weight)
    return np.array([place(subject, question, unit, weights) for question in questions], np.float64)


if __name__ == "__main__":
    main()

"""Facts that change their value over months: does "сейчас" find the newest statement, "at first" the oldest?

    python -m bench.newest [--keep FOLDER] [--weights .1,.2] [--unit UNIT] [--misses]

newest.jsonl holds made-up facts: dated statements, later remarks on the same subject that state nothing
("near"), and queries whose gold is the newest statement, the oldest, the only one though a word of time is
there ("once": what recency may break), or any of them (a control without such a word, which must stay as it
is). Each statement stands in a session of small talk. All chats are searched. The index is made by the local
model in FOLDER (default: a temporary one). Prints any@1 and MRR (of results) by kind, and paired 95 %
intervals of the differences from a ranking without the recency part (weight 0).
"""

from __future__ import annotations

import argparse
import json
import random
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np

from indexer.stores import Unit
from indexer.stores.generation import open_current
from service.cli.judged_index import indexed
from service.evaluation.asking import Question, Subject
from service.evaluation.bootstrap import Figure, Values, mean, resamples
from service.evaluation.judged import JudgedQuery, JudgedSet
from service.evaluation.sets import Corpus
from service.evaluation.vectors import QueryVectors
from service.evidence import gather
from service.paging import collect
from service.queries import QueryEmbedders
from service.ranking import WEIGHTS, Weights

FACTS = Path(__file__).with_name("newest.jsonl")
KINDS = ("newest", "oldest", "once", "any")
UNITS: tuple[Unit, ...] = ("chunk", "message")
Line = dict[str, Any]

TALK = {
    "ru": (
        ("Погода сегодня хмурая, весь день моросит.", "Тогда чай и плед — лучшее решение."),
        ("Смотрел вчера старую комедию, смеялся до слёз.", "Хорошее кино стареет медленно."),
        ("Подскажи, чем заменить разрыхлитель в тесте?", "Содой, погашенной уксусом: пол чайной ложки."),
        ("Сосед подарил ведро яблок, не знаю, куда девать.", "Сварите варенье или насушите на зиму."),
        ("Опять пробки, ехал полтора часа.", "Попробуйте выезжать на двадцать минут раньше."),
        ("Не могу выбрать подарок маме.", "Подумайте о том, что она давно откладывает."),
        ("Купил лампочки, все с разным светом.", "Смотрите на цветовую температуру на коробке."),
        ("Прочитал рассказ про маяк, понравился.", "Морские истории хорошо читать осенью."),
        ("Суп пересолил, что делать?", "Бросьте в кастрюлю сырую картофелину на десять минут."),
        ("Потерял перчатку в трамвае.", "Позвоните в стол находок депо."),
    ),
    "en": (
        ("It rained all afternoon, the gutters overflowed.", "Leaves in the downspout, most likely."),
        ("I watched a silent film with live piano.", "That must have been a rare evening."),
        ("How do I get candle wax off a tablecloth?", "Freeze it, scrape it, then iron it through paper."),
        ("The bus was twenty minutes late.", "The line has roadworks until Friday."),
        ("I can't decide what to cook for six people.", "A big lasagna feeds six without any fuss."),
        ("My umbrella turned inside out on the bridge.", "Vented ones stand the wind better."),
        ("Read a short story about a lighthouse.", "Sea stories suit long evenings."),
        ("The soup is too salty, any rescue?", "Simmer a raw potato in it for ten minutes."),
    ),
}
ACKNOWLEDGED = {
    "ru": ("Понял, запомню.", "Хорошо, учту.", "Спасибо, что рассказали.", "Принято."),
    "en": ("Got it.", "Noted, thanks for telling me.", "All right.", "Good to know."),
}


def corpus(seed: int = 7) -> Corpus:
    """The archive and the judged queries; the same for the same seed."""
    chance = random.Random(seed)
    files: dict[str, list[Line]] = {}
    queries: list[JudgedQuery] = []
    for number, line in enumerate(FACTS.read_text("utf-8").splitlines()):
        fact = json.loads(line)
        language = "ru" if any("а" <= letter <= "я" for letter in fact["said"][0][1].casefold()) else "en"
        ids = [f"f{number}s{at}" for at in range(len(fact["said"]))]
        told = [*zip(ids, fact["said"], strict=True)]
        told += [(f"f{number}n{at}", near) for at, near in enumerate(fact["near"])]
        for id_, (day, text) in told:
            files.setdefault(f"{fact['chat']}.jsonl", []).extend(
                session(chance, language, fact["chat"], id_, day, text)
            )
        asked = {"once" if len(ids) == 1 else "newest": fact["newest"]}
        asked |= {kind: fact.get(kind, []) for kind in ("oldest", "any")}
        gold = {"newest": (ids[-1],), "oldest": (ids[0],), "once": (ids[0],), "any": tuple(ids)}
        queries += [
            JudgedQuery(text, gold[kind], fact["chat"], kind)
            for kind, texts in asked.items()
            for text in texts
        ]
    for lines in files.values():
        lines.sort(key=lambda line: str(line["ts"]))
    return Corpus("newest", "UTC", files, (JudgedSet("newest", queries, pooled=True),))


def session(chance: random.Random, language: str, chat: str, id_: str, day: str, text: str) -> Iterator[Line]:
    """Small talk, the statement and what is answered to it, small talk."""
    before, after = chance.sample(TALK[language], 2)
    turns = [*before, text, chance.choice(ACKNOWLEDGED[language]), *after]
    start = datetime.fromisoformat(day).replace(hour=chance.randint(8, 21), tzinfo=UTC)
    for at, said in enumerate(turns):
        yield {
            "chat": chat,
            "session": id_,
            "id": id_ if at == 2 else f"{id_}-{at}",
            "role": ("user", "assistant")[at % 2],
            "ts": (start + timedelta(minutes=at)).isoformat(),
            "text": said,
        }


def place(subject: Subject, question: Question, unit: Unit, weights: Weights = WEIGHTS) -> int:
    """Of the first result that shows a gold message, from 1; 0 where none does."""
    asked = subject.asked(question, unit, weights=weights)
    findings = gather(subject.generation, asked)
    rows = [row for row, _ in collect(subject.generation, asked, findings).rows]
    for at, result in enumerate(subject.reader.results(rows, unit), 1):
        if any(stretch.message in question.gold for stretch in result):
            return at
    return 0


@contextmanager
def asked_of(made: Corpus, folder: Path) -> Iterator[tuple[Subject, list[Question]]]:
    """The index of a corpus in a folder, and the questions of its first set with their vectors."""
    settings = indexed(made, folder)
    generation, embedders = open_current(settings.data), QueryEmbedders(settings, {})
    try:
        subject, judged = Subject(generation, settings.zone), made.sets[0]
        vectors = QueryVectors(embedders, generation.store.spaces(), folder / made.name)
        embedded = vectors.of([query.text for query in judged.queries])
        yield (
            subject,
            [
                Question(query, rows, found, judged.pooled)
                for query, rows, found in zip(judged.queries, subject.gold(judged), embedded, strict=True)
            ],
        )
    finally:
        embedders.close()
        generation.close()


def figures(
    places: Values, base: Values, kinds: Sequence[str], kind: str
) -> dict[str, tuple[Figure, Figure]]:
    """any@1 and MRR of one kind, each with its paired difference from the base."""
    of_kind = np.array([own == kind for own in kinds])
    drawn = resamples(int(of_kind.sum()), seed=7)
    found = {}
    for name, value in (("any@1", first), ("MRR", reciprocal)):
        got, before = (mean(value(every[of_kind]), drawn) for every in (places, base))
        found[name] = (got.figure(), got.minus(before))
    return found


def first(places: Values) -> Values:
    """1 where the first result is gold."""
    return np.where(places == 1, 1.0, 0.0)


def reciprocal(places: Values) -> Values:
    """1 / place; 0 where nothing is found."""
    return np.divide(1.0, places, out=np.zeros_like(places), where=places > 0)


def compare(about: str | None, made: Corpus, part: str, kinds: Sequence[str], tries: str) -> None:
    """Print what some weights of one part of the ranking do to a made-up corpus, by kind of query.

    Args:
        about: the help.
        made: the corpus, with one set.
        part: a field of `Weights`.
        kinds: of its queries.
        tries: weights to compare with none, by default.
    """
    parser = argparse.ArgumentParser(description=about, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--keep", type=Path)
    parser.add_argument("--weights", default=tries)
    parser.add_argument("--unit", choices=("chunk", "message", "both"), default="both")
    parser.add_argument("--misses", action="store_true", help="with the last weight")
    arguments = parser.parse_args()
    weights = [0.0, *(float(weight) for weight in arguments.weights.split(","))]
    with (
        tempfile.TemporaryDirectory() as temporary,
        asked_of(made, arguments.keep or Path(temporary)) as (subject, questions),
    ):
        for unit in UNITS if arguments.unit == "both" else (arguments.unit,):
            found = {
                weight: np.array(
                    [place(subject, one, unit, replace(WEIGHTS, **{part: weight})) for one in questions],
                    np.float64,
                )
                for weight in weights
            }
            report(f"{unit}, {{}}, {{}} queries", part, questions, kinds, found)
            if arguments.misses:
                for question, at in zip(questions, found[weights[-1]], strict=True):
                    if at != 1:
                        print(f"  {question.judged.kind:<9} at {int(at):<3} {question.judged.text}")


def report(
    title: str, part: str, questions: Sequence[Question], wanted: Sequence[str], found: dict[float, Values]
) -> None:
    kinds = [question.judged.kind for question in questions]
    for kind in wanted:
        print(title.format(kind, kinds.count(kind)))
        for weight, places in found.items():
            for name, measured in figures(places, found[0.0], kinds, kind).items():
                print(f"  {part} {weight:<5g} {name:<6} {shown(*measured)}")


def shown(got: Figure, gain: Figure) -> str:
    """A figure and its difference, with their intervals."""
    value = f"{got.value:.3f} [{got.low:.3f}, {got.high:.3f}]"
    difference = f"{gain.value:+.3f} [{gain.low:+.3f}, {gain.high:+.3f}]"
    return f"{value}  {difference}{' certain' if gain.certain else ''}"


if __name__ == "__main__":
    compare(__doc__, corpus(), "recency", KINDS, "0.1,0.2")

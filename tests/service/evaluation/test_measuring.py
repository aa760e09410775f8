"""The measure over a small real index: what it asks is what a search answers."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from indexer.report import Silent
from indexer.stores import Unit
from indexer.stores.generation import open_current
from schemas.problems import SettingsError
from schemas.settings import Settings
from service.evaluation import baselines
from service.evaluation.ablation import ABLATIONS
from service.evaluation.asking import DEPTH, Question, Subject
from service.evaluation.judged import JudgedQuery, JudgedSet
from service.evaluation.measuring import ALONE, Measuring, Plan
from service.evaluation.systems import LEGS, REFERENCE, Choice, answers, leg, names, product
from service.evaluation.vectors import QueryVectors
from service.queries import QueryEmbedders
from tests.fakes.index import published, said

LONG = " ".join(f"Глава {number} рассказа про маяк и смотрителя маяка." for number in range(120))
UNITS: tuple[Unit, ...] = ("chunk", "message")
LINES = [
    *(
        said(
            f"{text}, запись {number}.",
            f"m{number}",
            chat=f"talk{number % 2}",
            session=str(number // 6),
            author="Оля" if number % 3 else "Ваня",
            ts=f"2025-03-{1 + number:02d}T10:00:00Z",
        )
        for number, text in enumerate(
            [
                "Кот Барсик опять не ест сухой корм",
                "Переносим серверы в новый дата-центр в субботу ночью",
                "Заказал Docker и PostgreSQL, проверь порт 5432",
                "Встреча с Иваном Петровым переехала на четверг",
                "Билеты в Карелию куплены, едем второго января",
                "Нужно починить бэкап: архив не открывается",
            ]
            * 4
        )
    ),
    said(LONG, "long", chat="talk0", session="9", ts="2025-04-01T10:00:00Z"),
]
QUERIES = [
    JudgedQuery("корм для кота", ("m0",), "talk0", "word"),
    JudgedQuery("перенос серверов в марте", ("m1", "m7"), "talk1", "word"),
    JudgedQuery("смотритель маяка", ("long",), None, "long"),
    JudgedQuery("Петров", ("m3",), "talk1", "name"),
    JudgedQuery("что говорила Оля про билеты", ("m4",), "talk0", "name"),
    JudgedQuery("курс биткоина", (), "talk0", "none", answerable=False),
]


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Settings:
    return published(tmp_path_factory.mktemp("measured"), LINES)


@pytest.fixture
def subject(index: Settings) -> Iterator[Subject]:
    generation = open_current(index.data)
    yield Subject(generation, index.zone)
    generation.close()


@pytest.fixture
def questions(index: Settings, subject: Subject) -> list[Question]:
    embedders = QueryEmbedders(index, {})
    vectors = QueryVectors(embedders, subject.generation.store.spaces(), None)
    judged = JudgedSet("s", QUERIES)
    found = vectors.of([query.text for query in QUERIES])
    embedders.close()
    return [
        Question(query, gold, vector)
        for query, gold, vector in zip(QUERIES, subject.gold(judged), found, strict=True)
    ]


@pytest.mark.parametrize("unit", UNITS)
def test_the_ranking_by_rows_is_the_answer_of_a_search(
    subject: Subject, questions: list[Question], unit: Unit
) -> None:
    for question in questions:
        whole, quick = product(subject, question, unit), leg(subject, question, unit)
        assert list(whole.results) == list(quick.results)
        assert whole.confidence == pytest.approx(quick.confidence, abs=1e-6)


@pytest.mark.parametrize("unit", UNITS)
def test_every_system_is_named(subject: Subject, questions: list[Question], unit: Unit) -> None:
    choice = Choice(baselines=True, ablations=True)
    found = names(unit, choice)
    assert found[: len(LEGS) + 1] == [REFERENCE, *LEGS]
    assert set(baselines.RULES) < set(found)
    assert ("without answer" in found) == (unit == "message")
    assert len(found) == len(set(found)) == len(list(answers(subject, questions[0], unit, choice)))
    assert names(unit, Choice(baselines=False)) == [REFERENCE, *LEGS]


def test_gold_is_found_by_chat_and_id_or_by_id_alone(subject: Subject, questions: list[Question]) -> None:
    assert [len(question.gold) for question in questions] == [1, 2, 1, 1, 1, 0]
    assert list(questions[2].gold.values()) == [len(LONG)]


def test_a_filter_is_the_querys_chat_unless_all_are_pooled(
    subject: Subject, questions: list[Question]
) -> None:
    question = questions[0]
    pooled = Question(question.judged, question.gold, question.vectors, pooled=True)
    assert subject.request(question, "chunk").chat == ["talk0"]
    assert subject.request(pooled, "chunk").chat == []
    assert len(product(subject, pooled, "message").results) > len(
        product(subject, question, "message").results
    )


def test_sessions_are_the_hard_borders_of_the_talk(subject: Subject) -> None:
    rows = subject.generation.store.message_rows
    first, second, other, later = (
        rows([("talk0", "m0")])[0],
        rows([("talk0", "m2")])[0],
        rows([("talk1", "m1")])[0],
        rows([("talk0", "m6")])[0],
    )
    assert subject.session(first) == subject.session(second)
    assert len({subject.session(first), subject.session(other), subject.session(later)}) == 3


def test_a_long_message_is_its_window_as_the_hit_shows_it(
    subject: Subject, questions: list[Question]
) -> None:
    first = product(subject, questions[2], "message").results[0]
    assert len(first) == 1
    assert first[0].end - first[0].start <= 600
    whole = subject.reader.results([first[0].message], "message")[0]
    assert whole[0].end == len(LONG)


def test_the_clock_is_that_of_the_newest_message(subject: Subject) -> None:
    assert subject.now.isoformat() == "2025-04-01T10:00:00+00:00"


def test_a_set_may_bring_its_own_clock(index: Settings) -> None:
    generation = open_current(index.data)
    earlier = datetime(2025, 3, 2, tzinfo=UTC)
    assert Subject(generation, index.zone, earlier).now == earlier
    generation.close()


@pytest.mark.parametrize("pooled", [False, True])
def test_a_question_may_be_asked_of_some_other_chats(
    subject: Subject, questions: list[Question], pooled: bool
) -> None:
    elsewhere = replace(QUERIES[0], relevant=(), among=("talk1", "talk2"))
    question = Question(elsewhere, {}, questions[0].vectors, pooled)
    assert subject.request(question, "chunk").chat == ["talk1", "talk2"]


def test_plain_rules_stay_inside_the_filter_and_the_depth(
    subject: Subject, questions: list[Question]
) -> None:
    for unit in UNITS:
        kept = subject.generation.store.mask(subject.asked(questions[0], unit).keep, unit)
        lists = baselines.lists(subject, questions[0], unit)
        for rule in baselines.RULES.values():
            assert kept[baselines.best_first(rule(lists))].all()
            found = baselines.ranked(subject, rule(lists), lists.giver, unit, 3)
            assert len(found.results) <= 3 <= DEPTH[unit]


def test_inflected_words_are_found_by_lemmas_alone(subject: Subject, questions: list[Question]) -> None:
    lists = baselines.lists(subject, questions[0], "message")
    (gold,) = questions[0].gold
    assert lists.lemma[gold] > 0
    assert lists.lemma[gold] > lists.raw[gold]


def test_an_ablation_changes_the_weights_of_one_part() -> None:
    changed = [change.weights for change in ABLATIONS.values()]
    assert len(set(changed)) == len(changed)


def test_a_report_holds_every_system_metric_and_kind(index: Settings, tmp_path: Path) -> None:
    plan = Plan(choice=Choice(ablations=True))
    measuring = Measuring(index, {}, tmp_path, plan, Silent())
    report = measuring.run([JudgedSet("talks", QUERIES)])
    assert set(report) == {"talks"}
    for unit in UNITS:
        systems = report["talks"][unit]
        assert list(systems) == names(unit, plan.choice)
        recall = systems[REFERENCE]["recall@10"]
        assert recall.figure.n == 5
        assert recall.difference is None
        assert set(recall.kinds) == {"word", "long", "name"}
        assert systems["rrf60"]["recall@10"].difference is not None
        assert systems[REFERENCE]["accepted"].figure.n == 5
        assert systems[REFERENCE]["false_accept"].figure.n == 1
    assert measuring.remarks == []


def test_another_index_that_was_asked_the_same_stands_beside(index: Settings, tmp_path: Path) -> None:
    alone = published(tmp_path / "alone", [line for line in LINES if line["chat"] == "talk0"])
    plan = Plan(units=("chunk",), choice=Choice(baselines=False))
    judged = JudgedSet("talks", [query for query in QUERIES if query.chat == "talk0"])
    own = Measuring(alone, {}, None, plan, Silent())
    before = own.run([judged])["talks"]["chunk"][REFERENCE]
    joined = Measuring(index, {}, None, plan, Silent(), own.answered)
    systems = joined.run([judged])["talks"]["chunk"]
    beside = systems[ALONE]["recall@10"]
    assert beside.figure == before["recall@10"].figure
    assert beside.difference is not None
    assert beside.difference.value == pytest.approx(
        beside.figure.value - systems[REFERENCE]["recall@10"].figure.value
    )


def test_the_same_seed_gives_the_same_report(index: Settings, tmp_path: Path) -> None:
    def run() -> object:
        plan = Plan(units=("message",), choice=Choice(baselines=False))
        return Measuring(index, {}, tmp_path, plan, Silent()).run([JudgedSet("talks", QUERIES)])

    assert run() == run()


def test_the_second_run_embeds_no_query(
    index: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plan = Plan(units=("chunk",), choice=Choice(baselines=False))
    first = Measuring(index, {}, tmp_path, plan, Silent()).run([JudgedSet("talks", QUERIES)])
    assert len(list(tmp_path.glob("queries-*.npz"))) == 1

    def fail(*_: object) -> None:
        raise AssertionError("embedded again")

    monkeypatch.setattr(QueryEmbedders, "vectors", fail)
    assert Measuring(index, {}, tmp_path, plan, Silent()).run([JudgedSet("talks", QUERIES)]) == first


def test_gold_that_is_not_there_is_told(index: Settings) -> None:
    plan = Plan(units=("chunk",), choice=Choice(baselines=False))
    measuring = Measuring(index, {}, None, plan, Silent())
    measuring.run([JudgedSet("talks", [*QUERIES, JudgedQuery("кот", ("nowhere",), "talk0")])])
    assert measuring.remarks == ["talks: 1 of 7 relevant messages are not in this index."]
    with pytest.raises(SettingsError, match="None of the 1 relevant messages"):
        measuring.run([JudgedSet("talks", [JudgedQuery("кот", ("nowhere",), "talk0")])])


def test_a_kind_that_is_not_there_is_told(index: Settings) -> None:
    measuring = Measuring(index, {}, None, Plan(kinds=["nothing"]), Silent())
    with pytest.raises(SettingsError, match="holds no query of the kinds nothing"):
        measuring.run([JudgedSet("talks", QUERIES)])

from __future__ import annotations

import json
import socket
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from indexer.report import Report
from indexer.stores import generation as generations
from schemas.problems import BuildRefused, SettingsError
from schemas.settings import Settings, exactly
from service.checks import CHECKS, checks_of
from service.evaluation.judged import JudgedQuery
from service.golden import Answered, GoldenGate, golden_queries
from tests.deploy.files import ROOT
from tests.fakes.index import Line, archive, build, said, settings_for

TEXTS = (
    "Насос на даче сгорел, поставили новый",
    "Кот чешется, ветеринар назначил корм с кроликом",
    "Порт сервиса теперь 8472",
    "Билеты в Карелию куплены",
)
QUERIES = ("когда сгорел насос", "чем кормить кота", "порт сервиса", "билеты в Карелию")
KINDS = {"inflected", "paraphrase", "name", "fact", "keyword", "temporal", "english", "twins", "none"}


def lines(texts: Sequence[str] = TEXTS) -> list[Line]:
    return [said(text, f"m{at}", chat=f"c{at}") for at, text in enumerate(texts)]


def judged(path: Path, *queries: dict[str, Any]) -> Path:
    path.write_text("".join(json.dumps(query, ensure_ascii=False) + "\n" for query in queries), "utf-8")
    return path


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    golden = judged(
        tmp_path / "golden.jsonl",
        *({"text": text, "relevant": [f"m{at}"]} for at, text in enumerate(QUERIES)),
        {"text": "чего нет", "relevant": ["m99"]},
        {"text": "на что ответа нет", "relevant": [], "kind": "none"},
    )
    return settings_for(tmp_path / "index", quality={"golden": golden})


def gated(settings: Settings, *paths: Path, **options: Any) -> dict[str, Any]:
    report = Report()
    build(settings, *paths, checks=checks_of(settings, report), **options)
    return report.golden


def worsened(monkeypatch: pytest.MonkeyPatch, lost: int) -> None:
    """From the second generation on, the first `lost` queries find nothing."""
    from service import golden

    honest = golden._answers

    def answers(subject: Any, queries: Any, embedders: Any) -> list[Answered]:
        found = honest(subject, queries, embedders)
        if subject.generation.name == "000001":
            return found
        return [replace(one, recall=0.0, rank=None) if at < lost else one for at, one in enumerate(found)]

    monkeypatch.setattr(golden, "_answers", answers)


def test_the_first_generation_only_records_and_counts_what_is_not_in_the_archive(
    tmp_path: Path, settings: Settings
) -> None:
    told = gated(settings, archive(tmp_path / "a", lines()))
    assert told == {"questions": 4, "left_out": 1, "after": {"recall@10": 1.0, "any@10": 1.0}}


def test_a_generation_that_answers_as_well_is_published(tmp_path: Path, settings: Settings) -> None:
    gated(settings, archive(tmp_path / "a", lines()))
    told = gated(settings, archive(tmp_path / "a", [*lines(), said("ещё одна запись", "m4", chat="c4")]))
    assert generations.current_name(settings.data) == "000002"
    assert told["before"] == told["after"]
    assert told["worse"] == []


def test_a_fall_beyond_the_tolerance_is_refused_with_both_numbers_and_the_questions(
    tmp_path: Path, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    gated(settings, archive(tmp_path / "a", lines()))
    worsened(monkeypatch, 1)
    report = Report()
    more = archive(tmp_path / "a", [*lines(), said("ещё одна запись", "m4", chat="c4")])
    with pytest.raises(BuildRefused) as caught:
        build(settings, more, checks=checks_of(settings, report))
    assert caught.value.message == (
        "Recall@10 over 4 golden queries fell from 1.000 to 0.750 (any@10 from 1.000 to 0.750), more than "
        "the tolerance of 0.05."
    )
    assert report.golden["worse"] == [{"text": QUERIES[0], "before": 1, "after": None}]
    assert generations.current_name(settings.data) == "000001"
    gated(settings, more, force=True)
    assert generations.current_name(settings.data) == "000002"


def test_messages_that_lost_their_words_are_noticed(tmp_path: Path, settings: Settings) -> None:
    others = [said(f"запись {at} про погоду, кота и билеты", f"x{at}", chat=f"x{at}") for at in range(40)]
    gated(settings, archive(tmp_path / "a", [*lines(), *others]))
    with pytest.raises(BuildRefused) as caught:
        gated(settings, archive(tmp_path / "a", [*lines(["мусор"] * len(TEXTS)), *others]))
    assert "golden queries fell from 1.000 to 0" in caught.value.message
    assert generations.current_name(settings.data) == "000001"


def test_a_fall_of_just_the_tolerance_is_published_and_told(
    tmp_path: Path, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    quality = settings.quality.model_copy(update={"tolerance": 0.25})
    settings = settings.model_copy(update={"quality": quality})
    gated(settings, archive(tmp_path / "a", lines()))
    worsened(monkeypatch, 1)
    told = gated(settings, archive(tmp_path / "a", [*lines(), said("ещё одна запись", "m4", chat="c4")]))
    assert generations.current_name(settings.data) == "000002"
    assert len(told["worse"]) == 1


def test_messages_that_left_the_archive_leave_the_gold_of_both(tmp_path: Path, settings: Settings) -> None:
    gated(settings, archive(tmp_path / "a", [*lines(), *(said(f"запись {at}", f"x{at}") for at in range(9))]))
    kept = [*lines()[1:], *(said(f"запись {at}", f"x{at}") for at in range(9))]
    told = gated(settings, archive(tmp_path / "a", kept), mirror=True)
    assert (told["questions"], told["left_out"]) == (3, 2)
    assert told["before"]["recall@10"] == told["after"]["recall@10"] == 1.0


def test_a_published_generation_that_cannot_be_opened_does_not_stop_its_successor(
    tmp_path: Path, settings: Settings
) -> None:
    gated(settings, archive(tmp_path / "a", lines()))
    (settings.data / "000001" / "entity_graph.db").write_bytes(b"no database")
    told = gated(settings, archive(tmp_path / "a", [*lines(), said("ещё одна запись", "m4", chat="c4")]))
    assert "before" not in told
    assert generations.current_name(settings.data) == "000002"


def test_the_gate_opens_no_connection_and_says_the_same_each_time(
    tmp_path: Path, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    gated(settings, archive(tmp_path / "a", lines()))

    def refused(*_: object) -> None:
        raise AssertionError("a connection")

    monkeypatch.setattr(socket.socket, "connect", refused)
    generation = generations.open_current(settings.data)
    assert settings.quality.golden is not None
    try:
        told = []
        for _ in range(2):
            gate = GoldenGate(settings, golden_queries(settings.quality.golden))
            assert gate(generation, generation.manifest) is None
            told.append(gate.figures)
    finally:
        generation.close()
    assert told[0] == told[1]
    assert told[0]["before"] == told[0]["after"]


def test_a_file_without_gold_in_the_archive_asks_nothing(tmp_path: Path, settings: Settings) -> None:
    generation_of = archive(tmp_path / "a", lines())
    build(settings, generation_of)
    generation = generations.open_current(settings.data)
    gate = GoldenGate(settings, [JudgedQuery("что угодно", ("m77",))])
    try:
        assert gate(generation, None) is None
    finally:
        generation.close()
    assert gate.figures == {"questions": 0, "left_out": 1}


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (None, "The golden file golden.jsonl can't be read: No such file or directory."),
        (b"\xff\xfe\x00", "The golden file golden.jsonl can't be read: it is not UTF-8."),
        (b"{}\n", "Line 1 of golden.jsonl is no judged query: it has no text."),
        (b"", "golden.jsonl holds no judged query."),
    ],
    ids=["missing", "bytes", "no text", "empty"],
)
def test_a_golden_file_that_cannot_be_read_is_one_sentence(
    tmp_path: Path, content: bytes | None, told: str
) -> None:
    path = tmp_path / "golden.jsonl"
    if content is not None:
        path.write_bytes(content)
    settings = exactly({"quality": {"golden": path}})
    with pytest.raises(SettingsError) as caught:
        checks_of(settings, Report())
    assert caught.value.message == told
    assert checks_of(settings, Report(), force=True) == CHECKS


def test_without_a_golden_file_the_checks_are_what_they_were() -> None:
    assert checks_of(exactly({}), Report()) == CHECKS


def test_the_demo_ships_golden_questions_of_every_kind() -> None:
    queries = golden_queries(ROOT / "data" / "demo_golden.jsonl")
    assert len(queries) >= 60
    assert {query.kind for query in queries} == KINDS
    assert all(bool(query.relevant) == (query.kind != "none") for query in queries)
    assert len({query.text for query in queries}) == len(queries)


def test_every_golden_question_of_the_demo_names_messages_that_are_there(tmp_path: Path) -> None:
    golden = ROOT / "data" / "demo_golden.jsonl"
    settings = settings_for(tmp_path / "index", quality={"golden": golden}, timezone="Europe/Moscow")
    told = gated(settings, ROOT / "data" / "demo")
    assert told["left_out"] == 0
    assert told["after"]["any@10"] > 0.8

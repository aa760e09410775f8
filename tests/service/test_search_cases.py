from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from pydantic import ValidationError

from schemas.http import Answer, SearchRequest
from schemas.settings import Settings
from service.engine import LiveEngine
from tests.fakes.index import build, engine_over, published, said, settings_for

CASES = Path(__file__).resolve().parents[1] / "cases"

QUERIES_39 = json.loads((CASES / "39_fts_query_syntax" / "queries.json").read_text("utf-8"))


def indexed(root: Path, case: str, name: str = "docs.jsonl") -> Settings:
    settings = settings_for(root / "index")
    build(settings, CASES / case / name)
    return settings


def texts(answer: Answer) -> set[str]:
    return {hit.text for hit in answer.hits}


def words(engine: LiveEngine, q: str) -> set[str]:
    return texts(engine.search(SearchRequest(q=q, mode="text", unit="message")))


@pytest.fixture(scope="module")
def syntax(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LiveEngine]:
    with engine_over(indexed(tmp_path_factory.mktemp("39"), "39_fts_query_syntax")) as engine:
        yield engine


@pytest.fixture(scope="module")
def spelling(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LiveEngine]:
    with engine_over(indexed(tmp_path_factory.mktemp("40"), "40_ru_yo_short_i_nfd")) as engine:
        yield engine


@pytest.mark.parametrize("unit", ["chunk", "message"])
@pytest.mark.parametrize("mode", ["hybrid", "vector", "text", "entities"])
@pytest.mark.parametrize("q", QUERIES_39)
def test_case_39_no_query_is_an_error(syntax: LiveEngine, q: str, mode: str, unit: str) -> None:
    request = SearchRequest.model_validate(
        {"q": q, "mode": mode, "unit": unit, "explain": True, "highlight": True}
    )
    assert syntax.search(request).degraded == []


@pytest.mark.parametrize(
    ("q", "found"),
    [
        ("gpt-4o-mini", {"вышла gpt-4o-mini"}),
        ("что-то", {"что-то сломалось"}),
        ("don't", {"I don't know"}),
        ("foo.bar()", {"вызов foo.bar()"}),
        ("C:\\Users", {"путь C:\\Users\\demo"}),
        ("C++", {"учу C++ и Rust", "путь C:\\Users\\demo"}),
        ("+7 999", {"звони +7 999"}),
        ("@user", {"спроси @user", "путь C:\\Users\\demo"}),
        ("*", set()),
        ("^", set()),
        ("привет!", set()),
        ("chat_id:5", set()),
    ],
)
def test_case_39_a_query_finds_its_documents_and_no_other(
    syntax: LiveEngine, q: str, found: set[str]
) -> None:
    assert words(syntax, q) == found


def test_case_39_the_written_form_stands_before_an_inflected_one(syntax: LiveEngine) -> None:
    for q in ("@user", "user"):
        hits = syntax.search(SearchRequest(q=q, mode="text", unit="message")).hits
        assert [hit.text for hit in hits] == ["спроси @user", "путь C:\\Users\\demo"]


@pytest.mark.parametrize(
    ("q", "found"),
    [
        ("ёлка", {"Ёлка стоит", "елка упала"}),
        ("елка", {"Ёлка стоит", "елка упала"}),
        ("мой", {"мо\u0438\u0306 файл (NFD)", "МОЙ файл"}),
        ("мои", {"мои файлы"}),
        ("замок", {"за\u0301мок на горе"}),
        ("все", {"всё готово", "все ушли"}),
        ("ВСЁ", {"всё готово", "все ушли"}),
    ],
)
def test_case_40_letters_meet_however_they_are_written(spelling: LiveEngine, q: str, found: set[str]) -> None:
    assert words(spelling, q) == found


@pytest.mark.parametrize("unit", ["chunk", "message"])
@pytest.mark.parametrize("mode", ["hybrid", "text"])
def test_case_53_one_passage_is_one_hit_and_its_copy_is_counted(tmp_path: Path, mode: str, unit: str) -> None:
    with engine_over(indexed(tmp_path, "53_overlap_duplicates_topk", "chat.jsonl")) as engine:
        request = SearchRequest.model_validate({"q": "Альбатрос", "limit": 5, "mode": mode, "unit": unit})
        hits = engine.search(request).hits
    assert len(hits) == 2
    short = next(hit for hit in hits if "упомянут" in hit.text)
    long = next(hit for hit in hits if "пункт плана" in hit.text)
    assert len(short.also) == 1
    assert long.also == []
    assert short.also[0].id not in (short.id, long.id)


def rare_and_common() -> Iterator[dict[str, object]]:
    for number in range(400):
        yield said(
            f"деплой сервера прошёл, запуск {number}", chat="частый", ts=1_700_000_000 + number * 90_000
        )
    for number in range(10):
        text = f"заметка {number}: однажды в деплое было тихо"
        yield said(text, chat="r1", chat_title="Редкий", ts=1_600_000_000 + number * 90_000)


@pytest.fixture(scope="module")
def rare(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LiveEngine]:
    with engine_over(published(tmp_path_factory.mktemp("35"), rare_and_common())) as engine:
        yield engine


@pytest.mark.parametrize("unit", ["chunk", "message"])
@pytest.mark.parametrize("mode", ["hybrid", "text", "vector"])
def test_case_35_a_rare_chat_still_fills_the_list(rare: LiveEngine, mode: str, unit: str) -> None:
    request = SearchRequest.model_validate(
        {"q": "деплой сервера", "limit": 10, "chat": "редкий", "mode": mode, "unit": unit}
    )
    assert [hit.chat.id for hit in rare.search(request).hits] == ["r1"] * 10


def test_case_35_a_limit_out_of_range_never_reaches_the_index() -> None:
    lines = (CASES / "35_vec_k_limits" / "requests.jsonl").read_text("utf-8").splitlines()
    requests = [{"q": "деплой", **json.loads(line)} for line in lines]
    wrong = [request for request in requests if not 1 <= request["limit"] <= 100]
    assert [request["limit"] for request in wrong] == [0, -1, 4097, 100_000]
    for request in wrong:
        with pytest.raises(ValidationError) as caught:
            SearchRequest.model_validate(request)
        assert [fault["loc"] for fault in caught.value.errors()] == [("limit",)]
    for request in requests:
        assert request in wrong or SearchRequest.model_validate(request).limit == request["limit"]

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from schemas.http import Hit, SearchRequest
from service.engine import LiveEngine
from tests.fakes.index import engine_over, published, said

DAY = 86_400
MARCH = 1_772_323_200  # 2026-03-01


def lines() -> Iterator[dict[str, Any]]:
    for at in range(60):
        author = ("Иван Петров", "Мария Кац", "Олег")[at % 3]
        text = f"отчёт {at} по проекту: сервер работает, память на месте"
        yield said(text, f"m{at}", chat=f"c{at}", author=author, ts=MARCH + at * DAY)
    yield said("Docker переехал на новый диск", "d1", chat="d1", author="Олег", ts=MARCH + 61 * DAY)
    yield said("SOUL: отчёт по проекту пиши кратко", "soul", chat="s", role="instruction", ts=MARCH)


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LiveEngine]:
    with engine_over(published(tmp_path_factory.mktemp("evidence"), lines())) as opened:
        yield opened


def hits(engine: LiveEngine, q: str, **more: Any) -> list[Hit]:
    return engine.search(SearchRequest.model_validate({"q": q, "explain": True, **more})).hits


def given(hit: Hit, leg: str) -> float:
    assert hit.explain is not None
    return float(hit.explain.get(leg, {}).get("contribution", 0.0))


@pytest.mark.parametrize("unit", ["chunk", "message"])
def test_a_day_that_the_query_names_lifts_what_was_said_then(engine: LiveEngine, unit: str) -> None:
    found = hits(engine, "отчёт по проекту за 20 марта", unit=unit, limit=100)
    lifted = {hit.messages[0].id for hit in found if given(hit, "date") > 0}
    assert lifted == {f"m{at}" for at in range(19, 27)}  # the day and a week after it
    assert found[0].messages[0].id in lifted


def test_a_query_without_a_day_has_no_leg_of_dates(engine: LiveEngine) -> None:
    assert all("date" not in (hit.explain or {}) for hit in hits(engine, "отчёт по проекту"))


def test_an_author_that_the_query_names_in_any_case_lifts_their_messages(engine: LiveEngine) -> None:
    found = hits(engine, "отчёт по проекту от Марии", unit="message", limit=100)
    lifted = {hit.messages[0].author for hit in found if given(hit, "author") > 0}
    assert lifted == {"Мария Кац"}
    assert found[0].messages[0].author == "Мария Кац"


@pytest.mark.parametrize("unit", ["chunk", "message"])
def test_a_name_of_the_query_lifts_the_talk_that_mentions_it(engine: LiveEngine, unit: str) -> None:
    best = hits(engine, "что там с докером", unit=unit)[0]
    assert best.messages[0].id == "d1"
    assert given(best, "entities") > 0
    assert best.explain is not None
    assert best.explain["entities"]["matched"] == ["Docker"]


@pytest.mark.parametrize("mode", ["hybrid", "vector", "text"])
@pytest.mark.parametrize("unit", ["chunk", "message"])
def test_instructions_are_found_by_those_alone_who_ask_for_them(
    engine: LiveEngine, mode: str, unit: str
) -> None:
    asked = {"mode": mode, "unit": unit, "limit": 100}
    usual = [hit.messages[0].role for hit in hits(engine, "отчёт по проекту пиши кратко", **asked)]
    assert "instruction" not in usual
    only = hits(engine, "отчёт по проекту пиши кратко", role="instruction", **asked)
    assert [hit.messages[0].id for hit in only] == ["soul"]


def test_what_explains_a_leg_is_told_with_it(engine: LiveEngine) -> None:
    (best, *_) = hits(engine, "Docker на диске")
    assert best.explain is not None
    text, vector = best.explain["text"], best.explain["vector"]
    assert text["rank"] == 1
    assert text["bm25"] > 0
    assert text["terms"] == ["docker", "диске"]
    assert vector["space"] == "hash/hash/64/1"
    assert -1 <= vector["similarity"] <= 1


def test_each_mode_is_explained_by_its_own_legs_alone(engine: LiveEngine) -> None:
    legs = {
        mode: {
            leg
            for hit in hits(engine, "Docker на диске", mode=mode)
            for leg in hit.explain or {}
            if given(hit, leg)
        }
        for mode in ("vector", "text", "entities")
    }
    assert "text" not in legs["vector"]
    assert "vector" not in legs["text"]
    assert legs["entities"] == {"entities"}


# --- who said it --------------------------------------------------------------------------------------------


def talk() -> Iterator[dict[str, Any]]:
    yield said("аллергия на орехи с детства", "fact", chat="a", ts=MARCH)
    yield said("аллергия на орехи, не шутка", "advice", chat="b", role="assistant", ts=MARCH)
    yield said("а кто принёс ключи?", "question", chat="c", author="Олег", ts=MARCH)
    yield said("Мария, ещё утром", "answer", chat="c", author="Иван", ts=MARCH + 60)
    yield said("кто ключи принёс, непонятно", "aside", chat="d", author="Пётр", ts=MARCH)


@pytest.fixture(scope="module")
def speakers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LiveEngine]:
    with engine_over(published(tmp_path_factory.mktemp("speakers"), talk())) as opened:
        yield opened


@pytest.mark.parametrize("unit", ["chunk", "message"])
@pytest.mark.parametrize(
    ("query", "wanted", "other"),
    [("аллергия на орехи", "fact", "advice"), ("что ты советовал про аллергию на орехи", "advice", "fact")],
)
def test_the_side_that_a_query_asks_for_stands_first(
    speakers: LiveEngine, unit: str, query: str, wanted: str, other: str
) -> None:
    found = hits(speakers, query, unit=unit)
    lost = {message.id: given(hit, "speaker") for hit in found for message in hit.messages}
    assert lost[wanted] == 0
    assert lost[other] < 0
    order = [message.id for hit in found for message in hit.messages]
    assert order.index(wanted) < order.index(other)


def test_where_all_are_people_no_one_loses_by_their_side(engine: LiveEngine) -> None:
    assert all("speaker" not in (hit.explain or {}) for hit in hits(engine, "отчёт по проекту"))


@pytest.mark.parametrize("unit", ["chunk", "message"])
@pytest.mark.parametrize("only", [{"role": "assistant"}, {"chat": "b"}])
def test_who_asks_for_one_side_alone_gets_it_undiminished(
    speakers: LiveEngine, unit: str, only: dict[str, str]
) -> None:
    (hit,) = hits(speakers, "аллергия на орехи", unit=unit, **only)
    assert hit.messages[0].id == "advice"
    assert given(hit, "speaker") == 0


def test_an_answer_is_found_by_the_question_before_it_which_loses_itself(speakers: LiveEngine) -> None:
    found = {hit.messages[0].id: hit for hit in hits(speakers, "кто принёс ключи", unit="message")}
    assert given(found["answer"], "answer") > 0
    assert given(found["question"], "question") < 0
    assert given(found["aside"], "answer") == given(found["aside"], "question") == 0


def test_words_without_a_question_take_nothing_from_one_that_asks(speakers: LiveEngine) -> None:
    assert all(given(hit, "question") == 0 for hit in hits(speakers, "принёс ключи", unit="message"))


def test_a_chunk_gets_what_a_named_author_holds_of_it(speakers: LiveEngine) -> None:
    found = {hit.messages[0].id: hit for hit in hits(speakers, "ключи у Петра")}
    assert 0 < given(found["aside"], "author") > given(found["question"], "author")


@pytest.fixture(scope="module")
def words(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LiveEngine]:
    filler = "потом долго говорили о погоде, дорогах, соседях и планах на лето"
    lines = [
        said("красную лампу вчера купили", "near", chat="a", ts=MARCH),
        said(f"лампу вчера купили, {filler}, а шторы красные", "apart", chat="b", ts=MARCH),
        said("лампа и правда очень красная", "turned", chat="c", ts=MARCH),
    ]
    with engine_over(published(tmp_path_factory.mktemp("words"), lines)) as opened:
        yield opened


@pytest.mark.parametrize("mode", ["hybrid", "text"])
def test_words_that_stand_together_count_more_in_any_inflection_and_order(
    words: LiveEngine, mode: str
) -> None:
    found = {hit.messages[0].id: given(hit, "phrase") for hit in hits(words, "красные лампы", mode=mode)}
    assert found["near"] == found["turned"] > 0
    assert found["apart"] == 0


def test_a_query_of_one_word_has_no_leg_of_phrases(words: LiveEngine) -> None:
    assert all("phrase" not in (hit.explain or {}) for hit in hits(words, "лампы"))

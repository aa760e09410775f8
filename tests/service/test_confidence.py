from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from indexer.embedders.hash import DIMS
from indexer.stores import TextScores
from indexer.stores.generation import open_current
from schemas.http import Answer, SearchRequest
from schemas.records import Filter
from service.confidence import HIGH, MEDIUM, RULES, STATED, Logistic, Signs, band, probability
from service.engine import LiveEngine
from service.evidence import asked_of
from service.ranking import SpaceScores
from service.sureness import another_script, held_words, share_said, signs_of
from tests.fakes.index import engine_over, published, said

RULE = RULES["local/multilingual-e5-small/384/1"]
WORDS = ("сервер", "отчёт", "проект", "диск", "память", "письмо", "встреча", "бюджет")


# --- the rule ---------------------------------------------------------------------------------------------

PLAIN = Signs(chunks=1_000, rivals=500, top=0.86, joint=0.87)


@given(st.floats(0.7, 0.95), st.floats(0.7, 0.95), st.integers(1, 100_000))
def test_more_evidence_is_never_less_probable(one: float, other: float, chunks: int) -> None:
    low, high = (probability(RULE, Signs(chunks, chunks, at, at)) for at in sorted((one, other)))
    assert 0 <= low <= high <= 1


def test_the_same_cosine_says_less_in_a_larger_archive() -> None:
    assert probability(RULE, replace(PLAIN, chunks=50_000, rivals=25_000)) < probability(RULE, PLAIN)


def test_talk_in_another_language_does_not_make_the_archive_larger() -> None:
    assert probability(RULE, replace(PLAIN, chunks=50_000)) == probability(RULE, PLAIN)


def test_the_words_of_the_query_in_the_best_chunk_say_more() -> None:
    assert probability(RULE, replace(PLAIN, joint=0.89)) > probability(RULE, PLAIN)


def test_what_somebody_else_said_is_less_probable_than_what_the_named_one_said() -> None:
    mine, theirs = (probability(RULE, replace(PLAIN, speaker=at)) for at in (0.5, -0.5))
    assert theirs < probability(RULE, PLAIN) < mine


def test_what_stands_elsewhere_is_probably_not_here() -> None:
    assert probability(RULE, replace(PLAIN, elsewhere=0.05)) < probability(RULE, PLAIN)


def test_across_scripts_a_lower_cosine_is_enough_if_it_stands_out() -> None:
    low = replace(PLAIN, top=0.82, joint=0.82)
    assert band(probability(RULE, low)) == "low"
    assert band(probability(RULE, replace(low, ahead=0.08))) == "high"
    assert band(probability(RULE, replace(low, ahead=0.02))) == "low"


def test_across_scripts_the_words_of_both_still_count() -> None:
    named = replace(PLAIN, joint=0.92, ahead=0.02)
    assert probability(RULE, named) == probability(RULE, replace(named, ahead=None))


def test_where_no_words_are_asked_the_cosine_is_taken_alone() -> None:
    bare = replace(PLAIN, joint=None)
    assert probability(RULE, replace(bare, top=0.9)) > probability(RULE, bare)


def test_a_band_begins_at_its_threshold() -> None:
    assert [band(at) for at in (0.0, MEDIUM - 1e-6, MEDIUM, HIGH - 1e-6, HIGH, 1.0)] == [
        *("low", "low", "medium", "medium", "high", "high"),
    ]


# --- its signs --------------------------------------------------------------------------------------------


def test_of_a_chunk_the_words_are_a_share_of_what_a_perfect_hit_could_get() -> None:
    found = TextScores(np.array([2, 3]), np.array([9.0, 10.0], np.float32), 10.0)
    held = held_words(np.array([1, 2, 3, 4]), found)
    assert held is not None
    assert held.tolist() == pytest.approx([0.0, 0.9, 1.0, 0.0])


@pytest.mark.parametrize("found", [None, TextScores(np.empty(0, np.int64), np.empty(0, np.float32), 0.0)])
def test_where_no_words_are_asked_none_are_held(found: TextScores | None) -> None:
    assert held_words(np.array([1]), found) is None


def test_words_are_said_in_any_inflection() -> None:
    wanted = [frozenset({"собака"}), frozenset({"дача"})]
    assert share_said(wanted, "собаку оставили дома") == 0.5
    assert share_said(wanted, "собака на даче") == 1.0
    assert share_said([], "собака") == 0.0


def test_scripts_are_told_by_most_of_the_letters() -> None:
    assert another_script("where is the cat", "кот спит на окне")
    assert another_script("где кот", "the cat sleeps")
    assert not another_script("почему openclaw падает", "Пётр: openclaw снова упал")
    assert not another_script("???", "кот")
    assert not another_script("42", "кот")


def test_across_scripts_a_scrap_is_no_evidence(tmp_path: Path) -> None:
    long = "мы поставили новый сервер в кладовке и подключили к нему два диска"
    lines = [said(text, f"m{at}", chat=f"c{at}") for at, text in enumerate(["ага", long, "угу"])]
    generation = open_current(published(tmp_path, lines).data)
    rows = {chunk.text: row for row, chunk in generation.store.chunks([1, 2, 3]).items()}
    scrap, whole, other = (next(rows[text] for text in rows if part in text) for part in ("ага", long, "угу"))
    cosines = np.array([0.9, 0.8, 0.7], np.float32)
    request = SearchRequest(q="where is the server")
    asked = asked_of(request, Filter(), (), UTC, datetime.now(UTC))

    def ahead(ids: list[int]) -> float | None:
        found = SpaceScores(np.array(ids), cosines[: len(ids)], np.full(100, 0.7, np.float32), 0.5)
        return signs_of(RULE, generation, asked, found, None, 0.0).ahead

    assert ahead([scrap, whole, other]) == pytest.approx(0.1)
    assert ahead([scrap, other]) is None
    generation.close()


# --- a search ---------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def bare(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LiveEngine]:
    lines = [
        said(f"{WORDS[at % 8]} {WORDS[(at + 3) % 8]} номер {at}", f"m{at}", chat=f"c{at}") for at in range(60)
    ]
    lines.append(said("кот Барсик переехал на дачу", "cat", chat="home"))
    lines += [
        said("велосипед купил красный", "b1", chat="bike", author="Олег"),
        said("ясно", "b2", chat="bike", author="Вера"),
    ]
    with engine_over(published(tmp_path_factory.mktemp("sure"), lines)) as opened:
        yield opened


@pytest.fixture
def engine(bare: LiveEngine, monkeypatch: pytest.MonkeyPatch) -> LiveEngine:
    """The bundled model takes too long here: its rule is lent to the space of the test."""
    monkeypatch.setitem(RULES, f"hash/hash/{DIMS}/1", RULE)
    return bare


def asked(engine: LiveEngine, q: str, **more: Any) -> Answer:
    return engine.search(SearchRequest.model_validate({"q": q, **more}))


def test_what_is_there_is_surer_than_what_is_not(engine: LiveEngine) -> None:
    there, absent = asked(engine, "кот Барсик переехал на дачу"), asked(engine, "курс биткоина")
    assert there.answerable is not None
    assert absent.answerable is not None
    assert (there.confidence, absent.confidence) == ("high", "low")
    assert there.answerable > absent.answerable


def test_no_hit_is_dropped_for_a_low_confidence(engine: LiveEngine) -> None:
    found = asked(engine, "номер биткоина")
    assert found.confidence == "low"
    assert len(found.hits) == 10


def test_it_is_of_the_query_and_not_of_the_page(engine: LiveEngine) -> None:
    first = asked(engine, "отчёт по проекту")
    for other in ({"limit": 1}, {"offset": 20}, {"unit": "message"}, {"min_score": 0.9}, {"context": 2}):
        found = asked(engine, "отчёт по проекту", **other)
        assert (found.answerable, found.confidence) == (first.answerable, first.confidence)


def test_a_filter_is_asked_about_alone(engine: LiveEngine) -> None:
    assert asked(engine, "кот Барсик переехал на дачу", chat="home").confidence == "high"
    assert asked(engine, "кот Барсик переехал на дачу", chat="c0").confidence == "low"


def test_whoever_the_query_names_must_have_said_it(bare: LiveEngine, monkeypatch: pytest.MonkeyPatch) -> None:
    gentle = replace(RULE, same=Logistic(-5.0, 10.0), speaker=0.2)
    monkeypatch.setitem(RULES, f"hash/hash/{DIMS}/1", gentle)
    right, wrong = asked(bare, "Олег велосипед купил"), asked(bare, "Вера велосипед купил")
    assert right.hits[0].id == wrong.hits[0].id
    assert right.answerable is not None
    assert wrong.answerable is not None
    assert right.answerable > wrong.answerable


def test_what_a_filter_leaves_nothing_of_is_not_there(engine: LiveEngine) -> None:
    found = asked(engine, "кот", chat="nobody")
    assert (found.hits, found.answerable, found.confidence) == ([], 0.0, "low")


@pytest.mark.parametrize("query", ["???", "--", "😀", "\u202e"])
def test_signs_alone_ask_for_nothing_that_is_there(engine: LiveEngine, query: str) -> None:
    found = asked(engine, query)
    assert (found.answerable, found.confidence) == (0.0, "low")


@pytest.mark.parametrize("mode", ["text", "entities"])
def test_without_vectors_there_is_no_number(engine: LiveEngine, mode: str) -> None:
    found = asked(engine, "отчёт", mode=mode)
    assert (found.answerable, found.confidence) == (None, None)


def test_a_space_without_a_rule_gives_no_number(bare: LiveEngine) -> None:
    found = asked(bare, "отчёт")
    assert found.hits
    assert (found.answerable, found.confidence) == (None, None)


def test_a_search_by_meaning_has_one_too(engine: LiveEngine) -> None:
    assert asked(engine, "кот Барсик переехал на дачу", mode="vector").confidence == "high"


def test_words_that_all_stand_in_one_chunk_are_there_unless_they_ask(
    bare: LiveEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    unsure = replace(RULE, same=Logistic(-50.0, 0.0))
    monkeypatch.setitem(RULES, f"hash/hash/{DIMS}/1", unsure)
    assert asked(bare, "барсик дача").confidence == "medium"
    assert asked(bare, "велосипед красный").answerable == STATED
    for query in ("барсик велосипед", "барсик гараж", "где барсик", "и на"):
        assert asked(bare, query).confidence == "low"

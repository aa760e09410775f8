"""Every string is a query: whatever is typed, pasted or generated gets an answer."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from schemas.http import SearchRequest
from service.engine import LiveEngine
from tests.fakes.index import engine_over, published, said

MODES = ("hybrid", "vector", "text", "entities")

# Strings that have a meaning somewhere on the way: FTS5, dates, JSON, names, normal forms.
PIECES = (
    *(
        '"',
        "'",
        "*",
        "^",
        "NEAR(",
        "AND",
        "OR",
        "NOT",
        "raw:",
        "{raw lemma}:",
        "(",
        ")",
        "-",
        "+",
        "col :",
        "\\",
        "%",
        "_",
    ),
    *(
        "2026-13-45",
        "0000-00-00",
        "9999-12-31",
        "31.02",
        "99.99.99",
        "30 февраля",
        "вчера",
        "в мае 9999",
        "в 2199",
    ),
    *(
        "докер",
        "C++",
        "gpt-4o-mini",
        "Иван Петров",
        "ё",
        "е\u0308",
        "й",
        "и\u0306",
        "\u0301",
        "ﷺ",
        "ß",
        "İ",
        "ǆ",
        "ﬁ",
    ),
    *(
        "½",
        "²",
        "१२",
        "𝟙",
        "ⅷ",
        "日本",
        "👨‍👩‍👧",
        "\u202e",
        "\ufeff",
        "\u200b",
        "\ufffd",
        "\x00",
        "\x1b[0m",
        "\n",
        "\t",
        "\u2028",
    ),
    *("а" * 300, "1" * 300, "а-" * 200, "x.y" * 100, "@a", "#b", "https://a.b/c?d=e", "${x}", "{}", "[]"),
)


def queries() -> st.SearchStrategy[str]:
    anything = st.text(max_size=80)
    pieces = st.lists(st.sampled_from(PIECES) | st.text(max_size=6), max_size=12).map(" ".join)
    joined = st.lists(st.sampled_from(PIECES), max_size=6).map("".join)
    return (anything | pieces | joined).map(lambda text: text[:2000])


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LiveEngine]:
    lines = [
        said("вышла gpt-4o-mini, ставим в докер", "m1", author="Иван Петров", ts=1_772_323_200),
        said("учу C++ и Rust по AND OR NOT NEAR", "m2", author="Мария", ts=1_772_423_200),
        said("½ ² १२ 𝟙 日本 ﷺ ß İ ﬁ и\u0306 е\u0308", "m3", author="Ёж", ts=1_772_523_200),
    ]
    with engine_over(published(tmp_path_factory.mktemp("unicode"), lines)) as opened:
        yield opened


def answered(engine: LiveEngine, q: str, mode: str, unit: str) -> None:
    request = SearchRequest.model_validate(
        {"q": q, "mode": mode, "unit": unit, "explain": True, "highlight": True, "context": 1}
    )
    answer = engine.search(request)
    answer.model_dump_json()
    for hit in answer.hits:
        assert 0 < hit.score <= 1
        assert hit.explain is not None
        assert sum(leg["contribution"] for leg in hit.explain.values()) == pytest.approx(hit.score, abs=1e-4)
        assert all(0 <= start < end <= len(hit.text) for start, end in hit.highlights or [])


@settings(max_examples=200, deadline=None, derandomize=True)
@given(q=queries(), mode=st.sampled_from(MODES), unit=st.sampled_from(["chunk", "message"]))
def test_every_string_is_a_valid_query(engine: LiveEngine, q: str, mode: str, unit: str) -> None:
    answered(engine, q, mode, unit)


@pytest.mark.slow
@settings(max_examples=2000, deadline=None, derandomize=True)
@given(q=queries())
def test_2000_strings_are_valid_queries_in_every_mode_and_unit(engine: LiveEngine, q: str) -> None:
    for mode in MODES:
        for unit in ("chunk", "message"):
            answered(engine, q, mode, unit)


@settings(max_examples=100, deadline=None, derandomize=True)
@given(q=queries())
def test_every_string_is_a_valid_name_to_look_up_and_a_valid_filter(engine: LiveEngine, q: str) -> None:
    engine.entities(q, None, 10)
    for unit in ("chunk", "message"):
        request = {"q": "докер", "unit": unit, "chat": q, "author": [q], "entity": [q], "source": q}
        engine.search(SearchRequest.model_validate(request))


@pytest.mark.parametrize("q", [piece for piece in PIECES if piece.strip()])
@pytest.mark.parametrize("unit", ["chunk", "message"])
def test_what_means_something_on_the_way_is_a_word_like_any_other(
    engine: LiveEngine, q: str, unit: str
) -> None:
    for mode in MODES:
        answered(engine, q, mode, unit)


def test_a_query_of_the_greatest_length_costs_no_more_than_its_first_terms(engine: LiveEngine) -> None:
    words = " ".join(f"слово{number}" for number in range(400))[:2000]
    answered(engine, words, "hybrid", "message")

from __future__ import annotations

from pathlib import Path

import pytest

from schemas.http import Answer, SearchRequest

from .conftest import Run


@pytest.fixture
def built(work: Path, run: Run) -> Path:
    assert run("build").code == 0
    return work


def test_text_is_the_default_and_several_words_need_no_quotes(built: Path, run: Run) -> None:
    told = run("search", "кот", "Барсик")
    assert told.code == 0
    assert "Барсик" in told.out
    assert told.out.startswith("Найдено в архиве")


def test_json_is_the_answer_of_http(built: Path, run: Run) -> None:
    told = run("search", "серверов", "--json", "--limit", "3")
    answer = Answer.model_validate(told.json)
    assert told.code == 0
    assert len(answer.hits) <= 3
    assert "серверы" in answer.hits[0].text
    assert answer.query["limit"] == 3


def test_every_key_is_a_flag(run: Run) -> None:
    shown = run("search", "--help").out
    for name in SearchRequest.model_fields:
        assert name == "q" or f"--{name.replace('_', '-')}" in shown


def test_filters_may_be_repeated(built: Path, run: Run) -> None:
    hits = run("search", "запись", "--author", "Оля", "--author", "Никто", "--json").json["hits"]
    assert hits
    assert {message["author"] for hit in hits for message in hit["messages"]} == {"Оля"}


def test_the_talk_of_sub_agents_is_searched_when_asked_for(built: Path, run: Run) -> None:
    assert run("search", "запись", "--agent", "main", "--json").json["hits"]
    assert not run("search", "запись", "--agent", "worker", "--json").json["hits"]
    both = run("search", "запись", "--agent", "worker", "--agent", "main", "--json").json
    assert both["hits"]
    assert both["query"]["agent"] == ["worker", "main"]


def test_no_hit_is_exit_0(built: Path, run: Run) -> None:
    told = run("search", "щщщщ", "--mode", "text")
    assert told.code == 0
    assert "Ничего не найдено" in told.out


def test_explain_is_readable(built: Path, run: Run) -> None:
    told = run("search", "серверов", "--explain", "--limit", "2")
    assert "  score 0." in told.out
    assert "BM25" in told.out
    assert "words: сервер" in told.out


def test_markdown_is_markdown(built: Path, run: Run) -> None:
    assert "### 1." in run("search", "кот", "--format", "markdown").out


@pytest.mark.parametrize(
    ("flags", "message"),
    [
        (["кот", "--limit", "500"], "limit is '500'; it must be a whole number from 1 to 100."),
        (["кот", "--mode", "fuzzy"], "mode is 'fuzzy'; it must be one of hybrid, vector, text, entities."),
        ([" "], "The query q is empty."),
        (["а" * 2001], "The query q has 2,001 characters; at most 2,000 are read."),
    ],
)
def test_a_wrong_value_is_exit_2_with_the_message_of_http(
    built: Path, run: Run, flags: list[str], message: str
) -> None:
    told = run("search", *flags)
    assert told.code == 2
    assert told.err.startswith(f"letopis: {message} Next: ")


def test_a_flag_by_its_name_elsewhere_is_answered_with_ours(built: Path, run: Run) -> None:
    told = run("search", "кот", "--top_k", "5")
    assert told.code == 2
    assert "did you mean --limit?" in told.err


def test_without_an_index_one_line_holds_the_remedy(work: Path, run: Run) -> None:
    told = run("search", "кот")
    assert told.code == 1
    assert told.err == ("letopis: There is no index in the data folder yet. Next: run `letopis build PATH`\n")


def test_a_timeout_that_suffices_changes_nothing(built: Path, run: Run) -> None:
    assert run("search", "кот", "--timeout-ms", "60000").code == 0


@pytest.mark.parametrize("unit", ["chunk", "message"])
@pytest.mark.parametrize("query", ["серверов", "что Оля сказала про Docker 3 января", "кот не ест"])
def test_the_rows_of_an_explanation_sum_to_the_score(built: Path, run: Run, query: str, unit: str) -> None:
    answer = Answer.model_validate(run("search", query, "--explain", "--unit", unit, "--json").json)
    assert answer.hits
    for hit in answer.hits:
        given = sum(leg["contribution"] for leg in (hit.explain or {}).values())
        assert given == pytest.approx(hit.score, rel=0, abs=1e-6)
    table = run("search", query, "--explain", "--unit", unit).out
    assert table.count("leg             gives   rank  why") == len(answer.hits)
    assert all(name in table for name in ("text", "vector", "neighbours"))


def test_an_explanation_says_what_each_leg_saw(built: Path, run: Run) -> None:
    table = run("search", "что Оля сказала про серверы", "--explain", "--unit", "message").out
    assert "message text" in table
    assert "said by someone whom the query names" in table
    assert "hash/hash/" in table

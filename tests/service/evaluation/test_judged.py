from __future__ import annotations

import json
from pathlib import Path

import pytest

from schemas.problems import SettingsError
from service.evaluation.judged import JudgedQuery, JudgedSet, read_queries


def written(path: Path, *lines: object) -> Path:
    path.write_text("".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines), "utf-8")
    return path


def test_both_spellings_of_the_keys_are_read(tmp_path: Path) -> None:
    path = written(
        tmp_path / "q.jsonl",
        {"text": "где кот", "relevant": ["m1", "m2", "m1"], "chat": "family", "kind": "name"},
        {"q": "где пёс", "rel": [7]},
    )
    assert read_queries(path) == [
        JudgedQuery("где кот", ("m1", "m2"), "family", "name", answerable=True),
        JudgedQuery("где пёс", ("7",), None, "", answerable=True),
    ]


def test_without_gold_a_query_is_unanswerable_unless_it_says_otherwise(tmp_path: Path) -> None:
    path = written(
        tmp_path / "q.jsonl",
        {"text": "a", "relevant": []},
        {"text": "b"},
        {"text": "c", "answerable": True},
        {"text": "d", "relevant": ["m1"], "answerable": False},
    )
    assert [query.answerable for query in read_queries(path)] == [False, False, True, False]


@pytest.mark.parametrize(
    "line",
    [
        '{"relevant": ["m1"]}',
        '{"text": "  "}',
        '{"text": 5}',
        '{"text": "a", "relevant": "m1"}',
        '{"text": "a", "answerable": "no"}',
        '["a"]',
        "null",
        "{",
    ],
)
def test_a_line_that_is_no_query_is_named(tmp_path: Path, line: str) -> None:
    path = tmp_path / "q.jsonl"
    path.write_text('{"text": "good"}\n\n' + line + "\n", "utf-8")
    with pytest.raises(SettingsError, match=r"Line 3 of q\.jsonl is no judged query"):
        read_queries(path)


def test_an_empty_file_says_so(tmp_path: Path) -> None:
    (tmp_path / "q.jsonl").write_text("\n", "utf-8")
    with pytest.raises(SettingsError, match="holds no judged query"):
        read_queries(tmp_path / "q.jsonl")


def test_a_part_is_taken_evenly_and_by_kind() -> None:
    whole = JudgedSet("s", [JudgedQuery(str(at), kind="even" if at % 2 == 0 else "odd") for at in range(10)])
    assert [query.text for query in whole.of_kinds(["odd"]).queries] == ["1", "3", "5", "7", "9"]
    assert [query.text for query in whole.first(5).queries] == ["0", "2", "4", "6", "8"]
    assert whole.first(20) is whole
    assert whole.first(None) is whole
    assert whole.of_kinds([]).queries == whole.queries

from __future__ import annotations

import json
import logging
import stat
from datetime import UTC, datetime
from pathlib import Path

import pytest

from schemas.http import SearchRequest
from service import empty_searches
from service.empty_searches import EmptySearches
from tests.fakes.index import engine_over, published, said

NOW = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
MISS = SearchRequest(q="щщщщ", mode="text", chat=["talk"], limit=3)


def test_a_search_without_a_hit_is_noted_with_its_filters_and_one_with_a_hit_is_not(tmp_path: Path) -> None:
    path = tmp_path / "empty.jsonl"
    settings = published(tmp_path, [said("кот Барсик", "m1")], quality={"log_empty": path})
    with engine_over(settings) as engine:
        assert engine.search(SearchRequest(q="Барсик", mode="text")).hits
        assert not path.exists()
        assert not engine.search(MISS).hits
    (line,) = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
    assert set(line) == {"at", "q", "filters"}
    assert (line["q"], line["filters"]) == ("щщщщ", {"chat": ["talk"]})
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_without_the_setting_nothing_is_written(tmp_path: Path) -> None:
    settings = published(tmp_path / "x", [said("кот Барсик", "m1")])
    before = sorted(path.name for path in tmp_path.rglob("*"))
    with engine_over(settings) as engine:
        engine.search(MISS)
    assert sorted(path.name for path in tmp_path.rglob("*")) == before


def test_a_page_past_the_last_hit_is_no_miss(tmp_path: Path) -> None:
    EmptySearches(tmp_path / "empty.jsonl").note(SearchRequest(q="кот", offset=10), NOW)
    assert not list(tmp_path.iterdir())


def test_a_full_file_takes_no_more_and_says_so_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(empty_searches, "LIMIT", 200)
    path = tmp_path / "empty.jsonl"
    searches = EmptySearches(path)
    with caplog.at_level(logging.WARNING, "letopis.empty_searches"):
        for _ in range(9):
            searches.note(MISS, NOW)
    assert 0 < path.stat().st_size <= 200
    assert len(caplog.records) == 1


def test_a_file_that_cannot_be_written_does_not_fail_the_search(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    searches = EmptySearches(tmp_path / "missing" / "empty.jsonl")
    with caplog.at_level(logging.WARNING, "letopis.empty_searches"):
        searches.note(MISS, NOW)
        searches.note(MISS, NOW)
    assert len(caplog.records) == 1

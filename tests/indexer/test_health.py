"""Sources that do not tell what they used to: named in the report and in the status, exit 3."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from indexer import reading
from indexer.accounting import Account
from indexer.health import DAY_MS, NEWS_MS, Finding, of_file, of_rhythm
from schemas.records import Dropped, Message, Skipped
from tests.fakes.archive import Home, said

NOW = 20_000 * DAY_MS


def account(messages: int = 0, unknown: int = 0, **noise: int) -> Account:
    made = Account()
    for number in range(messages):
        made.take(Message("talk", str(number), "jsonl", "user", "слово", f"a.jsonl:{number}", at=NOW))
    for _ in range(unknown):
        made.take(Skipped("a.jsonl", "an unknown type", ""))
    for kind, count in noise.items():
        made.take(Dropped(kind, 10 * count, count))
    return made


def ailment(
    size: int, now: Account, before: tuple[int, Account] | None = None, changed: int = 0
) -> str | None:
    found = of_file("a.jsonl", size, now, before, changed, NOW)
    return found.ailment if found else None


def test_a_source_that_grew_and_gave_nothing_new_is_silent() -> None:
    before = (5_000, account(10))
    assert ailment(9_000, account(10), before) == "silent"
    assert ailment(9_000, account(10, empty=7), before) == "silent"
    assert ailment(9_000, account(10, tool_result=1), before) is None
    assert ailment(9_000, account(11), before) is None
    assert ailment(9_000, account(10), before, changed=1) is None
    assert ailment(5_000, account(10), before) is None
    assert ailment(2_000, account(3), before) is None


def test_a_new_file_that_gives_nothing_at_all_is_silent_unless_it_is_small() -> None:
    assert ailment(2_000, account()) == "silent"
    assert ailment(300, account()) is None
    assert ailment(2_000, account(heartbeat=3)) is None


@pytest.mark.parametrize(
    ("messages", "unknown", "expected"),
    [(100, 5, None), (100, 6, "unknown"), (10, 1, None), (10, 2, "unknown"), (0, 2, "unknown")],
)
def test_over_five_percent_of_unknown_records_are_named(
    messages: int, unknown: int, expected: str | None
) -> None:
    assert ailment(500, account(messages, unknown)) == expected


def test_a_living_source_is_quiet_past_its_longest_gap() -> None:
    days = [100, 101, 103, 104, 108, 109]
    assert of_rhythm("x", days, 113 * DAY_MS, None) is None
    quiet = of_rhythm("x", days, 114 * DAY_MS, None)
    assert quiet is not None
    assert "nothing new for 5 days, its longest gap was 4" in quiet.sentence
    assert of_rhythm("x", days[:4], 200 * DAY_MS, None) is None  # too little is known of it


def test_a_finding_is_news_for_a_week() -> None:
    found = Finding("x", "quiet", "…", NOW)
    assert found.is_news(NOW + NEWS_MS - 1)
    assert not found.is_news(NOW + NEWS_MS)


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path)


def changed_format(chat: str, count: int) -> list[dict[str, object]]:
    """The same talk from a tool that has renamed the key of the text."""
    return [{**line, "content": "", "body": line["content"]} for line in said(chat, count)]


def test_a_tool_that_changed_its_format_is_named_in_report_and_status_with_exit_3(home: Home) -> None:
    home.write("talk.jsonl", said("дом", 30))
    assert home.build().exit == 0
    home.write("talk.jsonl", [*said("дом", 30), *changed_format("дом", 40)[30:]])
    report = home.build()
    assert report.exit == 3
    assert [finding.ailment for finding in report.health] == ["silent"]
    assert any("talk.jsonl: it grew by" in fault and "0 new messages" in fault for fault in report.faults)
    with home.engine() as engine:
        status = engine.status()
    assert status["sources"][0]["health"] == "silent"
    assert status["health"] == [report.health[0].sentence]
    assert home.build().exit == 3  # as long as it is news


def test_a_source_that_talks_again_is_well(home: Home) -> None:
    home.write("talk.jsonl", said("дом", 30))
    home.build()
    home.write("talk.jsonl", [*said("дом", 30), *changed_format("дом", 40)[30:]])
    home.build()
    home.write("talk.jsonl", said("дом", 45))
    report = home.build()
    assert (report.exit, report.health) == (0, [])
    with home.engine() as engine:
        status = engine.status()
    assert (status["sources"][0]["health"], status["health"]) == ("ok", [])


def test_unknown_records_are_a_finding_and_one_broken_line_is_not(home: Home) -> None:
    lines = [json.dumps(line, ensure_ascii=False) for line in said("дом", 20)]
    home.write("talk.jsonl", "\n".join([*lines, "[1]", ""]))
    assert home.build().exit == 0
    home.write("talk.jsonl", "\n".join([*lines, "[1]", "[2]", "[3]", ""]))
    report = home.build()
    assert report.exit == 3
    assert "3 of 23 records (13%) were not understood" in report.health[0].sentence


def test_a_file_that_fits_no_reader_any_more_is_named(home: Home) -> None:
    home.write("talk.jsonl", said("дом", 20))
    home.build()
    home.write("talk.jsonl", b"\x00\x01 something else altogether " * 100)
    report = home.build()
    assert report.exit == 3
    assert "it was read as jsonl and fits no reader now" in report.health[0].sentence
    assert home.messages() == 20  # an archive remembers


def test_a_source_that_grew_night_by_night_and_stopped_is_named(
    home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    daily = [{**line, "ts": (20_000 + number) * DAY_MS} for number, line in enumerate(said("дом", 12))]
    for night in (8, 10, 12):
        home.write("talk.jsonl", daily[:night])
        monkeypatch.setattr(reading.time, "time_ns", lambda day=20_000 + night: day * DAY_MS * 1_000_000)
        assert home.build().exit == 0
    monkeypatch.setattr(reading.time, "time_ns", lambda: 20_020 * DAY_MS * 1_000_000)
    report = home.build()
    assert report.exit == 3
    assert "jsonl in archive: nothing new for 9 days" in report.health[0].sentence
    with home.engine() as engine:
        assert engine.status()["health"] == [report.health[0].sentence]
    monkeypatch.setattr(reading.time, "time_ns", lambda: 20_030 * DAY_MS * 1_000_000)
    report = home.build()
    assert report.exit == 0  # no news any more, but not forgotten
    assert len(report.health) == 1


def test_an_export_that_never_grew_is_never_quiet(home: Home) -> None:
    home.write("talk.jsonl", said("дом", 30))
    for _ in range(3):
        assert home.build().health == []

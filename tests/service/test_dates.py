from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from service.dates import windows

MOSCOW = ZoneInfo("Europe/Moscow")
NOW = datetime(2026, 3, 18, 22, 30, tzinfo=UTC)  # already the 19th in Moscow
NEWEST = int(datetime(2026, 3, 10, 12, tzinfo=UTC).timestamp() * 1000)


def days(query: str, newest: int | None = NEWEST) -> list[tuple[date, date]]:
    """Windows as first day and the day after the last one, in the zone."""
    return [
        (
            datetime.fromtimestamp(begin / 1000, MOSCOW).date(),
            datetime.fromtimestamp(end / 1000, MOSCOW).date(),
        )
        for begin, end in windows(query, MOSCOW, NOW, newest)
    ]


def day(year: int, month: int, number: int, length: int) -> list[tuple[date, date]]:
    start = date(year, month, number)
    return [(start, start + timedelta(days=length))]


@pytest.mark.parametrize(
    ("query", "window"),
    [
        ("что было 8 мая 2023 года", day(2023, 5, 8, 8)),
        ("встреча 8-го мая 2023", day(2023, 5, 8, 8)),
        ("8 March 2024", day(2024, 3, 8, 8)),
        ("March 8th, 2024", day(2024, 3, 8, 8)),
        ("2024-05-08", day(2024, 5, 8, 8)),
        ("за 2024-05", day(2024, 5, 1, 38)),
        ("08.05.2024", day(2024, 5, 8, 8)),
        ("8.05.24", day(2024, 5, 8, 8)),
        ("что решили в январе", day(2026, 1, 1, 38)),
        ("что решили в декабре", day(2025, 12, 1, 38)),  # the last one before the newest message
        ("8 марта", day(2026, 3, 8, 8)),
        ("12 марта", day(2025, 3, 12, 8)),
        ("в 2024", day(2024, 1, 1, 366)),
        ("вчера", day(2026, 3, 18, 1)),
        ("позавчера", day(2026, 3, 17, 1)),
        ("сегодня", day(2026, 3, 19, 1)),
        ("yesterday", day(2026, 3, 18, 1)),
        ("в мае", day(2025, 5, 1, 38)),
    ],
)
def test_a_query_names_the_days_that_its_evidence_may_fall_into(
    query: str, window: list[tuple[date, date]]
) -> None:
    assert days(query) == window


@pytest.mark.parametrize(
    "query",
    [
        "версия 3.5",
        "3.5 и 10.2",
        "мая",
        "you may go",
        "march on",
        "31.02.2024",
        "2024-13-45",
        "порт 2024",
        "32 мая 2023",
        "маяк и карта",
        "",
        "сорок второе мартобря",
    ],
)
def test_what_is_no_date_opens_no_window(query: str) -> None:
    assert days(query) == []


def test_without_a_dated_message_the_year_is_counted_from_now() -> None:
    assert days("12 марта", None) == day(2026, 3, 12, 8)


@settings(max_examples=300, deadline=None, derandomize=True)
@given(
    text=st.text(max_size=60)
    | st.lists(
        st.sampled_from(
            [
                "31",
                "29",
                "0",
                "00",
                "99",
                "9999",
                "0001",
                "января",
                "февраля",
                "мая",
                "may",
                ".",
                "-",
                "в",
                "of",
            ]
        ),
        max_size=8,
    ).map(" ".join)
    | st.from_regex(r"\d{1,4}[-.]\d{1,2}[-.]\d{1,4}", fullmatch=True),
    newest=st.none() | st.integers(0, 4_000_000_000_000),
)
def test_any_text_gives_windows_that_end_after_they_begin(text: str, newest: int | None) -> None:
    for zone in (MOSCOW, UTC):
        for begin, end in windows(text, zone, NOW, newest):
            assert begin < end

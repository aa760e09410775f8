"""Times and derived ids."""

from __future__ import annotations

from datetime import UTC
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given, seed, settings
from hypothesis import strategies as st

from indexer.archives import derived_id
from indexer.archives.times import LATEST, parse_time
from tests.indexer.archives.reading import MOSCOW


@pytest.mark.parametrize(
    "value",
    [
        1740808800,
        1740808800.0,
        1740808800000,
        1740808800000000,
        1740808800000000000,
        "1740808800",
        " 1740808800000 ",
        "1740808800.000",
        Decimal(1740808800),
        "2025-03-01T06:00:00Z",
        "2025-03-01T09:00:00+03:00",
        "2025-03-01 09:00:00",
        "2025-03-01T09:00:00.0000000",
        "2025-03-01 06:00:00 UTC",
        "20250301T090000",
    ],
)
def test_every_form_is_the_same_moment(value: Any) -> None:
    assert parse_time(value, MOSCOW) == 1740808800000


def test_eight_digits_are_a_day_not_seconds() -> None:
    assert parse_time("20250301", UTC) == 1740787200000


@pytest.mark.parametrize(
    "value", ["", "0", 0, -1, True, float("nan"), float("inf"), 10**30, "9" * 19 + "0" * 9, b"1"]
)
def test_what_is_no_time_is_none(value: Any) -> None:
    assert parse_time(value, UTC) is None


@seed(20260308)
@settings(max_examples=300, deadline=None)
@given(value=st.text(max_size=30) | st.integers() | st.floats() | st.datetimes().map(str))
def test_any_value_is_a_time_in_range_or_none(value: Any) -> None:
    found = parse_time(value, MOSCOW)
    assert found is None or 0 < found < LATEST


def test_a_derived_id_is_frozen_and_hangs_on_each_part() -> None:
    # Frozen: a changed id would orphan every vector that was paid for.
    assert derived_id("чат", "Иван", 1740808800000, "да") == "h_23b029309ffd8fe0"
    parts: list[tuple[str, str | None, int | None, str, int]] = [
        ("чат", "Иван", 1, "да", 0),
        ("ча", "тИван", 1, "да", 0),
        ("чат", None, 1, "да", 0),
        ("чат", "Иван", None, "да", 0),
        ("чат", "Иван", 1, "да", 1),
    ]
    assert len({derived_id(*part) for part in parts}) == len(parts)

from __future__ import annotations

from typing import get_args

import pytest

from schemas.problems import STATUS, Code, LetopisError, Quota, RequestError, SettingsError


def test_every_code_of_the_closed_list_has_a_status_of_an_error() -> None:
    assert set(STATUS) == set(get_args(Code))
    assert all(400 <= status < 600 for status in STATUS.values())


def test_a_problem_is_one_line_that_ends_with_the_next_step() -> None:
    assert SettingsError("Size 0 is less than 1.", "set it to 600").line() == (
        "Size 0 is less than 1. Next: set it to 600"
    )
    assert LetopisError("Broken.").line() == "Broken."


@pytest.mark.parametrize("code, status", [("overloaded", 503), ("query_empty", 422), ("timeout", 504)])
def test_a_request_error_knows_its_status(code: Code, status: int) -> None:
    assert RequestError(code, "x").status == status


def test_a_quota_says_how_long_to_wait() -> None:
    assert Quota("slow down", 2.5).wait == 2.5

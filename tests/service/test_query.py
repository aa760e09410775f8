from __future__ import annotations

import contextlib
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from schemas.http import SearchRequest
from schemas.problems import RequestError
from service.query import MAX_TERMS, filter_of, shown_time, terms_of

MOSCOW = ZoneInfo("Europe/Moscow")
NOW = datetime(2026, 3, 18, 12, 30, tzinfo=UTC)


def ms(*moment: int) -> int:
    return int(datetime(*moment, tzinfo=UTC).timestamp() * 1000)  # type: ignore[arg-type, misc]


def since(text: str) -> int | None:
    return filter_of(SearchRequest(q="q", since=text), MOSCOW, NOW).since


def until(text: str) -> int | None:
    return filter_of(SearchRequest(q="q", until=text), MOSCOW, NOW).until


@pytest.mark.parametrize(
    ("text", "moment"),
    [
        ("2026-03-18", ms(2026, 3, 17, 21)),
        ("2026-03-18T10:00", ms(2026, 3, 18, 7)),
        ("2026-03-18 10:00:30", ms(2026, 3, 18, 7, 0, 30)),
        ("2026-03-18T10:00Z", ms(2026, 3, 18, 10)),
        ("2026-03-18T10:00+05:00", ms(2026, 3, 18, 5)),
        ("30d", ms(2026, 2, 16, 12, 30)),
        ("2h", ms(2026, 3, 18, 10, 30)),
        ("1w", ms(2026, 3, 11, 12, 30)),
        (" 1D ", ms(2026, 3, 17, 12, 30)),
    ],
)
def test_since_is_read_in_the_zone_of_the_settings(text: str, moment: int) -> None:
    assert since(text) == moment


def test_until_holds_its_last_day_and_its_last_shown_second() -> None:
    assert until("2026-03-18") == ms(2026, 3, 18, 21) - 1
    assert until("2026-03-18T10:00:00Z") == ms(2026, 3, 18, 10) + 999
    assert until("2026-03-18T10:00:00.250Z") == ms(2026, 3, 18, 10) + 250


@pytest.mark.parametrize(
    "text",
    ["", "завтра", "2026", "2026-13-01", "2026-02-30", "10:00", "1d1h", "-5d", "99999y", "9999-99-99", "٣"],
)
def test_a_time_that_is_none_is_named_with_its_key(text: str) -> None:
    for read, key in ((since, "since"), (until, "until")):
        with pytest.raises(RequestError) as caught:
            read(text)
        assert caught.value.errors[0][0] == key


@settings(max_examples=200, deadline=None, derandomize=True)
@given(text=st.text(max_size=25))
def test_any_text_is_a_time_or_a_named_fault(text: str) -> None:
    for read in (since, until):
        with contextlib.suppress(RequestError):
            read(text)


@settings(max_examples=100, deadline=None, derandomize=True)
@given(at=st.datetimes(datetime(1990, 1, 1), datetime(2100, 1, 1)))
def test_a_shown_time_taken_as_both_bounds_keeps_its_message(at: datetime) -> None:
    stamp = int(at.replace(tzinfo=UTC).timestamp() * 1000)
    shown = shown_time(stamp)
    assert shown is not None
    both = filter_of(SearchRequest(q="q", since=shown, until=shown), MOSCOW, NOW)
    assert both.since is not None
    assert both.until is not None
    assert both.since <= stamp <= both.until


def words(text: str) -> list[str]:
    return [term.word for term in terms_of(text)]


def test_stop_words_count_for_nothing_unless_there_is_nothing_else() -> None:
    assert words("что мы решили по графу") == ["решили", "графу"]
    assert words("что по чём") != []
    assert all(term.lemmas == () for term in terms_of("что и как"))


def test_a_compound_is_one_term_of_tokens_side_by_side() -> None:
    assert [term.raw for term in terms_of("gpt-4o-mini foo.bar() C:\\Users")] == [
        ("gpt", "4o", "mini"),
        ("foo", "bar"),
        ("c", "users"),
    ]
    assert [term.raw for term in terms_of("don't")] == [("don", "t")]


def test_a_word_is_sought_by_every_lemma_it_may_have() -> None:
    (term,) = terms_of("серверов")
    assert ("сервер",) in term.lemmas
    assert term.raw == ("серверов",)


def test_what_a_word_may_have_been_meant_for_is_sought_beside_it() -> None:
    (term,) = terms_of("серверав", {"серверав": ("серверам", "сервера")})
    assert term.raw == ("серверав",)
    assert term.lemmas.count(("сервер",)) == 1
    (compound,) = terms_of("docker-serverav", {"serverav": ("сервера",)})
    assert ("docker", "сервер") in compound.lemmas
    assert terms_of("серверов", {"другое": ("слово",)}) == terms_of("серверов")


def test_words_are_counted_once_and_capped() -> None:
    assert words("граф Граф ГРАФ") == ["граф"]
    assert len(terms_of(" ".join(f"слово{number}" for number in range(100)))) == MAX_TERMS


@settings(max_examples=200, deadline=None, derandomize=True)
@given(text=st.text(max_size=200))
def test_terms_hold_letters_and_digits_alone(text: str) -> None:
    for term in terms_of(text):
        assert term.raw
        for token in (*term.raw, *(token for tokens in term.lemmas for token in tokens)):
            assert token
            assert '"' not in token


def test_since_after_until_is_a_fault() -> None:
    with pytest.raises(RequestError):
        filter_of(SearchRequest(q="q", since="1d", until="2d"), MOSCOW, NOW)
    same = filter_of(SearchRequest(q="q", since="1d", until="1d"), UTC, NOW)
    assert same.since == int((NOW - timedelta(days=1)).timestamp() * 1000)

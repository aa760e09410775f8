from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from schemas.problems import RequestError
from service.requests import (
    ChunkRequest,
    EntitiesRequest,
    GraphRequest,
    PathsRequest,
    pairs_of_body,
    pairs_of_query,
    parse,
    parse_search,
)

CASES = Path(__file__).parent.parent / "cases"
FORM = "application/x-www-form-urlencoded"


def refused(call: Any, *arguments: Any) -> RequestError:
    with pytest.raises(RequestError) as caught:
        call(*arguments)
    return caught.value


def test_the_same_keys_mean_the_same_in_a_url_a_form_and_json() -> None:
    keys = {"q": "граф сущностей", "limit": 5, "chat": ["а", "б"], "explain": True, "min_score": 0.25}
    text = urlencode(
        [
            ("q", keys["q"]),
            ("limit", 5),
            ("chat", "а"),
            ("chat", "б"),
            ("explain", "yes"),
            ("min_score", ".25"),
        ]
    )
    from_url = parse_search(pairs_of_query(text.encode()))
    from_form = parse_search(pairs_of_body(text.encode(), FORM))
    from_json = parse_search(pairs_of_body(json.dumps(keys).encode(), "application/json"))
    assert from_url == from_form == from_json
    assert (from_url.q, from_url.limit, from_url.chat, from_url.explain) == (
        "граф сущностей",
        5,
        ["а", "б"],
        True,
    )


def test_a_form_may_hold_raw_utf8_as_curl_sends_it() -> None:
    assert parse_search(pairs_of_body("q=граф сущностей\n".encode(), FORM)).q == "граф сущностей"


@pytest.mark.parametrize("written", ["true", "1", "yes", "True", "YES"])
def test_yes_is_written_in_several_ways(written: str) -> None:
    assert parse_search([("q", "x"), ("explain", written)]).explain


@pytest.mark.parametrize("written", ["false", "0", "no"])
def test_no_is_written_in_several_ways(written: str) -> None:
    assert not parse_search([("q", "x"), ("strict", written)]).strict


@pytest.mark.parametrize(
    ("key", "meant"),
    [("lim1t", "limit"), ("top_k", "limit"), ("query", "q"), ("Limit", "limit"), ("от", "known")],
)
def test_an_unknown_key_is_named_with_the_one_that_was_meant(key: str, meant: str) -> None:
    error = refused(parse_search, [("q", "x"), (key, "1")])
    assert error.code == "invalid_parameter"
    assert key in error.message
    assert meant in error.hint
    assert error.errors[0][0] == key


@pytest.mark.parametrize(
    ("key", "value", "words"),
    [
        ("limit", "0", "limit is '0'; it must be a whole number from 1 to 100"),
        ("limit", 4097, "limit is 4097; it must be a whole number from 1 to 100"),
        ("limit", "ten", "from 1 to 100"),
        ("limit", "", "from 1 to 100"),
        ("limit", 10**400, "from 1 to 100"),
        ("limit", 1.5, "from 1 to 100"),
        ("offset", "1001", "from 0 to 1000"),
        ("context", "6", "from 0 to 5"),
        ("min_score", "1.1", "a number from 0.0 to 1.0"),
        ("min_score", "nan", "a number from 0.0 to 1.0"),
        ("min_score", float("inf"), "a number from 0.0 to 1.0"),
        ("timeout_ms", "0", "from 1 to 60000"),
        ("max_chars", "0", "from 1 to 100000"),
        ("mode", "hybird", "one of hybrid, vector, text, entities"),
        ("format", "xml", "one of json, text, markdown"),
        ("highlight", "ja", "true or false"),
        ("q", ["a"], "it must be text"),
        ("q", (("a", 1),), "q is an object; it must be text"),
        ("since", 5, "it must be text"),
        ("chat", (("id", 1),), "chat is an object; it must be text"),
        ("chat", [["x"]], "it must be text"),
    ],
)
def test_a_value_out_of_range_names_key_bounds_and_value(key: str, value: Any, words: str) -> None:
    error = refused(parse_search, [*([] if key == "q" else [("q", "x")]), (key, value)])
    assert error.code == "invalid_parameter"
    assert error.errors[0][0] == key
    assert words in error.message


def test_all_wrong_keys_are_told_at_once() -> None:
    error = refused(parse_search, [("q", "x"), ("limit", "0"), ("offset", "-1"), ("what", "1")])
    assert {where for where, _ in error.errors} == {"limit", "offset", "what"}


def test_a_single_key_given_twice_is_refused() -> None:
    assert (
        "limit is given more than once"
        in refused(parse_search, pairs_of_query(b"q=x&limit=1&limit=2")).message
    )
    assert (
        "q is given"
        in refused(parse_search, pairs_of_body(b'{"q": "a", "q": "b"}', "application/json")).message
    )


@pytest.mark.parametrize("pairs", [[], [("q", "")], [("q", " \u00a0\n")], [("q", None)]])
def test_a_query_of_nothing_is_empty(pairs: list[tuple[str, Any]]) -> None:
    assert refused(parse_search, pairs).code == "query_empty"


def test_two_thousand_characters_are_read_and_one_more_is_not() -> None:
    assert len(parse_search([("q", "😀" * 2000)]).q) == 2000
    error = refused(parse_search, [("q", "😀" * 2001)])
    assert error.code == "query_too_long"
    assert "2,001" in error.message
    assert "2,000" in error.message


def test_bytes_that_are_not_utf8_are_refused_but_a_real_replacement_character_is_searched() -> None:
    error = refused(pairs_of_query, b"q=%EF%F0%E8%E2%E5%F2")
    assert "not UTF-8" in error.message
    assert "--data-urlencode" in error.hint
    assert refused(pairs_of_body, "q=привет".encode("cp1251"), FORM).code == "invalid_parameter"
    assert refused(pairs_of_body, '{"q":"привет"}'.encode("cp1251"), "").code == "invalid_parameter"
    assert parse_search(pairs_of_query(b"q=%EF%BF%BD")).q == "\ufffd"


def test_json_in_a_form_is_read_as_json() -> None:
    assert parse_search(pairs_of_body('{"q":"привет"}'.encode(), FORM)).q == "привет"
    assert parse_search(pairs_of_body(b'\xef\xbb\xbf {"q":"x"}', "text/plain")).q == "x"


def test_a_lone_surrogate_becomes_a_replacement_character() -> None:
    assert parse_search(pairs_of_body(rb'{"q": "a\ud83d"}', "application/json")).q == "a\ufffd"
    assert parse_search([("q", "a\udcff"), ("chat", "\ud800")]).chat == ["\ufffd"]


def test_null_is_the_same_as_not_given() -> None:
    request = parse_search(pairs_of_body(b'{"q": "x", "limit": null, "chat": null}', "application/json"))
    assert (request.limit, request.chat) == (10, [])


@pytest.mark.parametrize(
    ("body", "kind"),
    [
        (b"[1]", "application/json"),
        (b"5", "application/json"),
        (b"", "application/json"),
        (b'{"q": ', FORM),
        (b'{"q": ' + b"[" * 60_000, "application/json"),
        (b'{"limit": ' + b"9" * 5_000 + b"}", "application/json"),
        (b"--x\r\n", "multipart/form-data; boundary=x"),
        (b"q=x", "text/plain"),
    ],
)
def test_a_body_that_is_neither_form_nor_object_is_explained(body: bytes, kind: str) -> None:
    error = refused(pairs_of_body, body, kind)
    assert error.code == "invalid_parameter"
    assert "q" in error.hint


def test_case_35_limits_out_of_range_are_refused_and_the_others_read() -> None:
    lines = (CASES / "35_vec_k_limits" / "requests.jsonl").read_text("utf-8").splitlines()
    for line in filter(str.strip, lines):
        wanted = json.loads(line)
        pairs = [("q", "x"), *pairs_of_body(line.encode(), "application/json")]
        if 1 <= wanted["limit"] <= 100:
            assert parse_search(pairs).limit == wanted["limit"]
        else:
            assert str(wanted["limit"]) in refused(parse_search, pairs).message


def test_lookups_are_as_strict_as_the_search() -> None:
    assert parse(ChunkRequest, [("before", "2")]) == ChunkRequest(before=2)
    assert "from 0 to 5" in refused(parse, ChunkRequest, [("after", "6")]).message
    assert "from 1 to 100" in refused(parse, EntitiesRequest, [("limit", "101")]).message
    assert parse(PathsRequest, [("from", "а"), ("to", "б")]).from_ == "а"
    assert "from is missing; it must be text" in refused(parse, PathsRequest, [("to", "б")]).message
    assert "did you mean from?" in refused(parse, PathsRequest, [("form", "а"), ("to", "б")]).hint
    assert "from 1 to 2" in refused(parse, GraphRequest, [("entity", "а"), ("depth", "3")]).message
    assert "one of mentions, recency" in refused(parse, EntitiesRequest, [("sort", "name")]).message
    assert "2,001 characters" in refused(parse, EntitiesRequest, [("q", "x" * 2001)]).message


@given(st.lists(st.tuples(st.text(max_size=8), st.text(max_size=12)), max_size=6))
@settings(max_examples=200, deadline=None, derandomize=True)
def test_any_pairs_survive_the_url_or_are_refused_with_a_reason(pairs: list[tuple[str, str]]) -> None:
    clean = [(key, value) for key, value in pairs if key or value]
    try:
        text = urlencode(clean).encode()
    except UnicodeEncodeError:  # lone surrogates have no URL form
        return
    assert pairs_of_query(text) == clean
    try:
        parse_search(clean)
    except RequestError as error:
        refused = error
        assert refused.errors or refused.code.startswith("query_")

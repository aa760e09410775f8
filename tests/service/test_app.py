from __future__ import annotations

import asyncio
import json
import logging
from typing import Any
from urllib.parse import quote

import httpx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from schemas.problems import (
    STATUS,
    IndexCorrupt,
    IndexMissing,
    LedgerBusy,
    Outage,
    RequestError,
)
from schemas.settings import Service, Settings
from service.app import create_app
from tests.fakes.engine import FakeEngine, hit
from tests.fakes.http import ask

APP = create_app(FakeEngine(), Settings())


def get(url: str, engine: FakeEngine | None = None, **more: Any) -> httpx.Response:
    return ask(create_app(engine, Settings()) if engine else APP, "GET", url, **more)


def post(**more: Any) -> httpx.Response:
    return ask(APP, "POST", "/v1/search", **more)


def problem(response: httpx.Response, code: str) -> dict[str, Any]:
    body: dict[str, Any] = response.json()
    assert response.headers["content-type"] == "application/problem+json"
    assert body["code"] == code
    assert body["status"] == response.status_code == STATUS[code]  # type: ignore[index]
    assert body["instance"] == response.headers["x-request-id"]
    assert body["type"] == f"urn:letopis:problem:{code}"
    assert set(body) == {"type", "title", "status", "detail", "instance", "code", "hint", "errors"}
    return body


def test_get_form_and_json_are_one_search() -> None:
    engine = FakeEngine()
    app = create_app(engine, Settings())
    for response in (
        ask(app, "GET", "/v1/search", params={"q": "граф", "limit": "3"}),
        ask(app, "POST", "/v1/search", data={"q": "граф", "limit": "3"}),
        ask(app, "POST", "/v1/search", json={"q": "граф", "limit": 3}),
        ask(app, "POST", "/v1/search?limit=3", json={"q": "граф"}),
    ):
        assert response.status_code == 200
    assert all(asked == engine.asked[0] for asked in engine.asked)


def test_json_is_utf8_and_never_escaped() -> None:
    response = get("/v1/search?q=" + quote("привет"))
    assert response.headers["content-type"] == "application/json"
    assert "привет".encode() in response.content
    assert b"\\u" not in response.content
    assert "чат".encode() in get("/v1/status").content


def test_the_shape_of_a_search_answer_is_frozen() -> None:
    assert get("/v1/search?q=x&limit=1").json() == {
        "query": {"q": "x", "limit": 1},
        "hits": [
            {
                "id": "c_1",
                "score": 0.73,
                "text": "Иван: привет, C++ и gpt-4o",
                "highlights": None,
                "chat": {"id": "chat-1", "title": "Переезд"},
                "source": "openclaw",
                "at": "2026-03-18T10:02:00Z",
                "messages": [{"id": "m1", "author": "Иван", "role": "user", "at": None, "span": [6, 26]}],
                "entities": [],
                "before": None,
                "after": None,
                "also": [],
                "explain": None,
            }
        ],
        "answerable": None,
        "confidence": None,
        "repaired": {},
        "degraded": [],
        "untrusted": True,
        "index": {"generation": "000042", "built_at": "2026-03-18T01:00:00Z", "stale": []},
        "took_ms": 2.4,
    }


def test_the_shapes_of_the_lookups_are_frozen() -> None:
    chunk = get("/v1/chunks/c_1?before=1&after=5").json()
    assert set(chunk) == {
        *("id", "text", "chat", "source", "at", "messages"),
        *("entities", "before", "after", "untrusted", "index"),
    }
    listed = get("/v1/entities?q=докер&type=NAME&limit=100").json()
    assert listed["query"] == {"q": "докер", "type": "NAME", "limit": 100, "sort": "mentions"}
    assert listed["entities"] == [
        {"id": 7, "name": "Docker", "type": "NAME", "mentions": 3, "first_at": None, "last_at": None}
    ]
    entity = get("/v1/entities/7").json()
    assert set(entity) == {
        *("id", "name", "type", "mentions", "aliases", "relations", "newest", "untrusted", "index"),
    }
    assert set(entity["relations"][0]) == {
        *("predicate", "entity", "object", "count", "npmi", "first_at", "last_at", "evidence"),
    }
    assert entity["aliases"] == [{"name": "докер", "count": 2, "ambiguous": []}]
    paths = get("/v1/paths?from=докер&to=7&limit=2").json()
    assert set(paths) == {"query", "from", "to", "paths", "untrusted", "index"}
    assert paths["query"] == {"from": "докер", "to": "7", "limit": 2}
    assert paths["paths"][0]["steps"][0] == {
        "predicate": "together",
        "reverse": False,
        "from": paths["from"],
        "to": paths["to"],
        "count": 1,
        "weight": 0.025,
        "npmi": None,
        "first_at": None,
        "last_at": None,
        "evidence": None,
        "text": None,
    }
    assert (paths["paths"][0]["weakest"], paths["paths"][0]["hub"]) == (0.025, False)
    picture = get("/v1/graph?entity=докер&depth=2&limit=100").json()
    assert picture["query"] == {"entity": "докер", "depth": 2, "limit": 100}
    assert picture["nodes"] == [{"id": 7, "name": "Docker", "type": "NAME", "mentions": 3, "depth": 0}]
    assert picture["edges"] == [
        {
            "source": 7,
            "target": 7,
            "predicate": "co_occurs",
            "weight": 0.5,
            "count": 2,
            "npmi": None,
            "evidence": None,
        }
    ]
    assert get("/livez").json() == {"status": "ok"}
    assert get("/readyz").json() == {"status": "ready", "generation": "000042"}


@pytest.mark.parametrize(("name", "kind"), [("text", "text/plain"), ("markdown", "text/markdown")])
def test_text_formats_are_utf8_and_bounded(name: str, kind: str) -> None:
    response = get(f"/v1/search?q=x&format={name}&max_chars=400")
    assert response.headers["content-type"] == f"{kind}; charset=utf-8"
    assert "привет" in response.text
    assert len(response.text) <= 400


@pytest.mark.parametrize(
    ("url", "code"),
    [
        ("/v1/search", "query_empty"),
        ("/v1/search?q=%20%20", "query_empty"),
        ("/v1/search?q=" + "x" * 2001, "query_too_long"),
        ("/v1/search?q=" + "x" * 60_000, "query_too_long"),
        ("/v1/search?q=x&limit=0", "invalid_parameter"),
        ("/v1/search?q=x&limit=-1", "invalid_parameter"),
        ("/v1/search?q=x&limit=4097", "invalid_parameter"),
        ("/v1/search?q=x&limit=100000", "invalid_parameter"),
        ("/v1/search?q=%EF%F0%E8%E2%E5%F2", "invalid_parameter"),
        ("/v1/search?q=x&nope=1", "invalid_parameter"),
        ("/v1/chunks/c_1?before=6", "invalid_parameter"),
        ("/v1/chunks/c_1?befor=1", "invalid_parameter"),
        ("/v1/chunks/c_404", "not_found"),
        ("/v1/entities?limit=101", "invalid_parameter"),
        ("/v1/entities?sort=name", "invalid_parameter"),
        ("/v1/entities?type=" + "x" * 201, "invalid_parameter"),
        ("/v1/paths?from=a", "invalid_parameter"),
        ("/v1/paths?from=a&to=b&limit=11", "invalid_parameter"),
        ("/v1/paths?from=a&to=" + "b" * 201, "invalid_parameter"),
        ("/v1/paths?from=a&to=b&from=c", "invalid_parameter"),
        ("/v1/graph", "invalid_parameter"),
        ("/v1/graph?entity=a&depth=3", "invalid_parameter"),
        ("/v1/graph?entity=a&limit=101", "invalid_parameter"),
        ("/v1/entities/8", "not_found"),
        ("/v1/entities/docker", "not_found"),
        ("/v1/entities/" + "9" * 30, "not_found"),
        ("/v1/status?x=1", "invalid_parameter"),
        ("/nowhere", "not_found"),
        ("/v1/search/", "not_found"),
        ("/docs", "not_found"),
    ],
)
def test_a_wrong_request_is_a_problem_of_the_closed_list(url: str, code: str) -> None:
    body = problem(get(url), code)
    assert body["detail"]


def test_an_unknown_key_is_named_with_the_nearest_known_one() -> None:
    body = problem(get("/v1/search?q=x&autor=1"), "invalid_parameter")
    assert body["errors"] == [{"where": "autor", "message": "'autor' is not a known key"}]
    assert body["hint"] == "did you mean author?"


def test_a_wrong_method_is_told_every_right_one() -> None:
    response = ask(APP, "DELETE", "/v1/search")
    problem(response, "method_not_allowed")
    assert response.headers["allow"] == "GET, HEAD, POST"
    for path in ("/v1/chunks/c_1", "/livez", "/", "/openapi.json"):
        assert ask(APP, "PUT", path).headers["allow"] == "GET, HEAD"


def test_head_is_get_without_a_body() -> None:
    response = ask(APP, "HEAD", "/v1/search?q=x")
    assert response.status_code == 200
    assert response.content == b""
    assert int(response.headers["content-length"]) == len(get("/v1/search?q=x").content)


def test_a_body_over_64_kb_is_refused_before_and_while_it_is_read() -> None:
    limit = 64 * 1024
    problem(post(content=b"q=" + b"x" * limit), "body_too_large")

    async def chunks() -> Any:
        for _ in range(20):
            yield b"x" * 4096

    problem(post(content=chunks()), "body_too_large")
    fits = b"q=x" + b"&" * (limit - 3)
    assert post(content=fits).status_code == 200


@pytest.mark.parametrize(
    ("fault", "code"),
    [
        (IndexMissing("No index yet.", "run letopis build"), "index_missing"),
        (IndexCorrupt("A hash differs."), "index_corrupt"),
        (Outage("Gemini does not answer."), "embedder_unavailable"),
        (RequestError("embedder_unavailable", "strict, and a leg is missing."), "embedder_unavailable"),
    ],
)
def test_what_the_engine_refuses_is_told_with_its_remedy(fault: Exception, code: str) -> None:
    body = problem(get("/v1/search?q=x", FakeEngine(fault=fault)), code)
    assert (body["detail"], body["hint"]) == (str(fault), getattr(fault, "hint", ""))
    problem(get("/readyz", FakeEngine(fault=fault)), code)
    assert get("/livez", FakeEngine(fault=fault)).status_code == 200


@pytest.mark.parametrize(
    "fault", [ValueError("тайный запрос /home/u/key"), LedgerBusy("/home/u"), TimeoutError("тайный")]
)
def test_an_unexpected_fault_tells_nothing_and_logs_only_its_type_and_our_frames(
    fault: Exception, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    response = get("/v1/search?q=" + quote("тайный запрос"), FakeEngine(fault=fault))
    body = problem(response, "internal")
    assert "тайный" not in response.text + caplog.text
    assert "/home" not in response.text + caplog.text
    assert "Traceback" not in caplog.text
    assert body["instance"] in caplog.text
    if not isinstance(fault, LedgerBusy):
        assert type(fault).__name__ in caplog.text
        assert "service/app.py" in caplog.text


def test_the_log_holds_the_route_and_never_the_query(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, "letopis")
    get("/v1/search?q=secretquery")
    get("/v1/chunks/secretchunk")
    assert "GET /v1/search 200" in caplog.text
    assert "GET /v1/chunks/{chunk_id} 404" in caplog.text
    assert "secret" not in "".join(
        record.getMessage() for record in caplog.records if "letopis" in record.name
    )


def test_every_answer_carries_the_safe_headers() -> None:
    for response in (get("/v1/search?q=x"), get("/nowhere"), get("/"), get("/", base="http://evil.example")):
        assert response.headers["x-content-type-options"] == "nosniff"
        assert response.headers["cache-control"] == "no-store"
        assert response.headers["referrer-policy"] == "no-referrer"
        assert "default-src 'none'" in response.headers["content-security-policy"]
        assert "access-control-allow-origin" not in response.headers
        assert len(response.headers["x-request-id"]) == 16


def test_strangers_get_a_problem_that_names_the_setting() -> None:
    body = problem(get("/v1/search?q=x", base="http://evil.example"), "forbidden_origin")
    assert "service.allowed_hosts" in body["hint"]
    problem(get("/v1/search?q=x", headers={"Origin": "null"}), "forbidden_origin")
    problem(post(data={"q": "x"}, headers={"Origin": "https://evil.example"}), "forbidden_origin")


def test_a_missing_token_is_a_401_that_says_how() -> None:
    app = create_app(FakeEngine(), Settings(service=Service(host="0.0.0.0", token="0123456789abcdef")))
    response = ask(app, "GET", "/v1/search?q=x")
    problem(response, "unauthorized")
    assert response.headers["www-authenticate"].startswith("Bearer")
    shown = {"Authorization": "Bearer 0123456789abcdef"}
    assert ask(app, "GET", "/v1/search?q=x", headers=shown).status_code == 200
    assert ask(app, "GET", "/livez").status_code == ask(app, "GET", "/readyz").status_code == 200


def test_metrics_count_by_route_and_hold_no_query() -> None:
    app = create_app(FakeEngine(hit()), Settings())
    ask(app, "GET", "/v1/search?q=secret")
    ask(app, "GET", "/v1/chunks/secret")
    ask(app, "GET", "/secret")
    text = ask(app, "GET", "/metrics").text
    assert 'letopis_requests_total{route="/v1/search",status="200"} 1.0' in text
    assert 'letopis_requests_total{route="/v1/chunks/{chunk_id}",status="404"} 1.0' in text
    assert 'letopis_requests_total{route="unmatched",status="404"} 1.0' in text
    assert 'letopis_request_seconds_count{route="/v1/search"} 1.0' in text
    assert 'letopis_generation_info{generation="000042"} 1.0' in text
    assert "letopis_ready 1.0" in text
    assert "secret" not in text


def test_metrics_answer_without_a_generation() -> None:
    text = get("/metrics", FakeEngine(fault=IndexMissing("none"))).text
    assert "letopis_ready 0.0" in text
    assert "generation=" not in text


def test_a_client_that_goes_away_in_its_body_is_no_fault(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, "letopis")
    messages = [{"type": "http.request", "body": b"q=", "more_body": True}, {"type": "http.disconnect"}]
    sent: list[Any] = []
    scope = {
        "type": "http",
        "method": "POST",
        "path": "/v1/search",
        "query_string": b"",
        "headers": [(b"host", b"localhost")],
    }

    async def receive() -> Any:
        return messages.pop(0)

    async def send(message: Any) -> None:
        sent.append(message)

    asyncio.run(APP(scope, receive, send))
    assert sent == []
    assert [record.levelname for record in caplog.records if "letopis" in record.name] == ["INFO"]
    assert "POST /v1/search 499" in caplog.text


def searched_any_way(q: str) -> None:
    responses = [ask(APP, "POST", "/v1/search", content=json.dumps({"q": q}))]
    responses.append(get("/v1/search?q=" + quote(q.encode("utf-8", "replace"))))
    for response in responses:
        if response.status_code == 200:
            assert response.json()["hits"]
        else:
            assert problem(response, response.json()["code"])["status"] == 422


# Every code point, lone surrogates included.
ANY_TEXT = st.text(st.characters(codec=None, categories=None), max_size=40)


@given(ANY_TEXT)
@settings(max_examples=200, deadline=None, derandomize=True)
def test_any_text_is_searched_or_refused_and_never_breaks(q: str) -> None:
    searched_any_way(q)


@pytest.mark.slow
@given(ANY_TEXT | st.text(min_size=1_990, max_size=2_010))
@settings(max_examples=2_000, deadline=None, derandomize=True)
def test_thousands_of_texts_are_searched_or_refused_and_never_break(q: str) -> None:
    searched_any_way(q)

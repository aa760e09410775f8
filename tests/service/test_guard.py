from __future__ import annotations

from typing import Any

import pytest

from schemas.problems import RequestError, SettingsError
from schemas.settings import Service, Settings
from service.guard import (
    Access,
    Host,
    access,
    fetched_by_stranger,
    host_allowed,
    origin_allowed,
    parse_host,
    refusal,
    token_matches,
)

TOKEN = "0123456789abcdef"
LOOPBACK = Access(frozenset())
NAMED = frozenset({Host("letopis"), Host("box", 8077)})


def judged(access: Access, path: str = "/v1/search", method: str = "GET", **headers: str) -> str | None:
    raw = [(name.replace("_", "-").encode(), value.encode("utf-8")) for name, value in headers.items()]
    error = refusal({"type": "http", "path": path, "method": method, "headers": raw}, access)
    return error.code if error else None


def settled(**service: Any) -> Access:
    return access(Settings(service=Service(**service)))


@pytest.mark.parametrize(
    "header", ["localhost", "LOCALHOST:8077", "127.0.0.1:1", "127.9.9.9", "[::1]:8077", "[::1]", "localhost."]
)
def test_loopback_names_are_let_in_on_any_port(header: str) -> None:
    assert host_allowed(header, ())


@pytest.mark.parametrize(
    "header",
    [
        "evil.example",
        "evil.example:8077",
        "localhost.evil.example",
        "127.0.0.1.evil.example",
        "evil.example@localhost",
        "localhost@evil.example",
        "localhost:8077@evil.example",
        "localhost, evil.example",
        "localhost evil",
        "localhost/x",
        "localhost:99999999",
        "0.0.0.0:8077",
        "[::]:8077",
        "2130706433",
        "192.168.1.5",
        "::1",
        ":8077",
        "",
    ],
)
def test_a_host_that_is_not_ours_is_refused(header: str) -> None:
    assert not host_allowed(header, ())


def test_allowed_hosts_let_a_name_in_on_any_port_or_on_the_one_given() -> None:
    assert host_allowed("Letopis:1", NAMED)
    assert host_allowed("box:8077", NAMED)
    assert not host_allowed("box:8078", NAMED)
    assert parse_host("[FE80::1]:80") == Host("fe80::1", 80)


@pytest.mark.parametrize(
    "origin", ["http://localhost:8077", "https://127.0.0.1", "http://[::1]:8077", "http://letopis"]
)
def test_our_own_pages_are_let_in(origin: str) -> None:
    assert origin_allowed(origin, NAMED)


@pytest.mark.parametrize(
    "origin",
    [
        "null",
        "",
        "https://evil.example",
        "http://localhost.evil.example",
        "http://localhost@evil.example",
        "chrome-extension://localhost",
        "file://",
        "ftp://localhost",
        "http://localhost/path",
        "http://[::1",
        "localhost",
    ],
)
def test_foreign_pages_are_not(origin: str) -> None:
    assert not origin_allowed(origin, NAMED)


def test_a_foreign_page_may_only_link_to_the_search_page() -> None:
    assert not fetched_by_stranger("cross-site", "navigate", "/", "GET")
    assert fetched_by_stranger("cross-site", "navigate", "/v1/search", "GET")
    assert fetched_by_stranger("cross-site", "navigate", "/", "POST")
    assert fetched_by_stranger("cross-site", "no-cors", "/", "GET")
    assert not fetched_by_stranger("same-origin", "cors", "/v1/search", "GET")
    assert not fetched_by_stranger("none", "navigate", "/v1/search", "GET")
    assert not fetched_by_stranger("", "", "/v1/search", "GET")


@pytest.mark.parametrize(
    "path", ["/", "/v1/search", "/livez", "/readyz", "/metrics", "/openapi.json", "/nowhere"]
)
def test_host_and_origin_are_checked_on_every_path(path: str) -> None:
    assert judged(LOOPBACK, path, host="localhost") is None
    assert judged(LOOPBACK, path, host="evil.example") == "forbidden_origin"
    assert judged(LOOPBACK, path, host="localhost", origin="null") == "forbidden_origin"
    assert judged(LOOPBACK, path, host="localhost", origin="https://evil.example") == "forbidden_origin"
    assert judged(LOOPBACK, path) == "forbidden_origin"


def test_a_form_posted_by_a_web_page_is_refused() -> None:
    assert (
        judged(LOOPBACK, method="POST", host="127.0.0.1:8077", origin="https://evil.example")
        == "forbidden_origin"
    )


def test_a_token_is_asked_for_everywhere_but_at_the_health_checks() -> None:
    guarded = settled(host="0.0.0.0", token=TOKEN)
    for path in ("/", "/v1/search", "/metrics", "/openapi.json", "/v1/status", "/livez/"):
        assert judged(guarded, path, host="localhost") == "unauthorized"
        assert judged(guarded, path, host="localhost", authorization=f"Bearer {TOKEN}") is None
    assert judged(guarded, "/livez", host="localhost") is None
    assert judged(guarded, "/readyz", host="localhost") is None
    assert judged(guarded, "/livez", host="evil.example") == "forbidden_origin"


def test_a_token_that_is_set_on_loopback_is_asked_for_there_too() -> None:
    assert judged(settled(token=TOKEN), host="localhost") == "unauthorized"


def test_a_valid_token_replaces_the_host_check_but_not_the_origin_check() -> None:
    guarded = settled(host="0.0.0.0", token=TOKEN)
    shown = f"Bearer {TOKEN}"
    assert judged(guarded, host="any.example", authorization=shown) is None
    assert (
        judged(guarded, host="localhost", authorization=shown, origin="https://evil.example")
        == "forbidden_origin"
    )


@pytest.mark.parametrize(
    "shown",
    [b"", b"Bearer", b"Bearer ", b"Basic 0123456789abcdef", b"0123456789abcdef", b"Bearer \xd1\x82\xff"],
)
def test_anything_but_the_token_does_not_match_and_does_not_raise(shown: bytes) -> None:
    assert not token_matches(shown, TOKEN.encode())


def test_a_token_beyond_ascii_works() -> None:
    guarded = settled(token="пароль-от-летописи")
    assert judged(guarded, host="localhost", authorization="bearer пароль-от-летописи") is None
    assert judged(guarded, host="localhost", authorization="Bearer пароль") == "unauthorized"


@pytest.mark.parametrize("token", [None, "", "   ", "0123456789abcde"])
@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.168.1.5", "letopis"])
def test_a_bind_beyond_loopback_without_a_long_token_is_refused(host: str, token: str | None) -> None:
    with pytest.raises(SettingsError) as caught:
        settled(host=host, token=token)
    assert "16 bytes" in caught.value.message
    assert "LETOPIS_SERVICE__TOKEN" in caught.value.hint
    assert "0123456789abcde" not in caught.value.line()


def test_the_bound_host_is_ours_but_a_wildcard_is_nobody() -> None:
    shown = settled(host="192.168.1.5", token=TOKEN)
    assert judged(shown, "/livez", host="192.168.1.5:8077") is None
    assert judged(settled(host="0.0.0.0", token=TOKEN), "/livez", host="0.0.0.0:8077") == "forbidden_origin"


def test_allowed_hosts_come_from_the_settings_and_a_wrong_one_is_named() -> None:
    assert judged(settled(allowed_hosts=("host.docker.internal",)), host="host.docker.internal:8077") is None
    with pytest.raises(SettingsError, match="http://letopis"):
        settled(allowed_hosts=("http://letopis",))


def test_a_refusal_names_the_setting_and_never_the_foreign_name() -> None:
    scope = {"path": "/", "method": "GET", "headers": [(b"host", b"evil.example")]}
    error = refusal(scope, LOOPBACK)
    assert isinstance(error, RequestError)
    assert "service.allowed_hosts" in error.hint
    assert "evil" not in error.line()


def test_two_hosts_are_one_too_many() -> None:
    scope = {"path": "/", "method": "GET", "headers": [(b"host", b"localhost"), (b"host", b"evil.example")]}
    error = refusal(scope, LOOPBACK)
    assert error is not None
    assert error.code == "forbidden_origin"

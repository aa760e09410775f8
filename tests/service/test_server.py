from __future__ import annotations

import re
import signal
import socket
import subprocess
import sys
from pathlib import Path

import httpx
import pytest

from schemas.problems import SettingsError
from schemas.settings import Service, Settings
from service.server import listen, serve, url_of
from tests.fakes.engine import FakeEngine
from tests.fakes.http import serving

ROOT = Path(__file__).resolve().parents[2]
CASE = ROOT / "tests" / "cases" / "50_curl_query_encoding" / "cmds.sh"

PROGRAM = """
import sys
from schemas.settings import Service, Settings
from service.server import serve
from tests.fakes.engine import FakeEngine
serve(FakeEngine(), Settings(service=Service(port=0)), lambda url: print(url, flush=True))
print("ended", flush=True)
"""


def raw(url: str, request: bytes) -> tuple[int, bytes]:
    """Send bytes as they are; status and everything after the headers."""
    host, port = url.removeprefix("http://").split(":")
    with socket.create_connection((host, int(port)), 10) as connection:
        connection.sendall(request)
        answer = b""
        while part := connection.recv(65536):
            answer += part
    return int(answer.split(b" ", 2)[1]), answer.partition(b"\r\n\r\n")[2]


def curled(url: str) -> list[tuple[int, str]]:
    """Run the case's own curl lines against a service; status and body of each."""
    found = []
    for line in CASE.read_text("utf-8").splitlines():
        if line.startswith("curl "):
            command = line.replace("$B/search", f"{url}/v1/search") + " -w '\\n%{http_code}'"
            done = subprocess.run(["sh", "-c", command], capture_output=True, timeout=20, check=True)
            body, _, status = done.stdout.decode().rpartition("\n")
            found.append((int(status), body))
    return found


def test_case_50_curl_gets_hits_or_an_explanation() -> None:
    engine = FakeEngine()
    with serving(engine) as url:
        encoded, cyrillic, plus, cp1251, form, as_json = curled(url)
    assert [encoded[0], cyrillic[0], plus[0], cp1251[0], form[0], as_json[0]] == [
        200,
        400,
        200,
        422,
        200,
        200,
    ]
    assert "--data-urlencode" in cyrillic[1]
    assert "not UTF-8" in cp1251[1]
    assert "привет" in as_json[1]
    assert [asked.q for asked in engine.asked] == ["привет C++ & gpt-4o", "C  ", "привет", "привет"]


def test_bytes_that_are_no_http_get_a_problem_and_a_closed_connection() -> None:
    with serving(FakeEngine()) as url:
        for request in (
            "GET /v1/search?q=привет HTTP/1.1\r\nHost: localhost\r\n\r\n".encode(),
            b"\x16\x03\x01\r\n\r\n",
        ):
            status, body = raw(url, request)
            assert status == 400
            assert b'"code": "invalid_parameter"' in body
            assert "привет".encode() not in body


def test_the_guard_stands_at_the_socket() -> None:
    with serving(FakeEngine()) as url:
        assert httpx.get(f"{url}/v1/search?q=x").status_code == 200
        assert httpx.get(f"{url}/livez", headers={"Host": "evil.example"}).status_code == 403
        assert httpx.get(f"{url}/livez", headers={"Host": "[::1]:8077"}).status_code == 200
        crossed = httpx.post(f"{url}/v1/search", data={"q": "x"}, headers={"Origin": "https://evil.example"})
        assert (crossed.status_code, crossed.json()["code"]) == (403, "forbidden_origin")
        # No Host at all, as HTTP/1.0 allows.
        assert raw(url, b"GET /livez HTTP/1.0\r\n\r\n")[0] == 403


def test_a_body_that_is_announced_too_large_is_answered_before_it_is_sent() -> None:
    with serving(FakeEngine()) as url:
        head = b"POST /v1/search HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n"
        status, body = raw(url, head + b"Content-Length: 999999999\r\n\r\n")
    assert status == 413
    assert b"body_too_large" in body


def test_head_and_server_headers_over_the_socket() -> None:
    with serving(FakeEngine()) as url:
        response = httpx.head(f"{url}/v1/search?q=x")
    assert (response.status_code, response.content) == (200, b"")
    assert "server" not in response.headers


@pytest.mark.parametrize("sign", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_the_service_cleanly(sign: signal.Signals) -> None:
    program = subprocess.Popen(
        [sys.executable, "-c", PROGRAM], cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert program.stdout is not None
    try:
        url = program.stdout.readline().strip()
        assert re.fullmatch(r"http://127\.0\.0\.1:[1-9][0-9]*", url)
        assert httpx.get(f"{url}/v1/search?q=secretquery").status_code == 200
        program.send_signal(sign)
        out, err = program.communicate(timeout=15)
    finally:
        program.kill()
    assert program.returncode == 0
    assert out == "ended\n"
    assert "secretquery" not in err
    assert "Traceback" not in err


def test_a_taken_port_is_a_sentence_with_a_remedy() -> None:
    with listen("127.0.0.1", 0) as listener:
        port = listener.getsockname()[1]
        with pytest.raises(SettingsError, match=f"Port {port} on 127.0.0.1 is taken") as caught:
            serve(FakeEngine(), Settings(service=Service(port=port)))
    assert "--port" in caught.value.hint


def test_an_address_of_another_machine_is_a_sentence_too() -> None:
    with pytest.raises(SettingsError, match=r"Can't listen on 203\.0\.113\.7"):
        listen("203.0.113.7", 0)
    with pytest.raises(SettingsError, match=r"Can't listen on no\.such\.host\.invalid"):
        listen("no.such.host.invalid", 0)


def test_a_service_beyond_loopback_without_a_token_does_not_start() -> None:
    with pytest.raises(SettingsError, match="at least 16 bytes"):
        serve(FakeEngine(), Settings(service=Service(host="0.0.0.0", port=0)))


@pytest.mark.parametrize(
    ("host", "url"),
    [
        ("127.0.0.1", "http://127.0.0.1:8077"),
        ("0.0.0.0", "http://127.0.0.1:8077"),
        ("::", "http://[::1]:8077"),
        ("::1", "http://[::1]:8077"),
    ],
)
def test_the_url_that_is_told_can_be_opened_on_this_machine(host: str, url: str) -> None:
    assert url_of(host, 8077) == url


def test_answers_on_a_kept_connection_do_not_wait_for_a_delayed_ack() -> None:
    with listen("127.0.0.1", 0) as listener:
        assert listener.proto == socket.IPPROTO_TCP
    with serving(FakeEngine()) as url, httpx.Client() as client:
        times = sorted(client.get(f"{url}/v1/search?q=x").elapsed for _ in range(20))
    assert times[0].total_seconds() < 0.03

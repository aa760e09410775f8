from __future__ import annotations

import json
import signal
import socket
import subprocess
import sys
from pathlib import Path

import httpx

from .conftest import Run

COMMAND = [sys.executable, "-c", "import sys; from service.cli import main; sys.exit(main())", "serve"]


def test_it_says_its_url_answers_and_ends_cleanly_on_a_signal(work: Path, run: Run) -> None:
    run("build")
    process = subprocess.Popen(
        [*COMMAND, "--port", "0", "--json"],
        cwd=work,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    try:
        url = json.loads(process.stdout.readline())["url"]
        assert url.startswith("http://127.0.0.1:")
        with httpx.Client(base_url=url, trust_env=False) as client:
            assert client.get("/readyz").json() == {"status": "ready", "generation": "000001"}
            answer = client.get("/v1/search", params={"q": "кот Барсик", "format": "text"})
        assert "Барсик" in answer.text
    finally:
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=15)
    assert process.returncode == 0
    assert said.count(f"listening on {url}") == 1
    assert "Traceback" not in said


def test_a_port_that_is_taken_is_exit_2_with_the_remedy(work: Path, run: Run) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        told = run("serve", "--port", str(port))
    assert told.code == 2
    assert f"Port {port} on 127.0.0.1 is taken by another program." in told.err


def test_beyond_this_machine_a_token_is_needed(work: Path, run: Run) -> None:
    told = run("serve", "--host", "0.0.0.0", "--port", "0", "--json")
    assert told.code == 2
    assert "needs a token of at least 16 bytes" in told.json["message"]

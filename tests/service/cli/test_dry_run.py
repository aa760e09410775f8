from __future__ import annotations

import hashlib
import tempfile
from pathlib import Path

import pytest

from indexer.stores.ledger import Ledger
from tests.fakes.ollama import FakeOllama

from .conftest import Run, talk


def contents(folder: Path) -> dict[str, tuple[int, str]]:
    return {
        str(path.relative_to(folder)): (
            path.stat().st_mtime_ns,
            hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else "",
        )
        for path in sorted(folder.rglob("*"))
    }


@pytest.fixture
def scratch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where temporary folders are made, so that a test sees what stays."""
    folder = tmp_path / "scratch"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    return folder


def test_before_the_first_build_it_leaves_no_file(work: Path, scratch: Path, run: Run) -> None:
    told = run("build", "--dry-run", "--json")
    assert told.code == 0
    assert told.json["chunks"] == {"total": 24, "new": 24, "known": 0}
    assert not (work / "index").exists()
    assert list(scratch.iterdir()) == []


def test_an_index_that_is_there_is_left_as_it_was(
    work: Path, scratch: Path, tmp_path: Path, run: Run
) -> None:
    run("build")
    talk(tmp_path / "talks", 30)
    before = contents(work)
    told = run("build", "--dry-run", "--json")
    assert contents(work) == before
    assert list(scratch.iterdir()) == []
    assert told.json["messages"]["new"] == 6
    assert told.json["chunks"] == {"total": 30, "new": 6, "known": 24}
    assert [(p["name"], p["texts"], p["calls"]) for p in told.json["providers"]] == [("hash", 6, 3)]


def test_it_foretells_what_the_build_then_does(work: Path, run: Run) -> None:
    foretold = run("build", "--dry-run", "--json").json
    done = run("build", "--json").json
    assert foretold["messages"] == done["messages"]
    assert foretold["chunks"]["total"] == done["chunks"]["total"]
    assert foretold["providers"][0]["texts"] == done["spaces"]["hash/hash/64/1"]["embedded"]
    assert foretold["providers"][0]["calls"] == done["spaces"]["hash/hash/64/1"]["calls"]


def test_it_works_while_a_build_holds_the_ledger(work: Path, tmp_path: Path, run: Run) -> None:
    run("build")
    with Ledger(work / "index") as ledger:
        ledger.meta.put("busy", "yes")  # in the write-ahead log, not yet in the file
        told = run("build", "--dry-run", "--json")
    assert told.code == 0
    assert told.json["chunks"]["known"] == 24


def test_words_say_that_nothing_was_written_and_that_tokens_are_an_estimate(work: Path, run: Run) -> None:
    told = run("build", "--dry-run")
    assert told.out.startswith("Dry run: nothing was written")
    assert "24 in all, 24 of them new" in told.out
    assert "24 texts in 12 calls" in told.out
    assert "an estimate" in told.out


def test_nights_follow_from_the_quota_less_the_tenth_kept_for_queries(
    work: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GEMINI_API_KEY", "no request is made with it")
    monkeypatch.setenv("LETOPIS_EMBEDDING__CLOUD", "true")
    monkeypatch.setenv("LETOPIS_EMBEDDING__ORDER", '["gemini"]')
    monkeypatch.setenv("LETOPIS_EMBEDDING__GEMINI__DAILY_REQUESTS", "10")
    told = run("build", "--dry-run", "--json")
    (gemini,) = told.json["providers"]
    assert (gemini["texts"], gemini["paid"], gemini["nights"]) == (24, True, 3)
    bounded = run("build", "--dry-run", "--json", "--budget-requests", "4")
    assert bounded.json["providers"][0]["nights"] == 6


def test_the_bundled_model_is_foretold_at_seven_chunks_a_second_a_core(
    work: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LETOPIS_EMBEDDING__ORDER", '["local"]')
    monkeypatch.setenv("LETOPIS_EMBEDDING__LOCAL__WORKERS", "1")
    (local,) = run("build", "--dry-run", "--json").json["providers"]
    assert local["minutes"] == pytest.approx(24 / 7 / 60)


def test_a_server_is_asked_for_its_models_and_gets_no_text(
    work: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    with FakeOllama() as server:
        monkeypatch.setenv("LETOPIS_EMBEDDING__ORDER", '["ollama"]')
        monkeypatch.setenv("OLLAMA_HOST", server.url)
        assert run("build", "--dry-run", "--json").json["providers"][0]["texts"] == 24
        assert server.calls == []
        assert run("build").code == 0
        told = run("build", "--dry-run")
    assert "every chunk has its vector already" in told.out


def test_without_an_archive_it_is_a_usage_error(
    work: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LETOPIS_ARCHIVES", "[]")
    assert run("build", "--dry-run").code == 2

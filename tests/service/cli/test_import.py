"""`letopis import seed`: an older index with its vectors, over real files and sockets."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from indexer.stores.ledger import Ledger
from indexer.stores.ledger.forgetting import Rule
from schemas.records import Space
from tests.fakes.gemini import FakeGemini
from tests.fakes.ollama import FakeOllama
from tests.fakes.seed import FakeSeed, cut, long_text, vector

from .conftest import Outcome, Run
from .test_dry_run import contents

OLD_GEMINI = Space("gemini", "gemini-embedding-001", 3072, 0)
OLD_OLLAMA = Space("ollama", "nomic-embed-text", 768, 0)
OWN = "gemini/gemini-embedding-2-preview/768/1"
MODELS = ("--model", "3072=gemini/gemini-embedding-001", "--model", "768=ollama/nomic-embed-text")
KEY = "AQ.Ab8-not-a-real-key-0123456789"
SECRET = "token ghp_0123456789abcdefghijABCDEFGHIJ012345"

SAID = (
    "Решили хранить граф сущностей в отдельном файле SQLite рядом с векторами",
    "Кот Пломбир чешется, ветеринар велел кормить кроликом восемь недель",
    "Переезд сервера назначили на субботу, провайдер обещал новый диск",
    "Docker-образ собирается двенадцать минут, нужно вынести кэш пакетов",
)
LONG = long_text(330, "индекс")


@pytest.fixture
def old(work: Path, tmp_path: Path) -> FakeSeed:
    """Two conversations, embedded by two models."""
    seed = FakeSeed(tmp_path / "chat_vectors.db")
    seed.all(SAID[:2], 3072, conv=1)
    seed.say(LONG, 3072, conv=1, role="assistant")
    seed.all(SAID[2:], 768, conv="b")
    return seed


@pytest.fixture
def gemini(monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeGemini]:
    """A server that is there; leave and key are given by `allowed`."""
    with FakeGemini() as server:
        monkeypatch.setenv("LETOPIS_EMBEDDING__GEMINI__BASE_URL", server.url)
        monkeypatch.setenv("LETOPIS_EMBEDDING__QUERY_TIMEOUT_MS", "10000")
        yield server


@pytest.fixture
def ollama(monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeOllama]:
    with FakeOllama("nomic-embed-text:latest", dims=768) as server:
        monkeypatch.setenv("OLLAMA_HOST", server.url)
        yield server


def allowed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GEMINI_API_KEY", KEY)
    monkeypatch.setenv("LETOPIS_EMBEDDING__CLOUD", "true")


def imported(run: Run, seed: FakeSeed, *flags: str) -> Outcome:
    return run("import", "seed", str(seed.path), *(flags or MODELS), "--json")


def hits(run: Run, q: str, *flags: str) -> tuple[list[dict[str, Any]], list[str]]:
    answer = run("search", q, "--explain", "--json", *flags).json
    return answer["hits"], answer["degraded"]


def published(run: Run) -> dict[str, int]:
    return {space["name"]: space["vectors"] for space in run("status", "--json").json["spaces"]}


def kept(work: Path, space: Space, texts: Sequence[str]) -> list[str]:
    """Those of the chunk texts that have the very vector of the older index, at norm 1."""
    import hashlib

    with Ledger(work / "index") as ledger:
        row = ledger.vectors.space_id(space)
        found = {text: ledger.vectors.find(row, hashlib.sha256(text.encode()).digest()) for text in texts}
    same = []
    for text, raw in found.items():
        if raw is not None:
            was = np.frombuffer(vector(text, space.dims), "<f4")
            now = np.frombuffer(raw, "<f4")
            assert np.linalg.norm(now) == pytest.approx(1.0, abs=1e-5)
            if np.allclose(now * np.linalg.norm(was), was, atol=1e-5):
                same.append(text)
    return same


# --- what comes in ------------------------------------------------------------------------------------------


def test_texts_and_vectors_of_two_models_come_in_and_are_published_at_once(
    work: Path, old: FakeSeed, run: Run
) -> None:
    told = imported(run, old)
    assert told.code == 0, told.err
    assert told.json["generation"] == "000001"
    assert told.json["messages"]["new"] == 5
    parts = cut(LONG)
    chunks = [part for at, part in enumerate(parts) if at == 0 or not parts[at - 1].endswith(part)]
    assert told.json["chunks"]["total"] == 4 + len(chunks)
    assert kept(work, OLD_GEMINI, [*SAID, *chunks]) == [*SAID[:2], *chunks]
    assert kept(work, OLD_OLLAMA, SAID) == list(SAID[2:])
    assert published(run) == {
        OLD_GEMINI.name: 2 + len(chunks),
        OLD_OLLAMA.name: 2,
        "hash/hash/64/1": 4 + len(chunks),
    }


def test_chunks_stand_in_the_index_as_they_stood_in_the_old_one(work: Path, old: FakeSeed, run: Run) -> None:
    imported(run, old)
    found, _ = hits(run, SAID[0], "--mode", "text")
    assert found[0]["text"] == SAID[0]
    assert found[0]["chat"]["id"] == "seed:1"
    assert found[0]["source"] == "seed"
    assert found[0]["messages"][0]["id"] == "1"
    assert found[0]["at"] == "2026-03-01T00:01:00Z"
    long, _ = hits(run, LONG[650:700], "--mode", "text")
    assert long[0]["text"] in cut(LONG)


def test_importing_again_changes_nothing_and_says_what_was_known(work: Path, old: FakeSeed, run: Run) -> None:
    imported(run, old)
    told = imported(run, old)
    assert (told.code, told.json["generation"]) == (0, None)
    assert told.json["messages"]["new"] == 0
    assert told.json["imported"]["known_messages"] == 5
    vectors = told.json["imported"]["vectors"]
    assert [(v["new"], v["known"] > 0) for v in vectors.values()] == [(0, True), (0, True)]


def test_a_grown_index_brings_only_what_is_new(work: Path, old: FakeSeed, run: Run) -> None:
    imported(run, old)
    old.say("Новое решение: кэш пакетов лежит на отдельном диске", 768, conv="b")
    told = imported(run, old)
    assert told.json["messages"]["new"] == 1
    assert told.json["imported"]["known_messages"] == 5
    assert told.json["imported"]["vectors"]["768"]["new"] == 1
    assert told.json["imported"]["vectors"]["3072"]["new"] == 0
    assert told.json["generation"] == "000002"


def test_later_builds_keep_it_also_under_mirror_and_full(
    work: Path, old: FakeSeed, run: Run, tmp_path: Path
) -> None:
    imported(run, old)
    before = published(run)
    old.close().unlink()
    for flags in ((), ("--mirror",), ("--full",)):
        told = run("build", *flags, "--json")
        assert told.code == 0, told.out
        assert told.json["messages"]["total"] == 24 + 5
    now = published(run)
    assert {name: now[name] for name in (OLD_GEMINI.name, OLD_OLLAMA.name)} == {
        name: before[name] for name in (OLD_GEMINI.name, OLD_OLLAMA.name)
    }


def test_bad_vectors_are_counted_by_reason_and_their_texts_are_kept(
    work: Path, old: FakeSeed, run: Run
) -> None:
    nan = np.full(768, np.nan, "<f4").tobytes()
    for number, bad in enumerate((nan, bytes(4 * 768), b"\x01" * 7, None, "[0.5]")):
        old.say(f"Без вектора, но со словами: запись номер {number} о настройке", embedding=bad)
    told = imported(run, old)
    assert told.code == 0
    assert told.json["imported"]["vectors"]["768"]["faults"] == {"NaN or infinity": 1, "a zero vector": 1}
    assert told.json["imported"]["faults"] == {
        "a vector whose bytes are no multiple of 4": 1,
        "no vector": 1,
        "a vector that is no blob": 1,
    }
    assert told.json["messages"]["new"] == 10
    assert published(run)[OLD_OLLAMA.name] == 2


def test_a_text_with_a_secret_loses_its_vectors_and_the_secret_is_nowhere(
    work: Path, old: FakeSeed, run: Run
) -> None:
    old.say(f"{long_text(120, 'х')} {SECRET} {long_text(80, 'ц')}", 768)
    told = imported(run, old)
    assert told.json["imported"]["rechunked_messages"] == 1
    (reason,) = told.json["imported"]["vectors"]["768"]["unused"]
    assert reason == "its message lost a secret and is cut anew"
    assert sum(told.json["redacted"].values()) == 1
    assert all(SECRET[6:].encode() not in file.read_bytes() for file in (work / "index").rglob("*.db"))
    assert "lost a secret" in run("import", "seed", str(old.path), *MODELS, "--dry-run").out


def test_what_was_forgotten_does_not_come_back(work: Path, old: FakeSeed, run: Run) -> None:
    imported(run, old)
    with Ledger(work / "index") as ledger:
        ledger.forgetting.forget(1, [Rule(chat_id="seed:b")])
    assert imported(run, old).json["messages"]["total"] == 3
    assert kept(work, OLD_OLLAMA, []) == []
    assert OLD_OLLAMA.name not in published(run)


def test_a_damaged_vector_is_counted_and_costs_only_itself(work: Path, run: Run, tmp_path: Path) -> None:
    seed = FakeSeed(tmp_path / "chat_vectors.db")
    seed.all([f"{said} {number}" for number in range(10) for said in SAID], 3072)
    path = seed.close()
    data = bytearray(path.read_bytes())
    page = 4096 * (len(data) // 4096 // 2)
    needle = data[page : page + 4096]
    assert len(needle) == 4096
    data[page : page + 4096] = b"\xff" * 4096
    path.write_bytes(data)
    told = imported(run, seed, "--model", "gemini/gemini-embedding-001")
    assert told.code == 0, told.out
    assert told.json["messages"]["new"] >= 39
    taken = told.json["imported"]["vectors"]["3072"]
    lost = sum(taken["faults"].values()) + sum(told.json["imported"]["faults"].values())
    assert (lost, taken["new"]) == (1, 39)


# --- which model --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("flags", "sentence"),
    [
        ((), "chat_vectors.db holds 9 vectors of 3072 numbers and 2 vectors of 768 numbers, and the file"),
        (("--model", "768=ollama/nomic-embed-text"), "and the file does not say which model made them"),
        (("--model", "gemini/gemini-embedding-001"), "--model names one model, but chat_vectors.db holds"),
        ((*MODELS, "--model", "768=ollama/bge-m3"), "--model names 768 twice"),
        ((*MODELS, "--model", "ollama/bge-m3"), "does not say which vectors it made"),
        ((*MODELS, "--model", "1024=ollama/bge-m3"), "There is no vector of 1024 numbers"),
        (("--model", "3072=none", "--model", "768=nomic-embed-text"), "does not say whose it is"),
        ((*MODELS, "--provider", "gemini"), "is not one of gemini"),
        (("--model", "3072=none", "--model", "768=ollama/"), "has no name"),
    ],
)
def test_without_a_clear_answer_nothing_is_guessed_and_nothing_is_written(
    work: Path, old: FakeSeed, run: Run, flags: tuple[str, ...], sentence: str
) -> None:
    told = run("import", "seed", str(old.path), *flags)
    assert told.code == 2
    assert told.err.startswith("letopis: ")
    assert told.err.count("\n") == 1
    assert sentence in told.err
    assert "Next: " in told.err
    assert not (work / "index").exists()


def test_one_length_takes_one_plain_name_with_its_provider(work: Path, run: Run, tmp_path: Path) -> None:
    seed = FakeSeed(tmp_path / "chat_vectors.db")
    seed.all(SAID, 768)
    told = run("import", "seed", str(tmp_path), "--provider", "ollama", "--model", "nomic-embed-text:latest")
    assert told.code == 0, told.err
    assert f"{OLD_OLLAMA.name}: 4 new, 0 known" in told.out


def test_vectors_may_be_left_out_by_name(work: Path, old: FakeSeed, run: Run) -> None:
    told = imported(run, old, "--model", "3072=none", *MODELS[2:])
    assert told.code == 0
    assert told.json["imported"]["vectors"]["3072"]["space"] is None
    assert OLD_GEMINI.name not in published(run)
    assert told.json["messages"]["new"] == 5


def test_on_a_terminal_it_asks(work: Path, old: FakeSeed, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []

    def prompt(text: str, **more: object) -> str:
        asked.append(text)
        return "none" if "3072" in text else "ollama/nomic-embed-text"

    monkeypatch.setattr("sys.stdin.isatty", lambda: True, raising=False)
    monkeypatch.setattr("click.prompt", prompt)
    assert run("import", "seed", str(old.path)).code == 0
    assert len(asked) == 2
    assert "2 vectors of 768 numbers" in asked[0]
    assert published(run)[OLD_OLLAMA.name] == 2


def test_a_wrong_name_is_mended_by_the_next_import(work: Path, old: FakeSeed, run: Run) -> None:
    imported(run, old, *MODELS[:2], "--model", "768=ollama/bge-m3")
    told = imported(run, old)
    assert told.json["imported"]["vectors"]["768"]["renamed"] == 2
    assert "ollama/bge-m3/768/0" not in published(run)
    assert published(run)[OLD_OLLAMA.name] == 2


@pytest.mark.parametrize("name", ["entity_graph.db", "nowhere.db", "notes.txt"])
def test_what_is_no_index_to_import_is_one_sentence(work: Path, run: Run, tmp_path: Path, name: str) -> None:
    if name == "entity_graph.db":
        FakeSeed(tmp_path / name).db.execute("ALTER TABLE chunks RENAME TO entities")
    elif name == "notes.txt":
        (tmp_path / name).write_text("заметки", "utf-8")
    told = run("import", "seed", str(tmp_path / name))
    assert told.code == 1
    assert told.err.count("\n") == 1
    assert name in told.err
    assert not (work / "index").exists()


def test_help_says_that_the_graph_is_made_anew(run: Run) -> None:
    told = " ".join(run("import", "seed", "--help").out.split())
    assert "entity_graph.db beside it is not imported: names are extracted anew" in told


# --- the dry run --------------------------------------------------------------------------------------------


def test_a_dry_run_tells_what_the_import_then_does_and_writes_nothing(
    work: Path, old: FakeSeed, run: Run
) -> None:
    old.say("Без вектора, но со словами", embedding=None)
    foretold = run("import", "seed", str(old.path), *MODELS, "--dry-run", "--json")
    assert (foretold.code, foretold.json["dry_run"]) == (0, True)
    assert not (work / "index").exists()
    done = imported(run, old)
    for key in ("messages", "chunks", "imported"):
        assert foretold.json[key] == done.json[key]
    before = contents(work)
    words = run("import", "seed", str(old.path), *MODELS, "--dry-run")
    assert contents(work) == before
    assert words.out.startswith("Dry run: nothing was written, nothing was sent.")
    assert f"{OLD_OLLAMA.name}: 0 new, 2 known" in words.out
    assert "1 × no vector; the text is kept" in words.out


def test_a_dry_run_shows_what_is_there_before_the_models_are_named(
    work: Path, old: FakeSeed, run: Run
) -> None:
    told = run("import", "seed", str(old.path), "--dry-run")
    assert told.code == 0
    assert "2 vectors of 768 numbers: left out, no model named" in told.out


# --- queries ------------------------------------------------------------------------------------------------


def test_a_query_is_asked_bare_of_the_model_that_made_the_vectors(
    work: Path,
    old: FakeSeed,
    run: Run,
    gemini: FakeGemini,
    ollama: FakeOllama,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert imported(run, old).code == 0
    assert (gemini.calls, ollama.calls) == ([], [])
    allowed(monkeypatch)
    monkeypatch.setenv("LETOPIS_EMBEDDING__ORDER", '["gemini", "ollama", "hash"]')
    found, degraded = hits(run, SAID[0], "--mode", "vector")
    assert degraded == []
    assert found[0]["text"] == SAID[0]
    assert found[0]["explain"]["vector"]["space"] == OLD_GEMINI.name
    assert found[0]["explain"]["vector"]["similarity"] == pytest.approx(1.0, abs=0.01)
    (call,) = gemini.calls
    assert call.path == "/v1beta/models/gemini-embedding-001:batchEmbedContents"
    (entry,) = call.body["requests"]
    assert entry["content"]["parts"] == [{"text": SAID[0]}]
    assert entry["outputDimensionality"] == 3072
    assert "taskType" not in entry
    assert ollama.calls[-1].texts == (SAID[0],)
    assert {call.body["model"] for call in ollama.calls} == {"nomic-embed-text"}
    other, _ = hits(run, SAID[2])
    assert other[0]["text"] == SAID[2]


def test_the_older_model_of_ollama_finds_what_it_embedded(
    work: Path, old: FakeSeed, run: Run, ollama: FakeOllama, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LETOPIS_EMBEDDING__QUERY_TIMEOUT_MS", "10000")
    monkeypatch.setenv("LETOPIS_EMBEDDING__FLOOR", "false")
    monkeypatch.setenv("LETOPIS_EMBEDDING__ORDER", '["ollama"]')
    imported(run, old)
    found, degraded = hits(run, SAID[2])
    assert found[0]["explain"]["vector"]["space"] == OLD_OLLAMA.name
    assert "search_query" not in "".join(ollama.texts)
    (sentence,) = degraded
    assert sentence.startswith(f"vector: {OLD_GEMINI.name} unavailable, answered from {OLD_OLLAMA.name}")
    assert "GEMINI_API_KEY" in sentence


def test_without_leave_no_query_goes_out_and_the_answer_says_so(
    work: Path, old: FakeSeed, run: Run, gemini: FakeGemini, monkeypatch: pytest.MonkeyPatch
) -> None:
    imported(run, old)
    monkeypatch.setenv("GEMINI_API_KEY", KEY)
    found, degraded = hits(run, SAID[0])
    assert found[0]["text"] == SAID[0]
    assert gemini.calls == []
    assert any(OLD_GEMINI.name in one and "cloud = true" in one for one in degraded)
    assert run("search", SAID[0], "--strict").code == 1


# --- healing ------------------------------------------------------------------------------------------------


def test_an_import_pays_for_nothing_and_a_later_build_heals(
    work: Path, old: FakeSeed, run: Run, gemini: FakeGemini, monkeypatch: pytest.MonkeyPatch
) -> None:
    allowed(monkeypatch)
    monkeypatch.setenv("LETOPIS_EMBEDDING__ORDER", '["gemini", "hash"]')
    monkeypatch.setenv("LETOPIS_EMBEDDING__FLOOR", "true")
    told = imported(run, old)
    assert told.code == 0
    assert gemini.calls == []
    assert any("the next `letopis build` embeds these chunks" in note for note in told.json["notes"])
    total = told.json["chunks"]["total"]
    assert published(run)["hash/hash/64/1"] == total
    healed = run("build", "--json")
    assert healed.code == 0, healed.out
    assert healed.json["spaces"][OWN]["embedded"] == total + 24
    assert f"title: none | text: {SAID[0]}" in gemini.texts
    assert published(run)[OWN] == total + 24
    assert published(run)[OLD_GEMINI.name] > 0
    found, degraded = hits(run, SAID[0], "--mode", "vector")
    assert degraded == [one for one in degraded if OLD_OLLAMA.name in one]
    assert found[0]["explain"]["vector"]["space"] == OWN


def test_with_requests_allowed_the_import_heals_within_them(
    work: Path, old: FakeSeed, run: Run, gemini: FakeGemini, monkeypatch: pytest.MonkeyPatch
) -> None:
    allowed(monkeypatch)
    monkeypatch.setenv("LETOPIS_EMBEDDING__ORDER", '["gemini", "hash"]')
    told = imported(run, old, *MODELS, "--budget-requests", "4")
    assert told.code == 3
    assert told.json["spaces"][OWN]["embedded"] == 4
    assert len(gemini.texts) == 4


def test_a_key_that_is_missing_leaves_no_work_behind_night_after_night(
    work: Path, old: FakeSeed, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LETOPIS_EMBEDDING__ORDER", '["gemini", "hash"]')
    assert imported(run, old).code == 0
    assert run("build").code == 0


def test_a_fallback_is_not_excused_by_imported_vectors_of_a_better_provider(
    work: Path, old: FakeSeed, run: Run, ollama: FakeOllama, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LETOPIS_EMBEDDING__ORDER", '["gemini", "ollama", "hash"]')
    monkeypatch.setenv("LETOPIS_EMBEDDING__OLLAMA__MODEL", "nomic-embed-text")
    total = imported(run, old).json["chunks"]["total"]
    assert run("build", "--json").json["spaces"]["ollama/nomic-embed-text/768/1"]["embedded"] == total + 24


# --- giving it up -------------------------------------------------------------------------------------------


def test_an_imported_space_can_be_given_up_and_its_texts_stay(work: Path, old: FakeSeed, run: Run) -> None:
    imported(run, old)
    told = run("import", "drop", OLD_GEMINI.name, "--json")
    assert (told.code, told.json["dropped"], told.json["generation"]) == (0, 8, "000002")
    assert OLD_GEMINI.name not in published(run)
    found, degraded = hits(run, SAID[0])
    assert found[0]["text"] == SAID[0]
    assert not any(OLD_GEMINI.name in sentence for sentence in degraded)
    again = run("import", "drop", OLD_GEMINI.name)
    assert again.code == 2
    assert OLD_OLLAMA.name in again.err
    assert run("import", "drop", "hash/hash/64/1").code == 2


def test_the_doctor_names_an_imported_space_that_can_not_be_asked(
    work: Path, old: FakeSeed, run: Run
) -> None:
    imported(run, old)
    lines = [one for one in run("doctor", "--json").json["findings"] if one["check"] == "imported"]
    assert [one["state"] for one in lines] == ["warn", "warn"]
    assert lines[0]["message"].startswith(OLD_GEMINI.name)
    assert f"`letopis import drop {OLD_GEMINI.name}`" in lines[0]["hint"]

"""A bad night can't break the day: checks, crashes in the middle, locks, long runs and interrupts."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import indexer.pipeline
import indexer.writing
from indexer.pipeline import Build
from indexer.stores import generation as generations
from indexer.stores.generation import Generation
from indexer.stores.ledger import Ledger
from indexer.stores.ledger.vectors import Vectors
from indexer.stores.manifest import Manifest
from schemas.problems import BuildRefused, Interrupted, LedgerBusy
from schemas.records import Message
from tests.fakes import gemini as answers
from tests.fakes.archive import GEMINI, Home, said
from tests.fakes.gemini import FakeGemini

HASH = "hash/hash/64/1"


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path)


def _refusing(generation: Generation, previous: Manifest | None) -> str | None:
    return f"The generation {generation.name} is not to our taste."


def _last_run(home: Home) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((home.data / "last_run.json").read_text("utf-8"))
    return found


def _folders(home: Home) -> list[str]:
    return sorted(path.name for path in home.data.iterdir() if path.is_dir())


# --- checks --------------------------------------------------------------------------------------------


def test_a_generation_that_fails_a_check_is_not_published_and_what_was_paid_stays(home: Home) -> None:
    home.write("talk.jsonl", said("дом", 20))
    with FakeGemini() as gemini:
        home.using(gemini).build()
        home.write("talk.jsonl", said("дом", 40))
        build = home.making(checks=[_refusing])
        with pytest.raises(BuildRefused, match="not to our taste") as caught:
            build.run()
        assert "--force" in caught.value.hint
        assert (caught.value.exit, build.report.exit, build.report.generation) == (1, 1, None)
        assert (home.current, _folders(home)) == ("000001", ["000001"])
        assert (home.messages(), home.kept()[GEMINI]) == (20, 40)
        assert (_last_run(home)["exit"], home.search("сервер").index.generation) == (1, "000001")

        assert home.build(checks=[_refusing], force=True).generation == "000002"
        assert gemini.entries()[:2] == [20, 20]
        assert [call for call in gemini.entries()[2:] if call > 1] == []
    assert (home.messages(), home.published()[GEMINI]) == (40, 40)


def test_a_shrunk_archive_needs_force(home: Home) -> None:
    home.write("talk.jsonl", said("дом", 20))
    home.write("other.jsonl", said("дача", 20))
    home.build()
    (home.archive / "other.jsonl").unlink()
    with pytest.raises(BuildRefused, match="20 messages, under 80 % of the last one's 40"):
        home.build(mirror=True)
    assert (home.current, home.messages()) == ("000001", 40)
    assert home.build(force=True).generation == "000002"
    assert home.messages() == 20


# --- crashes -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("place", "name"),
    [
        (indexer.writing, "write_graph"),
        (indexer.writing, "graph_of"),
        (generations, "sealed"),
        (generations, "open_generation"),
        (generations, "point"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_an_exception_while_publishing_leaves_the_last_generation_and_the_next_build_completes(
    home: Home, monkeypatch: pytest.MonkeyPatch, place: Any, name: str
) -> None:
    home.write("talk.jsonl", said("дом", 20))
    home.build()
    home.write("talk.jsonl", said("дом", 30))

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device", str(home.data / "x"))

    with monkeypatch.context() as patch:
        patch.setattr(place, name, full)
        build = home.making()
        with pytest.raises(OSError):
            build.run()
    assert (build.report.exit, home.current, home.messages()) == (1, "000001", 20)
    assert [folder for folder in _folders(home) if folder.startswith(".")] == []
    assert (_last_run(home)["exit"], str(home.folder) in json.dumps(_last_run(home))) == (1, False)

    report = home.build()
    assert (report.exit, home.messages(), home.published()) == (0, 30, {HASH: 30})
    assert home.current == report.generation
    assert report.chunks["new"] == 0


def test_a_half_written_folder_of_a_killed_build_is_removed_by_the_next_one(home: Home) -> None:
    home.write("talk.jsonl", said("дом", 20))
    home.build()
    left = home.data / ".writing-000002"
    left.mkdir()
    (left / "chat_vectors.db").write_bytes(b"half")
    home.write("talk.jsonl", said("дом", 30))
    assert home.build().generation == "000002"
    assert _folders(home) == ["000001", "000002"]


# --- one indexer at a time -----------------------------------------------------------------------------

_HOLDER = """
import sys
from pathlib import Path
from indexer.stores.ledger import Ledger
from indexer.stores.ledger.vectors import Vectors
with Ledger(Path(sys.argv[1])):
    print("held", flush=True)
    sys.stdin.read()
"""


def test_a_second_indexer_is_told_at_once_that_one_is_at_work(home: Home) -> None:
    home.write("talk.jsonl", said("дом", 3))
    home.build()
    before = home.left_behind()["last_run.json"]
    holder = subprocess.Popen(
        [sys.executable, "-c", _HOLDER, str(home.data)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        cwd=Path(__file__).parents[2],
    )
    assert holder.stdin is not None
    assert holder.stdout is not None
    try:
        assert holder.stdout.readline() == "held\n"
        begun = time.monotonic()
        with pytest.raises(LedgerBusy) as caught:
            home.build()
        assert time.monotonic() - begun < 2
        assert caught.value.hint
        assert home.left_behind()["last_run.json"] == before
        assert home.search("сервер").hits
    finally:
        holder.stdin.close()
        holder.wait(10)
        holder.stdout.close()
    assert home.build().exit == 0


# --- long runs -----------------------------------------------------------------------------------------


def test_in_a_long_run_words_and_names_are_published_before_the_vectors(
    home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(indexer.pipeline, "EARLY_CHUNKS", 30)
    home.write("talk.jsonl", said("дом", 60))
    seen: list[tuple[str | None, dict[str, int]]] = []
    early: list[str] = []
    with FakeGemini() as gemini:
        home.using(gemini)
        look = gemini._reply

        def looking(*request: Any) -> Any:
            if home.current == "000001" and not early:
                answer = home.search("договор номер 0014", mode="text")
                early.extend(hit.messages[0].id for hit in answer.hits[:1])
            seen.append((home.current, home.published()))
            return look(*request)

        monkeypatch.setattr(gemini, "_reply", looking)
        report = home.build()
    assert (seen[0], early) == (("000001", {}), ["дом-14"])
    assert (report.exit, report.generation, home.current) == (0, "000002", "000002")
    assert home.published() == {GEMINI: 60, HASH: 60}


def test_a_long_run_publishes_what_it_has_at_every_checkpoint(
    home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(indexer.pipeline, "EARLY_CHUNKS", 30)
    monkeypatch.setattr(indexer.pipeline, "CHECKPOINT", 0.0)
    home.write("talk.jsonl", said("дом", 60))
    covered: list[int] = []
    publish = Build._publish

    def publishing(self: Build, ledger: Ledger) -> None:
        publish(self, ledger)
        covered.append(home.published().get(GEMINI, 0))

    monkeypatch.setattr(Build, "_publish", publishing)
    with FakeGemini() as gemini:
        home.using(gemini).build()
    assert covered == [0, 20, 40, 60, 60, 60, 60, 60]
    assert len(_folders(home)) == 2


# --- interrupts ----------------------------------------------------------------------------------------


def _after(count: int) -> Callable[[], bool]:
    """False for the first so many questions, then True."""
    asked = 0

    def cancelled() -> bool:
        nonlocal asked
        asked += 1
        return asked > count

    return cancelled


def test_an_interrupt_between_batches_publishes_nothing_and_loses_no_batch(home: Home) -> None:
    home.write("talk.jsonl", said("дом", 100))
    with FakeGemini() as gemini:
        build = home.using(gemini).making(cancelled=lambda: len(gemini.calls) >= 3)
        with pytest.raises(Interrupted) as caught:
            build.run()
        assert (caught.value.exit, build.report.exit, home.current) == (1, 1, None)
        assert home.kept()[GEMINI] == len(gemini.texts) == 60
        assert _last_run(home)["exit"] == 1
        assert home.build().exit == 0
        assert len(gemini.texts) == len(set(gemini.texts)) == 100
    assert home.published() == {GEMINI: 100, HASH: 100}


def test_an_interrupt_in_a_wait_for_a_quota_is_heard(home: Home) -> None:
    home.write("talk.jsonl", said("дом", 40))
    with FakeGemini() as gemini:
        gemini.faults.extend([None, answers.quota(300)])
        home.using(gemini)
        with pytest.raises(Interrupted):
            home.build(cancelled=lambda: sum(home.slept) > 2)
        assert sum(home.slept) < 4
        assert home.kept()[GEMINI] == 20


@pytest.mark.parametrize("questions", [0, 1, 5, 21, 22, 23, 24, 25, 26])
def test_an_interrupt_at_any_time_leaves_a_folder_that_the_next_run_completes(
    home: Home, questions: int
) -> None:
    home.write("talk.jsonl", said("дом", 10))
    home.write("other.jsonl", said("дача", 10))
    with FakeGemini() as gemini:
        try:
            home.using(gemini).build(cancelled=_after(questions))
        except Interrupted:
            assert home.current is None
        report = home.build()
        assert (report.exit, home.published()) == (0, {GEMINI: 20, HASH: 20})
        assert len(gemini.texts) == 20


def test_ctrl_c_ends_a_build_like_an_interrupt(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    home.write("talk.jsonl", said("дом", 40))
    keep = Vectors.keep

    def keeping(self: Any, *batch: Any) -> None:
        keep(self, *batch)
        raise KeyboardInterrupt

    with FakeGemini() as gemini:
        home.using(gemini)
        with monkeypatch.context() as patch:
            patch.setattr(Vectors, "keep", keeping)
            with pytest.raises(Interrupted):
                home.build()
        assert (home.current, home.kept()[GEMINI], _last_run(home)["exit"]) == (None, 20, 1)
        assert home.build().exit == 0
        assert len(gemini.texts) == 40


def test_a_talk_is_read_whole_or_not_at_all(home: Home) -> None:
    home.write("a.jsonl", said("первый", 30))
    home.write("b.jsonl", said("второй", 30))
    with pytest.raises(Interrupted):
        home.build(cancelled=_after(40))
    with Ledger(home.data) as ledger:
        kept: list[Message] = [*ledger.messages.talk("первый"), *ledger.messages.talk("второй")]
    assert len(kept) == 30

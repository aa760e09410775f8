from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from indexer.stores.ledger import Ledger
from service.cli import main

from .conftest import CONFIG, Run, talk

_SECRET = "ghp_" + "a1B2" * 9
_COPIED = "Ключи от старой квартиры лежат у соседа на полке"

_MORE: tuple[dict[str, str], ...] = (
    {"id": "secret", "text": f"Токен для сборки {_SECRET} поменяй"},
    {"id": "empty", "text": ""},
    {"id": "rule", "role": "instruction", "text": "Индикатор загрузки процессора зелёный"},
    {"id": "first", "text": _COPIED},
    {"id": "second", "text": _COPIED},
)


@pytest.fixture(scope="module")
def published(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An archive and its index, built once."""
    root = tmp_path_factory.mktemp("published")
    talk(root / "talks")
    (root / "desk").mkdir()
    (root / "desk" / "letopis.toml").write_text(CONFIG, "utf-8")
    lines = [
        {"chat": "more", "author": "Оля", "role": "user", "ts": f"2025-03-{at:02d}T10:00:00+03:00", **line}
        for at, line in enumerate(_MORE, 1)
    ]
    text = "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines)
    (root / "talks" / "more.jsonl").write_text(text, "utf-8")
    assert main(["build", "--config", str(root / "desk" / "letopis.toml")]) == 0
    return root


@pytest.fixture
def built(published: Path, work: Path) -> Path:
    shutil.copytree(published, work.parent, dirs_exist_ok=True)
    return work


def asked(run: Run, *arguments: str) -> dict[str, Any]:
    told = run("why-not", *arguments, "--json")
    assert told.code == 0, told.out
    found: dict[str, Any] = told.json
    return found


def test_a_message_is_followed_from_its_file_to_its_vectors(built: Path, run: Run) -> None:
    told = run("why-not", "m3")
    assert told.code == 0
    assert told.out.startswith("Message m3 of the chat family: found by its id.\n")
    assert "family.jsonl:4" in told.out
    assert "family.jsonl (jsonl): 24 messages" in told.out
    assert "generation 000001" in told.out
    assert "vectors: hash/hash/64/1" in told.out
    assert "→ It is in the index, whole" in told.out


@pytest.mark.parametrize(
    ("wanted", "match", "id_"),
    [
        ("m4", "id", "m4"),
        ("Билеты в Карелию куплены, едем второго января, запись 4.", "text", "m4"),
        ("второго января, запись 10", "part", "m10"),
        ("карельский билет января запись 16", "words", "m16"),
    ],
)
def test_it_is_found_by_id_by_text_by_a_part_and_by_its_words(
    built: Path, run: Run, wanted: str, match: str, id_: str
) -> None:
    found = asked(run, wanted)
    assert (found["match"], found["id"], found["in_generation"]) == (match, id_, True)


def test_the_nearest_in_words_says_that_it_may_be_another(built: Path, run: Run) -> None:
    assert "it may be another message" in run("why-not", "соседские ключи").out


def test_what_was_redacted_and_left_out_is_counted(built: Path, run: Run) -> None:
    found = asked(run, "secret")
    assert found["redacted"] == 1
    assert _SECRET not in json.dumps(found)
    assert [(file["path"], file["dropped"]) for file in found["files"]] == [("more.jsonl", {"empty": 1})]
    assert "left out: 1 empty" in run("why-not", "secret").out


def test_a_role_that_a_search_leaves_out_is_named_with_the_remedy(built: Path, run: Run) -> None:
    found = asked(run, "rule", "--for", "индикатор загрузки")
    assert found["hidden"] == ["role=instruction"]
    assert {one["lost"] for one in found["search"]["units"].values()} == {"filter"}
    assert any("ask with --role=instruction" in reason for reason in found["reasons"])


def test_what_is_found_has_its_place_and_legs_that_sum_to_the_score(built: Path, run: Run) -> None:
    found = asked(run, "m7", "--for", "кот Барсик")
    hits = {
        unit: run("search", "кот Барсик", "--unit", unit, "--json").json["hits"]
        for unit in ("message", "chunk")
    }
    for unit, one in found["search"]["units"].items():
        assert one["lost"] == "none"
        assert hits[unit][one["place"] - 1]["id"] == one["id"]
        assert hits[unit][one["place"] - 1]["score"] == one["score"]
        assert sum(leg["contribution"] for leg in one["legs"].values()) == pytest.approx(
            one["score"], rel=0, abs=1e-6
        )
        before = hits[unit][max(0, one["place"] - 4) : one["place"] - 1]
        assert [above["id"] for above in one["above"]] == [hit["id"] for hit in before]


def test_the_limit_is_told_with_what_stands_above(built: Path, run: Run) -> None:
    everything = run("search", "запись", "--unit", "message", "--limit", "100", "--json").json["hits"]
    last = everything[-1]["id"]
    one = asked(run, last, "--for", "запись")["search"]["units"]["message"]
    assert (one["lost"], one["place"]) == ("limit", len(everything))
    assert [above["id"] for above in one["above"]] == [hit["id"] for hit in everything[-4:-1]]
    assert "past the limit of 10" in run("why-not", last, "--for", "запись").out


def test_a_copy_names_what_it_is_merged_into(built: Path, run: Run) -> None:
    one = asked(run, "second", "--for", "ключи от квартиры")["search"]["units"]["message"]
    assert (one["lost"], one["copy_of"], one["place"]) == ("copy", "first", None)
    assert one["rank"] == 2


def test_a_message_that_no_leg_finds_says_so(built: Path, run: Run) -> None:
    told = run("why-not", "m4", "--for", "кот Барсик").out
    assert "no leg finds it" in told
    assert "no word of the query in the message itself" in told


def test_what_was_forgotten_is_known_by_id_and_by_text(built: Path, run: Run) -> None:
    assert run("forget", "--chat", "family", "--message", "m3", "--yes").code == 0
    for wanted in ("m3", "Встреча с Иваном Петровым переехала на четверг, запись 3."):
        found = asked(run, wanted, "--for", "встреча")
        assert (found["forgotten"], found["in_generation"], found["id"]) == (True, False, "m3")
    assert "was forgotten for good" in run("why-not", "m3", "--chat", "family").out


def test_a_running_indexer_is_not_waited_for_and_nothing_is_changed(built: Path, run: Run) -> None:
    with Ledger(built / "index"):
        before = (built / "index" / "ledger.db").read_bytes()
        assert asked(run, "m3")["in_ledger"] is True
        assert (built / "index" / "ledger.db").read_bytes() == before


def test_nothing_is_left_in_the_data_folder(built: Path, run: Run) -> None:
    before = sorted(path.name for path in (built / "index").iterdir())
    asked(run, "m3", "--for", "встреча")
    assert sorted(path.name for path in (built / "index").iterdir()) == before


def test_a_ledger_that_cannot_be_read_is_one_sentence(built: Path, run: Run) -> None:
    (built / "index" / "ledger.db").write_bytes(b"no database at all " * 300)
    told = run("why-not", "m3")
    assert told.code == 1
    assert told.err.startswith("letopis: ledger.db can't be read: ")
    assert told.err.count("\n") == 1


def test_without_a_ledger_the_generation_tells_what_it_knows(built: Path, run: Run) -> None:
    for path in (built / "index").glob("ledger.db*"):
        path.unlink()
    found = asked(run, "m3", "--for", "встреча с Иваном")
    assert found["in_ledger"] is None
    assert found["place"] is None
    assert found["search"]["units"]["message"]["rank"]
    assert "unknown without the ledger; one of 2 of jsonl" in run("why-not", "m3").out


def test_without_a_generation_the_ledger_tells_what_it_knows(built: Path, run: Run) -> None:
    (built / "index" / "CURRENT").unlink()
    found = asked(run, "m3", "--for", "встреча")
    assert (found["generation"], found["in_ledger"], found["search"]) == (None, True, None)
    assert "`letopis build` publishes it" in run("why-not", "m3").out


def test_an_id_of_several_talks_asks_for_the_talk(built: Path, run: Run) -> None:
    talk(built.parent / "talks", 4, "work.jsonl")
    assert run("build").code == 0
    told = run("why-not", "m1")
    assert (told.code, told.err.count("\n")) == (1, 1)
    assert "2 messages have the id 'm1'. Next: choose with --chat: family, work" in told.err
    assert asked(run, "m1", "--chat", "work")["chat"] == "work"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["щщщщ"], "No message of the index has this id or any of these words. Next: `letopis archives"),
        (["m3", "--chat", "чужой"], "There is no chat 'чужой' in the index. Next: --chat takes"),
        ([" "], "There is no message named. Next: give its id or its text"),
        (["m3", "--for", " "], "The query q is empty. Next:"),
    ],
)
def test_an_error_is_one_sentence_with_the_remedy(
    built: Path, run: Run, arguments: list[str], said: str
) -> None:
    told = run("why-not", *arguments)
    assert told.code in (1, 2)
    assert told.err.startswith(f"letopis: {said}")
    assert told.err.count("\n") == 1


def test_without_an_index_the_first_step_is_told(work: Path, run: Run) -> None:
    told = run("why-not", "m3")
    assert told.code == 1
    assert told.err == "letopis: There is no index in the data folder yet. Next: run `letopis build PATH`\n"

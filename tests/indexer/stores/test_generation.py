from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from indexer.stores import generation as generations
from indexer.stores import manifest
from indexer.stores.generation import Generation
from indexer.stores.manifest import Manifest
from schemas.problems import BuildRefused, IndexCorrupt, IndexMissing
from schemas.settings import Settings
from tests.fakes.index import archive, build, published, said, settings_for


def publish(settings: Settings, number: int) -> None:
    line = said(f"сервер, поколение {number}", "m1", edited=1_700_000_000 + number)
    assert build(settings, archive(settings.data.parent / "archive", [line])).generation == f"{number:06d}"


@pytest.fixture
def three(tmp_path: Path) -> Path:
    """A data folder after three builds."""
    settings = settings_for(tmp_path / "index")
    for number in (1, 2, 3):
        publish(settings, number)
    return settings.data


def test_two_generations_stay_and_the_newest_is_served(three: Path) -> None:
    assert generations.names(three) == ["000002", "000003"]
    assert generations.current_name(three) == "000003"


def test_pruning_never_removes_the_published_one(three: Path) -> None:
    generations.use(three, "000002")
    assert generations.prune(three, 1) == []
    assert generations.prune(three, 0) == ["000003"]
    assert generations.names(three) == ["000002"]
    generations.open_current(three).close()


def test_a_rolled_back_generation_outlives_the_next_builds_pruning(tmp_path: Path) -> None:
    settings = settings_for(tmp_path / "index")
    publish(settings, 1)
    publish(settings, 2)
    generations.use(settings.data, "000001")
    publish(settings, 3)
    assert generations.names(settings.data) == ["000002", "000003"]
    assert generations.current_name(settings.data) == "000003"


def test_use_rolls_back_and_forward(three: Path) -> None:
    assert generations.use(three, "000002").generation == "000002"
    assert generations.current_name(three) == "000002"
    generations.use(three, "000003")
    assert generations.current_name(three) == "000003"


def test_use_refuses_what_is_not_there_and_names_what_is(three: Path) -> None:
    with pytest.raises(IndexMissing) as caught:
        generations.use(three, "000001")
    assert "000002, 000003" in caught.value.hint
    assert generations.current_name(three) == "000003"


def test_use_refuses_a_damaged_generation_and_changes_nothing(three: Path) -> None:
    path = three / "000002" / "entity_graph.db"
    path.write_bytes(path.read_bytes()[:-1] + b"!")
    with pytest.raises(IndexCorrupt):
        generations.use(three, "000002")
    assert generations.current_name(three) == "000003"


def test_leftovers_of_a_killed_build_are_removed_by_the_next(three: Path) -> None:
    left = three / ".writing-000004"
    left.mkdir()
    (left / "chat_vectors.db").write_bytes(b"half")
    (left / "chat_vectors.db-journal").write_bytes(b"half")
    name, folder = generations.begin(three)
    assert (name, list(folder.iterdir())) == ("000004", [])
    assert generations.names(three) == ["000002", "000003"]


def test_a_number_is_never_given_twice(three: Path) -> None:
    shutil.rmtree(three / "000003")
    assert generations.begin(three)[0] == "000004"


def test_a_hidden_folder_is_no_generation(three: Path) -> None:
    generations.begin(three)
    (three / "000009").write_text("a file")
    (three / "12").mkdir()
    assert generations.names(three) == ["000002", "000003"]


def refused(generation: Generation, previous: Manifest | None) -> str | None:
    return f"{generation.name} after {previous.generation if previous else None} is not good."


def test_a_refused_generation_leaves_nothing_behind(tmp_path: Path) -> None:
    settings = settings_for(tmp_path / "index")
    publish(settings, 1)
    path = archive(tmp_path / "archive", [said("сервер, другое", "m1", edited=1_800_000_000)])
    with pytest.raises(BuildRefused) as caught:
        build(settings, path, checks=[refused])
    assert caught.value.message == "000002 after 000001 is not good."
    assert generations.current_name(settings.data) == "000001"
    assert [entry.name for entry in settings.data.iterdir() if entry.is_dir()] == ["000001"]


def test_force_publishes_past_the_checks(tmp_path: Path) -> None:
    settings = settings_for(tmp_path / "index")
    report = build(settings, archive(tmp_path / "archive", [said("сервер")]), checks=[refused], force=True)
    assert report.generation == "000001"


def test_nothing_new_makes_no_new_generation(tmp_path: Path) -> None:
    settings = published(tmp_path, [said("сервер", "m1")])
    report = build(settings, tmp_path / "archive" / "talk.jsonl")
    assert report.generation is None
    assert generations.names(settings.data) == ["000001"]


def test_an_empty_archive_is_a_generation_too(tmp_path: Path) -> None:
    settings = published(tmp_path, [said("👍", "m1")])
    opened = generations.open_current(settings.data)
    try:
        assert (opened.store.size("chunk"), opened.store.size("message")) == (0, 0)
        assert opened.graph.search("", None, 5) == []
    finally:
        opened.close()


def test_without_an_index_the_remedy_is_named(tmp_path: Path) -> None:
    with pytest.raises(IndexMissing) as caught:
        generations.open_current(tmp_path)
    assert "letopis build" in caught.value.hint
    assert generations.current_manifest(tmp_path) is None
    assert generations.names(tmp_path / "none") == []


@pytest.mark.parametrize("name", ["chat_vectors.db", "entity_graph.db"])
@pytest.mark.parametrize("at", [0.01, 0.3, 0.6, 0.999])
def test_any_turned_bit_of_a_published_file_is_seen(tmp_path: Path, name: str, at: float) -> None:
    settings = published(tmp_path, [said("сервер Docker", "m1")])
    path = settings.data / "000001" / name
    data = bytearray(path.read_bytes())
    data[int(len(data) * at)] ^= 0x10
    path.write_bytes(data)
    with pytest.raises(IndexCorrupt) as caught:
        generations.open_current(settings.data)
    assert name in caught.value.message
    assert caught.value.hint


@pytest.mark.parametrize("name", ["chat_vectors.db", "entity_graph.db", "manifest.json"])
def test_a_missing_file_is_seen(tmp_path: Path, name: str) -> None:
    settings = published(tmp_path, [said("сервер", "m1")])
    (settings.data / "000001" / name).unlink()
    with pytest.raises(IndexCorrupt):
        generations.open_current(settings.data)


def rewritten(folder: Path, **values: object) -> None:
    path = folder / manifest.NAME
    path.write_text(json.dumps(json.loads(path.read_text("utf-8")) | values), "utf-8")


def test_a_manifest_without_hashes_proves_nothing(tmp_path: Path) -> None:
    settings = published(tmp_path, [said("сервер", "m1")])
    rewritten(settings.data / "000001", files={})
    with pytest.raises(IndexCorrupt):
        generations.open_current(settings.data)


def test_a_newer_manifest_is_refused_with_both_numbers(tmp_path: Path) -> None:
    settings = published(tmp_path, [said("сервер", "m1")])
    rewritten(settings.data / "000001", version=977, something_new=[])
    with pytest.raises(IndexCorrupt) as caught:
        generations.open_current(settings.data)
    assert "manifest version 977, this program reads 1" in caught.value.message


@pytest.mark.parametrize("text", ["", "{", "[]", "null", "{}", '{"version": 1}', '"version"'])
def test_a_damaged_manifest_is_one_sentence(tmp_path: Path, text: str) -> None:
    settings = published(tmp_path, [said("сервер", "m1")])
    (settings.data / "000001" / manifest.NAME).write_text(text)
    with pytest.raises(IndexCorrupt) as caught:
        generations.open_current(settings.data)
    assert "000001" in caught.value.message
    assert str(tmp_path) not in caught.value.line()


def test_a_database_that_is_none_is_refused_even_unverified(tmp_path: Path) -> None:
    settings = published(tmp_path, [said("сервер", "m1")])
    for name in ("chat_vectors.db", "entity_graph.db"):
        path = settings.data / "000001" / name
        whole = path.read_bytes()
        for broken in (b"", b"no database at all", whole[: len(whole) // 3]):
            path.write_bytes(broken)
            with pytest.raises(Exception, match=r".") as caught:
                generations.open_generation(settings.data / "000001", verify=False).store.chunks([1])
            assert type(caught.value).__module__ == "schemas.problems"
        path.write_bytes(whole)

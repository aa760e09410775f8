"""What archives hold that is broken, secret, private, renamed or gone, seen through a whole build."""

from __future__ import annotations

import json
import shutil
import zipfile
from pathlib import Path

import pytest

from indexer.report import Report
from schemas.settings import Chunking
from tests.fakes.archive import Home, said

CASE_55 = Path(__file__).parents[1] / "cases" / "55_secrets_share" / "chat.jsonl"
SECRETS = (
    b"AIzaSyA0123456789abcdefghijklmnopqrstuv",
    b"AAHx1Y2z3W4v5U6t7S8r9Q0p1O2n3M4l5K6",
    b"a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8",
    b"S3cr3tP",
    b"eyJzdWIiOiIxMjM0NTY3ODkwIn0",
)

NOTES = (
    "# Память\n\nОбщие слова.\n\n## Сервер\n\nСервер стоит в подвале.\n\n## Огород\n\nПомидоры посажены.\n"
)


@pytest.fixture
def home(tmp_path: Path) -> Home:
    home = Home(tmp_path)
    home.chunking = Chunking()
    return home


def _places(report: Report) -> dict[str, tuple[str, str]]:
    return {place: (reason, kind.hint) for reason, kind in report.skipped.items() for place in kind.places}


# --- broken input -------------------------------------------------------------------------------------


def test_what_is_broken_is_named_with_place_and_remedy_and_the_rest_is_published(home: Home) -> None:
    lines = [json.dumps(line, ensure_ascii=False) for line in said("дом", 3)]
    home.write("talk.jsonl", "\n".join([lines[0], '{"role": "user", "content": ', "[1]", *lines[1:], ""]))
    home.write("inner/wrong.jsonl", b'{"role": "user", "ts": 1, "content": "\xff\xfe\xfa"}\n')
    home.write("inner/page.html", "<!DOCTYPE html><html><body>Переписка</body></html>")
    home.write("inner/thing.dat", b"\x01\x02\x03 nothing that we know")
    home.write("inner/torn.zip", b"PK\x03\x04 this was once a zip")
    home.write("inner/torn.jsonl.zst", b"\x28\xb5\x2f\xfd torn")
    report = home.build()

    places = _places(report)
    named = {
        "talk.jsonl:2",
        "talk.jsonl:3",
        "inner/page.html",
        "inner/thing.dat",
        "inner/torn.zip",
        "inner/torn.jsonl.zst",
    }
    assert named <= set(places)
    assert any(place.startswith("inner/wrong.jsonl") for place in places)
    assert all(reason and hint for reason, hint in places.values())
    assert report.generation == "000001"
    assert home.search("сервер номер 0000").hits[0].messages[0].id == "дом-0"

    told = report.as_json()["skipped"]
    assert sum(kind["count"] for kind in told.values()) == len(places)
    assert json.loads((home.data / "last_run.json").read_text("utf-8"))["report"]["skipped"] == told


def test_what_is_broken_is_still_counted_when_the_file_has_not_changed(home: Home) -> None:
    home.write("talk.jsonl", [*said("дом", 3), {"role": "user", "ts": 1}])
    first = home.build().as_json()
    second = home.build().as_json()
    assert second["generation"] is None
    assert second["skipped"] == first["skipped"] != {}


def test_an_archive_that_is_not_there_costs_the_others_nothing(home: Home) -> None:
    home.write("talk.jsonl", said("дом", 3))
    report = home.build(paths=[home.folder / "missing", home.archive])
    assert (report.exit, report.generation, home.messages()) == (3, "000001", 3)
    assert _places(report)["missing"][1]
    assert [fault for fault in report.faults if "missing" in fault and "Next: " in fault]


def test_no_absolute_path_stands_in_anything_that_a_build_leaves_or_tells(home: Home) -> None:
    home.write("talk.jsonl", said("дом", 3))
    home.write("MEMORY.md", NOTES)
    home.write("broken.jsonl", '{"role": "user", "ts": 1, "content": \n')
    home.write("thing.dat", b"\x01\x02")
    with zipfile.ZipFile(home.archive / "export.zip", "w") as file:
        file.writestr("chat.jsonl", json.dumps(said("зип", 1)[0]))
    report = home.build(paths=[home.folder / "missing", home.archive])
    told = json.dumps(report.as_json(), ensure_ascii=False)
    for path in (str(home.folder), str(Path.home()) + "/", str(Path.cwd())):
        assert path not in told
        assert [name for name, data in home.left_behind().items() if path.encode() in data] == []


# --- secrets ------------------------------------------------------------------------------------------


def test_case_55_no_secret_stands_in_any_file_of_ours(home: Home) -> None:
    home.write("chat.jsonl", CASE_55.read_bytes())
    home.write(
        "second.jsonl",
        [{**line, "title": "token ghp_a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"} for line in said("а", 1)],
    )
    report = home.build()
    left = home.left_behind()
    assert {"ledger.db", "last_run.json", "000001/chat_vectors.db", "000001/entity_graph.db"} <= set(left)
    for secret in SECRETS:
        assert [name for name, data in left.items() if secret in data] == []
        assert secret.decode() not in json.dumps(report.as_json()) + repr(report)
    assert sum(report.redacted.values()) >= 5
    texts = {hit.text for hit in home.search("commit", limit=20, unit="message").hits}
    assert any("6c073d8ebb145cb90bca28ce44da090aa11bb22c" in text for text in texts)
    texts = {hit.text for hit in home.search("обсудили пароль и токен", limit=20, unit="message").hits}
    assert "обсудили пароль и токен, ничего не записали" in texts


# --- what goes, and what stays ------------------------------------------------------------------------


def test_a_member_of_a_zip_that_can_not_be_opened_costs_the_others_nothing(home: Home) -> None:
    path = home.archive / "export.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file:
        file.writestr("bad.jsonl", "\n".join(json.dumps(line) for line in said("плохой", 50)))
        file.writestr("good.jsonl", "\n".join(json.dumps(line) for line in said("хороший", 5)))
    data = bytearray(path.read_bytes())
    data[45:60] = b"\xff" * 15
    path.write_bytes(data)
    report = home.build()
    assert any(place.startswith("export.zip!bad.jsonl") for place in _places(report))
    assert home.search("в чате хороший", mode="text").hits
    assert report.generation == "000001"


def test_a_section_that_was_removed_from_a_note_leaves_the_index(home: Home) -> None:
    home.write("MEMORY.md", NOTES)
    home.build()
    assert home.search("помидоры", mode="text").hits
    home.write("MEMORY.md", NOTES.partition("## Огород")[0])
    report = home.build(checks=())
    assert (report.messages["removed"], report.generation) == (1, "000002")
    assert home.search("помидоры", mode="text").hits == []
    assert home.search("подвал", mode="text").hits


def test_a_deleted_note_leaves_the_index(home: Home) -> None:
    home.write("MEMORY.md", NOTES)
    home.write("talk.jsonl", said("дом", 20))
    home.build()
    (home.archive / "MEMORY.md").unlink()
    report = home.build()
    assert (report.messages["removed"], report.files["gone"]) == (3, 1)
    assert home.search("помидоры", mode="text").hits == []
    assert home.messages() == 20


def test_a_note_that_can_not_be_read_for_once_keeps_its_sections(home: Home) -> None:
    path = home.write("memory/garden.md", NOTES)
    home.write("talk.jsonl", said("дом", 20))
    home.build()
    content = path.read_bytes()
    path.unlink()
    path.symlink_to(home.archive / "nowhere.md")
    report = home.build()
    assert report.messages["removed"] == 0
    assert home.search("помидоры", mode="text").hits
    path.unlink()
    home.write("memory/garden.md", content)
    assert home.build().messages["removed"] == 0


def test_a_chat_file_that_vanished_keeps_its_messages_until_mirror_drops_them(home: Home) -> None:
    home.write("talk.jsonl", said("дом", 20))
    home.write("gone.jsonl", said("дача", 4))
    home.build()
    (home.archive / "gone.jsonl").unlink()
    report = home.build()
    assert (report.files["gone"], report.messages["removed"], home.messages()) == (1, 0, 24)
    report = home.build(mirror=True)
    assert (report.messages["removed"], home.messages()) == (4, 20)
    assert home.search("в чате дача", mode="text", chat="дача").hits == []

    home.write("gone.jsonl", said("дача", 4))
    home.build()
    assert home.messages() == 24


def test_the_status_tells_of_a_file_that_vanished(home: Home) -> None:
    home.write("talk.jsonl", said("дом", 20))
    home.write("gone.jsonl", said("дача", 4))
    home.build()
    (home.archive / "gone.jsonl").unlink()
    home.build()
    with home.engine() as engine:
        health = {source["path"]: source["health"] for source in engine.status()["sources"]}
    assert health == {"talk.jsonl": "ok", "gone.jsonl": "gone"}


@pytest.mark.parametrize("mirror", [False, True])
def test_a_missing_root_drops_nothing(home: Home, mirror: bool) -> None:
    home.write("MEMORY.md", NOTES)
    home.write("talk.jsonl", said("дом", 3))
    home.build()
    away = home.folder / "unmounted"
    shutil.move(home.archive, away)
    report = home.build(mirror=mirror)
    assert (report.exit, report.generation, report.messages["removed"]) == (3, None, 0)
    shutil.move(away, home.archive)
    report = home.build(mirror=mirror)
    assert (report.exit, report.generation, home.messages()) == (0, None, 6)


def test_an_edited_message_is_found_by_its_new_words_alone(home: Home) -> None:
    lines = said("дом", 3)
    home.write("talk.jsonl", lines)
    home.build()
    home.write("talk.jsonl", [{**lines[0], "content": "В чате продали самолёт"}, *lines[1:]])
    report = home.build()
    assert report.messages["changed"] == 1
    assert home.search("самолёт", mode="text").hits
    assert home.search("0000", mode="text").hits == []

"""Corrections through a whole index: published at once, kept by every later build, taken back."""

from __future__ import annotations

from pathlib import Path

import pytest

from indexer.correcting import Correct
from indexer.extraction import extract
from indexer.report import Report
from indexer.stores.database import transaction
from indexer.stores.ledger import Ledger
from indexer.text.names import name_key
from schemas.problems import NoMatch
from schemas.records import Correction
from tests.fakes.archive import Home, said

TALK = [
    {**line, "content": text}
    for line, text in zip(
        said("дом", 4),
        (
            "OpenClaw упал на ArchLinux",
            "OpenClaw и LobsterBot чинят",
            "LobsterBot готов",
            "OpenClaw снова упал",
        ),
        strict=True,
    )
]
MERGE = Correction("merge", name_key("LobsterBot"), name_key("OpenClaw"))


@pytest.fixture
def home(tmp_path: Path) -> Home:
    home = Home(tmp_path)
    home.write("a.jsonl", TALK)
    home.build()
    return home


def names(home: Home) -> dict[str, int]:
    with home.engine() as engine:
        return {entity.name: entity.mentions for entity in engine.entities("", None, 20).entities}


def test_a_merge_is_published_at_once_and_stays_through_later_builds(home: Home) -> None:
    assert names(home) == {"OpenClaw": 3, "LobsterBot": 2, "ArchLinux": 1}
    job = Correct(home.settings, correction=MERGE)
    job.run()
    assert job.report.generation == home.current == "000002"
    assert names(home) == {"OpenClaw": 5, "ArchLinux": 1}
    home.write("b.jsonl", said("работа", 2))
    home.build(full=True)
    assert names(home)["OpenClaw"] == 5
    with home.engine() as engine:
        found = engine.entities("LobsterBot", None, 5).entities
    assert found[0].name == "OpenClaw"


def test_a_correction_can_be_taken_back_by_its_number(home: Home) -> None:
    job = Correct(home.settings, correction=MERGE)
    job.run()
    assert job.number is not None
    Correct(home.settings, undo=job.number).run()
    assert names(home)["LobsterBot"] == 2
    with pytest.raises(NoMatch, match="no correction 77"):
        Correct(home.settings, undo=77).run()


def test_vectors_and_their_spaces_stay_as_they_were(home: Home) -> None:
    before = home.published()
    Correct(home.settings, correction=Correction("ignore", name_key("ArchLinux"))).run()
    assert home.published() == before
    assert "ArchLinux" not in names(home)


def test_another_extractor_says_so_before_it_looks_for_names_anew(home: Home) -> None:
    stages: list[str] = []

    class Told:
        def stage(self, name: str, total: int | None) -> None:
            stages.append(name)

        def advance(self, count: int = 1) -> None:
            pass

    with Ledger(home.data) as ledger:
        version = ledger.mentions.extractor
        assert version is not None
        assert version.startswith("patterns/")
        ledger.mentions.complete("slovnet/older")
        extract(ledger, home.settings.entities, Report(), Told(), lambda: False)
        assert ledger.mentions.extractor == version
        assert not any("anew" in stage for stage in stages)  # every message has been seen by it before
        with transaction(ledger._db):
            ledger._db.execute("DELETE FROM extraction")
        ledger.mentions.complete("slovnet/older")
        report = Report()
        extract(ledger, home.settings.entities, report, Told(), lambda: False)
    assert stages[-1] == report.notes[0].rstrip(".")
    assert f"{version} takes the place of slovnet/older" in report.notes[0]

"""A build of a part: what is read of it, and that nothing is lost or read twice around it."""

from __future__ import annotations

from pathlib import Path

import pytest

from indexer.narrowing import Narrowing
from tests.fakes.archive import Home, said
from tests.fakes.gemini import FakeGemini


@pytest.fixture
def home(tmp_path: Path) -> Home:
    home = Home(tmp_path)
    home.write("a.jsonl", said("дом", 10))
    home.write("b.jsonl", said("работа", 6, chat_title="Отчёт за март"))
    home.write("c.jsonl", [{**line, "ts": None} for line in said("без дат", 3)])
    return home


SIXTH = 1_767_225_600_000 + 5 * 60_000


@pytest.mark.parametrize(
    ("narrowing", "expected"),
    [
        (Narrowing(since=SIXTH), 5 + 1),
        (Narrowing(chats=("дом",)), 10),
        (Narrowing(chats=("отчет ЗА март",)), 6),
        (Narrowing(SIXTH, ("дом", "работа")), 6),
        (Narrowing(chats=("без дат",)), 3),
    ],
)
def test_only_the_part_is_read(home: Home, narrowing: Narrowing, expected: int) -> None:
    report = home.build(narrowing=narrowing)
    assert report.messages["new"] == expected == home.messages()
    assert report.dropped["outside"]["records"] == 19 - expected
    assert report.exit == 0


def test_a_later_build_reads_the_rest_and_pays_for_nothing_twice(tmp_path: Path) -> None:
    with FakeGemini() as gemini:
        home = Home(tmp_path).using(gemini)
        home.write("a.jsonl", said("дом", 10))
        home.build(narrowing=Narrowing(since=SIXTH))
        assert len(gemini.texts) == 5
        report = home.build()
        assert (report.messages["new"], home.messages()) == (5, 10)
        assert len(gemini.texts) == len(set(gemini.texts)) == 10


def test_a_narrowed_build_after_a_whole_one_reads_nothing_anew_and_loses_nothing(home: Home) -> None:
    home.build()
    report = home.build(narrowing=Narrowing(since=SIXTH), mirror=True)
    assert (report.files["read"], report.files["unchanged"]) == (0, 3)
    home.write("a.jsonl", said("дом", 12))
    report = home.build(narrowing=Narrowing(since=SIXTH), mirror=True)
    assert (report.messages["new"], home.messages()) == (2, 21)


def test_notes_outside_the_part_stay(home: Home) -> None:
    home.write("MEMORY.md", "# Память\n\nСервер стоит в подвале.\n")
    home.build()
    before = home.messages()
    home.write("MEMORY.md", "# Память\n\nСервер стоит в подвале и шумит.\n")
    home.build(narrowing=Narrowing(chats=("дом",)))
    assert home.messages() == before


def test_reading_twice_gives_nothing_new_and_ten_more_messages_give_ten(tmp_path: Path) -> None:
    with FakeGemini() as gemini:
        home = Home(tmp_path).using(gemini)
        home.write("a.jsonl", said("дом", 40))
        home.write("b.jsonl", said("работа", 40))
        home.build()
        asked = len(gemini.texts)
        report = home.build(full=True)
        assert (report.messages["new"], report.messages["changed"], report.chunks["new"]) == (0, 0, 0)
        assert len(gemini.texts) == asked
        home.write("a.jsonl", said("дом", 50))
        report = home.build()
        assert (report.messages["new"], report.chunks["new"]) == (10, 10)
        assert len(gemini.texts) - asked == 10

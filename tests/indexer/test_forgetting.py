"""Forgetting through a whole index: gone at once, from everything, and for good."""

from __future__ import annotations

from pathlib import Path

import pytest

from indexer.forgetting import Forget, Request
from indexer.stores.generation import names
from indexer.stores.ledger import Ledger, Rule
from schemas.problems import NoMatch
from tests.fakes.archive import Home, said
from tests.fakes.gemini import FakeGemini


@pytest.fixture
def home(tmp_path: Path) -> Home:
    home = Home(tmp_path)
    home.write("a.jsonl", said("дом", 12))
    home.write("b.jsonl", said("работа", 6, authors=("Вера", "Анна"), chat_title="Работа над отчётом"))
    home.build()
    home.write("b.jsonl", said("работа", 8, authors=("Вера", "Анна"), chat_title="Работа над отчётом"))
    home.build()
    return home


def forget(home: Home, dry_run: bool = False, **what: str) -> Forget:
    job = Forget(home.settings, request=Request(**what), dry_run=dry_run)
    job.run()
    return job


def texts(home: Home) -> set[str]:
    with Ledger(home.data) as ledger:
        return {one.text for chat, _, _ in ledger.messages.chats() for one in ledger.messages.talk(chat)}


@pytest.mark.parametrize(
    ("what", "gone"),
    [
        ({"chat": "дом"}, 12),
        ({"chat": "работа над ОТЧЁТОМ"}, 8),
        ({"chat": "дом", "message": "дом-3"}, 1),
        ({"message": "дом-3"}, 1),
        ({"author": "анна"}, 6 + 4),
        ({"author": "Анна", "chat": "дом"}, 6),
    ],
)
def test_what_is_forgotten_leaves_every_file_and_stays_away(
    home: Home, what: dict[str, str], gone: int
) -> None:
    before = texts(home)
    job = forget(home, **what)
    assert job.extent is not None
    assert job.extent.messages == gone
    assert home.messages() == 20 - gone
    assert names(home.data) == [home.current]
    lost = before - texts(home)
    assert len(lost) == gone
    left = b"".join(home.left_behind().values())
    for text in lost:
        assert text.encode() not in left
    home.build(full=True)
    assert texts(home) == before - lost
    with home.engine() as engine:
        assert engine.status()["counts"]["messages"] == 20 - gone


def test_the_vectors_of_what_was_forgotten_go_and_the_others_stay(tmp_path: Path) -> None:
    with FakeGemini() as gemini:
        home = Home(tmp_path).using(gemini)
        home.write("a.jsonl", said("дом", 10))
        home.write("b.jsonl", said("работа", 5))
        home.build()
        job = forget(home, chat="дом")
        assert job.report.chunks["purged"] == 20  # of two spaces
        assert set(home.published().values()) == {5}
        assert job.extent is not None
        assert job.extent.spaces == ("gemini/gemini-embedding-2-preview",)
        assert job.extent.files == (("a.jsonl", "jsonl", 10),)


def test_a_dry_run_changes_nothing(home: Home) -> None:
    before = home.left_behind()
    job = forget(home, dry_run=True, chat="дом")
    assert job.extent is not None
    assert job.extent.messages == 12
    assert len(texts(home)) == 20
    assert home.left_behind().keys() == before.keys()
    assert home.messages() == 20


@pytest.mark.parametrize(
    "what", [{"chat": "нет такого"}, {"author": "Никто"}, {"chat": "дом", "message": "работа-1"}]
)
def test_what_is_not_there_is_one_sentence_and_changes_nothing(home: Home, what: dict[str, str]) -> None:
    with pytest.raises(NoMatch) as caught:
        forget(home, **what)
    assert caught.value.hint
    assert home.messages() == 20


def test_a_name_of_two_people_asks_for_the_id(tmp_path: Path) -> None:
    home = Home(tmp_path)
    home.write("a.jsonl", [*said("дом", 2, authors=("Оля",), author_id="user1")])
    home.write("b.jsonl", [*said("сад", 2, authors=("Оля",), author_id="user2")])
    home.build()
    with pytest.raises(NoMatch, match="user1, user2"):
        forget(home, author="Оля")
    assert forget(home, author="user1").report.messages["removed"] == 2


def test_a_crash_between_forgetting_and_publishing_is_made_good_by_the_next_build(home: Home) -> None:
    with Ledger(home.data) as ledger:
        ledger.forgetting.forget(1, [Rule(chat_id="дом")])
    report = home.build()
    assert report.exit == 0  # 12 of 20 messages went: no fault, since it was asked for
    assert home.messages() == 8
    assert names(home.data) == [home.current]
    assert "В чате дом".encode() not in b"".join(home.left_behind().values())

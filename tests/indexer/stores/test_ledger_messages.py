from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from indexer.stores.ledger import Ledger, Rule
from tests.indexer.stores.talks import absorb, chunk, file, message, texts


@pytest.fixture
def ledger(tmp_path: Path) -> Iterator[Ledger]:
    with Ledger(tmp_path) as opened:
        yield opened


NOTE = file("note.md", kind="markdown")


def source_id(ledger: Ledger, path: str) -> int:
    found = ledger.sources.find("root", path)
    assert found is not None
    return found.id


def test_what_was_removed_from_a_note_leaves_and_makes_its_chat_stale(ledger: Ledger) -> None:
    notes = [message(str(n), f"раздел {n}", chat_id="notes:note.md", source="markdown") for n in range(3)]
    absorb(ledger, NOTE, *notes)
    ledger.chunks.replace("notes:note.md", [])
    ledger.chunks.all_cut("1")
    assert absorb(ledger, NOTE, notes[0], notes[2])["removed"] == 1
    assert texts(ledger, "notes:note.md") == ["раздел 0", "раздел 2"]
    assert ledger.chunks.stale("1") == ["notes:note.md"]


def test_a_note_that_was_emptied_leaves_altogether_and_so_do_its_chunks(ledger: Ledger) -> None:
    absorb(ledger, NOTE, message("1", "пароли от дачи", chat_id="n", source="markdown"))
    ledger.chunks.replace("n", [chunk("пароли от дачи", "n")])
    ledger.chunks.all_cut("1")
    assert absorb(ledger, NOTE)["removed"] == 1
    assert ledger.messages.chats() == []
    assert ledger.chunks.stale("1") == ["n"]
    ledger.chunks.replace("n", [])
    assert (ledger.chunks.count(), ledger.chunks.stale("1")) == (0, [])


def test_a_chat_without_messages_is_cut_anew_even_where_the_chunker_changed(ledger: Ledger) -> None:
    absorb(ledger, NOTE, message("1", "текст", chat_id="n", source="markdown"))
    ledger.chunks.replace("n", [chunk("текст", "n")])
    ledger.chunks.all_cut("1")
    absorb(ledger, NOTE)
    assert ledger.chunks.stale("2") == ["n"]


def test_a_note_held_by_another_file_too_stays(ledger: Ledger) -> None:
    note = message("1", "текст", chat_id="n", source="markdown")
    absorb(ledger, NOTE, note)
    absorb(ledger, file("copy.md", kind="markdown"), note)
    assert absorb(ledger, NOTE)["removed"] == 0
    assert ledger.messages.count() == 1


def test_a_chat_remembers_what_its_file_no_longer_holds(ledger: Ledger) -> None:
    absorb(ledger, file(), message("1", at=1), message("2", at=2))
    assert absorb(ledger, file(), message("2", at=2))["removed"] == 0
    assert ledger.messages.count() == 2


def test_a_vanished_chat_file_keeps_its_messages_and_is_newly_gone_once(ledger: Ledger) -> None:
    absorb(ledger, file(), message("1"))
    assert ledger.sources.mark_gone([], ["root"]) == 1
    assert ledger.sources.mark_gone([], ["root"]) == 0
    assert ledger.messages.drop_gone_notes() == 0
    assert ledger.messages.count() == 1
    assert ledger.sources.all()[0]["gone"] == 1


def test_only_the_roots_of_this_run_can_lose_files(ledger: Ledger) -> None:
    absorb(ledger, file(), message("1"))
    assert ledger.sources.mark_gone([], ["another root"]) == 0


def test_a_file_that_comes_back_is_no_longer_gone(ledger: Ledger) -> None:
    absorb(ledger, file(), message("1"))
    ledger.sources.mark_gone([], ["root"])
    assert ledger.sources.mark_gone([source_id(ledger, "a.jsonl")], ["root"]) == 0
    assert ledger.sources.all()[0]["gone"] == 0


def test_a_vanished_note_takes_its_messages_and_is_read_again_when_it_comes_back(ledger: Ledger) -> None:
    absorb(ledger, NOTE, message("1", chat_id="n", source="markdown"))
    absorb(ledger, file(), message("1"))
    ledger.sources.mark_gone([source_id(ledger, "a.jsonl")], ["root"])
    assert ledger.messages.drop_gone_notes() == 1
    assert [chat for chat, _, _ in ledger.messages.chats()] == ["talk"]
    assert ledger.sources.find("root", "note.md") is None


def test_mirroring_drops_what_stands_in_no_present_file_and_forgets_the_lost_file(ledger: Ledger) -> None:
    absorb(ledger, file("a.jsonl"), message("1", at=1), message("2", at=2))
    absorb(ledger, file("b.jsonl"), message("2", at=2), message("3", at=3))
    ledger.sources.mark_gone([source_id(ledger, "b.jsonl")], ["root"])
    assert ledger.messages.drop_unseen() == 1
    assert [one.id for one in ledger.messages.talk("talk")] == ["2", "3"]
    assert ledger.sources.find("root", "a.jsonl") is None
    assert ledger.messages.drop_unseen() == 0


def test_a_touched_file_is_known_by_its_new_size_and_time(ledger: Ledger) -> None:
    absorb(ledger, file(), message("1"))
    ledger.sources.restat(source_id(ledger, "a.jsonl"), 77, 88)
    found = ledger.sources.find("root", "a.jsonl")
    assert found is not None
    assert (found.size, found.mtime_ns, found.sha256) == (77, 88, "00")


@pytest.mark.parametrize(
    "what, left",
    [
        ({"chat_id": "talk"}, ["чужое"]),
        ({"chat_id": "talk", "message_id": "1"}, ["чужое", "от Оли"]),
        ({"author": "Оля"}, ["чужое", "секрет"]),
        ({"author": "user2"}, ["чужое", "секрет"]),
    ],
)
def test_what_was_forgotten_never_comes_back(ledger: Ledger, what: dict[str, str], left: list[str]) -> None:
    said = [
        message("1", "секрет", author="Аня"),
        message("2", "от Оли", author="Оля", author_id="user2"),
        message("1", "чужое", chat_id="other"),
    ]
    absorb(ledger, file(), *said)
    ledger.forgetting.forget(1, [Rule(**what)])
    for path in ("a.jsonl", "b.jsonl"):
        absorb(ledger, file(path), *said)
        kept = [text for chat, _, _ in ledger.messages.chats() for text in texts(ledger, chat)]
        assert sorted(kept) == sorted(left)


def test_a_forgotten_text_is_in_no_byte_of_the_closed_ledger(tmp_path: Path) -> None:
    with Ledger(tmp_path) as ledger:
        absorb(ledger, file(), *(message(str(n), f"{n} неизгладимое слово" * 20) for n in range(50)))
        ledger.mentions.keep("x", [(digest, []) for digest in ledger.mentions.pending("x")])
        ledger.forgetting.forget(1, [Rule(chat_id="talk")])
    left = b"".join(path.read_bytes() for path in tmp_path.iterdir())
    assert "неизгладимое".encode() not in left


def test_forgetting_without_a_condition_is_refused(ledger: Ledger) -> None:
    absorb(ledger, file(), message("1"))
    with pytest.raises(ValueError, match="needs a chat"):
        ledger.forgetting.forget(1, [Rule()])
    assert ledger.messages.count() == 1


def test_thousands_of_stale_chats_are_marked_and_cleared_in_linear_time(ledger: Ledger) -> None:
    absorb(ledger, file(), *(message("1", chat_id=f"chat {n}") for n in range(5_000)))
    stale = ledger.chunks.stale("1")
    assert len(stale) == 5_000
    for chat in stale[:2_000]:
        ledger.chunks.replace(chat, [])
    ledger.chunks.all_cut("1")
    assert len(ledger.chunks.stale("1")) == 3_000


def test_a_message_comes_back_as_it_was_read(ledger: Ledger) -> None:
    whole = message(
        "1",
        "текст",
        5,
        chat_title="Дача",
        author="Аня",
        author_id="user1",
        session="s",
        edited=7,
        reply_to="0",
        agent="worker",
        side_branch=True,
        meta={"forwarded_from": "Оля"},
    )
    absorb(ledger, file(), whole)
    assert list(ledger.messages.talk("talk")) == [whole]

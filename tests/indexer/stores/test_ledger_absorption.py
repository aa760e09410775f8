from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given, seed, settings
from hypothesis import strategies as st

from indexer.stores.ledger import Ledger
from schemas.records import Message
from tests.indexer.stores.talks import HOUR, absorb, file, hashed, message, texts


@pytest.fixture
def ledger(tmp_path: Path) -> Iterator[Ledger]:
    with Ledger(tmp_path) as opened:
        yield opened


def talk(count: int, start: int = 0) -> list[Message]:
    return [message(str(n), f"сообщение {n}", n * HOUR) for n in range(start, start + count)]


def test_reading_the_same_file_again_changes_nothing(ledger: Ledger) -> None:
    assert absorb(ledger, file(), *talk(20))["new"] == 20
    revision = ledger.meta.revision
    again = absorb(ledger, file(), *talk(20))
    assert (again["read"], again["new"], again["changed"], again["duplicate"]) == (20, 0, 0, 0)
    assert ledger.meta.revision == revision


def test_a_file_grown_by_ten_brings_ten(ledger: Ledger) -> None:
    absorb(ledger, file(), *talk(20))
    grown = absorb(ledger, file(), *talk(30))
    assert (grown["new"], grown["changed"], grown["duplicate"]) == (10, 0, 0)
    assert texts(ledger) == [f"сообщение {n}" for n in range(30)]


def test_the_same_message_in_two_files_is_one_counted_as_duplicate(ledger: Ledger) -> None:
    absorb(ledger, file("a.jsonl"), *talk(20))
    second = absorb(ledger, file("b.jsonl"), *talk(20, start=10))
    assert (second["new"], second["duplicate"]) == (10, 10)
    third = absorb(ledger, file("c.jsonl"), *talk(20, start=10))
    assert (third["new"], third["duplicate"]) == (0, 20)
    assert ledger.messages.count() == 30


def test_of_two_copies_the_later_edit_wins_in_either_order(tmp_path: Path) -> None:
    old, new = message("1", "старое", 1, edited=5 * HOUR), message("1", "новое", 1, edited=6 * HOUR)
    for name, order in (("a", (old, new)), ("b", (new, old))):
        with Ledger(tmp_path / name) as ledger:
            for number, copy in enumerate(order):
                absorb(ledger, file(f"{number}.jsonl"), copy)
            assert texts(ledger) == ["новое"]


def test_without_an_edit_time_the_export_with_the_later_last_message_wins(tmp_path: Path) -> None:
    first = [message("1", "старое", 1), message("2", "второе", 10 * HOUR)]
    later = [message("1", "новое", 1), message("3", "третье", 20 * HOUR)]
    for name, order in (("a", (first, later)), ("b", (later, first))):
        with Ledger(tmp_path / name) as ledger:
            for number, copy in enumerate(order):
                absorb(ledger, file(f"{number}.jsonl"), *copy)
            assert texts(ledger)[0] == "новое"


def test_without_any_time_the_file_with_the_later_mtime_wins(tmp_path: Path) -> None:
    copies = {100: message("1", "старое"), 200: message("1", "новое")}
    for name, order in (("a", (100, 200)), ("b", (200, 100))):
        with Ledger(tmp_path / name) as ledger:
            for mtime in order:
                absorb(ledger, file(f"{mtime}.jsonl", mtime), copies[mtime])
            assert texts(ledger) == ["новое"]


def test_exports_that_end_with_the_same_message_are_told_apart_by_mtime(tmp_path: Path) -> None:
    copies = {100: message("1", "старое", HOUR), 200: message("1", "новое", HOUR)}
    for name, order in (("a", (100, 200)), ("b", (200, 100))):
        with Ledger(tmp_path / name) as ledger:
            for mtime in order:
                absorb(ledger, file(f"{mtime}.jsonl", mtime), copies[mtime])
            assert texts(ledger) == ["новое"]


def test_a_newer_copy_that_agrees_still_vouches_against_an_older_third(ledger: Ledger) -> None:
    absorb(ledger, file("a.jsonl"), message("1", "верное", 1))
    absorb(ledger, file("a.jsonl"), message("1", "верное", 1), message("9", "позже", 30 * HOUR))
    absorb(ledger, file("b.jsonl"), message("1", "устаревшее", 1), message("8", "раньше", 20 * HOUR))
    assert texts(ledger)[0] == "верное"


def test_the_only_file_that_holds_a_message_may_change_it_whatever_its_times_say(ledger: Ledger) -> None:
    absorb(ledger, file(), message("1", "старое", 1), message("2", "часы врут", 4_000_000_000_000))
    absorb(ledger, file(), message("1", "новое", 1))
    assert texts(ledger)[0] == "новое"


def test_the_same_id_twice_in_one_file_is_one_message_with_the_newer_edit(ledger: Ledger) -> None:
    counts = absorb(
        ledger,
        file(),
        message("1", "новое", 1, edited=9, author="Аня"),
        message("1", "старое", 1, edited=5, author="Оля"),
        message("2", "первое", 2),
        message("2", "правка", 3, author="Петя"),
    )
    assert counts["new"] == 2
    assert [(one.text, one.author, one.at) for one in ledger.messages.talk("talk")] == [
        ("новое", "Аня", 1),
        ("правка", "Петя", 3),
    ]


@pytest.mark.parametrize(
    "change",
    [
        {"at": 5 * HOUR},
        {"author": "Пётр"},
        {"author_id": "user9"},
        {"role": "assistant"},
        {"session": "s2"},
        {"side_branch": True},
        {"agent": "worker"},
        {"reply_to": "0"},
        {"meta": {"forwarded_from": "Аня"}},
    ],
)
def test_a_change_of_anything_seen_updates_the_message_and_makes_its_chat_stale(
    ledger: Ledger, change: dict[str, object]
) -> None:
    absorb(ledger, file(), message("1", at=HOUR))
    ledger.chunks.replace("talk", [])
    ledger.chunks.all_cut("1")
    assert ledger.chunks.stale("1") == []
    counts = absorb(ledger, file(), message("1", **({"at": HOUR} | change)))  # type: ignore[arg-type]
    assert counts["changed"] == 1
    assert ledger.chunks.stale("1") == ["talk"]
    (kept,) = ledger.messages.talk("talk")
    assert {name: getattr(kept, name) for name in change} == change


def test_a_corrected_time_moves_the_message_in_the_talk(ledger: Ledger) -> None:
    absorb(ledger, file(), message("1", "один", HOUR), message("2", "два", 2 * HOUR))
    absorb(ledger, file(), message("1", "один", 3 * HOUR), message("2", "два", 2 * HOUR))
    assert texts(ledger) == ["два", "один"]


def test_messages_of_one_minute_keep_the_order_of_the_file(ledger: Ledger) -> None:
    absorb(
        ledger, file(), *(message(f"старое{n}", f"раньше {n}", n) for n in range(9)), message("b", "b", HOUR)
    )
    absorb(ledger, file("later.jsonl"), message("b", "b", HOUR), message("c", "c", HOUR))
    assert texts(ledger)[-2:] == ["b", "c"]


def test_undated_talks_of_two_files_do_not_interleave(ledger: Ledger) -> None:
    absorb(ledger, file("a.jsonl"), *(message(f"a{n}", f"a{n}") for n in range(3)))
    absorb(ledger, file("b.jsonl"), *(message(f"b{n}", f"b{n}") for n in range(3)))
    assert texts(ledger) == ["a0", "a1", "a2", "b0", "b1", "b2"]


def test_an_undated_message_stays_behind_the_dated_one_before_it(ledger: Ledger) -> None:
    absorb(ledger, file(), message("1", "а", 5), message("2", "б"), message("3", "в", 9))
    assert texts(ledger) == ["а", "б", "в"]


def test_sessions_do_not_interleave(ledger: Ledger) -> None:
    absorb(
        ledger,
        file(),
        *(message(f"{n}", f"{n}", n * HOUR, session="x" if n % 2 else "y") for n in range(6)),
    )
    assert texts(ledger) == ["0", "2", "4", "1", "3", "5"]


def test_the_title_stays_as_first_seen(ledger: Ledger) -> None:
    absorb(ledger, file(), message("1", at=1, chat_title=None), message("2", at=2, chat_title="Бета"))
    absorb(ledger, file("b.jsonl"), message("3", at=3, chat_title="Яхта"))
    assert ledger.messages.chats() == [("talk", "Бета", "jsonl")]
    absorb(
        ledger,
        file("c.jsonl"),
        message("1", chat_id="new", chat_title="Альфа"),
        message("2", chat_id="new", chat_title="Яхта"),
    )
    assert ledger.messages.chats()[0] == ("new", "Альфа", "jsonl")


def test_a_title_that_turns_up_later_makes_the_chat_stale(ledger: Ledger) -> None:
    absorb(ledger, file(), message("1"))
    ledger.chunks.replace("talk", [])
    ledger.chunks.all_cut("1")
    absorb(ledger, file(), message("1", chat_title="Дача"))
    assert ledger.chunks.stale("1") == ["talk"]


def test_a_fault_inside_a_file_leaves_nothing_of_it_and_keeps_what_stood_before(ledger: Ledger) -> None:
    absorb(ledger, file(), *talk(3))
    revision = ledger.meta.revision

    def broken() -> Iterator[tuple[Message, bytes]]:
        yield from hashed(talk(50))
        raise KeyboardInterrupt

    for path in ("a.jsonl", "b.jsonl"):
        with pytest.raises(KeyboardInterrupt):
            ledger.absorb(file(path), broken())
    assert ledger.messages.count() == 3
    assert [source["path"] for source in ledger.sources.all()] == ["a.jsonl"]
    assert ledger.meta.revision == revision
    assert absorb(ledger, file(), *talk(4))["new"] == 1


def test_the_report_is_asked_for_after_the_last_message(ledger: Ledger) -> None:
    seen: list[str] = []

    def counted() -> Iterator[tuple[Message, bytes]]:
        for one in hashed(talk(3)):
            seen.append("message")
            yield one

    ledger.absorb(file(), counted(), lambda: f'{{"seen": {len(seen)}}}')
    assert ledger.sources.all()[0]["report"] == '{"seen": 3}'


@seed(7)
@settings(max_examples=40, deadline=None)
@given(
    st.lists(
        st.lists(
            st.tuples(
                st.integers(0, 5), st.sampled_from("абв"), st.none() | st.integers(1, 9), st.integers(1, 9)
            ),
            max_size=6,
        ),
        min_size=1,
        max_size=4,
    )
)
def test_any_files_read_again_in_the_same_order_bring_nothing_new(
    tmp_path_factory: pytest.TempPathFactory, exports: list[list[tuple[int, str, int | None, int]]]
) -> None:
    with Ledger(tmp_path_factory.mktemp("ledger")) as ledger:
        for _ in range(2):
            before = ledger.messages.count()
            for number, export in enumerate(exports):
                read = [message(str(id_), text, at, edited=edited) for id_, text, edited, at in export]
                absorb(ledger, file(f"{number}.jsonl", mtime=number), *read)
            ids = {str(id_) for export in exports for id_, *_ in export}
            assert {one.id for one in ledger.messages.talk("talk")} == ids
        assert ledger.messages.count() == before

"""One message across copies: another store's, a resumed session's, a fork's."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import apsw
import pytest

from indexer.stores.ledger import LEDGER_NAME, Ledger, Rule
from schemas.records import Message
from schemas.sql import ledger as sql
from tests.indexer.stores.talks import HOUR, absorb, file, message, texts


@pytest.fixture
def ledger(tmp_path: Path) -> Ledger:
    return Ledger(tmp_path)


def stored(n: int, text: str, at: int, source: str = "lcm") -> Message:
    return message(f"{source}-{n}", text, at, source=source)


def test_a_store_and_the_transcript_of_the_same_talk_are_one(ledger: Ledger) -> None:
    absorb(ledger, file("a.jsonl"), *(stored(n, text, n * 1000, "openclaw") for n, text in TALK))
    counts = absorb(
        ledger, file("lcm.db", kind="lcm"), *(stored(n, text, n * 1000 + 400) for n, text in TALK)
    )
    assert (counts["new"], counts["duplicate"]) == (0, len(TALK))
    assert texts(ledger) == [text for _, text in TALK]


TALK = tuple(enumerate(("привет", "да", "да", "собери индекс", "готово"), 1))


def test_it_does_not_matter_which_of_the_two_is_read_first_and_reading_again_changes_nothing(
    ledger: Ledger,
) -> None:
    database = [stored(n, text, n * 1000 + 400) for n, text in TALK]
    transcript = [stored(n, text, n * 1000, "openclaw") for n, text in TALK]
    absorb(ledger, file("lcm.db", kind="lcm"), *database)
    for _ in range(2):
        counts = absorb(ledger, file("a.jsonl"), *transcript)
        assert (counts["new"], counts["changed"], counts["duplicate"]) == (0, 0, len(TALK))
    revision = ledger.meta.revision
    counts = absorb(ledger, file("lcm.db", kind="lcm", mtime=2_000), *database)
    assert (counts["new"], counts["changed"]) == (0, 0)
    assert ledger.meta.revision == revision


def test_the_copy_that_is_behind_gets_its_new_messages_joined_later(ledger: Ledger) -> None:
    absorb(ledger, file("lcm.db", kind="lcm"), *(stored(n, text, n * 1000) for n, text in TALK[:2]))
    counts = absorb(ledger, file("a.jsonl"), *(stored(n, text, n * 1000, "openclaw") for n, text in TALK))
    assert (counts["new"], counts["duplicate"]) == (3, 2)
    counts = absorb(ledger, file("lcm.db", kind="lcm"), *(stored(n, text, n * 1000) for n, text in TALK))
    assert counts["new"] == 0
    assert texts(ledger) == [text for _, text in TALK]


def test_the_same_words_on_another_day_are_another_message(ledger: Ledger) -> None:
    absorb(ledger, file("a.jsonl"), stored(1, "да", 1000, "openclaw"))
    assert absorb(ledger, file("lcm.db", kind="lcm"), stored(1, "да", 48 * HOUR))["new"] == 1


def test_a_copy_in_another_talk_stays_a_second_message_without_an_origin(ledger: Ledger) -> None:
    absorb(ledger, file("a.jsonl"), message("1", "да", 1000))
    assert absorb(ledger, file("b.jsonl"), message("1", "да", 1000, chat_id="other"))["new"] == 1


def resumed(chat: str, *numbers: int) -> list[Message]:
    return [
        message(f"u{n}", f"слово {n}", n * HOUR, chat_id=chat, source="claude_code", origin=f"u{n}")
        for n in numbers
    ]


def test_a_resumed_session_repeats_its_history_under_the_same_origin(ledger: Ledger) -> None:
    absorb(ledger, file("a.jsonl"), *resumed("a", 1, 2))
    counts = absorb(ledger, file("b.jsonl"), *resumed("b", 1, 2, 3))
    assert (counts["new"], counts["duplicate"]) == (1, 2)
    assert texts(ledger, "a") == ["слово 1", "слово 2"]
    assert texts(ledger, "b") == ["слово 3"]


def test_the_history_goes_home_when_the_older_session_is_read_second(ledger: Ledger) -> None:
    absorb(ledger, file("b.jsonl"), *resumed("b", 1, 2, 3))
    absorb(ledger, file("a.jsonl"), *resumed("a", 1, 2))
    assert texts(ledger, "a") == ["слово 1", "слово 2"]
    assert texts(ledger, "b") == ["слово 3"]
    for _ in range(2):
        assert absorb(ledger, file("b.jsonl"), *resumed("b", 1, 2, 3, 4))["changed"] == 0
        assert absorb(ledger, file("a.jsonl"), *resumed("a", 1, 2, 9))["changed"] == 0
    assert texts(ledger, "a") == ["слово 1", "слово 2", "слово 9"]
    assert texts(ledger, "b") == ["слово 3", "слово 4"]


def test_a_message_that_one_file_repeats_in_two_talks_is_one(ledger: Ledger) -> None:
    absorb(ledger, file("a.jsonl"), *resumed("a", 1), *resumed("b", 1, 2))
    assert (texts(ledger, "a"), texts(ledger, "b")) == (["слово 1"], ["слово 2"])


def test_other_words_under_the_same_origin_are_another_message(ledger: Ledger) -> None:
    absorb(ledger, file("a.jsonl"), *resumed("a", 1))
    (copy,) = resumed("b", 1)
    assert absorb(ledger, file("b.jsonl"), replace(copy, text="другие слова"))["new"] == 1


def fork(chat: str, parent: str | None, *words: tuple[str, int]) -> list[Message]:
    return [
        message(f"{chat}{n}", text, at, chat_id=chat, source="codex", copied_from=parent)
        for n, (text, at) in enumerate(words)
    ]


HISTORY = (("начали", 1000), ("да", 2000), ("продолжаем", 3000))


@pytest.mark.parametrize("shift", [0, HOUR])
def test_a_fork_repeats_the_beginning_with_its_own_times_or_with_the_old(ledger: Ledger, shift: int) -> None:
    absorb(ledger, file("a"), *fork("a", None, *HISTORY, ("старое", 4000)))
    again = [(text, at + shift) for text, at in HISTORY]
    counts = absorb(ledger, file("b"), *fork("b", "a", *again, ("новое", 2 * HOUR), ("да", 3 * HOUR)))
    assert (counts["new"], counts["duplicate"]) == (2, 3)
    assert texts(ledger, "b") == ["новое", "да"]


def test_a_parent_that_is_read_after_its_fork_takes_its_history_home(ledger: Ledger) -> None:
    absorb(ledger, file("b"), *fork("b", "a", *HISTORY, ("новое", 2 * HOUR)))
    absorb(ledger, file("a"), *fork("a", None, *HISTORY, ("позже всех", 9 * HOUR)))
    assert texts(ledger, "a") == ["начали", "да", "продолжаем", "позже всех"]
    assert texts(ledger, "b") == ["новое"]


def test_a_fork_of_a_fork_repeats_both(ledger: Ledger) -> None:
    absorb(ledger, file("a"), *fork("a", None, *HISTORY))
    absorb(ledger, file("b"), *fork("b", "a", *HISTORY, ("второе", HOUR)))
    absorb(ledger, file("c"), *fork("c", "b", *HISTORY, ("второе", HOUR), ("третье", 2 * HOUR)))
    assert texts(ledger, "c") == ["третье"]


def test_a_copy_keeps_its_message_when_the_first_file_is_gone_from_a_mirror(ledger: Ledger) -> None:
    absorb(ledger, file("a.jsonl"), *resumed("a", 1))
    absorb(ledger, file("b.jsonl"), *resumed("b", 1, 2))
    present = ledger.sources.find("root", "b.jsonl")
    assert present is not None
    ledger.sources.mark_gone([present.id], ["root"])
    assert ledger.messages.drop_unseen() == 0
    assert texts(ledger, "a") == ["слово 1"]


def test_a_forgotten_message_does_not_come_back_from_another_store(ledger: Ledger) -> None:
    absorb(ledger, file("a.jsonl"), *(stored(n, text, n * 1000, "openclaw") for n, text in TALK))
    ledger.forgetting.forget(1, [Rule("talk", "openclaw-4")])
    database = [stored(n, text, n * 1000 + 400) for n, text in TALK]
    counts = absorb(ledger, file("lcm.db", kind="lcm"), *database)
    assert (counts["new"], counts["duplicate"]) == (0, 4)
    assert "собери индекс" not in texts(ledger)


def test_a_forgotten_session_does_not_come_back_from_the_one_that_resumed_it(ledger: Ledger) -> None:
    absorb(ledger, file("a.jsonl"), *resumed("a", 1, 2))
    ledger.forgetting.forget(1, [Rule("a")])
    absorb(ledger, file("b.jsonl"), *resumed("b", 1, 2, 3))
    assert texts(ledger, "b") == ["слово 3"]


def test_a_forgotten_talk_does_not_come_back_from_its_fork(ledger: Ledger) -> None:
    absorb(ledger, file("a"), *fork("a", None, *HISTORY))
    ledger.forgetting.forget(1, [Rule("a")])
    absorb(ledger, file("b"), *fork("b", "a", *HISTORY, ("новое", 2 * HOUR)))
    assert texts(ledger, "b") == ["новое"]


def test_what_belongs_to_a_forgotten_message_goes_and_stays_away(ledger: Ledger) -> None:
    said = (message("1"), message("1/tool1", "вывод", role="tool"), message("11", "другое"))
    absorb(ledger, file("a.jsonl"), *said)
    assert ledger.forgetting.forget(1, [Rule("talk", "1")]) == 2
    absorb(ledger, file("a.jsonl"), *said, message("1/thinking1", "мысль", role="thinking"))
    assert texts(ledger) == ["другое"]


def test_a_ledger_of_the_first_version_is_brought_up_to_date(tmp_path: Path) -> None:
    with Ledger(tmp_path) as made:
        absorb(made, file("a.jsonl"), message("1"))
    db = apsw.Connection(str(tmp_path / LEDGER_NAME))
    for index in ("message_origin", "message_source", "message_copied"):
        db.execute(f"DROP INDEX {index}")
    for column in ("origin", "copied_from", "windows"):
        db.execute(f"ALTER TABLE message DROP COLUMN {column}")
    db.execute("ALTER TABLE source DROP COLUMN health")
    for table in ("rhythm", "forgotten", "correction"):
        db.execute(f"DROP TABLE {table}")
    db.execute("PRAGMA user_version=1")
    db.close()
    with Ledger(tmp_path) as opened:
        assert texts(opened) == ["привет"]
        assert absorb(opened, file("a.jsonl"), message("1"), message("2", origin="x"))["new"] == 1
    assert apsw.Connection(str(tmp_path / LEDGER_NAME)).execute("PRAGMA user_version").get == sql.VERSION

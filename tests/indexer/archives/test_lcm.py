"""lossless-claw's database: golden messages, older versions, and an owner that writes meanwhile."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import apsw

from indexer.archives import ArchiveFile, reader_of
from schemas.records import Record
from tests.indexer.archives.reading import (
    OPTIONS,
    WITH_TOOLS,
    archive_file,
    database,
    drops,
    messages,
    records,
    samples,
    skips,
)

WITH_THINKING = replace(OPTIONS, thinking=True)
SESSION = "aaaaaaaa-1111-2222-3333-444444444444"
OLD = """CREATE TABLE conversations (conversation_id INTEGER PRIMARY KEY, session_id TEXT);
CREATE TABLE messages
  (message_id INTEGER PRIMARY KEY, conversation_id INTEGER, seq INTEGER, role TEXT, content TEXT);
INSERT INTO conversations VALUES (1, NULL);
INSERT INTO messages VALUES (5, 1, 1, 'user', 'привет');
"""


def sample(folder: Path) -> ArchiveFile:
    (file,) = samples("lcm", folder)
    return file


def test_golden(tmp_path: Path) -> None:
    found = records("lcm", sample(tmp_path))
    assert [(m.chat_id, m.id, m.role, m.text) for m in messages(found)] == [
        (SESSION, "10", "system", "Ты помощник Ивана."),
        (SESSION, "11", "user", "какой размер чанка?"),
        (SESSION, "13", "assistant", "Чанк 600, перекрытие 100."),
        (SESSION, "sum_1", "summary", "Обсудили размер чанка."),
        ("lcm:2", "20", "user", "собери отчёт по тестам"),
    ]
    assert drops(found) == {"tool_result": 2, "thinking": 1, "heartbeat": 1, "metadata": 2}
    first, *_, worker = messages(found)
    assert (first.at, first.chat_title, first.session) == (1772996580000, "Индекс", SESSION)
    assert (worker.agent, worker.session) == ("worker", None)


def kept(found: list[Record]) -> list[tuple[str, str, str | None, str]]:
    return [(m.id, m.role, m.author, m.text) for m in messages(found) if m.role in ("tool", "thinking")]


def test_tool_results_are_kept_when_asked_for_beside_the_message_they_stand_in(tmp_path: Path) -> None:
    found = records("lcm", sample(tmp_path), WITH_TOOLS)
    assert kept(found) == [
        ("12", "tool", None, "config.toml: size = 600"),
        ("13/tool1", "tool", "read", "size = 600"),
    ]
    assert drops(found) == {"thinking": 1, "heartbeat": 1, "metadata": 2}


def test_thinking_is_kept_when_asked_for(tmp_path: Path) -> None:
    found = records("lcm", sample(tmp_path), WITH_THINKING)
    assert kept(found) == [("13/thinking1", "thinking", None, "смотрю настройки")]
    assert [m.id for m in messages(found)] == ["10", "11", "13/thinking1", "13", "sum_1", "20"]
    assert drops(found) == {"tool_result": 2, "heartbeat": 1, "metadata": 2}


PARTS = """CREATE TABLE message_parts (part_id TEXT, message_id INTEGER, part_type TEXT, ordinal INTEGER,
  text_content TEXT, tool_name TEXT, tool_input TEXT, tool_output TEXT);
INSERT INTO messages VALUES
  (6, 1, 2, 'assistant', ''), (7, 1, 3, 'tool', 'порт занят'), (8, 1, 4, 'tool', 'граф');
"""


def with_parts(folder: Path, *rows: str) -> ArchiveFile:
    values = ",\n".join(f"('p', {row})" for row in rows)
    script = f"{OLD}{PARTS}INSERT INTO message_parts VALUES {values};\n"
    return archive_file(database(folder / "lcm.db", script))


def test_a_turn_of_thinking_and_calls_alone_is_counted_by_its_parts(tmp_path: Path) -> None:
    file = with_parts(
        tmp_path,
        "6, 'tool', 1, NULL, 'exec', '{\"command\": \"ss\"}', NULL",
        "6, 'reasoning', 0, 'ищу, кто занял порт', NULL, NULL, NULL",
        "6, 'step_start', 2, 'шаг', NULL, NULL, NULL",
    )
    assert drops(records("lcm", file)) == {"thinking": 1, "tool_call": 1, "tool_result": 2}
    assert kept(records("lcm", file, WITH_THINKING)) == [
        ("6/thinking1", "thinking", None, "ищу, кто занял порт")
    ]


def test_what_a_tool_said_is_one_message_though_it_stands_twice(tmp_path: Path) -> None:
    file = with_parts(tmp_path, "7, 'tool', 0, NULL, 'exec', NULL, 'порт занят'")
    assert [text for *_, text in kept(records("lcm", file, WITH_TOOLS))] == ["порт занят", "граф"]


def test_what_a_memory_search_found_is_never_indexed_again(tmp_path: Path) -> None:
    file = with_parts(
        tmp_path,
        "8, 'tool', 0, NULL, 'lcm_grep', NULL, 'граф'",
        "6, 'tool', 0, NULL, 'read', '{\"path\": \"memory/2026-03-09.md\"}', 'чанк 600'",
    )
    found = records("lcm", file, WITH_TOOLS)
    assert [text for *_, text in kept(found)] == ["порт занят"]
    assert drops(found) == {"note_copy": 1, "recalled": 2}


def test_parts_without_their_message_are_left_alone(tmp_path: Path) -> None:
    script = OLD + "CREATE TABLE message_parts (part_type TEXT, text_content TEXT);\n"
    file = archive_file(database(tmp_path / "lcm.db", script))
    assert [message.text for message in messages(records("lcm", file, WITH_TOOLS))] == ["привет"]


def test_an_older_version_without_columns_is_read(tmp_path: Path) -> None:
    file = archive_file(database(tmp_path / "lcm.db", OLD))
    reader = reader_of(file)
    assert reader is not None
    assert reader.name == "lcm"
    (message,) = messages(records("lcm", file))
    assert (message.chat_id, message.id, message.at) == ("lcm:1", "5", None)


def test_the_owner_may_write_meanwhile_and_is_never_kept_waiting(tmp_path: Path) -> None:
    path = database(tmp_path / "lcm.db", OLD)
    owner = apsw.Connection(str(path))
    owner.execute("PRAGMA journal_mode=wal").fetchall()
    owner.execute("INSERT INTO messages VALUES (6, 1, 2, 'assistant', 'и тебе')")
    found = records("lcm", archive_file(path))
    assert [message.text for message in messages(found)] == ["привет", "и тебе"]
    owner.execute("BEGIN IMMEDIATE")
    owner.execute("INSERT INTO messages VALUES (7, 1, 3, 'user', 'ещё не записано')")
    assert len(messages(records("lcm", archive_file(path)))) == 2
    owner.execute("COMMIT")
    owner.close()


def test_reading_leaves_no_files_in_the_owners_folder(tmp_path: Path) -> None:
    path = database(tmp_path / "lcm.db", OLD)
    owner = apsw.Connection(str(path))
    owner.execute("PRAGMA journal_mode=wal").fetchall()
    owner.close()
    before = (path.read_bytes(), sorted(tmp_path.iterdir()))
    assert len(messages(records("lcm", archive_file(path)))) == 1
    assert (path.read_bytes(), sorted(tmp_path.iterdir())) == before


def test_more_than_a_batch_is_read_whole_and_in_order(tmp_path: Path) -> None:
    path = database(tmp_path / "lcm.db", OLD)
    owner = apsw.Connection(str(path))
    with owner:
        for n in range(2, 1203):
            owner.execute("INSERT INTO messages VALUES (?, 1, ?, 'user', ?)", (n + 100, n, f"сообщение {n}"))
    owner.close()
    found = messages(records("lcm", archive_file(path)))
    assert [message.text for message in found[1:]] == [f"сообщение {n}" for n in range(2, 1203)]


def test_bytes_that_are_no_utf8_cost_a_character(tmp_path: Path) -> None:
    path = database(tmp_path / "lcm.db", OLD)
    owner = apsw.Connection(str(path))
    owner.execute("UPDATE messages SET content = CAST(x'd0bfff206f6b' AS TEXT)")
    owner.close()
    assert [message.text for message in messages(records("lcm", archive_file(path)))] == ["п\ufffd ok"]


def test_an_unknown_role_and_a_wrong_type_are_counted(tmp_path: Path) -> None:
    path = database(tmp_path / "lcm.db", OLD)
    owner = apsw.Connection(str(path))
    owner.execute("INSERT INTO messages VALUES (6, 1, 2, 'oracle', 'что?'), (7, 1, 3, 'user', 42)")
    owner.close()
    found = records("lcm", archive_file(path))
    assert [skip.place for skip in skips(found)] == ["lcm.db#1/2"]
    assert [message.text for message in messages(found)] == ["привет", "42"]


def test_another_programs_database_is_not_ours(tmp_path: Path) -> None:
    other = "CREATE TABLE messages (id INTEGER, text TEXT);\nINSERT INTO messages VALUES (1, 'x');\n"
    assert reader_of(archive_file(database(tmp_path / "x.db", other))) is None

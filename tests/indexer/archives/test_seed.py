"""An older index read as an archive: whole messages, and the chunks of it as they were."""

from __future__ import annotations

import random
from pathlib import Path

import apsw
import pytest

from indexer.archives import READERS
from indexer.archives.databases import opened
from indexer.archives.seed import Seed
from indexer.archives.seed.table import NO_VECTOR, SeedTable, fault_of
from schemas.records import Dropped, Message, Record, Skipped
from tests.fakes.seed import FakeSeed, cut, long_text
from tests.indexer.archives.reading import OPTIONS, WITH_TOOLS, archive_file, database, messages, skips


@pytest.fixture
def old(tmp_path: Path) -> FakeSeed:
    return FakeSeed(tmp_path / "chat_vectors.db")


def read(path: Path) -> list[Record]:
    return list(Seed().read(archive_file(path), OPTIONS))


def table(tmp_path: Path, script: str) -> list[Record]:
    return read(database(tmp_path / "other.db", script))


def test_a_build_does_not_take_it_for_an_archive_by_itself() -> None:
    assert "seed" not in READERS


def test_messages_are_put_together_and_their_windows_are_the_chunks(old: FakeSeed) -> None:
    text = long_text(300, "а")
    old.say("привет", conv=7, role="user", at="2026-03-08 19:03:00")
    old.say(text, conv=7, role="assistant", at="2026-03-08T22:04:00+03:00")
    first, second = messages(read(old.close()))
    assert (first.chat_id, first.id, first.source, first.role) == ("seed:7", "1", "seed", "user")
    assert (first.text, first.windows, first.at) == ("привет", ((0, 6),), 1_772_996_580_000)
    assert (second.text, second.role, second.at) == (text, "assistant", 1_772_996_640_000)
    assert [second.text[start:end] for start, end in second.windows] == cut(text)
    assert (first.author, first.chat_title, first.session) == (None, None, None)


@pytest.mark.parametrize(
    ("written", "at"),
    [
        (1_772_996_580, 1_772_996_580_000),
        (1_772_996_580_123, 1_772_996_580_123),
        (1_772_996_580.5, 1_772_996_580_500),
        ("2026-03-08", 1_772_928_000_000),
        ("скоро", None),
        ("", None),
    ],
)
def test_a_time_is_as_the_source_says_or_unknown(old: FakeSeed, written: object, at: int | None) -> None:
    old.say("привет", at=written)
    (message,) = messages(read(old.close()))
    assert message.at == at


def test_a_chunk_that_two_models_embedded_is_one_chunk(old: FakeSeed) -> None:
    text = long_text(150)
    old.say(text, 768, id="m")
    old.say(text, 3072, id="m")
    (message,) = messages(read(old.close()))
    assert message.text == text
    assert len(message.windows) == len(cut(text))


def test_chunks_stand_in_the_order_of_their_index_whatever_the_rows_say(tmp_path: Path) -> None:
    found = table(
        tmp_path,
        "CREATE TABLE chunks (message_id, conv_id, chunk_index TEXT, text);\n"
        "INSERT INTO chunks VALUES (1, 'a', '10', 'третий кусок'), (2, 'a', '0', 'другое');\n"
        "INSERT INTO chunks VALUES (1, 'a', '9', 'второй кусок'), (1, 'a', '0', 'первый кусок');\n",
    )
    assert [m.text for m in messages(found)] == ["первый кусок\nвторой кусок\nтретий кусок", "другое"]


def test_columns_may_lack_and_ids_and_roles_may_be_unknown(tmp_path: Path) -> None:
    (one, two) = messages(
        table(
            tmp_path,
            "CREATE TABLE chunks (text, role);\n"
            "INSERT INTO chunks VALUES ('привет', 'operator'), ('как дела', NULL);\n",
        )
    )
    assert [(m.chat_id, m.id, m.role, m.at) for m in (one, two)] == [
        ("seed:other", "chunk:1", "note", None),
        ("seed:other", "chunk:2", "note", None),
    ]
    assert (one.meta, two.meta) == ({"role": "operator"}, {})


def test_noise_and_tool_results_are_left_out_whole_and_counted(old: FakeSeed) -> None:
    old.say("HEARTBEAT_OK", role="assistant")
    old.say("config.toml: size = 600", role="toolResult")
    old.say("…")
    old.say("[[reply_to_current]] сделал", role="assistant")
    path = old.close()
    found = read(path)
    assert [m.text for m in messages(found)] == ["[[reply_to_current]] сделал"]
    assert [d.kind for d in found if isinstance(d, Dropped)] == ["heartbeat", "tool_result", "empty"]
    kept = messages(Seed().read(archive_file(path), WITH_TOOLS))
    assert "config.toml: size = 600" in [m.text for m in kept if m.role == "tool"]


def test_an_owner_that_has_it_open_is_not_disturbed(old: FakeSeed) -> None:
    old.db.execute("PRAGMA journal_mode=WAL")
    old.say("привет")
    assert [m.text for m in messages(read(old.path))] == ["привет"]
    old.say("ещё")
    assert [m.text for m in messages(read(old.path))] == ["привет", "ещё"]


@pytest.mark.parametrize(
    "script",
    [
        "CREATE TABLE other (text);\n",
        "CREATE TABLE chunks (body);\n",
        "CREATE TABLE chunks (chunk_id TEXT PRIMARY KEY, text) WITHOUT ROWID;\n",
        "CREATE VIEW chunks AS WITH RECURSIVE n(text) AS (SELECT 1 UNION ALL SELECT 1 FROM n) SELECT 1;\n",
    ],
    ids=["no table", "no text", "no row numbers", "a view without end"],
)
def test_another_database_is_one_skip(tmp_path: Path, script: str) -> None:
    assert len(skips(table(tmp_path, script))) == 1


def test_damaged_pages_cost_only_their_rows(old: FakeSeed) -> None:
    texts = [f"сообщение номер {number} из старого индекса" for number in range(400)]
    old.all(texts)
    path = old.close()
    data = bytearray(path.read_bytes())
    size = 4096
    for page in range(20, 23):
        data[page * size : (page + 1) * size] = b"\xff" * size
    path.write_bytes(data)
    found = read(path)
    assert len(messages(found)) >= 350
    assert {m.text for m in messages(found)} <= set(texts)
    assert skips(found)


def test_whatever_bytes_are_flipped_nothing_is_raised(old: FakeSeed) -> None:
    chance = random.Random(20261130)
    old.all([long_text(40, str(number)) for number in range(20)], dims=32)
    path = old.close()
    whole = path.read_bytes()
    for _ in range(60):
        spoilt = bytearray(whole)
        for _ in range(chance.randrange(1, 4)):
            spoilt[chance.randrange(len(whole))] ^= 1 << chance.randrange(8)
        path.write_bytes(spoilt)
        assert all(isinstance(one, Message | Skipped | Dropped) for one in read(path))


def test_vectors_are_counted_by_length_without_reading_them(old: FakeSeed) -> None:
    old.all(["раз", "два"], 3072)
    old.say("три", 768)
    for bad in (None, "[0.1]", b"\x00" * 7, b"\x00" * 12):
        old.say("четыре", embedding=bad)
    file = archive_file(old.close())
    with opened(file) as connection:
        found = SeedTable(connection, file).vectors()
    assert found.rows == 7
    assert found.dims == {768: 1, 3072: 2}
    assert dict(found.faults) == {
        NO_VECTOR: 1,
        "a vector that is no blob": 1,
        "a vector whose bytes are no multiple of 4": 1,
        "a vector of under 32 numbers": 1,
    }


def test_a_table_without_vectors_is_read_for_its_texts(tmp_path: Path) -> None:
    path = database(tmp_path / "t.db", "CREATE TABLE chunks (text);\nINSERT INTO chunks VALUES ('раз');\n")
    file = archive_file(path)
    with opened(file) as connection:
        rows = list(SeedTable(connection, file).vector_rows())
    assert [(row.text, row.dims, row.fault) for row in rows if not isinstance(row, int)] == [
        ("раз", 0, NO_VECTOR)
    ]


def test_a_vector_is_at_most_what_the_index_can_hold() -> None:
    assert fault_of("blob", 4 * 8192) == ""
    assert "over" in fault_of("blob", 4 * 8193)


def test_the_source_is_only_read(old: FakeSeed) -> None:
    old.say("привет")
    path = old.close()
    before = path.read_bytes(), path.stat().st_mtime_ns
    read(path)
    assert (path.read_bytes(), path.stat().st_mtime_ns) == before
    assert [entry.name for entry in path.parent.iterdir()] == [path.name]
    with pytest.raises(apsw.ReadOnlyError), opened(archive_file(path)) as connection:
        connection.execute("DELETE FROM chunks")

"""The collected cases about reading: each asserts the right behaviour that its report asks for."""

from __future__ import annotations

import bz2
import shutil
from pathlib import Path

import pytest
import zstandard

from indexer.archives import ReadOptions, discover, reader_of
from indexer.archives.files import ArchiveFile
from schemas.records import Dropped, Record
from tests.indexer.archives.reading import (
    CASES,
    MOSCOW,
    OPTIONS,
    WITH_TOOLS,
    archive_file,
    drops,
    messages,
    records,
    skips,
)

SESSION = CASES / "16_openclaw_session" / "session.jsonl"
SAID = ["вспомни, что решили по графу сущностей", "Решили хранить граф сущностей в SQLite с FTS5."]


def case(name: str, source: str) -> list[Record]:
    (file,) = [file for file in discover(CASES / name) if isinstance(file, ArchiveFile)]
    reader = reader_of(file)
    assert reader is not None
    assert reader.name == source
    return list(reader.read(file, OPTIONS))


class TestControlCharacterEscapes:
    def test_all_three_messages_are_kept(self) -> None:
        found = case("01_tg_control_char_escape", "telegram")
        assert [message.id for message in messages(found)] == ["1", "2", "3"]
        assert not skips(found)

    def test_control_characters_become_spaces(self) -> None:
        text = messages(case("01_tg_control_char_escape", "telegram"))[1].text
        assert text == "кнопка 1=412 2=97180  конец"

    def test_an_escaped_backslash_stays_a_literal(self) -> None:
        assert messages(case("01_tg_control_char_escape", "telegram"))[2].text == "путь C:\\x0C дальше"

    def test_they_are_told_once_with_their_count(self) -> None:
        told = [
            record for record in case("01_tg_control_char_escape", "telegram") if isinstance(record, Dropped)
        ]
        assert told == [Dropped("control_character", 2, 2)]


class TestTextShapes:
    def test_four_messages_have_text(self) -> None:
        found = case("04_tg_text_shapes_ids_dates", "telegram")
        assert [message.text for message in messages(found)] == [
            "смотри доку (https://example.com/d)pip install",
            "старый формат",
            "новый формат",
            "аноним",
        ]

    def test_an_absolute_time_wins_and_a_local_one_is_read_in_the_zone(self) -> None:
        found = messages(case("04_tg_text_shapes_ids_dates", "telegram"))
        assert found[0].at == 1740808801000
        assert found[1].at == 1740808800000  # 09:00 in Moscow

    def test_int_and_prefixed_ids_are_one_author(self) -> None:
        found = messages(case("04_tg_text_shapes_ids_dates", "telegram"))
        assert found[1].author_id == found[2].author_id == "user7"

    def test_a_deleted_account_has_a_placeholder_and_keeps_its_id(self) -> None:
        anonymous = messages(case("04_tg_text_shapes_ids_dates", "telegram"))[3]
        assert (anonymous.author, anonymous.author_id) == ("Удалённый аккаунт", "user1")

    def test_service_unsupported_and_stickers_are_counted_not_indexed(self) -> None:
        found = case("04_tg_text_shapes_ids_dates", "telegram")
        assert drops(found) == {"service": 1, "unsupported": 1, "empty": 1}
        assert not any("File not included" in message.text for message in messages(found))


class TestOpenClawSession:
    def test_two_chat_texts_remain(self) -> None:
        found = messages(case("16_openclaw_session", "openclaw"))
        assert [message.text for message in found if message.role != "summary"] == SAID
        assert [message.role for message in found] == ["user", "assistant", "summary"]

    def test_a_compaction_comes_once_and_typed(self) -> None:
        found = messages(case("16_openclaw_session", "openclaw"))
        assert [message.text for message in found if message.role == "summary"] == [
            "Обсудили граф сущностей (SQLite+FTS5)."
        ]

    def test_what_the_channel_added_is_metadata(self) -> None:
        user = messages(case("16_openclaw_session", "openclaw"))[0]
        assert user.author == "demo"
        assert user.meta["stamp"] == "Sun 2026-03-08 22:03 GMT+3"

    def test_noise_is_counted_by_kind(self) -> None:
        assert drops(case("16_openclaw_session", "openclaw")) == {
            "metadata": 3,
            "error": 1,
            "thinking": 1,
            "tool_call": 1,
            "tool_result": 1,
            "heartbeat": 2,
            "custom": 2,
        }

    def test_what_a_memory_search_found_is_never_indexed_again(self) -> None:
        found = list(records("openclaw", archive_file(SESSION), WITH_TOOLS))
        assert not [message for message in messages(found) if message.role == "tool"]
        assert drops(found)["recalled"] == 1

    @pytest.mark.parametrize("suffix", ["", ".0123456789abcdef0123456789abcdef", ".zst"])
    def test_a_reset_archive_is_the_same_talk(self, tmp_path: Path, suffix: str) -> None:
        data = SESSION.read_bytes()
        name = f"11111111-2222-3333-4444-555555555555.jsonl.reset.2026-03-09T10-00-00.000Z{suffix}"
        packed = zstandard.ZstdCompressor().compress(data) if suffix == ".zst" else data
        (tmp_path / name).write_bytes(packed)
        (file,) = discover(tmp_path)
        assert isinstance(file, ArchiveFile)
        live = messages(records("openclaw", archive_file(SESSION)))
        archived = messages(records("openclaw", file))
        assert [(m.chat_id, m.id, m.text) for m in archived] == [(m.chat_id, m.id, m.text) for m in live]

    def test_deleted_sessions_are_read_only_when_asked_for(self, tmp_path: Path) -> None:
        shutil.copy(SESSION, tmp_path / "a.jsonl.deleted.2026-03-09T10-00-00.000Z")
        (file,) = discover(tmp_path)
        assert isinstance(file, ArchiveFile)
        assert drops(records("openclaw", file)) == {"deleted_session": 1}
        asked = ReadOptions(MOSCOW, deleted_sessions=True)
        assert len(messages(records("openclaw", file, asked))) == 3

    def test_checkpoint_and_trajectory_copies_are_left_out(self, tmp_path: Path) -> None:
        for name in (
            "a.checkpoint.0f0f0f0f-1111-2222-3333-444444444444.jsonl",
            "a.trajectory.jsonl",
            "a.trajectory-path.json",
            "sessions.json",
            "sessions.json.bak.3",
        ):
            shutil.copy(SESSION, tmp_path / name)
        assert list(discover(tmp_path)) == []


class TestEmptyTexts:
    def test_only_a_text_with_a_letter_is_a_message(self) -> None:
        found = case("25_empty_whitespace_only", "jsonl")
        assert [message.text for message in messages(found)] == ["ок"]
        assert drops(found) == {"empty": 7}


def test_other_compressions_are_not_guessed_at(tmp_path: Path) -> None:
    (tmp_path / "session.jsonl.bz2").write_bytes(bz2.compress(SESSION.read_bytes()))
    (file,) = discover(tmp_path)
    assert isinstance(file, ArchiveFile)
    assert reader_of(file) is None

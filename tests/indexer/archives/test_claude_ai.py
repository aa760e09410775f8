"""Claude.ai: messages of blocks, what was attached and written beside them, projects and memories."""

from __future__ import annotations

import json
import zipfile
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from indexer.archives import discover, reader_of
from indexer.archives.files import ArchiveFile
from schemas.records import Record
from tests.indexer.archives.reading import (
    HERE,
    OPTIONS,
    archive_file,
    drops,
    messages,
    records,
    skips,
    written,
)

SAMPLES = HERE / "samples" / "claude"
EVERYTHING = replace(OPTIONS, tool_results=True, thinking=True)
ROOT = "00000000-0000-4000-8000-000000000000"


def message(id: str, *blocks: Any, sender: str = "assistant", **more: Any) -> dict[str, Any]:
    made = {"uuid": id, "text": "", "content": list(blocks), "sender": sender, "attachments": [], "files": []}
    return {**made, "created_at": "2025-12-01T09:00:00.000000Z", **more}


def text(said: str) -> dict[str, Any]:
    return {"type": "text", "text": said, "citations": []}


def used(name: str, **given: Any) -> dict[str, Any]:
    return {"type": "tool_use", "id": "toolu_1", "name": name, "input": given}


def read(folder: Path, *said: Any, options: Any = OPTIONS, **more: Any) -> list[Record]:
    talk = {
        "uuid": "c1",
        "name": "Разговор",
        "created_at": "2025-12-01T08:00:00Z",
        "chat_messages": list(said),
    }
    file = written(folder, "conversations.json", json.dumps([{**talk, **more}], ensure_ascii=False))
    return records("claude", file, options)


def texts(found: list[Record]) -> list[str]:
    return [one.text for one in messages(found)]


class TestSample:
    FOUND = records("claude", archive_file(SAMPLES / "conversations.json"))

    def test_talk_attachments_and_documents_stand_in_their_order(self) -> None:
        assert texts(self.FOUND) == [
            "Посчитай смету",
            "гвозди 40 кг",
            "Собрал таблицу.",
            "Смета на ремонт\nГвозди: 40 кг по 120 рублей.",
            "Добавь синюю краску",
            "Добавил.",
            "рублей.\nКраска синяя: 3 банки.",
            "Напиши скрипт",
            "Вот он:\n\nРезервная копия\nrsync -a /srv /backup",
        ]

    def test_parts_have_the_id_of_their_message_and_are_unique_over_all_chats(self) -> None:
        found = messages(self.FOUND)
        own = "0c0ffee0-0000-4000-8000-000000000201"
        assert (found[1].id, found[1].origin, found[1].role) == (
            f"{own}/attachment1", f"{own}/attachment1", "user",
        )  # fmt: skip
        assert (found[3].role, found[3].meta) == ("assistant", {"document": "Смета на ремонт"})

    def test_what_was_left_out_is_counted(self) -> None:
        assert drops(self.FOUND) == {"hidden": 1, "thinking": 2, "tool_result": 1, "other_branch": 1}

    def test_hidden_thinking_leaves_its_summaries(self) -> None:
        found = messages(records("claude", archive_file(SAMPLES / "conversations.json"), EVERYTHING))
        assert [(one.role, one.text) for one in found if one.role in ("thinking", "tool")] == [
            ("thinking", "сложил гвозди"),
            ("tool", "OK"),
        ]


class TestText:
    def test_the_flattened_copy_is_read_only_where_there_are_no_blocks(self, tmp_path: Path) -> None:
        copy = "мысли\n```\nThis block is not supported on your current device yet.\n```\nответ"
        found = read(
            tmp_path,
            message("a", {"type": "thinking", "thinking": "мысли"}, text=copy),
            message("b", text=copy),
            message("c", text("ответ"), text=copy),
        )
        assert texts(found) == ["мысли\n\nответ", "ответ"]
        assert drops(found) == {"thinking": 1, "placeholder": 1}

    def test_a_letter_and_a_file_that_were_written_are_documents(self, tmp_path: Path) -> None:
        letter = used(
            "message_compose_v1", summary_title="Отказ", variants=[{"subject": "Смета", "body": "Нет."}]
        )
        found = read(
            tmp_path, message("a", used("create_file", path="/tmp/план.md", file_text="# План"), letter)
        )
        assert texts(found) == ["/tmp/план.md\n# План", "Отказ\nСмета\nНет."]

    def test_other_calls_are_counted(self, tmp_path: Path) -> None:
        found = read(tmp_path, message("a", used("artifacts", command="view"), used("web_search", query="x")))
        assert drops(found) == {"tool_call": 2}

    @pytest.mark.parametrize("sender", ["robot", None, ["human"]])
    def test_an_unknown_sender_is_named(self, tmp_path: Path, sender: Any) -> None:
        found = read(tmp_path, message("a", text("кто я"), sender=sender))
        assert [one.reason for one in skips(found)] == ["an unknown sender"]

    def test_unknown_blocks_are_named_and_the_rest_is_kept(self, tmp_path: Path) -> None:
        found = read(tmp_path, message("a", {"type": "hologram"}, 5, text("ответ")))
        assert texts(found) == ["ответ"]
        assert sorted(one.reason for one in skips(found)) == [
            "a block that is no object", "an unknown type of block",
        ]  # fmt: skip


class TestBranches:
    SAID = (
        message("q", text("вопрос"), sender="human", parent_message_uuid=ROOT),
        message("old", text("старый ответ"), parent_message_uuid="q", created_at="2025-12-01T09:01:00Z"),
        message("new", text("новый ответ"), parent_message_uuid="q", created_at="2025-12-01T09:02:00Z"),
    )

    def test_the_newest_is_the_talk(self, tmp_path: Path) -> None:
        found = read(tmp_path, *self.SAID)
        assert texts(found) == ["вопрос", "новый ответ"]
        assert drops(found) == {"other_branch": 1}

    def test_unless_the_export_tells_another(self, tmp_path: Path) -> None:
        assert texts(read(tmp_path, *self.SAID, current_leaf_message_uuid="old"))[-1] == "старый ответ"

    @pytest.mark.parametrize("parent", [{}, {"parent_message_uuid": None}, {"parent_message_uuid": ROOT}])
    def test_without_parents_all_is_said(self, tmp_path: Path, parent: dict[str, Any]) -> None:
        found = read(tmp_path, *(message(id, text(id), **parent) for id in "абв"))
        assert texts(found) == ["а", "б", "в"]

    def test_an_edited_first_prompt_takes_its_answers_along(self, tmp_path: Path) -> None:
        again = message("q2", text("вопрос иначе"), sender="human", parent_message_uuid=ROOT,
                        created_at="2025-12-01T09:03:00Z")  # fmt: skip
        assert texts(read(tmp_path, *self.SAID, again)) == ["вопрос иначе"]


class TestNotes:
    def test_a_projects_knowledge_is_notes_and_its_prompt_an_instruction(self) -> None:
        found = messages(records("claude", archive_file(SAMPLES / "projects.json")))
        assert [(one.role, one.id[-3:], one.text) for one in found] == [
            ("note", "ion", "Всё о даче"),
            ("instruction", "ons", "Отвечай как прораб"),
            ("note", "401", "участок.md\nКолодец у северного забора."),
        ]
        assert {(one.chat_id, one.chat_title) for one in found} == {
            ("project:0c0ffee0-0000-4000-8000-000000000400", "Дача")
        }

    def test_memories_are_notes_of_the_account_and_of_its_projects(self) -> None:
        found = messages(records("claude", archive_file(SAMPLES / "memories.json")))
        assert [(one.chat_id.partition(":")[0], one.role, one.id, one.text) for one in found] == [
            ("memory", "note", "conversations", "**Работа**\n\nАнна ведёт стройку."),
            ("project", "note", "memory", "Забор чинят весной."),
            ("memory", "note", "/people/pyotr.md", "/people/pyotr.md\n- [stated] Пётр — электрик"),
        ]
        assert found[2].edited == found[2].at == 1763625600000

    @pytest.mark.parametrize("name", ["projects.json", "memories.json"])
    def test_one_object_a_file_reads_as_a_list_of_them(self, tmp_path: Path, name: str) -> None:
        (one,) = json.loads((SAMPLES / name).read_text("utf-8"))
        file = written(tmp_path, "0c0ffee0.json", json.dumps(one, ensure_ascii=False, indent=2))
        reader = reader_of(file)
        assert reader is not None
        found = messages(reader.read(file, OPTIONS))
        assert texts(list(found)) == texts(records("claude", archive_file(SAMPLES / name)))


class TestFiles:
    def test_an_export_zip_is_read_whole(self, tmp_path: Path) -> None:
        with zipfile.ZipFile(tmp_path / "data.zip", "w") as archive:
            for name in ("conversations.json", "projects.json", "memories.json"):
                archive.write(SAMPLES / name, name)
            archive.writestr(
                "users.json", '[{"uuid": "u", "full_name": "А", "email_address": "a@example.com"}]'
            )
            archive.writestr("manifest.json", '{"instructions": "", "total_files": 1, "data_files": []}')
        found: list[Record] = []
        for file in discover(tmp_path):
            assert isinstance(file, ArchiveFile)
            reader = reader_of(file)
            assert reader is not None, file.name
            assert reader.name == "claude"
            found.extend(reader.read(file, OPTIONS))
        assert len(messages(found)) == 9 + 3 + 3
        assert drops(found)["support_file"] == 2

    def test_the_two_conversations_json_are_told_apart_by_content(self) -> None:
        for source in ("chatgpt", "claude"):
            file = archive_file(HERE / "samples" / source / "syn_ru_conversations.json")
            reader = reader_of(file)
            assert reader is not None
            assert reader.name == source

    def test_a_broken_byte_costs_its_message(self, tmp_path: Path) -> None:
        talk = {
            "uuid": "c1",
            "name": "Р",
            "chat_messages": [message(f"m{n}", text(f"реплика {n}")) for n in range(9)],
        }
        data = json.dumps([talk, {**talk, "uuid": "c2"}], ensure_ascii=False)
        broken = data.replace('"text": "реплика 4"', '"text": "реплика 4', 1)
        found = records("claude", written(tmp_path, "conversations.json", broken))
        assert texts(found) == [f"реплика {n}" for n in range(9) if n != 4] + [
            f"реплика {n}" for n in range(9)
        ]
        assert [one.chat_id for one in messages(found)] == ["c1"] * 8 + ["c2"] * 9
        assert [one.reason for one in skips(found)] == ["broken JSON after this record"]

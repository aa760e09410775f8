"""OpenClaw's session files: the tree, forks, the cleaning, and the index beside them."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import zstandard

from indexer.archives import ArchiveFile, reader_of
from indexer.archives.openclaw.cleaning import cleaned
from schemas.records import Dropped
from tests.indexer.archives.reading import (
    OPTIONS,
    WITH_TOOLS,
    drops,
    messages,
    records,
    skips,
    written,
)

WITH_THINKING = replace(OPTIONS, thinking=True)
HEADER: dict[str, Any] = {
    "type": "session",
    "version": 3,
    "id": "s1",
    "timestamp": "2026-03-08T19:03:00.000Z",
}


def entry(id: str | None, parent: str | None, text: str, role: str = "user", **more: Any) -> dict[str, Any]:
    message = {"role": role, "content": [{"type": "text", "text": text}], "timestamp": 1772996582000, **more}
    ids = {} if id is None else {"id": id, "parentId": parent}
    return {"type": "message", **ids, "timestamp": "2026-03-08T19:03:02.000Z", "message": message}


def session(folder: Path, *entries: dict[str, Any] | str, name: str = "s1.jsonl") -> ArchiveFile:
    lines = [line if isinstance(line, str) else json.dumps(line, ensure_ascii=False) for line in entries]
    return written(folder, name, "\n".join(lines) + "\n")


class TestTree:
    def test_side_branches_are_kept_and_marked(self, tmp_path: Path) -> None:
        file = session(
            tmp_path,
            HEADER,
            entry("a", None, "вопрос"),
            entry("b", "a", "первый ответ", "assistant"),
            entry("c", "a", "второй ответ", "assistant"),
            entry("d", "c", "спасибо"),
        )
        found = messages(records("openclaw", file))
        assert [(m.id, m.side_branch) for m in found] == [
            ("a", False),
            ("b", True),
            ("c", False),
            ("d", False),
        ]

    def test_a_broken_line_does_not_make_all_before_it_a_side_branch(self, tmp_path: Path) -> None:
        file = session(tmp_path, HEADER, entry("a", None, "раз"), '{"type": "mess', entry("c", "b", "три"))
        found = records("openclaw", file)
        assert [(m.id, m.side_branch) for m in messages(found)] == [("a", False), ("c", False)]
        assert [skip.place for skip in skips(found)] == ["s1.jsonl:3"]

    def test_parents_in_a_circle_end(self, tmp_path: Path) -> None:
        file = session(tmp_path, HEADER, entry("a", "b", "раз"), entry("b", "a", "два"))
        assert not any(message.side_branch for message in messages(records("openclaw", file)))

    def test_a_reset_stays_on_the_branch(self, tmp_path: Path) -> None:
        reset = {"type": "reset", "id": "r", "parentId": None, "timestamp": "2026-03-08T19:03:02.000Z"}
        file = session(tmp_path, HEADER, entry("a", None, "до"), reset, entry("b", "r", "после"))
        assert not any(message.side_branch for message in messages(records("openclaw", file)))

    def test_version_1_has_derived_ids_that_tell_equal_lines_apart(self, tmp_path: Path) -> None:
        file = session(tmp_path, {**HEADER, "version": 1}, entry(None, None, "да"), entry(None, None, "да"))
        first, second = messages(records("openclaw", file))
        assert first.id.startswith("h_")
        assert first.id != second.id
        assert not first.side_branch

    def test_an_unfinished_last_line_is_normal(self, tmp_path: Path) -> None:
        file = written(
            tmp_path, "s1.jsonl", json.dumps(HEADER) + "\n" + json.dumps(entry("a", None, "раз"))[:-7]
        )
        found = records("openclaw", file)
        assert not skips(found)
        assert drops(found) == {"unfinished_line": 1}


class TestLeaves:
    """Since 2026 an entry of type `leaf` says where the talk goes on."""

    def leaf(self, id: str, parent: str, target: str | None, **more: Any) -> dict[str, Any]:
        return {"type": "leaf", "id": id, "parentId": parent, "targetId": target, **more}

    def sides(self, folder: Path, *entries: dict[str, Any]) -> dict[str, bool]:
        found = records("openclaw", session(folder, HEADER, *entries))
        assert not skips(found)
        return {message.id: message.side_branch for message in messages(found)}

    def test_it_takes_the_talk_back_and_the_next_entry_goes_on_from_there(self, tmp_path: Path) -> None:
        assert self.sides(
            tmp_path,
            entry("a", None, "вопрос"),
            entry("b", "a", "ответ не туда", "assistant"),
            self.leaf("l", "b", "a"),
            entry("c", "l", "ответ", "assistant"),
        ) == {"a": False, "b": True, "c": False}

    def test_what_was_taken_back_last_is_a_side_branch_too(self, tmp_path: Path) -> None:
        assert self.sides(
            tmp_path, entry("a", None, "раз"), entry("b", "a", "два"), self.leaf("l", "b", "a")
        ) == {"a": False, "b": True}

    def test_the_talk_can_be_taken_back_to_before_its_first_entry(self, tmp_path: Path) -> None:
        assert self.sides(
            tmp_path, entry("a", None, "раз"), self.leaf("l", "a", None), entry("b", None, "сначала")
        ) == {"a": True, "b": False}

    def test_a_side_entry_moves_nothing(self, tmp_path: Path) -> None:
        assert self.sides(
            tmp_path,
            entry("a", None, "вопрос"),
            {**entry("b", "a", "доставлено в канал", "assistant"), "appendMode": "side"},
            entry("c", "b", "ответ", "assistant"),
        ) == {"a": False, "b": True, "c": False}

    def test_a_jump_to_nowhere_moves_nothing(self, tmp_path: Path) -> None:
        assert self.sides(
            tmp_path, entry("a", None, "раз"), self.leaf("l", "a", "zz"), entry("b", "l", "два")
        ) == {"a": False, "b": False}

    def test_an_entry_of_a_plugin_does_not_part_the_talk(self, tmp_path: Path) -> None:
        plugin = {"type": "metadata", "id": "p", "parentId": "a", "payload": {}}
        file = session(tmp_path, HEADER, entry("a", None, "раз"), plugin, entry("b", "p", "два"))
        found = records("openclaw", file)
        assert not any(message.side_branch for message in messages(found))
        assert [skip.reason for skip in skips(found)] == ["an unknown type of entry"]


class TestForks:
    @pytest.mark.parametrize(
        "named",
        [
            "s0",
            "/home/demo/.openclaw/agents/main/sessions/s0.jsonl",
            "C:\\Users\\demo\\.openclaw\\agents\\main\\sessions\\s0-topic-7.jsonl",
            "sessions/2026-03-08T19-03-00-000Z_s0.jsonl",
            "s0.jsonl.reset.2026-03-09T10-00-00.000Z.zst",
            "sqlite:main:s0:/home/demo/.openclaw/agents/main/sessions/sessions.json",
        ],
    )
    def test_the_header_names_the_talk_that_is_repeated(self, tmp_path: Path, named: str) -> None:
        file = session(tmp_path, {**HEADER, "parentSession": named}, entry("a", None, "раз"))
        (message,) = messages(records("openclaw", file))
        assert (message.chat_id, message.copied_from) == ("s1", "s0")

    @pytest.mark.parametrize(
        "named", [None, "", 7.5, [], "agent:main:main", "s1", "/tmp/x", "-topic-" * 10_000]
    )
    def test_what_names_no_other_session_makes_no_fork(self, tmp_path: Path, named: object) -> None:
        file = session(tmp_path, {**HEADER, "parentSession": named}, entry("a", None, "раз"))
        (message,) = messages(records("openclaw", file))
        assert message.copied_from is None

    def test_a_copied_entry_keeps_its_origin(self, tmp_path: Path) -> None:
        said, new = entry("a0000001", None, "вопрос"), entry("a0000002", "a0000001", "ответ", "assistant")
        parent = session(tmp_path, {**HEADER, "id": "s0"}, said, name="s0.jsonl")
        child = session(tmp_path, {**HEADER, "parentSession": "s0.jsonl"}, said, new)
        (first,) = messages(records("openclaw", parent))
        copy, own = messages(records("openclaw", child))
        assert copy.origin == first.origin == "a0000001@1772996582000"
        assert own.origin != first.origin
        assert (first.copied_from, copy.copied_from, own.copied_from) == (None, "s0", "s0")

    def test_an_equal_id_at_another_time_is_another_message(self, tmp_path: Path) -> None:
        one = session(tmp_path, HEADER, entry("a", None, "раз"))
        other = session(tmp_path, HEADER, entry("a", None, "раз", timestamp=1772996583000), name="s2.jsonl")
        origins = {message.origin for file in (one, other) for message in messages(records("openclaw", file))}
        assert len(origins) == 2

    def test_without_an_id_or_a_time_there_is_no_origin(self, tmp_path: Path) -> None:
        timeless = {"type": "message", "id": "b", "message": {"role": "user", "content": "два"}}
        file = session(tmp_path, HEADER, entry(None, None, "раз"), timeless)
        assert [message.origin for message in messages(records("openclaw", file))] == [None, None]


class TestSessionFacts:
    def test_the_index_beside_tells_workers_and_titles(self, tmp_path: Path) -> None:
        row = {"sessionId": "s1", "spawnedBy": "agent:main:main", "label": "Отчёт", "chatType": "direct"}
        written(tmp_path, "agents/main/sessions/sessions.json", json.dumps({"agent:main:subagent:7": row}))
        file = session(tmp_path, HEADER, entry("a", None, "раз"), name="agents/main/sessions/s1.jsonl")
        (message,) = messages(records("openclaw", file))
        assert (message.agent, message.chat_title, message.session) == ("worker", "Отчёт", "s1")
        assert message.meta == {
            "session_key": "agent:main:subagent:7",
            "chat_type": "direct",
            "agent_id": "main",
        }

    def test_a_session_name_is_the_title(self, tmp_path: Path) -> None:
        info = {"type": "session_info", "id": "i", "parentId": "a", "name": "Граф сущностей"}
        (message,) = messages(records("openclaw", session(tmp_path, HEADER, entry("a", None, "раз"), info)))
        assert message.chat_title == "Граф сущностей"

    def test_a_broken_index_costs_only_its_facts(self, tmp_path: Path) -> None:
        written(tmp_path, "sessions.json", "[1, 2")
        assert len(messages(records("openclaw", session(tmp_path, HEADER, entry("a", None, "раз"))))) == 1

    def test_without_a_header_the_file_name_names_the_session(self, tmp_path: Path) -> None:
        file = session(
            tmp_path, entry("a", None, "раз"), name="abc-topic-5.jsonl.reset.2026-03-09T10-00-00.000Z"
        )
        reader = reader_of(file)
        assert reader is not None
        assert reader.name == "openclaw"
        assert messages(records("openclaw", file))[0].chat_id == "abc"


class TestToolResults:
    def result(self, call: str, tool: str, text: str) -> dict[str, Any]:
        return entry(call + "r", None, text, "toolResult", toolCallId=call, toolName=tool, isError=False)

    def test_they_are_off_by_default_and_can_be_switched_on(self, tmp_path: Path) -> None:
        bash = {
            "type": "message",
            "id": "b",
            "message": {"role": "bashExecution", "command": "ls", "output": "a.txt"},
        }
        file = session(tmp_path, HEADER, self.result("c1", "exec", "порт занят"), bash)
        assert drops(records("openclaw", file)) == {"tool_result": 2}
        found = messages(records("openclaw", file, WITH_TOOLS))
        assert [(m.role, m.author, m.text) for m in found] == [
            ("tool", "exec", "порт занят"),
            ("tool", "bash", "$ ls\na.txt"),
        ]

    def test_a_note_read_by_a_tool_is_a_copy_and_never_a_message(self, tmp_path: Path) -> None:
        call = {"type": "toolCall", "id": "c1", "name": "read", "arguments": {"path": "MEMORY.md"}}
        asked = entry("a", None, "смотрю", "assistant")
        asked["message"]["content"].append(call)
        file = session(tmp_path, HEADER, asked, self.result("c1", "read", "# MEMORY\nпамять"))
        found = records("openclaw", file, WITH_TOOLS)
        assert [message.text for message in messages(found)] == ["смотрю"]
        assert drops(found)["note_copy"] == 1


class TestThinking:
    def answer(self) -> dict[str, Any]:
        value = entry("b", None, "Готово.", "assistant")
        value["message"]["content"] = [
            {"type": "thinking", "thinking": "надо проверить порт"},
            {"type": "toolCall", "id": "c1", "name": "exec", "arguments": {"command": "ss -ltn"}},
            *value["message"]["content"],
            {"type": "thinking", "thinking": "порт свободен"},
        ]
        return value

    def test_it_is_off_by_default(self, tmp_path: Path) -> None:
        found = records("openclaw", session(tmp_path, HEADER, self.answer()))
        assert [message.text for message in messages(found)] == ["Готово."]
        assert drops(found) == {"thinking": 2, "tool_call": 1}

    def test_switched_on_each_thought_is_a_message_beside_the_answer(self, tmp_path: Path) -> None:
        found = records("openclaw", session(tmp_path, HEADER, self.answer()), WITH_THINKING)
        assert [(m.id, m.role, m.text) for m in messages(found)] == [
            ("b/thinking1", "thinking", "надо проверить порт"),
            ("b/thinking2", "thinking", "порт свободен"),
            ("b", "assistant", "Готово."),
        ]
        assert [message.origin for message in messages(found)] == [
            "b@1772996582000/thinking1",
            "b@1772996582000/thinking2",
            "b@1772996582000",
        ]
        assert drops(found) == {"tool_call": 1}

    def test_a_turn_of_thinking_alone_is_no_answer(self, tmp_path: Path) -> None:
        value = self.answer()
        del value["message"]["content"][1:]
        found = records("openclaw", session(tmp_path, HEADER, value), WITH_THINKING)
        assert [message.role for message in messages(found)] == ["thinking"]


class TestCleaning:
    def test_a_telegram_sender_becomes_the_author(self) -> None:
        text = (
            'Conversation info (untrusted metadata):\n```json\n{"message_id": "4", "sender_id": "7"}\n```\n\n'
            "Sender (untrusted metadata):\n"
            '```json\n{"label": "Иван (7)", "id": "7", "username": "ivan"}\n```\n\n'
            "[message_id: 4]\n[Sun 2026-03-08 22:03 GMT+3] привет"
        )
        clean = cleaned("user", text)
        assert (clean.text, clean.author, clean.author_id) == ("привет", "Иван", "7")
        assert clean.meta == {"stamp": "Sun 2026-03-08 22:03 GMT+3", "sender_username": "ivan"}

    @pytest.mark.parametrize(
        "text",
        [
            "почему в логе [cron: и пусто?",
            "[cron: не сработал вчера",
            "что значит HEARTBEAT_OK?",
            "в промпте написано Read HEARTBEAT.md, зачем?",
            "[[заметка]] и [[ -f x ]] не трогай",
            "Sender (untrusted metadata): это что за строка?",
        ],
    )
    def test_a_user_who_only_mentions_a_mark_is_still_a_user(self, text: str) -> None:
        clean = cleaned("user", text)
        assert (clean.text, clean.noise, clean.role, clean.drops) == (text, None, None, ())

    def test_a_prompt_of_the_scheduler_is_no_user(self) -> None:
        clean = cleaned("user", "[cron:0f0f0f0f-1111-2222-3333-444444444444 утро] собери новости")
        assert (clean.role, clean.text) == ("system", "собери новости")

    @pytest.mark.parametrize("text", ["HEARTBEAT_OK", "**HEARTBEAT_OK**", "HEARTBEAT_OK."])
    def test_heartbeats_are_noise(self, text: str) -> None:
        assert cleaned("assistant", text).noise == "heartbeat"

    def test_no_reply_is_noise_and_a_mark_after_an_answer_is_taken_off(self) -> None:
        assert cleaned("assistant", "NO_REPLY").noise == "no_reply"
        clean = cleaned("assistant", "Готово.\n\nNO_REPLY")
        assert (clean.text, clean.noise) == ("Готово.", None)

    @pytest.mark.parametrize(
        "text",
        [
            "[[reply_to_current]] да",
            "да [[reply_to: 12]]",
            "[[audio_as_voice]]\nда",
            "[[ reply_to_current ]]да",
        ],
    )
    def test_directives_are_taken_off(self, text: str) -> None:
        assert cleaned("assistant", text).text == "да"

    def test_brackets_that_are_no_directive_stay(self) -> None:
        text = "проверь [[ -f x ]] и [[заметка]] и `[[reply_to_current]]`"
        assert cleaned("assistant", text).text == text

    def test_recalled_memories_are_never_fed_back(self) -> None:
        recalled = "<relevant-memories>\n- граф в SQLite\n</relevant-memories>\n"
        clean = cleaned("user", recalled + "что решили?")
        assert clean.text == "что решили?"
        assert clean.drops == (Dropped("recalled", len(recalled)),)
        assert cleaned("user", recalled).noise == "recalled"


def test_a_cut_zstandard_archive_gives_what_could_be_decompressed(tmp_path: Path) -> None:
    entries = [
        entry(f"{n:08x}", f"{n - 1:08x}" if n else None, f"сообщение {n} {n * 7919}") for n in range(5000)
    ]
    text = "\n".join(json.dumps(value, ensure_ascii=False) for value in [HEADER, *entries])
    packed = zstandard.ZstdCompressor().compress(text.encode())
    file = written(tmp_path, "s1.jsonl.reset.2026-03-09T10-00-00.000Z.zst", packed[: len(packed) * 3 // 4])
    found = records("openclaw", file)
    kept = messages(found)
    assert 1000 < len(kept) < 5000
    assert [message.text for message in kept] == [f"сообщение {n} {n * 7919}" for n in range(len(kept))]
    assert [skip.reason for skip in skips(found)] == ["damaged or cut compressed data"]

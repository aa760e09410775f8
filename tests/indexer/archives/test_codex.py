"""Codex rollouts: texts that stand twice, injected context, forks, sub-agents and the legacy form."""

from __future__ import annotations

import json
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from indexer.archives import ArchiveFile, reader_of
from indexer.archives.codex.item import prompt
from indexer.archives.codex.twins import WINDOW
from schemas.records import Dropped, Record
from tests.indexer.archives.reading import (
    OPTIONS,
    WITH_TOOLS,
    drops,
    messages,
    records,
    skips,
    written,
)

OWN = "019bce9f-0000-7000-8000-000000000001"
PARENT = "019bce9f-0000-7000-8000-000000000002"
AT = "2026-01-18T02:01:31.000Z"
COUNTER = {"timestamp": AT, "type": "event_msg", "payload": {"type": "token_count", "info": None}}


def line(kind: str, payload: Any, at: str | None = AT) -> dict[str, Any]:
    return {**({} if at is None else {"timestamp": at}), "type": kind, "payload": payload}


def meta(**more: Any) -> dict[str, Any]:
    return line("session_meta", {"id": OWN, "cwd": "/srv/work/demo", "source": "cli", **more})


def item(role: str, *texts: str, **more: Any) -> dict[str, Any]:
    block = "output_text" if role == "assistant" else "input_text"
    content = [{"type": block, "text": text} for text in texts]
    return line("response_item", {"type": "message", "role": role, "content": content, **more})


def event(kind: str, text: str) -> dict[str, Any]:
    return line("event_msg", {"type": kind, "message": text})


def call(name: str, id: str) -> dict[str, Any]:
    value = {"type": "function_call", "name": name, "arguments": '{"a": 1}', "call_id": id}
    return line("response_item", value)


def output(id: str, text: Any, kind: str = "function_call_output") -> dict[str, Any]:
    return line("response_item", {"type": kind, "call_id": id, "output": text})


def rollout(folder: Path, *lines: Any, name: str = "rollout.jsonl") -> ArchiveFile:
    texts = [one if isinstance(one, str) else json.dumps(one, ensure_ascii=False) for one in lines]
    return written(folder, name, "\n".join(texts) + "\n")


def read(folder: Path, *lines: Any, **more: Any) -> list[Record]:
    return records("codex", rollout(folder, *lines, **more))


def said(found: list[Record]) -> list[tuple[str, str]]:
    return [(message.role, message.text) for message in messages(found)]


class TestTwins:
    @pytest.mark.parametrize("event_first", [False, True])
    def test_a_text_that_stands_twice_is_the_message_of_the_item(
        self, tmp_path: Path, event_first: bool
    ) -> None:
        pair = [item("user", "раз", id="m1"), event("user_message", "раз")]
        found = read(tmp_path, meta(), *(reversed(pair) if event_first else pair))
        assert [(m.id, m.text) for m in messages(found)] == [("m1", "раз")]
        assert drops(found) == {"repeat": 1}

    def test_a_person_may_say_the_same_twice(self, tmp_path: Path) -> None:
        pair = [item("user", "да"), event("user_message", "да")]
        found = read(tmp_path, meta(), *pair, COUNTER, *pair)
        assert said(found) == [("user", "да")] * 2
        assert len({message.id for message in messages(found)}) == 2

    def test_what_only_the_screen_showed_is_kept_in_its_place(self, tmp_path: Path) -> None:
        found = read(
            tmp_path,
            meta(),
            event("user_message", "вопрос"),
            item("assistant", "думаю"),
            event("agent_message", "ответ"),
            *[COUNTER] * (WINDOW + 2),
            item("user", "дальше"),
        )
        assert said(found) == [
            ("user", "вопрос"),
            ("assistant", "думаю"),
            ("assistant", "ответ"),
            ("user", "дальше"),
        ]

    def test_an_equal_text_far_away_is_another_message(self, tmp_path: Path) -> None:
        found = read(tmp_path, meta(), item("user", "да"), *[COUNTER] * 40, event("user_message", "да"))
        assert len(messages(found)) == 2

    def test_the_two_forms_are_compared_without_injected_context(self, tmp_path: Path) -> None:
        text = "# Context from my IDE setup:\n\n## Open tabs:\n- a.py\n\n## My request for Codex:\nпочини\n"
        found = read(tmp_path, meta(), item("user", text), event("user_message", text))
        assert said(found) == [("user", "почини")]

    def test_a_message_that_waits_is_told_at_the_end_of_a_cut_file(self, tmp_path: Path) -> None:
        assert said(read(tmp_path, meta(), event("user_message", "раз"))) == [("user", "раз")]


class TestContext:
    @pytest.mark.parametrize(
        ("text", "kind"),
        [
            ("<environment_context>\n  <cwd>/srv/a</cwd>\n</environment_context>", "environment"),
            ("<environment_context>\n  <cwd>/srv/a", "environment"),
            ("<user_instructions>\nпиши коротко\n</user_instructions>", "instructions"),
            (
                "# AGENTS.md instructions for /srv/a\n\n<INSTRUCTIONS>\nкоротко\n</INSTRUCTIONS>",
                "instructions",
            ),
            ("# AGENTS.md instructions\n\n<INSTRUCTIONS>\nкоротко\n</INSTRUCTIONS>", "instructions"),
            ("# AGENTS.md instructions for /srv/a\nобрыв", "instructions"),
            ("<INSTRUCTIONS>\nкоротко\n</INSTRUCTIONS>", "instructions"),
            ("<permissions instructions>\nsandbox\n</permissions instructions>", "instructions"),
            ("<turn_aborted>\nThe user interrupted\n</turn_aborted>", "interrupted"),
            ("<subagent_notification>{}</subagent_notification>", "notification"),
        ],
    )
    def test_what_the_program_put_in_is_no_message(self, tmp_path: Path, text: str, kind: str) -> None:
        found = read(tmp_path, meta(), item("user", text))
        assert not messages(found)
        assert drops(found) == {kind: 1}
        (dropped,) = [record for record in found if isinstance(record, Dropped)]
        assert dropped.characters == len(text)

    def test_a_prompt_behind_or_beside_it_is_kept(self) -> None:
        context = "<environment_context>\nx\n</environment_context>"
        heading = "# AGENTS.md instructions for /srv/a\n\n<INSTRUCTIONS>\nx\n</INSTRUCTIONS>"
        blocks = [{"type": "input_text", "text": text} for text in (heading, context, "вопрос")]
        assert prompt(blocks)[0] == "вопрос"
        assert prompt(f"{context}\n{heading}\n\nвопрос")[0] == "вопрос"

    @pytest.mark.parametrize(
        "text",
        [
            "что такое <environment_context>x</environment_context>?",
            "# AGENTS.md instructions\nчто сюда писать?",
            "как открыть <skill> без конца",
            "<div>привет</div>",
            "## My request for Codex:\nзаголовок мой",
            "# Context from my IDE setup:\nтак начинается блок",
        ],
    )
    def test_a_person_who_only_mentions_it_is_still_heard(self, text: str) -> None:
        assert prompt(text) == (text, [])

    def test_roles_that_instruct_are_left_out(self, tmp_path: Path) -> None:
        found = read(tmp_path, meta(), item("developer", "правила"), item("system", "ещё"))
        assert drops(found) == {"instructions": 2}
        assert not messages(found)

    def test_marks_of_images_are_no_words(self) -> None:
        blocks = [
            {"type": "input_text", "text": "что тут? <image name=[Image #1]>"},
            {"type": "input_image", "image_url": "data:…"},
            {"type": "input_text", "text": "</image>"},
        ]
        assert prompt(blocks) == ("что тут?", [])


class TestSession:
    def test_the_header_tells_the_chat_and_the_project_without_its_path(self, tmp_path: Path) -> None:
        (message,) = messages(read(tmp_path, meta(), item("user", "раз")))
        assert (message.chat_id, message.session, message.chat_title) == (OWN, OWN, "demo")
        assert message.meta == {"project": "demo"}
        assert (message.agent, message.copied_from, message.origin) == (None, None, None)

    def test_without_a_header_the_file_name_tells_the_chat(self, tmp_path: Path) -> None:
        name = f"rollout-2026-01-18T05-01-28-{OWN}.jsonl"
        assert messages(read(tmp_path, item("user", "раз"), name=name))[0].chat_id == OWN
        assert messages(read(tmp_path, item("user", "раз"), name="talk.jsonl"))[0].chat_id == "talk"

    def test_the_first_header_wins_over_those_of_ancestors(self, tmp_path: Path) -> None:
        ancestor = line("session_meta", {"id": PARENT, "cwd": "/srv/work/other"})
        found = messages(read(tmp_path, meta(forked_from_id=PARENT), ancestor, item("user", "раз")))
        assert [(m.chat_id, m.copied_from, m.agent) for m in found] == [(OWN, PARENT, None)]

    @pytest.mark.parametrize(
        "source",
        [
            {"subagent": {"thread_spawn": {"parent_thread_id": PARENT, "depth": 1}}},
            {"spawn": {"parent_thread_id": PARENT}},
        ],
    )
    def test_a_sub_agent_is_a_worker_that_names_its_parent(self, tmp_path: Path, source: Any) -> None:
        (message,) = messages(read(tmp_path, meta(source=source), item("user", "подзадача")))
        assert (message.agent, message.copied_from) == ("worker", PARENT)

    def test_a_sub_agent_without_a_parent_is_a_worker(self, tmp_path: Path) -> None:
        (message,) = messages(read(tmp_path, meta(source={"subagent": "review"}), item("user", "проверь")))
        assert (message.agent, message.copied_from) == ("worker", None)

    def test_times_are_of_the_line_else_of_the_item_else_unknown(self, tmp_path: Path) -> None:
        bare = item("user", "два", timestamp="2026-01-18T02:00:00Z")
        del bare["timestamp"]
        unknown = item("user", "три")
        del unknown["timestamp"]
        found = messages(read(tmp_path, meta(), item("user", "раз"), bare, unknown))
        assert [message.at for message in found] == [1768701691000, 1768701600000, None]

    def test_ids_are_the_items_own_where_there_are_any(self, tmp_path: Path) -> None:
        found = read(tmp_path, meta(), item("user", "раз", id="m1"), item("user", "два", id="m1"))
        first, second = messages(found)
        assert first.id == "m1"
        assert second.id.startswith("h_")


class TestItems:
    def test_a_compaction_is_a_summary_and_its_history_no_second_talk(self, tmp_path: Path) -> None:
        history = [item("user", "раз")["payload"]]
        compacted = line("compacted", {"message": "Сводка", "replacement_history": history})
        found = read(tmp_path, meta(), item("user", "раз"), compacted)
        assert said(found) == [("user", "раз"), ("summary", "Сводка")]

    def test_results_of_tools_are_off_by_default_and_can_be_switched_on(self, tmp_path: Path) -> None:
        wrapped = json.dumps({"output": "12 прошли", "metadata": {"exit_code": 0}}, ensure_ascii=False)
        blocks = [{"type": "input_text", "text": "готово"}]
        file = rollout(
            tmp_path,
            meta(),
            call("shell", "c1"),
            output("c1", wrapped),
            output("c2", blocks, "custom_tool_call_output"),
            output("c3", {"content": "из словаря", "success": True}),
        )
        found = records("codex", file)
        assert drops(found) == {"tool_call": 1, "tool_result": 3}
        kept = messages(records("codex", file, WITH_TOOLS))
        assert [(m.role, m.author, m.text) for m in kept] == [
            ("tool", "shell", "12 прошли"),
            ("tool", None, "готово"),
            ("tool", None, "из словаря"),
        ]

    def test_thinking_is_its_summary_and_what_is_encrypted_counts_nothing(self, tmp_path: Path) -> None:
        summary = [{"type": "summary_text", "text": "проверяю тесты"}]
        file = rollout(
            tmp_path,
            meta(),
            line("response_item", {"type": "reasoning", "summary": summary, "encrypted_content": "gAAA"}),
            line("response_item", {"type": "reasoning", "summary": [], "encrypted_content": "gAAA"}),
        )
        assert list(records("codex", file)) == [Dropped("thinking", 14), Dropped("thinking", 0)]
        found = records("codex", file, replace(OPTIONS, thinking=True))
        assert said(found) == [("thinking", "проверяю тесты")]

    @pytest.mark.parametrize(
        "kind", ["function_call", "custom_tool_call", "local_shell_call", "web_search_call"]
    )
    def test_calls_of_tools_are_counted(self, tmp_path: Path, kind: str) -> None:
        action = {"query": "погода"}
        found = read(tmp_path, meta(), line("response_item", {"type": kind, "action": action}))
        assert found == [Dropped("tool_call", len(json.dumps(action, ensure_ascii=False)))]

    def test_what_a_later_version_writes_is_told_and_ends_nothing(self, tmp_path: Path) -> None:
        found = read(
            tmp_path,
            meta(),
            line("response_item", {"type": "hologram"}),
            line("world_state", {}),
            line("response_item", None),
            item("hologram", "раз"),
            line("response_item", {"type": "message", "role": "user"}),
            item("user", "раз"),
        )
        assert said(found) == [("user", "раз")]
        assert [skip.reason for skip in skips(found)] == [
            "an unknown type of item",
            "an unknown type of line",
            "a line without a payload",
            "an unknown role",
            "a message without content",
        ]


class TestLegacy:
    def test_bare_items_are_read(self, tmp_path: Path) -> None:
        found = read(
            tmp_path,
            {"id": OWN, "timestamp": "2025-07-01T00:00:00Z", "instructions": None},
            {"record_type": "state"},
            item("user", "<environment_context>x</environment_context>")["payload"],
            item("user", "раз")["payload"],
            {"type": "reasoning", "summary": []},
            {"type": "function_call", "name": "shell", "arguments": "{}", "call_id": "c1"},
            {"type": "function_call_output", "call_id": "c1", "output": "ok"},
            item("assistant", "два")["payload"],
        )
        assert said(found) == [("user", "раз"), ("assistant", "два")]
        assert {message.chat_id for message in messages(found)} == {OWN}
        assert drops(found) == {
            "state": 1,
            "environment": 1,
            "thinking": 1,
            "tool_call": 1,
            "tool_result": 1,
        }

    def test_it_is_known_by_its_blocks_alone(self, tmp_path: Path) -> None:
        reader = reader_of(rollout(tmp_path, item("user", "раз")["payload"]))
        assert reader is not None
        assert reader.name == "codex"


@pytest.mark.parametrize(
    "value",
    [
        {"session_id": OWN, "ts": 1768701691, "text": "вопрос"},
        {"id": OWN, "thread_name": "Имя", "updated_at": AT},
    ],
)
def test_lists_of_prompts_and_of_names_are_no_talk(tmp_path: Path, value: dict[str, Any]) -> None:
    file = rollout(tmp_path, value, value, name="history.jsonl")
    reader = reader_of(file)
    assert reader is not None
    assert list(reader.read(file, OPTIONS)) == [Dropped("support_file", 0)]


class TestHostileLines:
    @pytest.mark.parametrize("value", [None, 5, True, [], {}, "", [[]], {"a": {}}, 1e400, "\ud800"])
    @pytest.mark.parametrize("key", ["timestamp", "type", "payload"])
    def test_a_key_of_a_wrong_type_costs_its_own_line_at_most(
        self, tmp_path: Path, key: str, value: Any
    ) -> None:
        odd = {**item("user", "два"), key: value}
        lines = [json.dumps(one) for one in (meta(), item("user", "раз"), odd, item("user", "три"))]
        texts = [text for _, text in said(read(tmp_path, *lines))]
        assert (texts[0], texts[-1]) == ("раз", "три")

    @pytest.mark.parametrize("value", [None, 5, True, [], {}, "", [[]], {"a": {}}, 1e400, "\ud800"])
    @pytest.mark.parametrize("key", ["type", "role", "content", "id", "timestamp"])
    def test_an_item_of_wrong_types_costs_itself_at_most(self, tmp_path: Path, key: str, value: Any) -> None:
        odd = line("response_item", {**item("user", "два")["payload"], key: value})
        lines = [json.dumps(one) for one in (meta(), item("user", "раз"), odd, item("user", "три"))]
        texts = [text for _, text in said(read(tmp_path, *lines))]
        assert (texts[0], texts[-1]) == ("раз", "три")

    @pytest.mark.parametrize("value", [None, 5.5, True, [], {}, "", [[]], {"a": {}}, {"subagent": [[]]}])
    @pytest.mark.parametrize("key", ["id", "cwd", "source", "forked_from_id", "thread_source"])
    def test_a_header_of_wrong_types_costs_what_it_would_tell(
        self, tmp_path: Path, key: str, value: Any
    ) -> None:
        (message,) = messages(read(tmp_path, meta(**{key: value}), item("user", "раз")))
        assert message.chat_id
        assert message.copied_from is None

    @pytest.mark.parametrize(
        "text",
        [
            "<skill>" * 100_000,
            "слово <skill> " * 50_000 + "</skill>",
            "# AGENTS.md instructions" + " for" * 200_000,
            "# Context from my IDE setup:\n" + "## My request\n" * 50_000,
            "<image name=" + "a" * 500_000,
            "<image name=" * 50_000,
        ],
    )
    def test_no_text_takes_long(self, text: str) -> None:
        began = time.perf_counter()
        prompt(text)
        assert time.perf_counter() - began < 1

    def test_a_content_nested_without_end_costs_its_line(self, tmp_path: Path) -> None:
        deep = '{"content":' * 900 + '"x"' + "}" * 900
        odd = json.dumps(item("user", "X")).replace('[{"type": "input_text", "text": "X"}]', deep)
        assert deep in odd
        assert said(read(tmp_path, meta(), odd, item("user", "три")))[-1] == ("user", "три")

"""Claude Code transcripts: noise, copies, titles, branches and sub-agents."""

from __future__ import annotations

import json
import random
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from indexer.archives import ArchiveFile, discover, reader_of
from indexer.archives.claude_code.cleaning import cleaned_prompt
from indexer.archives.claude_code.survey import _Findings, survey
from schemas.records import Dropped, Message, Record
from tests.indexer.archives.reading import (
    CASES,
    OPTIONS,
    WITH_TOOLS,
    archive_file,
    drops,
    messages,
    records,
    skips,
    written,
)

CASE = CASES / "14_claude_code_noise_dups"
WITH_ALL = replace(WITH_TOOLS, thinking=True)


def line(kind: str, own: str | None, parent: str | None, content: Any, **more: Any) -> dict[str, Any]:
    message = {"role": kind, "content": content}
    if "turn" in more:
        message["id"] = more.pop("turn")
    return {
        "parentUuid": parent,
        "isSidechain": False,
        "userType": "external",
        "cwd": "/srv/work/demo",
        "sessionId": "s1",
        "version": "2.0.55",
        "type": kind,
        "message": message,
        **({} if own is None else {"uuid": own}),
        "timestamp": "2025-11-30T11:09:33.123Z",
        **more,
    }


def user(own: str | None, parent: str | None, content: Any, **more: Any) -> dict[str, Any]:
    return line("user", own, parent, content, **more)


def answer(own: str | None, parent: str | None, content: Any, **more: Any) -> dict[str, Any]:
    blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content
    return line("assistant", own, parent, blocks, **more)


def result(own: str, parent: str, text: str) -> dict[str, Any]:
    block = {"type": "tool_result", "tool_use_id": "t1", "content": [{"type": "text", "text": text}]}
    return user(own, parent, [block], toolUseResult={"content": text})


CALL = {"type": "tool_use", "id": "t1", "name": "Read", "input": {"file_path": "a.py"}}


def transcript(folder: Path, *lines: Any, name: str = "a.jsonl", tight: bool = False) -> ArchiveFile:
    separators = (",", ":") if tight else None
    texts = [
        one if isinstance(one, str) else json.dumps(one, ensure_ascii=False, separators=separators)
        for one in lines
    ]
    return written(folder, name, "\n".join(texts) + "\n")


def read(folder: Path, *lines: Any, **more: Any) -> list[Record]:
    return records("claude_code", transcript(folder, *lines, **more))


def texts(found: list[Record]) -> list[str]:
    return [message.text for message in messages(found)]


def side(found: list[Record]) -> list[str]:
    return [message.id for message in messages(found) if message.side_branch]


class TestCase:
    """tests/cases/14_claude_code_noise_dups, line by line."""

    def session(self, **options: Any) -> list[Record]:
        file = archive_file(CASE / "session.jsonl")
        return records("claude_code", file, replace(OPTIONS, **options))

    def test_the_folder_is_read_by_this_reader(self) -> None:
        found = [file for file in discover(CASE) if isinstance(file, ArchiveFile)]
        assert [getattr(reader_of(file), "name", None) for file in found] == ["claude_code"] * 2

    def test_a_turn_copied_by_a_resumed_session_comes_once(self) -> None:
        assert sum("Почини индексатор" in text for text in texts(self.session())) == 1

    def test_both_answers_are_kept(self) -> None:
        said = texts(self.session())
        assert "Смотрю файл." in said
        assert "Исправил: режем по границам графем." in said

    def test_what_a_tool_read_is_absent_by_default_and_there_when_asked_for(self) -> None:
        assert not any("TOKEN =" in text for text in texts(self.session()))
        found = messages(self.session(tool_results=True))
        assert [(m.role, m.text) for m in found if "TOKEN =" in m.text] == [("tool", "1\tTOKEN = 'demo'")]

    def test_thinking_is_absent_by_default_and_there_when_asked_for(self) -> None:
        assert not any(message.role == "thinking" for message in messages(self.session()))
        found = messages(self.session(thinking=True))
        assert [(m.role, m.text, m.id) for m in found if m.role == "thinking"] == [
            ("thinking", "смотрю", "a1/thinking1")
        ]

    def test_the_one_bad_line_is_reported(self) -> None:
        found = self.session()
        assert drops(found)["unfinished_line"] == 1
        assert not skips(found)

    def test_meta_commands_and_service_lines_are_left_out(self) -> None:
        found = self.session()
        assert not any("Caveat" in text or "command-name" in text for text in texts(found))
        kinds = {"meta": 1, "command": 2, "file_history_snapshot": 1, "title": 1}
        assert {kind: drops(found)[kind] for kind in kinds} == kinds

    def test_a_sidechain_is_a_worker_in_a_session_of_its_own(self) -> None:
        (worker,) = [message for message in messages(self.session()) if message.agent is not None]
        assert (worker.agent, worker.session, worker.chat_id) == ("worker", "s1/ab12", "s1")

    def test_a_compacted_history_is_a_summary(self) -> None:
        assert [m.id for m in messages(self.session()) if m.role == "summary"] == ["u5"]

    def test_times_are_the_lines_own(self) -> None:
        assert {m.id: m.at for m in messages(self.session())}["u5"] == 1764403200000

    def test_lines_that_are_no_records_are_counted_and_end_nothing(self) -> None:
        found = records("claude_code", archive_file(CASE / "edge.jsonl"))
        assert any("русский" in text for text in texts(found))
        assert "слово в списке" in texts(found)
        assert [(skip.place, skip.reason) for skip in skips(found)] == [
            ("edge.jsonl:3", "a message without content"),
            ("edge.jsonl:4", "a message without a body"),
            ("edge.jsonl:6", "a line that is no JSON object"),
            ("edge.jsonl:7", "an unknown type of line"),
            ("edge.jsonl:8", "a line that is no JSON object"),
            ("edge.jsonl:9", "a line that is no JSON object"),
            ("edge.jsonl:10", "a line that is no JSON object"),
        ]
        assert {message.chat_title for message in messages(found)} == {"Разбор крайних случаев"}


class TestIdentity:
    def test_chat_id_and_origin_are_the_lines_own(self, tmp_path: Path) -> None:
        (message,) = messages(read(tmp_path, user("u1", None, "раз")))
        assert (message.chat_id, message.id, message.origin) == ("s1", "u1", "u1")

    def test_one_file_may_hold_several_sessions(self, tmp_path: Path) -> None:
        found = messages(
            read(tmp_path, user("u1", None, "раз"), user("u2", "u1", "два", sessionId="s2"), name="s2.jsonl")
        )
        assert [(m.chat_id, m.session) for m in found] == [("s1", "s1"), ("s2", "s2")]

    def test_a_line_without_ids_gets_derived_ones_and_the_file_as_chat(self, tmp_path: Path) -> None:
        bare = {"type": "user", "message": {"role": "user", "content": "да"}, "sessionId": None}
        first, second = messages(read(tmp_path, bare, bare, name="talk.jsonl"))
        assert first.chat_id == "talk"
        assert first.id.startswith("h_")
        assert first.id != second.id
        assert (first.origin, first.at) == (None, None)

    def test_a_fork_names_the_message_and_the_talk_that_it_repeats(self, tmp_path: Path) -> None:
        fork = {"sessionId": "s0", "messageUuid": "u0"}
        (message,) = messages(read(tmp_path, user("u1", None, "раз", forkedFrom=fork)))
        assert (message.id, message.origin, message.copied_from) == ("u1", "u0", "s0")

    def test_asides_have_origins_of_their_own(self, tmp_path: Path) -> None:
        file = transcript(tmp_path, answer("a1", None, [CALL]), result("u1", "a1", "порт занят"))
        (message,) = messages(records("claude_code", file, WITH_TOOLS))
        assert (message.id, message.origin, message.role) == ("u1/tool1", "u1/tool1", "tool")

    def test_lines_of_one_answer_are_messages_of_their_own(self, tmp_path: Path) -> None:
        found = read(
            tmp_path, answer("a1", "u1", "раз", turn="m"), answer("a2", "a1", "два", turn="m"), tight=True
        )
        assert texts(found) == ["раз", "два"]

    def test_other_words_under_a_uuid_that_is_taken_are_not_lost(self, tmp_path: Path) -> None:
        found = messages(read(tmp_path, *[user("u1", None, text) for text in ("раз", "два", "раз")]))
        assert [(m.text, m.origin) for m in found] == [("раз", "u1"), ("два", None)]

    def test_copies_that_a_stream_left_are_one_message(self, tmp_path: Path) -> None:
        thought = {"type": "thinking", "thinking": "хм"}
        said = [thought, {"type": "text", "text": "раз"}]
        file = transcript(tmp_path, answer("a1", "u1", said, turn="m"), answer("a2", "a1", said, turn="m"))
        found = records("claude_code", file, WITH_ALL)
        assert [(m.role, m.text) for m in messages(found)] == [("thinking", "хм"), ("assistant", "раз")]
        assert drops(found) == {"repeat": 2}

    def test_equal_answers_of_two_turns_are_two_messages(self, tmp_path: Path) -> None:
        found = read(
            tmp_path, answer("a1", "u1", "Готово.", turn="m1"), answer("a2", "a1", "Готово.", turn="m2")
        )
        assert len(messages(found)) == 2


class TestTitles:
    SUMMARY = {"type": "summary", "summary": "Граф сущностей", "leafUuid": "u1"}  # noqa: RUF012

    @pytest.mark.parametrize("last", [False, True])
    def test_a_summary_names_the_session_of_its_leaf(self, tmp_path: Path, last: bool) -> None:
        lines = [user("u1", None, "раз"), user("u2", "u1", "два", sessionId="s2")]
        lines.insert(len(lines) if last else 0, self.SUMMARY)
        found = messages(read(tmp_path, *lines))
        assert [message.chat_title for message in found] == ["Граф сущностей", "demo"]

    def test_a_summary_of_a_talk_elsewhere_names_none_here(self, tmp_path: Path) -> None:
        (message,) = messages(read(tmp_path, {**self.SUMMARY, "leafUuid": "x"}, user("u1", None, "раз")))
        assert message.chat_title == "demo"

    def test_the_owners_title_is_stronger_than_the_models(self, tmp_path: Path) -> None:
        own = {"type": "custom-title", "customTitle": "Моё", "sessionId": "s1"}
        ai = {"type": "ai-title", "aiTitle": "Модели", "sessionId": "s1"}
        found = read(tmp_path, self.SUMMARY, own, user("u1", None, "раз"), ai)
        assert messages(found)[0].chat_title == "Моё"
        assert drops(found) == {"title": 3}

    def test_a_file_of_titles_alone_is_known_and_says_nothing(self, tmp_path: Path) -> None:
        file = transcript(tmp_path, self.SUMMARY)
        reader = reader_of(file)
        assert reader is not None
        assert reader.name == "claude_code"
        assert drops(records("claude_code", file)) == {"title": 1}

    def test_a_paragraph_is_cut_at_a_word(self, tmp_path: Path) -> None:
        (message,) = messages(
            read(tmp_path, user("u1", None, "раз"), {**self.SUMMARY, "summary": "слово " * 60})
        )
        assert message.chat_title is not None
        assert message.chat_title.endswith("слово…")
        assert len(message.chat_title) <= 101

    @pytest.mark.parametrize(
        ("folder", "project"),
        [
            ("/home/ivan/work/demo", "demo"),
            ("C:\\Users\\ivan\\demo", "demo"),
            ("/home/ivan", None),
            ("/Users/ivan/", None),
            ("C:\\Users\\ivan", None),
            ("/root", None),
            ("/", None),
            (["/srv/demo"], None),
            ("/" + "x" * 5000, None),
        ],
    )
    def test_of_the_working_folder_only_its_own_name_is_told(
        self, tmp_path: Path, folder: Any, project: str | None
    ) -> None:
        (message,) = messages(read(tmp_path, user("u1", None, "раз", cwd=folder)))
        assert message.chat_title == project
        assert message.meta == ({"project": project} if project else {})


class TestBranches:
    def test_a_turn_that_was_edited_is_a_side_branch(self, tmp_path: Path) -> None:
        found = read(
            tmp_path,
            user("u1", None, "вопрос"),
            answer("a1", "u1", "ответ"),
            user("u2", "a1", "первая попытка"),
            answer("a2", "u2", "не то"),
            user("u3", "a1", "вторая попытка"),
            answer("a3", "u3", "то"),
        )
        assert side(found) == ["u2", "a2"]

    def test_the_first_prompt_written_anew_leaves_all_before_it(self, tmp_path: Path) -> None:
        found = read(
            tmp_path,
            user("u1", None, "вопрос"),
            answer("a1", "u1", "ответ"),
            user("u2", None, "вопрос иначе"),
            answer("a2", "u2", "ответ иначе"),
        )
        assert side(found) == ["u1", "a1"]

    @pytest.mark.parametrize("logical", [{"logicalParentUuid": "a1"}, {}])
    def test_a_compaction_stays_on_the_branch(self, tmp_path: Path, logical: dict[str, str]) -> None:
        boundary = {"type": "system", "subtype": "compact_boundary", "uuid": "b", "parentUuid": None}
        found = read(
            tmp_path,
            user("u1", None, "вопрос"),
            answer("a1", "u1", "ответ"),
            {**boundary, "sessionId": "s1", "content": "Conversation compacted", **logical},
            user("u2", "b", "Сводка", isCompactSummary=True),
            answer("a2", "u2", "дальше"),
        )
        assert side(found) == []
        assert [m.role for m in messages(found)] == ["user", "assistant", "summary", "assistant"]

    def test_lines_that_tell_no_parents_are_a_flat_talk(self, tmp_path: Path) -> None:
        found = read(
            tmp_path, user("u1", None, "раз"), answer("a1", None, "два"), user("u2", None, "три"), tight=True
        )
        assert side(found) == []

    def test_a_broken_line_does_not_make_all_before_it_a_side_branch(self, tmp_path: Path) -> None:
        found = read(
            tmp_path,
            user("u1", None, "раз"),
            '{"type":"assistant","uuid":"a1"',
            user("u2", "a1", "три"),
            answer("a2", "u2", "четыре"),
        )
        assert side(found) == []
        assert [skip.place for skip in skips(found)] == ["a.jsonl:2"]

    def test_parents_in_a_circle_end(self, tmp_path: Path) -> None:
        assert side(read(tmp_path, user("u1", "u2", "раз"), user("u2", "u1", "два"))) == []

    def test_a_hook_that_reports_late_moves_nothing(self, tmp_path: Path) -> None:
        hook = {"type": "progress", "uuid": "p", "parentUuid": "u1", "sessionId": "s1", "data": {}}
        found = read(tmp_path, user("u1", None, "раз"), answer("a1", "u1", "два"), hook)
        assert side(found) == []

    def test_calls_that_ran_side_by_side_belong_to_the_branch(self, tmp_path: Path) -> None:
        file = transcript(
            tmp_path,
            user("u1", None, "вопрос"),
            answer("a1", "u1", [CALL], turn="m1"),
            answer("a2", "a1", [{"type": "text", "text": "и ещё"}, CALL], turn="m1"),
            result("r2", "a2", "второй"),
            result("r1", "a1", "первый"),
            answer("a3", "r1", "ответ", turn="m2"),
        )
        assert side(records("claude_code", file, WITH_TOOLS)) == []

    def test_a_sidechain_is_no_side_branch(self, tmp_path: Path) -> None:
        found = read(
            tmp_path,
            user("u1", None, "вопрос"),
            user("w1", None, "подзадача", isSidechain=True),
            answer("w2", "w1", "сделано", isSidechain=True),
            answer("a1", "u1", "ответ"),
        )
        assert side(found) == []
        assert [(m.session, m.agent) for m in messages(found)][1:3] == [("s1/sidechain", "worker")] * 2

    def test_each_session_of_a_file_has_its_own_branch(self, tmp_path: Path) -> None:
        found = read(
            tmp_path,
            user("u1", None, "раз"),
            answer("a1", "u1", "два"),
            user("u2", "u1", "иначе", sessionId="s2"),
        )
        assert side(found) == []

    @pytest.mark.parametrize("tight", [False, True])
    def test_the_quick_look_sees_what_a_parser_would(self, tmp_path: Path, tight: bool) -> None:
        chance = random.Random(20260308)
        lines: list[dict[str, Any]] = []
        for number in range(400):
            parent = f"u{chance.randrange(number)}" if number and chance.random() < 0.9 else None
            kind = chance.choice(["user", "assistant"] if parent else ["user"])
            one = line(kind, f"u{number}", parent, f'текст "uuid": "u0" {number}')
            one["toolUseResult"] = chance.choice([{}, {"uuid": "u1"}, {"agentId": "x"}, {"sessionId": "s9"}])
            one["isSidechain"] = chance.random() < 0.1
            one["sessionId"] = chance.choice(["s1", "s2"])
            items = list(one.items())
            if chance.random() < 0.5:
                chance.shuffle(items)
            lines.append(dict(items))
        file = transcript(tmp_path, *lines, tight=tight)
        parsed = _Findings()
        for text in file.path.read_bytes().splitlines():
            parsed._parsed(text)
        assert survey(file).side == parsed.side() != frozenset()


class TestSubAgents:
    def test_a_file_of_an_agent_belongs_to_its_session(self, tmp_path: Path) -> None:
        file = transcript(
            tmp_path,
            user("w1", None, "подзадача", isSidechain=True, agentId="ab12"),
            answer("w2", "w1", "сделано", isSidechain=True, agentId="ab12"),
            name="agent-ab12.jsonl",
        )
        found = messages(records("claude_code", file))
        assert {(m.chat_id, m.session, m.agent, m.chat_title) for m in found} == {
            ("s1", "s1/ab12", "worker", None)
        }


class TestNoise:
    @pytest.mark.parametrize(
        ("text", "kind"),
        [
            ("<command-name>/clear</command-name>\n<command-args></command-args>", "command"),
            ("<command-message>init</command-message>\n<command-name>/init</command-name>", "command"),
            ("<local-command-stdout>готово</local-command-stdout>", "command_output"),
            ("<local-command-caveat>Caveat: …</local-command-caveat>", "caveat"),
            ("<bash-input>ls</bash-input>", "command"),
            ("<bash-stdout>a</bash-stdout><bash-stderr></bash-stderr>", "command_output"),
            ("<system-reminder>не забудь</system-reminder>", "reminder"),
            ("<task-notification><status>ok</status></task-notification>", "notification"),
            ("<ide_opened_file>a.py открыт</ide_opened_file>", "ide_context"),
            ("[Request interrupted by user]", "interrupted"),
            ("[Request interrupted by user for tool use]", "interrupted"),
            (
                "Caveat: The messages below were generated by the user while running local commands. DO NOT…",
                "caveat",
            ),
        ],
    )
    def test_what_the_program_wrote_is_no_message(self, tmp_path: Path, text: str, kind: str) -> None:
        found = read(tmp_path, user("u1", None, [{"type": "text", "text": text}]))
        assert not messages(found)
        assert set(drops(found)) == {kind}

    def test_the_words_around_it_stay(self) -> None:
        text = "<ide_selection>x</ide_selection>\nпочини это\n<system-reminder>a\nb</system-reminder>\n\nи то"
        assert cleaned_prompt(text)[0] == "почини это\n\n\nи то"
        assert cleaned_prompt("[Request interrupted by user]\nлучше иначе")[0] == "лучше иначе"

    @pytest.mark.parametrize(
        "text",
        [
            "что делает <command-name>/clear</command-name> в логе?",
            "зачем `<system-reminder>x</system-reminder>` в тексте?",
            "незакрытый <system-reminder> и <command-name>",
            "Caveat: тут есть тонкость",
            "он написал [Request interrupted by user] и ушёл",
            "if a < b: <div>привет</div>",
        ],
    )
    def test_a_person_who_only_mentions_a_mark_is_still_heard(self, text: str) -> None:
        assert cleaned_prompt(text) == (text, [])

    def test_errors_in_the_models_place_are_left_out(self, tmp_path: Path) -> None:
        synthetic = answer("a2", "a1", "No response requested.")
        synthetic["message"]["model"] = "<synthetic>"
        found = read(
            tmp_path,
            answer("a1", "u1", "API Error: 529 overloaded", isApiErrorMessage=True),
            synthetic,
            answer("a3", "a2", "API Error встречается в логе, вот почему"),
        )
        assert texts(found) == ["API Error встречается в логе, вот почему"]
        assert drops(found) == {"error": 2}

    @pytest.mark.parametrize(
        "kind",
        ["queue-operation", "file-history-snapshot", "progress", "mode", "permission-mode", "last-prompt"],
    )
    def test_lines_about_the_program_are_counted_by_their_kind(self, tmp_path: Path, kind: str) -> None:
        found = read(tmp_path, {"type": kind, "sessionId": "s1", "content": "текст"})
        assert found == [Dropped(kind.replace("-", "_"), 0)]

    def test_what_was_typed_while_the_agent_worked_is_kept(self, tmp_path: Path) -> None:
        def queued(own: str, **attachment: Any) -> dict[str, Any]:
            value = {**user(own, "a1", ""), "type": "attachment"}
            return {**value, "attachment": {"type": "queued_command", **attachment}}

        found = read(
            tmp_path,
            answer("a1", None, "работаю"),
            queued("q1", commandMode="prompt", prompt="и тесты", origin={"kind": "human"}),
            queued("q2", commandMode="task-notification", prompt="<task-notification/>"),
            queued("q3", commandMode="prompt", prompt="от соседа", origin={"kind": "peer"}, isMeta=True),
        )
        assert [(m.role, m.text) for m in messages(found)] == [("assistant", "работаю"), ("user", "и тесты")]
        assert drops(found) == {"attachment": 2}

    def test_a_reminder_inside_a_tools_answer_is_taken_off(self, tmp_path: Path) -> None:
        text = "1\tпорт = 80\n\n<system-reminder>\nбудь осторожен\n</system-reminder>\n"
        file = transcript(tmp_path, result("r1", "a1", text))
        assert texts(records("claude_code", file, WITH_TOOLS)) == ["1\tпорт = 80"]
        alone = transcript(tmp_path, result("r1", "a1", "<system-reminder>пусто</system-reminder>"))
        assert records("claude_code", alone, WITH_TOOLS) == [Dropped("reminder", 0)]

    def test_the_list_of_all_prompts_is_no_talk(self, tmp_path: Path) -> None:
        prompt = {"display": "привет", "pastedContents": {}, "timestamp": 1764500973123, "project": "/srv/a"}
        file = transcript(tmp_path, prompt, {**prompt, "sessionId": "s1"}, name="history.jsonl")
        reader = reader_of(file)
        assert reader is not None
        assert list(reader.read(file, OPTIONS)) == [Dropped("support_file", 0)]


class TestHostileLines:
    @pytest.mark.parametrize("value", [None, 5, [], {}, [[]], {"a": {}}])
    def test_a_type_of_a_wrong_type_is_no_reason_to_fail(self, tmp_path: Path, value: Any) -> None:
        assert reader_of(transcript(tmp_path, {**user("u1", None, "раз"), "type": value})) is None

    @pytest.mark.parametrize("value", [None, 5, True, [], {}, "", [[]], {"a": {}}, 1e400, "\ud800"])
    @pytest.mark.parametrize(
        "key",
        [
            *("uuid", "parentUuid", "sessionId", "timestamp", "cwd", "agentId", "isMeta", "message", "type"),
            *("forkedFrom", "toolUseResult", "isSidechain"),
        ],
    )
    def test_a_key_of_a_wrong_type_costs_its_own_line_at_most(
        self, tmp_path: Path, key: str, value: Any
    ) -> None:
        odd = {**user("u2", "u1", "два"), key: value}
        lines = [json.dumps(one) for one in (user("u1", None, "раз"), odd, answer("a3", "u2", "три"))]
        found = read(tmp_path, *lines)
        assert texts(found)[0] == "раз"
        assert texts(found)[-1] == "три"
        assert len(messages(found)) + len(skips(found)) + sum(drops(found).values()) >= 3
        assert all(isinstance(m.chat_id, str) and m.chat_id for m in messages(found))

    @pytest.mark.parametrize("value", [5, True, {"text": "x"}, [5, None, []], [{"type": 5}], [{"type": []}]])
    def test_a_content_of_a_wrong_type_costs_its_own_line_at_most(self, tmp_path: Path, value: Any) -> None:
        found = read(tmp_path, user("u1", None, "раз"), user("u2", "u1", value), answer("a3", "u2", "три"))
        assert (texts(found)[0], texts(found)[-1]) == ("раз", "три")

    @pytest.mark.parametrize(
        "text",
        [
            "<system-reminder>" * 50_000,
            "`<system-reminder>" * 50_000 + "</system-reminder>",
            "слово <command-name>" * 50_000 + "</command-name>",
            "[Request interrupted by user" * 50_000,
            "<command-name " + " a" * 200_000,
        ],
    )
    def test_no_text_takes_long(self, text: str) -> None:
        began = time.perf_counter()
        cleaned_prompt(text)
        assert time.perf_counter() - began < 1

    def test_a_file_in_utf_16_is_read_the_same(self, tmp_path: Path) -> None:
        lines = [user("u1", None, "раз"), answer("a1", "u1", "два"), user("u2", "u1", "иначе")]
        plain = transcript(tmp_path, *lines, name="a.jsonl")
        text = plain.path.read_text("utf-8")
        wide = written(tmp_path / "wide", "a.jsonl", text.encode("utf-16"))
        assert records("claude_code", wide) == records("claude_code", plain)

    def test_what_is_appended_while_reading_waits_for_the_next_build(self, tmp_path: Path) -> None:
        file = transcript(tmp_path, *[user(f"u{n}", f"u{n - 1}", f"слово {n}") for n in range(100)])
        reader = reader_of(file)
        assert reader is not None
        found = iter(reader.read(file, OPTIONS))
        first = next(found)
        with file.path.open("ab") as target:
            for n in range(1000):
                target.write(json.dumps(user(f"x{n}", "u99", "позже")).encode() + b"\n")
        rest = [record for record in found if isinstance(record, Message)]
        assert isinstance(first, Message)
        assert 99 <= len(rest) <= 101

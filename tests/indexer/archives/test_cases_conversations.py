"""The collected cases about exports of ChatGPT and Claude.ai: each line of what they expect."""

from __future__ import annotations

import pytest

from indexer.archives import discover, reader_of
from indexer.archives.files import ArchiveFile
from schemas.records import Record
from tests.indexer.archives.reading import CASES, OPTIONS, drops, messages, skips


def case(name: str, source: str) -> list[Record]:
    (file,) = [file for file in discover(CASES / name) if isinstance(file, ArchiveFile)]
    reader = reader_of(file)
    assert reader is not None
    assert reader.name == source
    return list(reader.read(file, OPTIONS))


class TestChatGptTree:
    FOUND = case("12_chatgpt_tree_hidden", "chatgpt")

    def test_the_visible_branch_is_the_talk(self) -> None:
        found = messages(self.FOUND)
        assert [(message.chat_id, message.id) for message in found] == [
            ("c1", "u1"), ("c1", "a1b"), ("c1", "u2"), ("c1", "a2"),
        ]  # fmt: skip
        assert found[2].text == "Что на скриншоте?"

    @pytest.mark.parametrize("hidden", ["СТАРЫЙ вариант", "секретный профиль", "внутреннее", "import", "OK"])
    def test_what_the_page_does_not_show_is_not_found(self, hidden: str) -> None:
        assert not any(hidden in message.text for message in messages(self.FOUND))

    def test_what_was_left_out_is_counted_by_kind(self) -> None:
        assert drops(self.FOUND) == {
            "hidden": 2, "other_branch": 1, "thinking": 1, "tool_call": 1, "tool_result": 1, "empty": 1,
        }  # fmt: skip

    def test_a_missing_time_is_that_of_the_message_before_never_now(self) -> None:
        found = messages(self.FOUND)
        assert found[0].at == 1740808800500
        assert found[3].at == found[2].at == 1740808830000

    def test_a_conversation_of_nothing_is_no_error(self) -> None:
        assert not skips(self.FOUND)


class TestClaudeBlocks:
    FOUND = case("19_claude_ai_blocks", "claude")

    def test_the_uploaded_plan_is_found_with_its_name(self) -> None:
        (plan,) = [one for one in messages(self.FOUND) if "ёлку не трогать" in one.text]
        assert plan.text == "план.txt\nПлан: собрать индекс к пятнице, ёлку не трогать."
        assert (plan.id, plan.role, plan.meta["file_name"]) == ("m1/attachment1", "user", "план.txt")

    def test_the_answer_is_found_once(self) -> None:
        (answer,) = [one for one in messages(self.FOUND) if "Готово: индекс к пятнице." in one.text]
        assert (answer.role, answer.text) == ("assistant", "Готово: индекс к пятнице.")

    def test_a_human_is_a_user_and_the_text_stands_once(self) -> None:
        first = messages(self.FOUND)[0]
        assert (first.role, first.text, first.chat_title) == ("user", "Разбери файл", "Память агента")

    @pytest.mark.parametrize("hidden", ["внешний текст", "надо посмотреть", "sqlite-vec"])
    def test_thinking_calls_and_results_are_off(self, hidden: str) -> None:
        assert not any(hidden in message.text for message in messages(self.FOUND))

    def test_an_empty_conversation_is_no_error(self) -> None:
        assert not skips(self.FOUND)
        assert drops(self.FOUND) == {"thinking": 1, "tool_call": 1, "tool_result": 1, "empty": 1}

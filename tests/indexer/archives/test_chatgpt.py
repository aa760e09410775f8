"""ChatGPT: trees of messages, what their page shows of them, and what damage costs."""

from __future__ import annotations

import json
import zipfile
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from indexer.archives import discover, reader_of
from indexer.archives.files import ArchiveFile
from schemas.records import Dropped, Message, Record
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

SAMPLE = HERE / "samples" / "chatgpt" / "conversations-000.json"
EVERYTHING = replace(OPTIONS, tool_results=True, thinking=True)
ROOT = "client-created-root"


def message(role: str, *parts: Any, at: float | None = 1_764_570_000.0, **more: Any) -> dict[str, Any]:
    content = more.pop("content", {"content_type": "text", "parts": list(parts)})
    metadata = more.pop("metadata", {})
    author = {"role": role, "name": more.pop("name", None), "metadata": {}}
    return {
        "author": author,
        "create_time": at,
        "content": content,
        "recipient": "all",
        "metadata": metadata,
    } | more


def talk(
    *turns: tuple[str, str | None, dict[str, Any] | None], leaf: str | None, **more: Any
) -> dict[str, Any]:
    """A conversation of (id, parent, message)."""
    mapping = {
        id: {"id": id, "message": said and {"id": id, **said}, "parent": parent, "children": []}
        for id, parent, said in turns
    }
    for id, parent, _ in turns:
        if parent in mapping:
            mapping[parent]["children"].append(id)
    known = {"title": "Разговор", "create_time": 1_764_500_000.0, "mapping": mapping, "current_node": leaf}
    return {**known, "conversation_id": "c1", "id": "c1", **more}


def chain(*said: dict[str, Any], **more: Any) -> dict[str, Any]:
    turns = [(f"m{n}", f"m{n - 1}" if n else ROOT, one) for n, one in enumerate(said)]
    return talk((ROOT, None, None), *turns, leaf=f"m{len(said) - 1}", **more)


def read(folder: Path, *talks: dict[str, Any], options: Any = OPTIONS) -> list[Record]:
    file = written(folder, "conversations.json", json.dumps(talks, ensure_ascii=False))
    return records("chatgpt", file, options)


def texts(found: list[Record]) -> list[str]:
    return [one.text for one in messages(found)]


class TestSample:
    FOUND = records("chatgpt", archive_file(SAMPLE))

    def test_dictation_canvas_and_answers_are_the_talk(self) -> None:
        first = [one.text for one in messages(self.FOUND) if one.chat_title == "Переезд сервера"]
        assert first == [
            "Составь план переезда сервера",
            "План переезда\n# План\nПеревезти сервер в Казань до пятницы.",
            "План готов: он рядом. Едем в Казань.",
            "Сдвинь срок на субботу",
            "до субботы, бэкап снять заранее",
            "Готово, срок — суббота.",
        ]

    def test_a_branch_in_a_new_chat_tells_whose_history_it_repeats(self) -> None:
        second = [one for one in messages(self.FOUND) if one.chat_title != "Переезд сервера"]
        (parent,) = {one.chat_id for one in messages(self.FOUND)} - {one.chat_id for one in second}
        assert {one.copied_from for one in second} == {parent}
        repeated = next(one for one in messages(self.FOUND) if one.id == second[0].id)
        assert (repeated.chat_id, repeated.origin) == (parent, second[0].origin)

    def test_model_custom_gpt_files_and_canvas_are_metadata(self) -> None:
        found = messages(self.FOUND)
        assert found[1].meta == {"model": "demo-5", "canvas": "План переезда", "gizmo": "g-demo"}
        assert found[3].meta == {"file_name": "сроки.pdf", "gizmo": "g-demo"}

    def test_thinking_and_results_are_kept_when_asked_for(self) -> None:
        found = messages(records("chatgpt", archive_file(SAMPLE), EVERYTHING))
        said = {(one.role, one.author, one.text) for one in found if one.role in ("thinking", "tool")}
        assert said == {
            ("thinking", None, "Переезд\nнужны сроки и бэкап"),
            ("thinking", None, "Думал 4 секунды"),
            ("tool", "canmore.create_textdoc", "Successfully created text document"),
            ("tool", "file_search", "сроки.pdf\nfile-service://2\nвыписка из файла"),
        }


class TestWhatIsSaid:
    @pytest.mark.parametrize(
        "said",
        [
            message("system", "тайна"),
            message("user", "тайна", metadata={"is_visually_hidden_from_conversation": True}),
            message("user", "тайна", metadata={"is_user_system_message": True}),
            message("user", content={"content_type": "user_editable_context", "user_profile": "тайна"}),
            message(
                "assistant", content={"content_type": "model_editable_context", "model_set_context": "т"}
            ),
        ],
    )
    def test_what_the_page_hides_is_hidden(self, tmp_path: Path, said: dict[str, Any]) -> None:
        found = read(tmp_path, chain(said))
        assert not messages(found)
        assert drops(found) == {"hidden": 1}

    @pytest.mark.parametrize(
        ("said", "kind"),
        [
            (message("assistant", "poisk", recipient="web"), "tool_call"),
            (message("assistant", "кот в шляпе", recipient="dalle.text2im"), "tool_call"),
            (message("assistant", '{"content": 5}', recipient="canmore.create_textdoc"), "tool_call"),
            (message("assistant", "[" * 5000, recipient="canmore.create_textdoc"), "tool_call"),
            (message("assistant", content={"content_type": "code", "text": "search()"},
                     metadata={"reasoning_status": "is_reasoning"}), "tool_call"),
            (message("tool", "вывод"), "tool_result"),
            (message("assistant", content={"content_type": "tether_browsing_display", "result": "р"}),
             "tool_result"),
            (message("assistant", content={"content_type": "reasoning_recap", "content": "Да"}), "thinking"),
            (message("user", {"content_type": "image_asset_pointer"}), "empty"),
            (message("assistant", ""), "empty"),
        ],
    )  # fmt: skip
    def test_noise_is_counted_by_kind(self, tmp_path: Path, said: dict[str, Any], kind: str) -> None:
        found = read(tmp_path, chain(said))
        assert not messages(found)
        assert drops(found) == {kind: 1}

    def test_code_for_everyone_and_unknown_contents_with_parts_are_said(self, tmp_path: Path) -> None:
        code = message(
            "assistant", content={"content_type": "code", "language": "python", "text": "print(1)"}
        )
        new = message("assistant", content={"content_type": "of_tomorrow", "parts": ["будущее"]})
        bare = message("user", content="строка")
        assert texts(read(tmp_path, chain(code, new, bare))) == ["print(1)", "будущее", "строка"]

    def test_an_unknown_content_without_parts_is_named(self, tmp_path: Path) -> None:
        found = read(tmp_path, chain(message("assistant", content={"content_type": "of_tomorrow"})))
        assert [(one.reason, one.hint) for one in skips(found)] == [
            ("an unknown type of content", "type 'of_tomorrow'")
        ]

    def test_a_finished_research_is_an_answer(self, tmp_path: Path) -> None:
        report = {"content": {"content_type": "text", "parts": ["# Отчёт\nЦены выросли."]}}
        state = json.dumps({"status": "completed", "report_message": report})
        said = message("tool", "виджет", metadata={"chatgpt_sdk": {"widget_state": state}})
        (found,) = messages(read(tmp_path, chain(said)))
        assert (found.role, found.text) == ("assistant", "# Отчёт\nЦены выросли.")

    def test_marks_of_citations_stay_in_what_a_person_wrote(self, tmp_path: Path) -> None:
        found = read(tmp_path, chain(message("user", "что за 【4†источник】?")))
        assert texts(found) == ["что за 【4†источник】?"]

    def test_only_uuids_are_one_message_over_all_chats(self, tmp_path: Path) -> None:
        uuid = "0c0ffee0-0000-4000-8000-000000000001"
        found = messages(read(tmp_path, chain(message("user", "а"), message("user", "б", id=uuid))))
        assert [one.origin for one in found] == [None, uuid]


class TestTimes:
    def test_without_any_it_is_that_of_the_conversation(self, tmp_path: Path) -> None:
        (found,) = messages(read(tmp_path, chain(message("user", "раз", at=None))))
        assert found.at == 1_764_500_000_000

    def test_and_unknown_where_that_has_none(self, tmp_path: Path) -> None:
        (found,) = messages(read(tmp_path, chain(message("user", "раз", at=None), create_time=None)))
        assert found.at is None


class TestBranches:
    TURNS = (
        (ROOT, None, None),
        ("q", ROOT, message("user", "вопрос", at=10)),
        ("old", "q", message("assistant", "старый ответ", at=20)),
        ("new", "q", message("assistant", "новый ответ", at=30)),
    )

    @pytest.mark.parametrize("leaf", [None, "нет такого", 5])
    def test_an_unknown_end_is_the_newest(self, tmp_path: Path, leaf: Any) -> None:
        assert texts(read(tmp_path, talk(*self.TURNS, leaf=leaf))) == ["вопрос", "новый ответ"]

    def test_the_end_that_the_page_shows_wins(self, tmp_path: Path) -> None:
        found = read(tmp_path, talk(*self.TURNS, leaf="old"))
        assert texts(found) == ["вопрос", "старый ответ"]
        assert Dropped("other_branch", len("новый ответ")) in found

    def test_a_circle_ends(self, tmp_path: Path) -> None:
        turns = [("a", "b", message("user", "а")), ("b", "a", message("user", "б"))]
        assert sorted(texts(read(tmp_path, talk(*turns, leaf="a")))) == ["а", "б"]

    def test_a_lost_message_does_not_hide_what_was_said_before_it(self, tmp_path: Path) -> None:
        whole = talk(*self.TURNS, ("next", "new", message("user", "дальше", at=40)), leaf="next")
        del whole["mapping"]["new"]
        assert texts(read(tmp_path, whole)) == ["вопрос", "дальше"]

    def test_nor_where_no_children_are_listed(self, tmp_path: Path) -> None:
        whole = talk(*self.TURNS, ("next", "new", message("user", "дальше", at=40)), leaf="next")
        del whole["mapping"]["new"], whole["mapping"]["old"]
        for node in whole["mapping"].values():
            del node["children"]
        assert texts(read(tmp_path, whole)) == ["вопрос", "дальше"]

    def test_branches_of_a_lost_first_message_are_not_put_together(self, tmp_path: Path) -> None:
        turns = [("a", "lost", message("user", "а", at=10)), ("b", "lost", message("user", "б", at=20))]
        assert texts(read(tmp_path, talk(*turns, leaf="b"))) == ["б"]

    def test_thousands_of_turns_are_walked_not_climbed(self, tmp_path: Path) -> None:
        said = [message("user", f"реплика {n}", at=None) for n in range(3_000)]
        assert len(texts(read(tmp_path, chain(*said)))) == 3_000


class TestFiles:
    SUPPORT = (
        ("user.json", '{"id": "user-1", "email": "a@example.com", "chatgpt_plus_user": false}'),
        ("message_feedback.json", '[{"id": "1", "conversation_id": "c", "user_id": "u", "rating": "x"}]'),
        ("shared_conversations.json", '[{"id": "1", "conversation_id": "c", "is_anonymous": true}]'),
        ("model_comparisons.json", "[]"),
        ("chat.html", "<html><script>var jsonData = [];</script></html>"),
        ("file_00000000aaaa.dat", "RIFF"),
    )  # fmt: skip

    def test_an_export_zip_is_read_whole_and_its_other_files_are_counted(self, tmp_path: Path) -> None:
        with zipfile.ZipFile(tmp_path / "export.zip", "w") as archive:
            archive.writestr("conversations.json", json.dumps([chain(message("user", "привет"))]))
            for name, content in self.SUPPORT:
                archive.writestr(name, content)
        found: list[Record] = []
        for file in discover(tmp_path):
            assert isinstance(file, ArchiveFile)
            reader = reader_of(file)
            assert reader is not None, file.name
            assert reader.name == "chatgpt"
            found.extend(reader.read(file, OPTIONS))
        assert texts(found) == ["привет"]
        assert drops(found) == {"support_file": len(self.SUPPORT)}

    @pytest.mark.parametrize(("name", "content"), SUPPORT[3:])
    def test_a_file_that_only_has_the_name_is_none_of_ours(
        self, tmp_path: Path, name: str, content: str
    ) -> None:
        assert reader_of(written(tmp_path, name, content)) is None

    def test_one_conversation_alone_is_read(self, tmp_path: Path) -> None:
        file = written(tmp_path, "one.json", json.dumps(chain(message("user", "привет")), indent=2))
        reader = reader_of(file)
        assert reader is not None
        assert [one.text for one in messages(reader.read(file, OPTIONS))] == ["привет"]


class TestDamage:
    def test_a_broken_byte_costs_its_message(self, tmp_path: Path) -> None:
        data = json.dumps([chain(*(message("user", f"реплика {n}") for n in range(9)))], ensure_ascii=False)
        broken = data.replace('"parts": ["реплика 4"]', '"parts": ["реплика 4')
        found = records("chatgpt", written(tmp_path, "conversations.json", broken))
        assert texts(found) == [f"реплика {n}" for n in range(9) if n != 4]
        assert [one.reason for one in skips(found)] == ["broken JSON after this record"]
        assert {one.chat_id for one in messages(found)} == {"c1"}

    def test_what_follows_a_broken_beginning_is_not_said_in_the_chat_before(self, tmp_path: Path) -> None:
        uuids = [f"0c0ffee0-0000-4000-8000-00000000000{n}" for n in range(4)]
        talks = [
            talk((ROOT, None, None), (a, ROOT, message("user", a)), (b, a, message("user", b)), leaf=b,
                 id=chat, conversation_id=chat)
            for chat, a, b in (("один", *uuids[:2]), ("два", *uuids[2:]))
        ]  # fmt: skip
        data = json.dumps(talks, ensure_ascii=False)
        at = data.rindex('{"title"')
        found = records("chatgpt", written(tmp_path, "conversations.json", data[:at] + "{" + data[at + 2 :]))
        assert [(one.chat_id, one.text) for one in messages(found)] == [
            ("один", uuids[0]), ("один", uuids[1]), ("два", uuids[2]), ("два", uuids[3]),
        ]  # fmt: skip

    def test_elements_that_are_no_conversations_are_counted(self, tmp_path: Path) -> None:
        found = read(tmp_path, None, 5, chain(message("user", "привет")), "x", {"title": "без речей"})  # type: ignore[arg-type]
        assert texts(found) == ["привет"]
        assert sorted(one.reason for one in skips(found)) == [
            "a conversation that is no object", "a conversation that is no object",
            "a conversation that is no object", "a conversation without its messages",
        ]  # fmt: skip

    def test_a_node_twice_is_said_once(self, tmp_path: Path) -> None:
        data = json.dumps([chain(message("user", "привет"))], ensure_ascii=False)
        node = data[data.index('"m0": {"id"') : data.index('}, "current_node"')]
        found = records(
            "chatgpt", written(tmp_path, "conversations.json", data.replace(node, f"{node}, {node}"))
        )
        assert texts(found) == ["привет"]
        assert drops(found) == {"duplicate": 1}

    def test_messages_of_one_id_have_ids_of_their_own(self, tmp_path: Path) -> None:
        found = messages(read(tmp_path, chain(*(message("user", text, id="same") for text in "абв"))))
        assert len({one.id for one in found}) == 3
        assert all(isinstance(one, Message) for one in found)

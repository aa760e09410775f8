"""Telegram's chats: groups that became supergroups, forum topics, replies, and what is said beside text."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from indexer.archives import ArchiveFile
from indexer.archives.telegram import migration
from schemas.records import Dropped, Message, Record
from tests.indexer.archives.reading import drops, messages, records, samples, skips, written

T = 1714500000
SHIFT = -1_000_000_000
OLGA = {"from": "Ольга", "from_id": "user1"}


def message(id: int, text: Any = "да", at: int = 0, **fields: Any) -> dict[str, Any]:
    return {
        "id": id,
        "type": "message",
        "date_unixtime": str(T + (at or id)),
        **OLGA,
        **fields,
        "text": text,
    }


def service(id: int, action: str, at: int = 0, **fields: Any) -> dict[str, Any]:
    return {
        "id": id,
        "type": "service",
        "date_unixtime": str(T + (at or id)),
        "actor": "Ольга",
        "action": action,
        **fields,
        "text": "",
    }


def chat(id: int, name: str | None, *found: Any, type: str = "private_supergroup") -> dict[str, Any]:
    return {"name": name, "type": type, "id": id, "messages": list(found)}


def export(folder: Path, *chats: Any, left: tuple[Any, ...] = ()) -> ArchiveFile:
    whole: dict[str, Any] = {"about": "…", "chats": {"about": "…", "list": list(chats)}}
    if left:
        whole["left_chats"] = {"about": "…", "list": list(left)}
    return written(folder, "result.json", json.dumps(whole, ensure_ascii=False, indent=1))


def read(file: ArchiveFile) -> list[Record]:
    return records("telegram", file)


def one(folder: Path, **fields: Any) -> list[Message]:
    return messages(read(export(folder, chat(1, "Чат", message(1, "", **fields)))))


GROUP = chat(
    *(77, "Дача", message(2, "Кто едет?"), message(3, "Я.", reply_to_message_id=2)),
    service(4, "migrate_to_supergroup", at=60),
    type="private_group",
)
SUPERGROUP = chat(
    *(1500, "Дача и сад", service(1, "migrate_from_group", at=60, title="Дача")),
    *(message(2, "Супергруппа.", at=70), message(3, "Отвечаю.", at=80, reply_to_message_id=2)),
)


class TestGroupsThatGrew:
    def shown(self, found: list[Record]) -> list[tuple[str, str, str | None, str]]:
        return [(m.chat_id, m.id, m.reply_to, m.text) for m in messages(found)]

    def test_both_halves_are_one_chat_with_ids_of_their_own(self, tmp_path: Path) -> None:
        expected = [
            ("1500", str(2 + SHIFT), None, "Кто едет?"),
            ("1500", str(3 + SHIFT), str(2 + SHIFT), "Я."),
            ("1500", "2", None, "Супергруппа."),
            ("1500", "3", "2", "Отвечаю."),
        ]
        found = read(export(tmp_path, GROUP, SUPERGROUP))
        assert self.shown(found) == expected
        assert {m.chat_title for m in messages(found)} == {"Дача и сад"}
        assert sorted(self.shown(read(export(tmp_path, SUPERGROUP, GROUP)))) == sorted(expected)
        assert sorted(self.shown(read(export(tmp_path, SUPERGROUP, left=(GROUP,))))) == sorted(expected)

    def test_it_is_the_same_talk_as_where_the_exporter_joined_them(self, tmp_path: Path) -> None:
        early = [
            {**raw, **{key: raw[key] + SHIFT for key in ("id", "reply_to_message_id") if key in raw}}
            for raw in GROUP["messages"]
        ]
        joined = chat(1500, "Дача и сад", *early, *SUPERGROUP["messages"])
        apart = read(export(tmp_path, GROUP, SUPERGROUP))
        assert self.shown(read(export(tmp_path, joined))) == self.shown(apart)
        alone = written(tmp_path, "result.json", json.dumps(joined, ensure_ascii=False))
        assert self.shown(read(alone)) == self.shown(apart)

    def test_a_reply_across_the_halves_finds_its_message(self, tmp_path: Path) -> None:
        reply = message(5, "Да", at=90, reply_to_message_id=2, reply_to_peer_id="chat77")
        grown = chat(1500, "Дача и сад", *SUPERGROUP["messages"], reply)
        assert messages(read(export(tmp_path, GROUP, grown)))[-1].reply_to == str(2 + SHIFT)

    def test_groups_of_one_title_are_told_apart_by_the_moment(self, tmp_path: Path) -> None:
        other = chat(
            *(78, "Дача", message(2, "Другая."), service(3, "migrate_to_supergroup", at=9_000)),
            type="private_group",
        )
        found = messages(read(export(tmp_path, other, GROUP, SUPERGROUP)))
        assert {m.text: m.chat_id for m in found}["Другая."] == "78"
        assert {m.text: m.chat_id for m in found}["Кто едет?"] == "1500"

    def test_a_group_renamed_on_the_way_is_found_by_the_moment(self, tmp_path: Path) -> None:
        renamed = {**GROUP, "name": "Старая дача"}
        assert {m.chat_id for m in messages(read(export(tmp_path, renamed, SUPERGROUP)))} == {"1500"}

    def test_what_fits_two_groups_joins_none(self, tmp_path: Path) -> None:
        twin = {**GROUP, "id": 79}
        found = messages(read(export(tmp_path, GROUP, twin, SUPERGROUP)))
        assert {m.chat_id for m in found} == {"77", "79", "1500"}

    @pytest.mark.parametrize("alone", [GROUP, SUPERGROUP])
    def test_a_half_alone_stays_what_it_is(self, tmp_path: Path, alone: Any) -> None:
        found = messages(read(export(tmp_path, alone)))
        assert {m.chat_id for m in found} == {str(alone["id"])}
        assert [m.id for m in found] == ["2", "3"]

    def test_odd_service_messages_join_nothing_and_raise_nothing(self, tmp_path: Path) -> None:
        odd = [
            {**service(1, "migrate_to_supergroup"), "date_unixtime": [], "id": {}},
            {"action": "migrate_from_group"},
        ]
        found = read(export(tmp_path, chat(7, None, *odd), {**GROUP, "id": None}, SUPERGROUP))
        assert {m.chat_id for m in messages(found)} == {"result/Дача", "1500"}

    def test_a_file_without_the_words_is_not_parsed_for_them(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(migration, "walk", None)
        assert len(messages(read(export(tmp_path, GROUP, chat(1, "Чат", message(1)))))) == 3

    def test_the_words_are_found_across_two_steps(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        for step in (7, 16, 61):
            monkeypatch.setattr(migration, "_STEP", step)
            assert {m.chat_id for m in messages(read(export(tmp_path, GROUP, SUPERGROUP)))} == {"1500"}


class TestTopics:
    def topics(self, found: list[Record]) -> dict[str, str | None]:
        return {m.text: m.meta.get("topic") for m in messages(found)}

    def test_a_message_has_the_topic_that_its_replies_lead_to(self, tmp_path: Path) -> None:
        forum = chat(
            *(1, "Форум", message(2, "общее")),
            *(service(3, "topic_created", title="Дорога"), message(4, "щебень", reply_to_message_id=3)),
            *(service(5, "topic_created", title="Огород"), message(6, "рассада", reply_to_message_id=5)),
            *(message(7, "сколько?", reply_to_message_id=4), message(8, "", reply_to_message_id=7)),
            *(message(9, "две", reply_to_message_id=8), message(10, "ответ общему", reply_to_message_id=2)),
            message(11, "чужое", reply_to_message_id=4, reply_to_peer_id="channel9"),
        )
        assert self.topics(read(export(tmp_path, forum))) == {
            "общее": None,
            "щебень": "Дорога",
            "рассада": "Огород",
            "сколько?": "Дорога",
            "две": "Дорога",
            "ответ общему": None,
            "чужое": None,
        }

    def test_topics_of_one_chat_are_none_of_another(self, tmp_path: Path) -> None:
        forum = chat(1, "Форум", service(3, "topic_created", title="Дорога"))
        other = chat(2, "Чат", message(4, "текст", reply_to_message_id=3))
        assert self.topics(read(export(tmp_path, forum, other))) == {"текст": None}

    def test_a_topic_is_no_border_of_windows(self, tmp_path: Path) -> None:
        forum = chat(1, "Ф", service(3, "topic_created", title="Т"), message(4, reply_to_message_id=3))
        (found,) = messages(read(export(tmp_path, forum)))
        assert found.session is None


class TestReplies:
    @pytest.mark.parametrize(
        ("peer", "expected"),
        [("channel1", "1"), ("user1", "1"), (1, "1"), ("channel9", None), ([], None), ("x", None)],
    )
    def test_a_reply_into_another_chat_answers_nothing_here(
        self, tmp_path: Path, peer: Any, expected: Any
    ) -> None:
        found = one(tmp_path, place_name="Рынок", reply_to_message_id=1, reply_to_peer_id=peer)
        assert found[0].reply_to == expected


class TestChats:
    @pytest.mark.parametrize(
        ("type", "title"),
        [
            ("saved_messages", "Избранное"),
            ("replies", "Ответы"),
            ("verification_codes", "Коды подтверждения"),
            ("personal_chat", "Удалённый аккаунт"),
            ("private_channel", None),
            (5, None),
        ],
    )
    def test_nameless_chats_have_a_title_by_their_type(
        self, tmp_path: Path, type: Any, title: str | None
    ) -> None:
        found = messages(read(export(tmp_path, {"type": type, "id": 1, "messages": [message(1)]})))
        assert found[0].chat_title == title

    def test_messages_beside_the_chats_are_no_chat_text(self, tmp_path: Path) -> None:
        whole = {
            "about": "…",
            "personal_information": {"bio": "обо мне"},
            "profile_music": [message(1, "", file_name="песня.mp3", title="Песня")],
            "stories": [{"date_unixtime": str(T), "media": "(Story not included. …)"}],
            "contacts": {"list": [{"first_name": "Пётр", "phone_number": "+7 000 000 00 09"}]},
            "chats": {"list": [chat(1, "Чат", message(1, "слово"))]},
        }
        found = read(written(tmp_path, "result.json", json.dumps(whole, ensure_ascii=False)))
        assert [m.text for m in messages(found)] == ["слово"]
        assert not skips(found)

    def test_an_export_of_contacts_alone_is_a_support_file(self, tmp_path: Path) -> None:
        whole = {"about": "…", "personal_information": {"bio": "обо мне"}, "contacts": {"list": []}}
        assert read(written(tmp_path, "result.json", json.dumps(whole))) == [Dropped("support_file", 0)]

    @pytest.mark.parametrize(
        ("sound", "broken", "reason"),
        [
            ('"messages": []', '"about": ""', "a chat without its messages"),
            ('"messages": []', '"messages": null', "no list of messages or chats where one is to be"),
            ('"left_chats": {"list": []', '"left_chats": {"about": []', "no list of chats"),
            ('"left_chats": {', '"left_chats": 5, "x": {', "no list of messages or chats where one is to be"),
        ],
    )
    def test_a_chat_whose_messages_are_not_there_is_told(
        self, tmp_path: Path, sound: str, broken: str, reason: str
    ) -> None:
        whole = {"about": "", "chats": {"list": [chat(1, "Чат")]}, "left_chats": {"list": []}}
        text = json.dumps(whole, ensure_ascii=False)
        assert not skips(read(written(tmp_path, "result.json", text)))
        found = read(written(tmp_path, "result.json", text.replace(sound, broken)))
        assert [skip.reason for skip in skips(found)] == [reason]


class TestWordsBesideText:
    def test_the_sample_of_all_kinds(self, tmp_path: Path) -> None:
        (file,) = [file for file in samples("telegram", tmp_path) if file.name == "migrated.json"]
        found = read(file)
        texts = {m.id: m.text for m in messages(found) if m.chat_id == "1700000000"}
        assert texts["11"] == "Когда собрание?\n— в субботу\n— в воскресенье"
        assert texts["12"] == "Купить\n— щебень\n— шланг"
        assert texts["13"] == "Рынок на Садовой\nСадовая, 5"
        assert texts["16"] == "Взнос\nЗа щебень и работу"
        assert texts["17"] == "Читать не всем, цитата соседа и pump --start"
        assert texts["18"] == "План работ\nНачать с дороги\n— вырыть канаву\nщебень | 2 машины"
        assert drops(found) == {"service": 6, "empty": 3}
        assert not skips(found)

    def test_third_parties_telephones_buttons_and_reactions_are_nowhere(self, tmp_path: Path) -> None:
        (file,) = [file for file in samples("telegram", tmp_path) if file.name == "migrated.json"]
        told = repr(read(file))
        assert not [
            word
            for word in ("+7 000", "Сварщик", "example.com/buy", "Купить'", "🔥", "👍", "55.1")
            if word in told
        ]

    def test_signatures_forwards_and_bots_are_metadata(self, tmp_path: Path) -> None:
        (file,) = [file for file in samples("telegram", tmp_path) if file.name == "migrated.json"]
        found = {(m.chat_id, m.id): m for m in messages(read(file))}
        post, shared = found["1700000001", "2"], found["1700000000", "19"]
        assert (post.author, post.meta) == ("Садовод", {"signature": "А. Лесной"})
        assert shared.author == "Удалённый аккаунт"
        assert shared.meta == {
            "forwarded_from": "Удалённый аккаунт",
            "forwarded_from_id": "user200000077",
            "via_bot": "@shop_bot",
        }

    @pytest.mark.parametrize(
        "odd",
        [
            {"poll": {"question": [1, None], "answers": [None, {"text": {}}, 5]}},
            {"todo_list": {"title": {}, "answers": "нет"}},
            {"invoice_information": "{не JSON"},
            {"invoice_information": '["a"]'},
            {"invoice_information": "[" * 5_000},
            {"place_name": 5, "address": None},
            {"rich_message": [[[{"blocks": 1, "items": {"text": None}}]]]},
            {"rich_message": {"blocks": [{"cells": [1, None]}, {"text": [[]]}, {"caption": 5}]}},
        ],
    )
    def test_odd_shapes_cost_at_most_their_message(self, tmp_path: Path, odd: dict[str, Any]) -> None:
        file = export(tmp_path, chat(1, "Чат", message(1), message(2, "", **odd), message(3)))
        assert [m.id for m in messages(read(file))] == ["1", "3"]

    def test_a_game_says_its_title_and_description(self, tmp_path: Path) -> None:
        (found,) = one(tmp_path, game_title="Шахматы", game_description="Партия на дачу")
        assert found.text == "Шахматы\nПартия на дачу"

    def test_a_rich_message_keeps_its_links_and_quotes(self, tmp_path: Path) -> None:
        plain = {"type": "plain", "text": "дока"}
        blocks = [
            {
                "type": "paragraph",
                "text": {"type": "text_link", "href": "https://example.com/d", "text": plain},
            },
            {
                "type": "quote",
                "content": "text",
                "text": plain,
                "caption": {"type": "plain", "text": "— автор"},
            },
            {
                "type": "photo",
                "caption": {"text": {"type": "plain", "text": "подпись"}, "credit": {"type": "empty"}},
            },
            {"type": "math", "formula": "E = mc^2"},
        ]
        (found,) = one(tmp_path, rich_message={"rtl": False, "part": False, "blocks": blocks})
        assert found.text == "дока (https://example.com/d)\nдока\n— автор\nподпись\nE = mc^2"

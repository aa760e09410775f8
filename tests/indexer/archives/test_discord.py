"""Discord: channels of DiscordChatExporter, what bots say in embeds, and exports that hold nothing."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from indexer.archives.discord import Discord
from schemas.records import Message, Record
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

SAMPLE = HERE / "samples" / "discord" / "syn_ru_dce.json"
GUILD = {"id": "1", "name": "Демо", "iconUrl": ""}
CHANNEL = {"id": "10", "type": "GuildTextChat", "category": "Разработка", "name": "поиск", "topic": None}
OLGA = {
    "id": "7",
    "name": "olga",
    "nickname": "Оля",
    "isBot": False,
    "roles": [{"id": "70", "name": "врачи"}],
}
BOT = {"id": "9", "name": "ci", "isBot": True}


def message(own: str = "100", **keys: object) -> dict[str, Any]:
    row = {
        "id": own,
        "type": "Default",
        "timestamp": "2025-03-01T09:00:00.000+03:00",
        "content": "",
        "author": OLGA,
    }
    return {**row, **keys}


def export(*rows: object, **keys: object) -> dict[str, object]:
    whole = {"guild": GUILD, "channel": CHANNEL, "dateRange": {}, "exportedAt": "2026-03-01T15:00:00+03:00"}
    return {**whole, "messages": list(rows), "messageCount": len(rows), **keys}


def read(folder: Path, *rows: object, **keys: object) -> list[Record]:
    return list(Discord().read(written(folder, "канал.json", json.dumps(export(*rows, **keys))), OPTIONS))


def said(folder: Path, **keys: object) -> Message:
    (found,) = messages(read(folder, message(**keys)))
    return found


class TestSample:
    def test_what_is_said(self) -> None:
        found = records("discord", archive_file(SAMPLE))
        assert [(m.id, m.author, m.text) for m in messages(found)] == [
            ("100", "ivan", "Привет! Индекс собран, `k=10` **ок**"),
            ("101", "masha", "Пересланный текст: ёжик"),
            ("102", "news", "Релиз 1.2\nИсправлены ошибки поиска\nАвтор: ci"),
            ("104", "masha", "Да, согласен"),
        ]
        assert drops(found) == {"service": 1}
        assert not skips(found)

    def test_a_reply_names_its_message_and_a_forward_does_not(self) -> None:
        found = messages(records("discord", archive_file(SAMPLE)))
        assert [one.reply_to for one in found] == [None, None, None, "100"]
        assert [dict(one.meta) for one in found] == [{}, {"forwarded": "true"}, {"bot": "true"}, {}]

    def test_the_chat_is_the_channel_in_its_guild(self) -> None:
        found = messages(records("discord", archive_file(SAMPLE)))
        assert {(one.chat_id, one.chat_title) for one in found} == {("10", "Демо / Разработка / #поиск")}


class TestMarkup:
    @pytest.mark.parametrize(
        ("written_as", "read_as"),
        [
            ("<@7> и <@!8>, а <@5>", "@Оля и @Пётр, а @5"),
            ("<@&70> в <#10>, не в <#11>", "@врачи в #поиск, не в #11"),
            ("ура <:tada:123> <a:wave:124>", "ура :tada: :wave:"),
            ("в <t:1740808800:F> и <t:999999999999>", "в 2025-03-01 09:00 и <t:999999999999>"),
            ("жми </найти:55> или <https://example.com/?a=1>", "жми /найти или https://example.com/?a=1"),
            ("vector<int> a<b и <@не айди>", "vector<int> a<b и <@не айди>"),
        ],
    )
    def test_markup(self, tmp_path: Path, written_as: str, read_as: str) -> None:
        mentions = [{"id": "8", "name": "Пётр"}, 5]
        assert said(tmp_path, content=written_as, mentions=mentions).text == read_as


class TestKinds:
    @pytest.mark.parametrize("kind", ["Default", "Reply", "19", 0, 20, "ChatInputCommand", "NewKind", None])
    def test_talk(self, tmp_path: Path, kind: object) -> None:
        assert said(tmp_path, type=kind, content="слово").text == "слово"

    @pytest.mark.parametrize(
        "kind",
        ["Call", "RecipientAdd", "ChannelPinnedMessage", "GuildMemberJoin", "ThreadCreated", "7", "18", 8],
    )
    def test_what_discord_tells_is_counted(self, tmp_path: Path, kind: object) -> None:
        found = read(tmp_path, message(type=kind, content="Joined the server."))
        assert not messages(found)
        assert drops(found) == {"service": 1}
        assert not skips(found)

    def test_a_preview_under_a_persons_link_is_left_out(self, tmp_path: Path) -> None:
        embeds = [{"title": "Чужое", "description": "чужой текст"}]
        found = read(tmp_path, message(content="https://example.com", embeds=embeds))
        assert [one.text for one in messages(found)] == ["https://example.com"]
        assert drops(found) == {"link_preview": 1}

    def test_a_bots_embeds_are_its_message(self, tmp_path: Path) -> None:
        embed = {
            "title": "Сборка",
            "author": {"name": "ci"},
            "fields": [{"name": "Ветка", "value": "main"}, 4],
        }
        found = said(tmp_path, content="готово", author=BOT, embeds=[embed, None])
        assert (found.text, found.meta) == ("готово\nci\nСборка\nВетка: main", {"bot": "true"})

    @pytest.mark.parametrize(
        "poll",
        [
            {
                "question": {"text": "Когда?"},
                "answers": [{"poll_media": {"text": "сегодня"}}, {"text": "завтра"}],
            },
            {"question": "Когда?", "answers": ["сегодня", "завтра"]},
        ],
    )
    def test_a_poll_is_its_question_and_answers(self, tmp_path: Path, poll: object) -> None:
        assert said(tmp_path, poll=poll).text == "Когда?\n— сегодня\n— завтра"

    def test_names_of_files_stand_beside_the_text(self, tmp_path: Path) -> None:
        found = said(tmp_path, content="смета", attachments=[{"fileName": "март.xlsx"}, {"fileName": None}])
        assert found.meta == {"attachments": "март.xlsx"}


class TestRecords:
    def test_time_author_and_edit(self, tmp_path: Path) -> None:
        found = said(tmp_path, content="а", timestampEdited="2025-03-01T09:05:00.0000000+03:00")
        assert (found.at, found.edited) == (1740808800000, 1740809100000)
        assert (found.author, found.author_id) == ("Оля", "7")

    def test_without_a_time_the_id_tells_it(self, tmp_path: Path) -> None:
        assert said(tmp_path, own="175928847299117063", timestamp=None, content="а").at == 1462015105796

    def test_a_reference_to_another_channel_is_no_reply(self, tmp_path: Path) -> None:
        reference = {"messageId": "5", "channelId": "11"}
        assert said(tmp_path, content="а", reference=reference).reply_to is None
        assert said(tmp_path, content="а", reference={"messageId": "5"}).reply_to == "5"

    def test_a_direct_talk_is_titled_without_a_mark(self, tmp_path: Path) -> None:
        channel = {"id": "5", "type": "DirectTextChat", "category": "Private", "name": "Оля"}
        (found,) = messages(
            read(tmp_path, message(content="а"), channel=channel, guild={"name": "Direct Messages"})
        )
        assert found.chat_title == "Direct Messages / Оля"

    def test_the_parts_of_a_split_export_are_one_chat(self, tmp_path: Path) -> None:
        chats = {
            one.chat_id
            for n in (1, 2)
            for one in messages(
                Discord().read(
                    written(
                        tmp_path, f"поиск [part {n}].json", json.dumps(export(message(str(n), content="а")))
                    ),
                    OPTIONS,
                )
            )
        }
        assert chats == {"10"}

    @pytest.mark.parametrize("broken", [None, 5, True, [1], {"a": [2]}, "x", 1.5])
    def test_every_value_may_be_of_a_wrong_type(self, tmp_path: Path, broken: object) -> None:
        keys = (
            "id",
            "timestamp",
            "timestampEdited",
            "author",
            "attachments",
            "embeds",
            "mentions",
            "reference",
        )
        for key in (*keys, "forwardedMessage", "poll", "stickers"):
            found = read(tmp_path, message(content="сказано", **{key: broken}))
            assert [one.text.split("\n")[0] for one in messages(found)] == ["сказано"], key
            assert not skips(found)


class TestFiles:
    def test_another_count_than_was_read_is_told(self, tmp_path: Path) -> None:
        (told,) = skips(read(tmp_path, message(content="а"), messageCount=3))
        assert told.reason == "other messages than its messageCount tells"
        assert "3, 1 were read" in told.hint

    def test_an_export_without_content_is_told_with_its_remedy(self, tmp_path: Path) -> None:
        (told,) = skips(read(tmp_path, message("1"), message("2"), message("3", content="а")))
        assert (told.place, told.reason) == ("канал.json", "an export with no message content")
        assert "2 of 3" in told.hint
        assert "Message Content Intent" in told.hint

    def test_pictures_and_stickers_without_words_are_no_sign_of_it(self, tmp_path: Path) -> None:
        found = read(tmp_path, message("1", attachments=[{"fileName": "a.png"}]), message("2", stickers=[{}]))
        assert not skips(found)
        assert drops(found) == {"empty": 2}

    def test_an_empty_channel_is_no_fault(self, tmp_path: Path) -> None:
        assert read(tmp_path) == []

    def test_a_cut_file_keeps_what_came_before(self, tmp_path: Path) -> None:
        text = json.dumps(export(*(message(str(n), content=f"номер {n}") for n in range(9))))
        found = list(Discord().read(written(tmp_path, "a.json", text[: text.index("5") + 900]), OPTIONS))
        assert messages(found)
        assert [skip.reason for skip in skips(found)] == ["the file ends in the middle"]

    @pytest.mark.parametrize(
        ("sound", "broken"),
        [('"messages"', '"mess"ges"'), ('"messages"', '"massages"'), ('"exportedAt"', "x")],
    )
    def test_damage_before_the_messages_costs_none_of_them(
        self, tmp_path: Path, sound: str, broken: str
    ) -> None:
        text = json.dumps(export(*(message(str(n), content=f"номер {n}") for n in range(9))))
        file = written(tmp_path, "a.json", text.replace(sound, broken))
        found = list(Discord().read(file, OPTIONS))
        assert len(messages(found)) == 9
        assert {one.chat_id for one in messages(found)} == {"10"}
        assert len(skips(found)) == 1

    @pytest.mark.parametrize(
        "content",
        [
            '{"name": "чат", "type": "personal_chat", "id": 5, "messages": []}',
            '{"guild": 5, "channel": {"id": "1"}}',
            '[{"guild": {}, "channel": {}}]',
            '{"text": "\\"guild\\": {}, \\"channel\\": {}", "guild_id": 1}',
        ],
    )
    def test_other_json_does_not_fit(self, tmp_path: Path, content: str) -> None:
        assert not Discord().fits(written(tmp_path, "a.json", content))

    def test_a_mark_and_another_encoding_do_not_hide_it(self, tmp_path: Path) -> None:
        text = json.dumps(export(message(content="а")))
        for codec in ("utf-8-sig", "utf-16"):
            file = written(tmp_path, "a.json", text.encode(codec))
            assert Discord().fits(file)
            assert [one.text for one in messages(Discord().read(file, OPTIONS))] == ["а"]

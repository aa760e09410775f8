"""Slack: names from the lists above a day, markup made readable, bots' attachments, copies left out."""

from __future__ import annotations

import json
import shutil
import zipfile
from pathlib import Path
from typing import Any

import pytest

from indexer.archives import ArchiveFile, discover, reader_of
from indexer.archives.slack import Slack
from schemas.records import Message, Record, Skipped
from tests.indexer.archives.reading import CASES, HERE, OPTIONS, archive_file, drops, messages, skips, written

SAMPLES = HERE / "samples" / "slack"
CASE = CASES / "09_slack_missing_users_threads" / "export.zip"
DAY = "канал/2026-01-12.json"
USERS: list[dict[str, Any]] = [
    {"id": "U1", "team_id": "T", "profile": {"display_name": "Оля &amp; Ко", "real_name": "Ольга"}},
    {"id": "U2", "name": "bot", "profile": {"display_name": "", "real_name": "Сборщик", "bot_id": "B2"}},
]
CHANNELS = [{"id": "C1", "name": "канал"}, {"id": "C2", "name": "общий"}]


def every(root: Path) -> list[Record]:
    found: list[Record] = []
    for file in discover(root):
        assert isinstance(file, ArchiveFile), file
        reader = reader_of(file)
        assert reader is not None, file.name
        assert reader.name == "slack"
        found.extend(reader.read(file, OPTIONS))
    return found


def day(folder: Path, *rows: object, name: str = DAY) -> list[Record]:
    written(folder, "users.json", json.dumps(USERS))
    written(folder, "channels.json", json.dumps(CHANNELS))
    return list(Slack().read(written(folder, name, json.dumps(rows)), OPTIONS))


def said(folder: Path, **row: object) -> Message:
    (found,) = messages(day(folder, {"type": "message", "user": "U1", "ts": "1768208400.000100", **row}))
    return found


def text_of(folder: Path, text: str) -> str:
    return said(folder, text=text).text


class TestMissingUsersAndThreads:
    def test_five_content_messages_remain(self) -> None:
        assert [message.text for message in messages(every(CASE))][1:] == [
            "Вижу, *спасибо*",
            "[repo:main] 1 new commit\nисправил ёлку",
            "Итог: берём 600/100",
            "Я не в users.json",
        ]
        assert len(messages(every(CASE))) == 5

    def test_nothing_is_skipped_for_a_missing_key(self) -> None:
        assert not skips(every(CASE))

    def test_markup_is_readable_and_escapes_are_undone_once(self) -> None:
        text = messages(every(CASE))[0].text
        assert "Привет, @Мария Сидорова! Смотри отчёт (https://example.com/a?b=1&c=2) в #общий <b>" in text

    def test_the_folder_name_is_cyrillic(self) -> None:
        found = messages(every(CASE))
        assert {(message.chat_id, message.chat_title) for message in found} == {("C01", "разработка")}
        assert found[0].place == "export.zip!разработка/2025-03-01.json#1740808810.000200"

    def test_names_come_from_the_list_else_the_message_else_the_bot(self) -> None:
        authors = [message.author for message in messages(every(CASE))]
        assert authors == ["Иван", "Мария Сидорова", "ci", "Мария Сидорова", "guest"]

    def test_a_guest_keeps_the_id(self) -> None:
        assert messages(every(CASE))[-1].author_id == "U99"

    def test_a_thread_is_one_over_the_files_of_its_days(self) -> None:
        found = messages(every(CASE))
        assert [message.reply_to for message in found] == [None, found[0].id, None, found[0].id, None]

    def test_a_reply_that_was_sent_to_the_channel_too_is_stored_once(self) -> None:
        assert [message.text for message in messages(every(CASE))].count("Итог: берём 600/100") == 1

    def test_joins_and_deleted_messages_are_counted_not_kept(self) -> None:
        found = every(CASE)
        assert drops(found) == {"service": 1, "deleted": 1, "auto_reply": 1, "support_file": 2}

    def test_the_unpacked_folder_reads_as_the_zip(self, tmp_path: Path) -> None:
        with zipfile.ZipFile(CASE) as archive:
            archive.extractall(tmp_path)
        unpacked = [(m.chat_id, m.id, m.author, m.text) for m in messages(every(tmp_path))]
        assert unpacked == [(m.chat_id, m.id, m.author, m.text) for m in messages(every(CASE))]


class TestSample:
    def test_a_direct_talk_is_titled_by_its_members(self) -> None:
        found = [message for message in messages(every(SAMPLES)) if message.chat_id == "D0B2"]
        assert {message.chat_title for message in found} == {"Оля, Павел & Ко"}

    def test_what_is_said(self) -> None:
        assert [message.text for message in messages(every(SAMPLES)) if message.chat_id == "C0A1"] == [
            "@here у клиента не грузится отчёт: help@example.com, см. #общий и https://example.com/status",
            "Вижу <timeout> &amp; 502",
            "Выкладка 2.4 завершена\n*Среда:* бой\n*Автор:* @Оля",
            "Почитайте https://example.com/post",
            "Сервер переезжает в пятницу",
            "План переезда",
        ]

    def test_an_edit_has_its_time(self) -> None:
        (edited,) = [message for message in messages(every(SAMPLES)) if message.edited is not None]
        assert (edited.at, edited.edited) == (1768212060000, 1768212065000)


class TestMarkup:
    @pytest.mark.parametrize(
        ("written_as", "read_as"),
        [
            ("<@U1> и <@U7|гость> и <@U8>", "@Оля & Ко и @гость и @U8"),
            ("<#C2> <#C9|старый> <#C9> <#C2|>", "#общий #старый #C9 #общий"),
            ("<!here> <!channel|@channel> <!subteam^S1|@врачи> <!subteam^S2>", "@here @channel @врачи @S2"),
            ("в <!date^1392734382^{date}|18 февраля> ок", "в 18 февраля ок"),
            ("<https://a.example/x|https://a.example/x> и <a.example>", "https://a.example/x и <a.example>"),
            ("<https://a.example/|a.example> <tel:+7900|+7900>", "https://a.example/ +7900"),
            ("&amp;lt; &lt;@U1&gt; &amp;amp; &nbsp;", "&lt; <@U1> &amp; &nbsp;"),
            ("a < b и x<y>z", "a < b и x<y>z"),
        ],
    )
    def test_markup(self, tmp_path: Path, written_as: str, read_as: str) -> None:
        assert text_of(tmp_path, written_as) == read_as

    def test_rich_text_is_read_where_there_is_no_text(self, tmp_path: Path) -> None:
        section = {"type": "rich_text_section", "elements": [
            {"type": "text", "text": "Порядок для "}, {"type": "user", "user_id": "U1"},
            {"type": "link", "url": "https://a.example", "text": "тут"}, {"type": "emoji", "name": "ok"},
        ]}  # fmt: skip
        lines = [
            {"type": "rich_text_section", "elements": [{"type": "text", "text": name}]}
            for name in ("раз", "два")
        ]
        items = {"type": "rich_text_list", "elements": lines}
        blocks = [{"type": "rich_text", "elements": [section, items]}]
        assert said(tmp_path, blocks=blocks).text == (
            "Порядок для @Оля & Котут (https://a.example):ok:\n• раз\n• два"
        )
        assert said(tmp_path, text="есть текст", blocks=blocks).text == "есть текст"


class TestBeside:
    def test_a_bots_attachment_is_its_message(self, tmp_path: Path) -> None:
        attachment = {
            "fallback": "Сборка 17: упала",
            "pretext": "Сборка 17",
            "title": "упала",
            "fields": [{"title": "Ветка", "value": "main"}, "сломано"],
        }
        found = said(tmp_path, user=None, bot_id="B2", attachments=[attachment, 5])
        assert found.text == "Сборка 17\nупала\nВетка: main"
        assert (found.author, found.author_id, found.meta) == ("Сборщик", "B2", {"bot": "true"})

    def test_a_preview_of_a_page_is_left_out_where_something_else_is_said(self, tmp_path: Path) -> None:
        preview = {"from_url": "https://a.example", "title": "Чужое", "text": "чужой текст"}
        found = day(tmp_path, {"text": "вот", "ts": "1768208400.000100", "attachments": [preview]})
        assert messages(found)[0].text == "вот"
        assert drops(found) == {"link_preview": 1}

    def test_a_shared_message_is_quoted_only_where_the_export_lacks_it(self, tmp_path: Path) -> None:
        def shared(channel: str) -> dict[str, object]:
            return {"is_share": True, "channel_id": channel, "author_name": "Пётр", "text": "раз\nдва"}

        assert said(tmp_path, text="ср.", attachments=[shared("C2")]).text == "ср."
        assert said(tmp_path, text="ср.", attachments=[shared("C7")]).text == "ср.\n> раз\n> два"
        alone = said(tmp_path, text="", attachments=[shared("C2")])
        assert (alone.text, alone.meta) == ("раз\nдва", {"forwarded_from": "Пётр"})

    @pytest.mark.parametrize(
        "title",
        ["image.png", "IMG_2034.jpg", "Снимок экрана 2026-01-12 в 10.15.01.png", "3f2a9c.pdf", "a.txt"],
    )
    def test_a_name_that_a_program_gave_is_no_message(self, tmp_path: Path, title: str) -> None:
        found = day(tmp_path, {"ts": "1768208400.000100", "files": [{"title": title}]})
        assert drops(found) == {"empty": 1}

    def test_a_telling_title_of_a_file_is_a_line_of_its_message(self, tmp_path: Path) -> None:
        files = [{"name": "Смета на март.xlsx"}, {"mode": "tombstone", "title": "Удалено"}]
        assert said(tmp_path, text="вот", files=files).text == "вот\nСмета на март.xlsx"


class TestRecords:
    def test_every_key_may_be_missing(self, tmp_path: Path) -> None:
        found = day(tmp_path, {}, {"text": "один"}, {"ts": "1768208400.000100", "text": "два"})
        assert [(m.text, m.author, m.at) for m in messages(found)] == [
            ("один", None, None),
            ("два", None, 1768208400000),
        ]
        assert drops(found) == {"empty": 1}
        assert not skips(found)

    @pytest.mark.parametrize("broken", [None, 5, True, [1], {"a": [2]}, "x", 1.5])
    def test_every_value_may_be_of_a_wrong_type(self, tmp_path: Path, broken: object) -> None:
        keys = ("user", "subtype", "thread_ts", "replies", "blocks", "attachments", "files", "file", "bot_id")
        keys += ("username", "edited", "user_profile", "bot_profile", "comment", "client_msg_id", "hidden")
        for key in keys:
            row = {"ts": "1768208400.000100", "text": "сказано", key: broken}
            found = day(tmp_path, row)
            if not (key == "hidden" and broken is True):
                assert [message.text for message in messages(found)] == ["сказано"], key
            assert not skips(found)

    def test_a_message_that_is_no_object_is_skipped(self, tmp_path: Path) -> None:
        found = day(tmp_path, 5, "строка", {"ts": "1768208400.000100", "text": "цела"})
        assert [skip.reason for skip in skips(found)] == ["a message that is no object"] * 2
        assert [message.text for message in messages(found)] == ["цела"]

    def test_an_unknown_subtype_with_a_text_is_talk(self, tmp_path: Path) -> None:
        assert said(tmp_path, subtype="me_message", text="идёт домой").text == "идёт домой"
        assert said(tmp_path, subtype="new_thing_2030", text="нечто").text == "нечто"

    def test_the_same_message_twice_in_a_day_is_one(self, tmp_path: Path) -> None:
        row = {"ts": "1768208400.000100", "text": "ответ"}
        found = day(tmp_path, row, {**row, "subtype": "thread_broadcast"})
        assert len(messages(found)) == 1
        assert drops(found) == {"duplicate": 1}

    def test_an_edit_in_the_log_is_the_newer_wording_of_its_message(self, tmp_path: Path) -> None:
        newer = {"ts": "1768208400.000100", "text": "стало", "edited": {"ts": "1768208500.000000"}}
        log = {"subtype": "message_changed", "hidden": True, "ts": "1768208500.000100", "message": newer}
        (found,) = messages(day(tmp_path, log))
        assert (found.id, found.text, found.edited) == ("1768208400.000100", "стало", 1768208500000)

    def test_a_client_id_is_an_origin_only_where_it_is_a_uuid(self, tmp_path: Path) -> None:
        own = "0f0f0f0f-1111-4222-8333-444444444444"
        assert said(tmp_path, text="а", client_msg_id=own).origin == own
        assert said(tmp_path, text="а", client_msg_id="a1").origin is None

    def test_a_broken_record_costs_itself_and_is_named(self, tmp_path: Path) -> None:
        rows = [
            json.dumps({"user": "U1", "type": "message", "ts": f"176820840{n}.000100", "text": f"номер {n}"})
            for n in range(5)
        ]
        rows[2] = rows[2].replace('"text": "', '"text": x"')
        found = list(Slack().read(written(tmp_path, DAY, f"[{', '.join(rows)}]"), OPTIONS))
        assert [message.text[-1] for message in messages(found)] == ["0", "1", "3", "4"]
        assert [skip.place for skip in skips(found)] == [f"{DAY}#1768208401.000100"]

    def test_another_encoding_is_read_and_named(self, tmp_path: Path) -> None:
        row = {"type": "message", "ts": "1768208400.000100", "text": "привет из прошлого"}
        file = written(tmp_path, DAY, json.dumps([row], ensure_ascii=False).encode("cp1251"))
        found = list(Slack().read(file, OPTIONS))
        assert messages(found)[0].text == "привет из прошлого"
        assert [skip.reason for skip in skips(found)] == ["not UTF-8, read as windows-1251"]


class TestFiles:
    def test_an_empty_day_and_lists_of_nothing_belong_to_the_export(self, tmp_path: Path) -> None:
        written(tmp_path, "channels.json", json.dumps(CHANNELS))
        for name in ("groups.json", "canvases.json", "integration_logs.json", DAY):
            assert Slack().fits(written(tmp_path, name, "[]")), name

    @pytest.mark.parametrize("name", ["users.json", "channels.json", "canvases.json", "2026-01-12.json"])
    def test_the_same_names_of_another_program_do_not(self, tmp_path: Path, name: str) -> None:
        written(tmp_path, "users.json", '[{"uuid": "1", "full_name": "Оля"}]')
        assert not Slack().fits(written(tmp_path, name, '[{"uuid": "1", "chat_messages": []}]'))

    def test_a_talk_about_slacks_json_is_no_export(self, tmp_path: Path) -> None:
        quoted = json.dumps([{"uuid": "1", "text": '[{"type": "message", "ts": "1768208400.000100"}]'}])
        assert not Slack().fits(written(tmp_path, "conversations.json", quoted))

    def test_without_lists_the_folder_names_the_chat(self, tmp_path: Path) -> None:
        row = '[{"type": "message", "ts": "1768208400.000100", "text": "привет", "user": "U5"}]'
        (found,) = messages(Slack().read(written(tmp_path, DAY, row), OPTIONS))
        assert (found.chat_id, found.chat_title, found.author) == ("канал", "канал", "U5")

    def test_a_channels_folder_given_by_itself_is_that_chat(self, tmp_path: Path) -> None:
        day(tmp_path, {"type": "message", "ts": "1768208400.000100", "text": "привет"})
        (found,) = messages(every(tmp_path / "канал"))
        assert found.chat_id == "канал"  # the lists above lie outside of the archive

    def test_a_decomposed_folder_name_is_the_same_channel(self, tmp_path: Path) -> None:
        row = {"type": "message", "ts": "1768208400.000100", "text": "привет"}
        found = messages(day(tmp_path, row, name="общий/2026-01-12.json"))
        assert found[0].chat_id == "C2"

    def test_a_broken_list_of_users_costs_a_name_and_is_told(self, tmp_path: Path) -> None:
        found = day(tmp_path, {"type": "message", "ts": "1768208400.000100", "text": "а", "user": "U1"})
        assert messages(found)[0].author == "Оля & Ко"
        text = json.dumps(USERS).replace('"U2"', '"U2')
        users = written(tmp_path, "users.json", text)
        told = list(Slack().read(users, OPTIONS))
        assert [skip.place for skip in skips(told)] == ["users.json"]
        assert drops(told) == {"support_file": 1}
        again = messages(Slack().read(archive_file(tmp_path / DAY, DAY), OPTIONS))
        assert again[0].author == "Оля & Ко"

    def test_a_day_that_is_no_list_is_told(self, tmp_path: Path) -> None:
        found = list(Slack().read(written(tmp_path, DAY, "1.5"), OPTIONS))
        assert len(skips(found)) == len(found) == 1

    def test_memory_does_not_hold_a_day(self, tmp_path: Path) -> None:
        rows = [{"type": "message", "ts": f"17682{n:05}.000100", "text": "слово " * 5} for n in range(3000)]
        file = written(tmp_path, DAY, json.dumps(rows))
        assert sum(1 for _ in Slack().read(file, OPTIONS)) == 3000


class TestDamagedZips:
    def test_a_flipped_bit_in_a_member_costs_its_record_not_the_day(self, tmp_path: Path) -> None:
        rows = [{"type": "message", "ts": f"17682000{n:02}.000100", "text": f"номер {n}"} for n in range(20)]
        with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
            archive.writestr(DAY, json.dumps(rows, ensure_ascii=False))
        data = (tmp_path / "a.zip").read_bytes()
        (tmp_path / "a.zip").write_bytes(data.replace("номер 7".encode(), "номер 8".encode()))
        found = every(tmp_path / "a.zip")
        assert len(messages(found)) == 20
        assert [skip.reason for skip in skips(found)] == ["damaged or cut compressed data"]

    def test_a_name_that_is_no_utf8_costs_its_member(self, tmp_path: Path) -> None:
        with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
            archive.writestr("б/2026-01-12.json", "[]")
        data = (tmp_path / "a.zip").read_bytes()
        (tmp_path / "a.zip").write_bytes(data.replace("б/".encode(), b"\xd0\x20/", 1))
        (told,) = discover(tmp_path / "a.zip")
        assert told == Skipped(
            "a.zip!б/2026-01-12.json",
            "damaged or cut compressed data",
            "what could be read was kept; copy the file anew",
        )


class TestAbove:
    def test_the_folder_above_is_reached_in_a_folder_and_in_a_zip(self, tmp_path: Path) -> None:
        shutil.copytree(SAMPLES, tmp_path / "export", ignore=shutil.ignore_patterns("*.zip"))
        with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
            for path in sorted((tmp_path / "export").rglob("*.json")):
                archive.write(path, path.relative_to(tmp_path).as_posix())
        for root, name in (
            (tmp_path / "export", "users.json"),
            (tmp_path / "a.zip", "a.zip!export/users.json"),
        ):
            days = [
                file for file in discover(root) if isinstance(file, ArchiveFile) and file.base[:2] == "20"
            ]
            found = [file.above("users.json") for file in days]
            assert [file.name for file in found if file is not None] == [name] * 2
            assert all(file is not None and file.head.startswith(b"[") for file in found)

    def test_nothing_outside_of_the_root_is_reached(self, tmp_path: Path) -> None:
        written(tmp_path, "users.json", "[]")
        written(tmp_path, "root/2026-01-12.json", "[]")
        (file,) = discover(tmp_path / "root")
        assert isinstance(file, ArchiveFile)
        assert file.above("users.json") is None
        (file,) = discover(tmp_path / "root" / "2026-01-12.json")
        assert isinstance(file, ArchiveFile)
        assert file.above("users.json") is None

    def test_a_symlink_is_not_followed(self, tmp_path: Path) -> None:
        secret = written(tmp_path, "elsewhere.json", json.dumps(USERS))
        file = written(tmp_path / "root", DAY, "[]")
        (tmp_path / "root" / "users.json").symlink_to(secret.path)
        assert file.above("users.json") is None
        (tmp_path / "root" / "channels.json").mkdir()
        assert file.above("channels.json") is None

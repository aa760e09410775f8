"""Pages of VK's archive: markup, months, attachments, order, and what is no talk."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path

import pytest

from indexer.archives import ArchiveFile, discover, reader_of, unknown, vk
from indexer.archives.vk.page import MAX_TEXT
from schemas.records import Message, Record
from tests.indexer.archives.reading import (
    CASES,
    MOSCOW,
    OPTIONS,
    drops,
    messages,
    records,
    skips,
    written,
)

PAGE = (
    '<!DOCTYPE html>\n<html>\n<head>\n<meta charset="windows-1251" />\n<title>VK</title>\n</head>\n<body>\n'
    '<div class="wrap"><div class="header"><a class="ui_crumb" href="../index.html">Сообщения</a>'
    '<div class="ui_crumb">{title}</div></div><div class="wrap_page_content">\n{items}'
    "</div></div></body></html>"
)
IVAN = '<a href="https://vk.com/id303">Иван Демо</a>'
WHEN = "3 дек 2018 в 17:44:05"


def item(id: int | str, body: str = "да", who: str = IVAN, when: str = WHEN, kludges: str = "") -> str:
    return (
        f'<div class="item">\n  <div class=\'item__main\'><div class="message" data-id="{id}">\n'
        f'  <div class="message__header">{who}, {when}</div>\n'
        f'  <div>{body}<div class="kludges">{kludges}</div></div>\n</div></div>\n</div>\n'
    )


def attached(kind: str, link: str = "") -> str:
    target = f"<a class='attachment__link' href='{link}'>{link}</a>" if link else ""
    return f'<div class="attachment">\n<div class="attachment__description">{kind}</div>\n{target}\n</div>'


def page(
    folder: Path, *items: str, title: str = "Иван Демо", name: str = "messages/303/messages0.html"
) -> ArchiveFile:
    text = PAGE.format(title=title, items="".join(items))
    return written(folder, name, text.encode("cp1251", "xmlcharrefreplace"))


def read(file: ArchiveFile) -> list[Record]:
    reader = reader_of(file)
    assert reader is not None
    assert reader.name == "vk"
    return list(reader.read(file, OPTIONS))


def one(folder: Path, *arguments: str, **named: str) -> Message:
    (message,) = messages(read(page(folder, item(1, *arguments, **named))))
    return message


def local(at: int | None) -> str | None:
    return None if at is None else datetime.fromtimestamp(at / 1000, MOSCOW).isoformat(" ")[:19]


class TestTheCase:
    def found(self) -> list[Record]:
        files = [file for file in discover(CASES / "18_vk_cp1251_html") if isinstance(file, ArchiveFile)]
        assert [file.name for file in files] == [
            "messages/303/messages0.html",
            "messages/303/messages50.html",
        ]
        return [record for file in files for record in read(file)]

    def test_windows_1251_and_entities_are_read(self) -> None:
        found = messages(self.found())
        assert [message.text for message in found if message.author == "Вы"] == [
            "Третье: ёлка & «кавычки»\nвторая строка 😀"
        ] * 2

    def test_months_in_russian_are_dates_in_the_owners_zone(self) -> None:
        found = messages(self.found())
        assert {(local(message.at) or "")[:10] for message in found} == {"2017-05-10", "2017-08-09"}
        assert local(found[0].at) == "2017-08-09 09:32:27"

    def test_all_ids_are_their_own_and_rise_in_a_page(self) -> None:
        assert [message.id for message in messages(self.found())] == ["7002", "7003", "6952", "6953"]
        assert drops(self.found())["placeholder"] == 4
        assert not skips(self.found())

    def test_the_owner_is_told_from_the_other(self) -> None:
        authors = {(message.author, message.author_id) for message in messages(self.found())}
        assert authors == {("Вы", "owner"), ("Иван Демо", "id303")}

    def test_chat_title_and_edit(self) -> None:
        found = messages(self.found())
        assert {(message.chat_id, message.chat_title) for message in found} == {("303", "Иван Демо")}
        assert [local(message.edited) for message in found[:2]] == ["2017-08-09 09:40:00", None]

    def test_attachments_leave_no_word_behind(self) -> None:
        kept = " ".join(message.text for message in messages(self.found()))
        assert not any(word in kept for word in ("Фотография", "прикреплённое", "p.jpg", "ред."))


class TestWhatAMessageSays:
    @pytest.mark.parametrize(
        ("when", "expected"),
        [
            *((f"3 {month} 2018 в 7:04:05", f"2018-{n:02}-03 07:04:05") for n, month in enumerate(
                ("янв", "фев", "мар", "апр", "мая", "июн", "июл", "авг", "сен", "окт", "ноя", "дек"), 1)),
            ("3 May 2018 at 5:44:05 pm", "2018-05-03 17:44:05"),
            ("3 Dec 2018 at 12:44:05 am", "2018-12-03 00:44:05"),
            ("Dec 3, 2018 at 17:44", "2018-12-03 17:44:00"),
            ("3 січ 2018 о 17:44:05", "2018-01-03 17:44:05"),
            ("31 фев 2018 в 17:44:05", None),
            ("3 брю 2018 в 17:44:05", None),
            ("когда-то", None),
        ],
    )  # fmt: skip
    def test_a_time_in_words(self, tmp_path: Path, when: str, expected: str | None) -> None:
        message = one(tmp_path, when=when)
        assert (message.author, local(message.at), message.text) == ("Иван Демо", expected, "да")

    @pytest.mark.parametrize("who", ["Вы", "You"])
    def test_the_owner_in_two_languages(self, tmp_path: Path, who: str) -> None:
        message = one(tmp_path, who=who)
        assert (message.author, message.author_id) == (who, "owner")

    def test_authors_without_a_page_or_with_a_comma_keep_their_names(self, tmp_path: Path) -> None:
        assert one(tmp_path, who="Частное сообщество").author_id is None
        named = one(tmp_path, who='<a href="https://vk.com/public42">Дом, сад и огород</a>')
        assert (named.author, named.author_id) == ("Дом, сад и огород", "public42")

    def test_breaks_are_lines_and_mentions_are_names(self, tmp_path: Path) -> None:
        message = one(tmp_path, "раз<br>два<br/>[id5|Мария], три &lt;b&gt; &#9829;")
        assert message.text == "раз\nдва\nМария, три <b> ♥"

    @pytest.mark.parametrize(
        "kind",
        [
            *("Фотография", "Видеозапись", "Аудиозапись", "Стикер", "Подарок", "Опрос", "Карта", "Звонок"),
            *("2 прикреплённых сообщения", "Photo", "1 attached message"),
        ],
    )
    def test_kinds_of_attachments_are_placeholders(self, tmp_path: Path, kind: str) -> None:
        found = read(page(tmp_path, item(1, "", kludges=attached(kind))))
        assert not messages(found)
        assert drops(found) == {"placeholder": 1}

    @pytest.mark.parametrize(
        ("kind", "link", "kept"),
        [
            ("Ссылка", "https://example.com/статья", True),
            ("Запись на стене", "https://vk.com/wall-1_2", True),
            ("Файл", "https://vk.com/doc1_2", True),
            ("Файл", "https://example.com/voice.ogg", False),
            ("Фотография", "https://sun9-1.example.com/x.jpg?size=1", False),
        ],
    )
    def test_a_link_is_text_where_words_stand_behind_it(
        self, tmp_path: Path, kind: str, link: str, kept: bool
    ) -> None:
        message = one(tmp_path, "смотри", kludges=attached(kind, link))
        assert message.text == (f"смотри\n{link}" if kept else "смотри")

    def test_who_came_and_who_left_is_service(self, tmp_path: Path) -> None:
        notice = '<a class="im_srv_lnk " href="https://vk.com/id5">Мария</a> вышла из беседы'
        found = read(page(tmp_path, item(1, "Maria left", kludges=notice), item(2)))
        assert [message.id for message in messages(found)] == ["2"]
        assert drops(found) == {"service": 1}


class TestPages:
    def test_a_page_is_given_the_oldest_first(self, tmp_path: Path) -> None:
        found = messages(read(page(tmp_path, *(item(n, f"слово {n}") for n in (120, 101, 99, 8)))))
        assert [message.id for message in found] == ["8", "99", "101", "120"]

    def test_messages_without_ids_get_their_own_and_turn_round(self, tmp_path: Path) -> None:
        found = messages(read(page(tmp_path, *(item("", f"слово {n}") for n in (3, 2, 1)))))
        assert [message.text for message in found] == ["слово 1", "слово 2", "слово 3"]
        assert len({message.id for message in found}) == 3

    def test_a_huge_page_streams_in_windows_each_the_oldest_first(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(vk, "MAX_WINDOW", 100)
        file = page(tmp_path, *(item(n, f"слово {n}") for n in range(250, 0, -1)))
        found = [int(message.id) for message in messages(read(file))]
        assert found == [*range(151, 251), *range(51, 151), *range(1, 51)]

    @pytest.mark.parametrize("name", ["messages/-42/messages0.html", "messages/2000000001/messages50.html"])
    def test_communities_and_group_chats_are_named_by_their_folder(self, tmp_path: Path, name: str) -> None:
        (message,) = messages(read(page(tmp_path, item(1), name=name)))
        assert message.chat_id == name.split("/")[1]
        assert message.place == f"{name}#1"

    def test_a_page_alone_is_named_by_its_title(self, tmp_path: Path) -> None:
        (message,) = messages(read(page(tmp_path, item(1), title="Дачники", name="messages0.html")))
        assert (message.chat_id, message.chat_title) == ("Дачники", "Дачники")

    def test_a_page_saved_anew_as_utf8_is_read(self, tmp_path: Path) -> None:
        text = PAGE.format(title="Иван Демо", items=item(1, "ёлка 😀"))
        for codec in ("utf-8", "utf-8-sig", "utf-16"):
            file = written(tmp_path, "messages/303/messages0.html", text.encode(codec))
            assert [message.text for message in messages(read(file))] == ["ёлка 😀"]

    @pytest.mark.parametrize(
        ("name", "body"),
        [
            ("messages/index-messages.html", '<div class="message-peer--id"><a href="1/">И</a></div>'),
            ("profile/page-info.html", '<div class="item"><div class="item__main">Дата рождения</div></div>'),
            ("index.html", '<div class="ui_crumb">Архив</div>'),
        ],
    )  # fmt: skip
    def test_other_pages_of_the_archive_hold_no_talk(self, tmp_path: Path, name: str, body: str) -> None:
        found = read(page(tmp_path, body, name=name))
        assert found == records("vk", page(tmp_path, body, name=name))
        assert drops(found) == {"support_file": 1}
        assert not messages(found) + skips(found)

    def test_other_html_is_not_vks(self, tmp_path: Path) -> None:
        file = written(tmp_path, "messages.html", "<!DOCTYPE html>\n<html><title>Экспорт</title></html>")
        assert reader_of(file) is None
        assert unknown(file).hint


class TestBrokenPages:
    def broken(self, folder: Path, was: str, becomes: str) -> list[Record]:
        file = page(folder, *(item(n, f"слово {n}") for n in (4, 3, 2, 1)))
        data = file.path.read_bytes()
        old, new = was.encode("cp1251"), becomes.encode("cp1251")
        assert old in data
        return read(written(folder, file.name, data.replace(old, new, 1)))

    @pytest.mark.parametrize(
        ("was", "becomes"),
        [
            ('<div class="message" data-id="3">', '<div clbss="message" data-id="3">'),
            ('<div class="message" data-id="3">', '<div class="massage" data-id="3">'),
            ('data-id="3">', 'data-id="3>'),
            ("<div>слово 3<", "<dov>слово 3<"),
            ("слово 3<", "слово 3<![bad["),
            ("слово 3<", "слово 3<!--"),
            ("слово 3<", "слово 3<?"),
            ("слово 3<", "слово 3<script><"),
            ("слово 3<", "слово 3</div></div></div></div><"),
            ("слово 3<", "слово 3<div><div><div><"),
            ("слово 3<", "слово 3" + "<div>" * 100 + "<"),
        ],
    )
    def test_a_damaged_tag_costs_at_most_its_message(self, tmp_path: Path, was: str, becomes: str) -> None:
        texts = " ".join(message.text for message in messages(self.broken(tmp_path, was, becomes)))
        if "script" not in becomes:  # up to its end a script is no markup
            assert all(f"слово {n}" in texts for n in (1, 2, 4))

    def test_a_cut_page_is_told_once_and_keeps_what_came_before(self, tmp_path: Path) -> None:
        file = page(tmp_path, *(item(n, f"слово {n}") for n in (4, 3, 2, 1)))
        data = file.path.read_bytes()
        found = read(written(tmp_path, file.name, data[: data.index("слово 2".encode("cp1251")) + 5]))
        assert [message.text for message in messages(found)] == ["слово", "слово 3", "слово 4"]
        assert [skip.reason for skip in skips(found)] == ["the page ends in the middle"]

    def test_an_endless_text_is_cut_and_named(self, tmp_path: Path) -> None:
        found = read(page(tmp_path, item(2, "слово " * (MAX_TEXT // 3)), item(1, "после")))
        assert [message.text[:5] for message in messages(found)] == ["после", "слово"]
        assert len(messages(found)[1].text) <= MAX_TEXT
        assert [skip.place for skip in skips(found)] == ["messages/303/messages0.html#2"]

    def test_a_tag_without_an_end_takes_no_memory(self, tmp_path: Path) -> None:
        file = page(tmp_path, item(2), "<div class='" + "x" * 3_000_000, item(1, "после"))
        assert messages(read(file))

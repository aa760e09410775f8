"""Telegram Desktop's pages: authors that lean on the message before, times, replies, damaged markup."""

from __future__ import annotations

import time
from datetime import UTC, datetime
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from indexer.archives import ReadOptions, reader_of
from indexer.archives.telegram.html import is_page
from schemas.records import Dropped, Message, Record
from tests.indexer.archives.reading import MOSCOW, drops, messages, records, samples, skips, written

HEAD = (
    '<!DOCTYPE html><html><head><meta charset="utf-8"/><title>Exported Data</title></head><body>'
    '<div class="page_wrap"><div class="page_header"><div class="content"><div class="text bold">\n{title} \n'
    '</div></div></div><div class="page_body chat_page"><div class="history">'
)
TAIL = "</div></div></div></body></html>"


def entry(
    id: int | str,
    text: str = "да",
    name: str | None = "Ольга ",
    title: str = "18.03.2026 10:02:00 UTC+03:00",
    extra: str = "",
) -> str:
    who = f'<div class="from_name">\n{name}\n</div>' if name is not None else ""
    return (
        f'<div class="message default clearfix{"" if name is not None else " joined"}" id="message{id}">'
        f'<div class="body"><div class="pull_right date details" title="{title}">\n10:02\n</div>{who}{extra}'
        f'<div class="text">\n{text}\n</div></div></div>\n'
    )


def service(text: str, id: int = -1) -> str:
    return f'<div class="message service" id="message{id}"><div class="body details">\n{text}\n</div></div>'


def page(*entries: str, title: str = "Дача") -> str:
    return HEAD.replace("{title}", title) + "".join(entries) + TAIL


def read(folder: Path, content: str | bytes, zone: ZoneInfo = MOSCOW) -> list[Record]:
    return records("telegram", written(folder, "messages.html", content), ReadOptions(zone=zone))


def one(folder: Path, *entries: str, zone: ZoneInfo = MOSCOW) -> Message:
    (found,) = messages(read(folder, page(*entries), zone))
    return found


class TestPages:
    def test_both_pages_of_a_chat_are_one_talk(self, tmp_path: Path) -> None:
        pages = [file for file in samples("telegram", tmp_path) if file.name.endswith(".html")]
        found = [m for file in pages for m in messages(records("telegram", file))]
        assert {(m.chat_id, m.chat_title) for m in found} == {("html/Посёлок «Заря»", "Посёлок «Заря»")}
        assert [(m.id, m.author, m.reply_to, m.text) for m in found] == [
            (
                *("-999999995", "Ольга Лебедева", None),
                "Сосед & я чиним насос:\n    шаг 1 <снять>\n"
                "смотри инструкцию (https://example.com/pump) и https://example.com/",
            ),
            ("6", "Ольга Лебедева", None, "@nikita_demo, приедешь? Ключ под ковриком 🙂"),
            ("7", "Удалённый аккаунт", "6", "Приеду к десяти"),
            ("8", "Никита", None, "План участка"),
            ("10", "Никита", None, "Обрезка яблонь"),
            ("11", "Ольга Лебедева", "7", "Когда собрание?\n— в субботу\n— в воскресенье"),
            ("13", "Никита", None, "Рынок на Садовой\nСадовая, 5"),
        ]
        assert found[3].meta == {"via_bot": "@gif", "file_name": "план.pdf"}
        assert found[4].meta == {"forwarded_from": "Садовод", "signature": "А. Лесной"}

    def test_what_says_nothing_is_counted(self, tmp_path: Path) -> None:
        first, second = [file for file in samples("telegram", tmp_path) if file.name.endswith(".html")]
        assert drops(records("telegram", first)) == {"service": 1, "empty": 1}
        assert drops(records("telegram", second)) == {"service": 2, "empty": 1}
        assert "Сварщик" not in repr(records("telegram", second))

    def test_the_list_of_contacts_is_a_support_file_and_no_text(self, tmp_path: Path) -> None:
        listed = (
            HEAD.replace("{title}", "Contacts")
            .replace("chat_page", "list_page")
            .replace("history", "entry_list")
        )
        content = f'{listed}<div class="entry clearfix"><div class="name bold">Пётр</div></div>{TAIL}'
        file = written(tmp_path, "contacts.html", content)
        reader = reader_of(file)
        assert reader is not None
        assert reader.name == "telegram"
        assert records("telegram", file) == [Dropped("support_file", 0)]

    def test_an_empty_page_is_told(self, tmp_path: Path) -> None:
        assert [skip.reason for skip in skips(read(tmp_path, page()))] == ["a page without messages"]

    def test_other_pages_are_none(self) -> None:
        assert not is_page(b"<!DOCTYPE html><html><body><div class='message'>x</div></body></html>")
        assert not is_page(b'{"text": "\\"page_wrap\\" \\"page_header\\""}')


class TestEntries:
    def test_a_joined_message_has_the_author_before_it_and_a_service_message_ends_that(
        self, tmp_path: Path
    ) -> None:
        found = messages(
            read(tmp_path, page(entry(1), entry(2, name=None), service("19 March 2026"), entry(3, name=None)))
        )
        assert [m.author for m in found] == ["Ольга", "Ольга", None]

    def test_a_joined_forward_has_the_source_before_it(self, tmp_path: Path) -> None:
        source = '<div class="from_name">\nСадовод<span class="details"> 17.03.2026</span>\n</div>'
        forward = f'<div class="forwarded body">{source}'
        first = entry(1, extra=forward)
        second = entry(2, name=None, extra='<div class="forwarded body">')
        found = messages(read(tmp_path, page(first, second, entry(3))))
        assert [m.meta.get("forwarded_from") for m in found] == ["Садовод", "Садовод", None]
        assert [m.author for m in found] == ["Ольга"] * 3

    def test_a_call_is_a_service_message(self, tmp_path: Path) -> None:
        call = '<div class="media clearfix media_call"><div class="title bold">Ольга</div></div>'
        assert drops(read(tmp_path, page(entry(1, "", extra=call), entry(2)))) == {"service": 1}

    def test_an_entry_without_id_has_a_derived_one(self, tmp_path: Path) -> None:
        found = messages(read(tmp_path, page(entry("x"), entry("x"))))
        assert len({m.id for m in found}) == 2
        assert all(m.id.startswith("h_") for m in found)

    @pytest.mark.parametrize(
        ("markup", "text"),
        [
            ("a &lt;b&gt; &amp;amp; &quot;c&quot; &apos;d&apos;", "a <b> &amp; \"c\" 'd'"),
            ("раз<br>два<br><br>три", "раз\nдва\n\nтри"),
            ("<pre>for x:<br>    y</pre>", "for x:\n    y"),
            ("<blockquote>цитата</blockquote> да", "цитата да"),
            ('<a href="mailto:a@example.com">a@example.com</a>', "a@example.com"),
            ('<a href="https://t.me/x_demo">@x_demo</a>', "@x_demo"),
            ('<a href="" onclick="return ShowHashtag(&quot;дача&quot;)">#дача</a>', "#дача"),
            ('<a href="tg://resolve?x=1">сюда</a>', "сюда (tg://resolve?x=1)"),
            ("&#x1F;тихо", "тихо"),
            ("<script>слово</script>", "слово"),
        ],
    )
    def test_markup_becomes_the_text_that_the_json_has(self, tmp_path: Path, markup: str, text: str) -> None:
        assert one(tmp_path, entry(1, markup)).text == text


class TestTimes:
    def at(self, folder: Path, title: str, zone: str = "Europe/Moscow") -> str | None:
        at = one(folder, entry(1, title=title), zone=ZoneInfo(zone)).at
        return (
            datetime.fromtimestamp(at / 1000, UTC).strftime("%Y-%m-%d %H:%M:%S") if at is not None else None
        )

    def test_a_stated_offset_is_used(self, tmp_path: Path) -> None:
        assert self.at(tmp_path, "18.03.2026 10:02:00 UTC+05:30") == "2026-03-18 04:32:00"
        assert self.at(tmp_path, "18.03.2026 10:02:00 UTC") == "2026-03-18 10:02:00"

    def test_without_an_offset_the_time_is_of_the_zone(self, tmp_path: Path) -> None:
        assert self.at(tmp_path, "18.03.2026 10:02:00") == "2026-03-18 07:02:00"

    def test_the_standard_offset_that_is_stated_in_summer_is_put_right_by_the_zone(
        self, tmp_path: Path
    ) -> None:
        # The JSON of the same chat tells 20:11:23 UTC.
        stated = "23.08.2023 13:11:23 UTC-08:00"
        assert self.at(tmp_path, stated, "America/Los_Angeles") == "2023-08-23 20:11:23"
        assert self.at(tmp_path, stated) == "2023-08-23 21:11:23"
        # Moscow was at +04:00 then; the exporter states what is the standard today.
        assert self.at(tmp_path, "01.06.2012 12:00:00 UTC+03:00") == "2012-06-01 08:00:00"

    @pytest.mark.parametrize(
        "title",
        [
            "",
            "вчера",
            "32.13.2026 10:02:00",
            "18.03.2026 25:02:00",
            "18.03.2026 10:02:00 UTC+99:99",
            "18.03.0001 00:00:00",
        ],
    )
    def test_what_is_no_time_is_none(self, tmp_path: Path, title: str) -> None:
        assert self.at(tmp_path, title) is None


class TestDamagedPages:
    def test_a_cut_page_keeps_what_is_complete_and_is_told_once(self, tmp_path: Path) -> None:
        data = page(*(entry(n, f"слово {n}") for n in range(1, 9)))
        found = read(tmp_path, data[: data.index("слово 5") + 3])
        assert [m.id for m in messages(found)] == ["1", "2", "3", "4"]
        assert [skip.reason for skip in skips(found)] == ["the file ends in the middle"]

    @pytest.mark.parametrize(
        "junk", ["<!--", "<![CDATA[", "<?", "</div></div>", "<script>", "<div><a><b>", "<div class='", "&"]
    )
    def test_junk_between_messages_costs_at_most_one(self, tmp_path: Path, junk: str) -> None:
        found = messages(read(tmp_path, page(entry(1), entry(2), junk, *(entry(n) for n in range(3, 9)))))
        assert len(found) >= 7

    @pytest.mark.parametrize(
        "flood",
        [
            "<",
            "<a",
            "<" + "a" * 400_000,
            "<a ",
            "<a href='",
            "</",
            "<!--",
            "&",
            "&#",
            " ",
            "\n",
            "<div>",
            "</div>",
            "<b></i>",
        ],
    )
    def test_floods_end_soon(self, tmp_path: Path, flood: str) -> None:
        data = page(entry(1), flood * (500_000 // len(flood)), entry(2))
        began = time.monotonic()
        found = read(tmp_path, data)
        assert time.monotonic() - began < 5
        assert messages(found)[0].id == "1"

    @pytest.mark.parametrize("codec", ["utf-8-sig", "utf-16", "cp1251"])
    def test_other_encodings_are_read(self, tmp_path: Path, codec: str) -> None:
        file = written(tmp_path, "messages.html", page(entry(1, "привет")).encode(codec))
        reader = reader_of(file)
        assert reader is not None
        assert reader.name == "telegram"
        (found,) = messages(records("telegram", file))
        assert (found.text, found.author, found.chat_title) == ("привет", "Ольга", "Дача")

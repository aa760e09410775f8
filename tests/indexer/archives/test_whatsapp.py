"""WhatsApp's exports in every locale: heads, authors, placeholders, chats."""

from __future__ import annotations

import tempfile
import zipfile
from datetime import datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import given, seed, settings
from hypothesis import strategies as st

from indexer.archives import ArchiveFile, discover, reader_of
from indexer.archives.whatsapp import MAX_MESSAGE, chat_name
from indexer.archives.whatsapp.wording import DELETED, EDITED, PLACEHOLDERS
from schemas.records import Message, Record
from tests.indexer.archives.reading import (
    CASES,
    MOSCOW,
    OPTIONS,
    archive_file,
    drops,
    messages,
    records,
    skips,
    written,
)

CASE = CASES / "06_wa_ru_android_ios"
BIDI = "\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\ufeff"
LRM = "\u200e"


def read(folder: Path, text: str | bytes, name: str = "talk.txt") -> list[Record]:
    file = written(folder, name, text)
    reader = reader_of(file)
    assert reader is not None
    assert reader.name == "whatsapp"
    return list(reader.read(file, OPTIONS))


def said(folder: Path, text: str | bytes) -> list[tuple[str | None, str]]:
    return [(message.author, message.text) for message in messages(read(folder, text))]


def local(at: int | None) -> str:
    assert at is not None
    return datetime.fromtimestamp(at / 1000, MOSCOW).strftime("%Y-%m-%d %H:%M:%S")


def times(folder: Path, *heads: str) -> list[str]:
    found = messages(read(folder, "".join(f"{head} Иван: слово {n}\n" for n, head in enumerate(heads))))
    assert len(found) == len(heads)
    return [local(message.at) for message in found]


class TestTheCase:
    def android(self) -> list[Record]:
        return records("whatsapp", archive_file(CASE / "Чат WhatsApp с Иван.txt"))

    def ios(self) -> list[Record]:
        return records("whatsapp", archive_file(CASE / "_chat.txt", "_chat.txt"))

    def test_both_files_are_recognised(self) -> None:
        found = [file for file in discover(CASE) if isinstance(file, ArchiveFile)]
        assert len(found) == 2
        assert {reader.name for file in found if (reader := reader_of(file))} == {"whatsapp"}

    def test_android_texts_join_their_lines(self) -> None:
        assert [message.text for message in messages(self.android())] == [
            "Купить:\n12:30 забрать рассаду\n- ёлку",
            "Адрес: https://example.com/map?x=1:2",
            "подпись к фото",
        ]

    def test_ios_texts_keep_an_edited_one_without_its_mark(self) -> None:
        found = messages(self.ios())
        assert [message.text for message in found[:2]] == ["Привет 👋", "строка 1\nстрока 2"]
        assert [message.text for message in found[2:]] == ["+7 000 000-00-03 завтра приедет"]

    def test_each_dated_line_is_one_record(self) -> None:
        assert len(messages(self.android())) + sum(drops(self.android()).values()) == 3 + 6
        assert drops(self.android()) == {"service": 2, "placeholder": 2, "deleted": 1, "empty": 1}
        assert drops(self.ios()) == {"service": 1, "placeholder": 2}
        assert not skips(self.android()) + skips(self.ios())

    def test_placeholders_and_marks_never_reach_a_text_or_a_name(self) -> None:
        for message in messages(self.android() + self.ios()):
            kept = repr((message.text, message.author, message.chat_title))
            assert not any(word in kept for word in ("отсутствует", "медиафайл", "удалено", "изменено"))
            assert not any(mark in f"{message.text}{message.author}" for mark in BIDI)

    def test_system_lines_have_no_author(self) -> None:
        assert {message.author for message in messages(self.android())} == {"Иван Петров", "Мария"}
        assert {message.author for message in messages(self.ios())} == {"Иван", "Мария"}

    def test_dates_with_dots_are_read_with_the_day_first(self) -> None:
        assert local(messages(self.android())[0].at) == "2019-02-12 14:25:00"
        assert local(messages(self.ios())[0].at) == "2025-03-01 09:00:10"


class TestLayouts:
    @pytest.mark.parametrize(
        ("head", "expected"),
        [
            ("12.02.19, 14:22 -", "2019-02-12 14:22:00"),
            ("[01.03.2025, 9:00:01]", "2025-03-01 09:00:01"),
            ("13/02/2019, 14:22 -", "2019-02-13 14:22:00"),
            ("2/13/19, 2:22 PM -", "2019-02-13 14:22:00"),
            ("2/13/19, 2:22\u202fPM -", "2019-02-13 14:22:00"),
            ("13/2/19 2:22 p.\xa0m. -", "2019-02-13 14:22:00"),
            ("13/2/19, 12:05 a.m. -", "2019-02-13 00:05:00"),
            ("[13/2/19, 12:05:07 p.m.]", "2019-02-13 12:05:07"),
            ("13-02-19 14:22 -", "2019-02-13 14:22:00"),
            ("2019-02-13 14:22 -", "2019-02-13 14:22:00"),
            ("2019/02/13, 14:22 -", "2019-02-13 14:22:00"),
            ("2019. 2. 13. 오후 2:22 -", "2019-02-13 14:22:00"),
            ("2019/2/13 下午2:22 -", "2019-02-13 14:22:00"),
            ("13. 2. 2019 14:22 -", "2019-02-13 14:22:00"),
            ("13 02 2019 14:22 -", "2019-02-13 14:22:00"),
            ("13.02.2019 г., 14:22 ч. -", "2019-02-13 14:22:00"),
            ("[13.02.2019 г., 14:22:05 ч.]", "2019-02-13 14:22:05"),
            ("13.2.2019 klo 14.22 -", "2019-02-13 14:22:00"),
            ("13/02/2019 à 14:22 -", "2019-02-13 14:22:00"),
            ("13.02.2019 ÖS 2:22 -", "2019-02-13 14:22:00"),
            ("13/2/19, 2:22 μ.μ. -", "2019-02-13 14:22:00"),
            ("\u200f13\u200f/2\u200f/2019، 2:22 م -", "2019-02-13 14:22:00"),
            ("[١٣‏/٢‏/٢٠١٩، ٢:٢٢:٠٠ م]", "2019-02-13 14:22:00"),
            ("14:22, 13/02/2019 -", "2019-02-13 14:22:00"),
            ("[14:22:05, 13/02/2019]", "2019-02-13 14:22:05"),
            ("2/13/19, 2:22_PM -", "2019-02-13 14:22:00"),
            ("12.02.19, 14:22 –", "2019-02-12 14:22:00"),
        ],
    )
    def test_a_head_of_any_locale(self, tmp_path: Path, head: str, expected: str) -> None:
        assert times(tmp_path, head) == [expected]

    def test_a_later_line_decides_for_the_earlier_ones(self, tmp_path: Path) -> None:
        assert times(tmp_path, "03/04/19, 10:00 -", "03/25/19, 10:00 -")[0].startswith("2019-03-04")
        assert times(tmp_path, "03/04/19, 10:00 -", "25/04/19, 10:00 -")[0].startswith("2019-04-03")

    def test_a_talk_does_not_go_backwards(self, tmp_path: Path) -> None:
        assert times(tmp_path, "05/01/19, 9:00 -", "03/02/19, 9:00 -")[0].startswith("2019-01-05")
        assert times(tmp_path, "01/05/19, 9:00 -", "02/03/19, 9:00 -")[0].startswith("2019-01-05")

    def test_days_in_a_row_are_likelier_than_months_in_a_row(self, tmp_path: Path) -> None:
        found = times(
            tmp_path, "03/01/19, 9:00 -", "03/02/19, 9:00 -", "03/03/19, 9:00 -", "03/05/19, 9:00 -"
        )
        assert [time[:10] for time in found] == ["2019-03-01", "2019-03-02", "2019-03-03", "2019-03-05"]
        found = times(tmp_path, "19-02-10 9:00 -", "19-02-11 9:00 -", "19-02-12 9:00 -")
        assert [time[:10] for time in found] == ["2019-02-10", "2019-02-11", "2019-02-12"]

    def test_what_nothing_decides_is_read_with_the_day_first(self, tmp_path: Path) -> None:
        assert times(tmp_path, "03/04/2019, 10:00 -") == ["2019-04-03 10:00:00"]
        assert times(tmp_path, "03/04/19, 10:00 pm -") == ["2019-04-03 22:00:00"]
        assert times(tmp_path, "03.04.19, 10:00 -") == ["2019-04-03 10:00:00"]

    def test_but_as_phones_in_the_usa_write_it_with_the_month_first(self, tmp_path: Path) -> None:
        assert times(tmp_path, "3/4/19, 10:00 PM -") == ["2019-03-04 22:00:00"]

    def test_with_dots_the_month_is_never_first_by_guess(self, tmp_path: Path) -> None:
        found = times(tmp_path, "03.01.19, 9:00 -", "03.02.19, 9:00 -", "03.03.19, 9:00 -")
        assert [time[:10] for time in found] == ["2019-01-03", "2019-02-03", "2019-03-03"]

    def test_one_damaged_date_decides_nothing(self, tmp_path: Path) -> None:
        heads = [f"{day:02}/02/19, 9:00 -" for day in range(1, 20)]
        heads[4] = "05/82/19, 9:00 -"
        found = messages(read(tmp_path, "".join(f"{head} Иван: да {n}\n" for n, head in enumerate(heads))))
        assert [message.at is None for message in found].count(True) == 1
        assert local(found[-1].at) == "2019-02-19 09:00:00"

    def test_a_quotation_of_another_layout_in_a_long_talk_is_text(self, tmp_path: Path) -> None:
        lines = [f"{1 + n % 28:02}.{1 + n // 28:02}.19, 14:22 - Иван: слово {n}\n" for n in range(200)]
        lines[100] += "[3/4/19, 10:00:00 PM] Пётр: цитата\n15.05.2019 был в 10:00 - у врача\n"
        found = messages(read(tmp_path, "".join(lines)))
        assert len(found) == 200
        assert found[100].text.endswith("Пётр: цитата\n15.05.2019 был в 10:00 - у врача")

    def test_the_hour_that_a_clock_is_set_forth_is_no_fault(self, tmp_path: Path) -> None:
        found = times(tmp_path, "27.03.2011, 01:59 -", "27.03.2011, 03:00 -", "28.03.2011, 00:00 -")
        assert found == ["2011-03-27 01:59:00", "2011-03-27 03:00:00", "2011-03-28 00:00:00"]

    @pytest.mark.parametrize("codec", ["utf-8", "utf-8-sig", "utf-16"])
    @pytest.mark.parametrize("end", ["\n", "\r\n"])
    def test_encodings_and_line_ends_change_nothing(self, tmp_path: Path, codec: str, end: str) -> None:
        text = f"12.02.19, 14:22 - Иван: раз{end}два{end}12.02.19, 14:23 - Мария: три{end}"
        assert said(tmp_path, text.encode(codec)) == [("Иван", "раз\nдва"), ("Мария", "три")]


_ORDERS = ["dmy", "mdy", "ymd"]


@seed(20260308)
@settings(max_examples=60, deadline=None)
@given(
    order=st.sampled_from(_ORDERS),
    separator=st.sampled_from(["/", ".", "-", ". ", " "]),
    long_year=st.booleans(),
    padded=st.booleans(),
    gap=st.sampled_from([", ", " ", ",\u202f"]),
    half=st.sampled_from([None, (" AM", " PM"), ("\u202fam", "\u202fpm"), (" a.\xa0m.", " p.\xa0m.")]),
    seconds=st.booleans(),
    bracket=st.booleans(),
    steps=st.lists(st.integers(0, 60 * 24 * 20), min_size=40, max_size=60),
)
def test_a_talk_in_any_layout_is_read_at_its_times(
    order: str,
    separator: str,
    long_year: bool,
    padded: bool,
    gap: str,
    half: tuple[str, str] | None,
    seconds: bool,
    bracket: bool,
    steps: list[int],
) -> None:
    moment, expected, lines = datetime(2019, 1, 1, 0, 5), [], []
    for step in (*steps, 60 * 24 * 17, 60 * 24 * 17):
        moment += timedelta(minutes=step)
        expected.append(moment.strftime("%Y-%m-%d %H:%M:00"))
        year = moment.year if long_year or order == "ymd" else moment.year % 100
        width = 2 if padded else 1
        parts = {"d": f"{moment.day:0{width}}", "m": f"{moment.month:0{width}}", "y": str(year)}
        hour = moment.hour if half is None else (moment.hour + 11) % 12 + 1
        clock = f"{hour}:{moment.minute:02}" + (":00" if seconds else "")
        clock += half[moment.hour // 12] if half else ""
        head = separator.join(parts[part] for part in order) + gap + clock
        lines.append(f"[{head}] Иван: да\n" if bracket else f"{head} - Иван: да\n")
    with tempfile.TemporaryDirectory() as folder:
        found = messages(read(Path(folder), "".join(lines)))
    assert [local(message.at) for message in found] == expected


class TestAuthors:
    @pytest.mark.parametrize("mark", ["~\u202f", "~ ", "~\xa0"])
    def test_who_is_not_in_the_contacts_has_the_bare_name(self, tmp_path: Path, mark: str) -> None:
        assert said(tmp_path, f"[12.02.19, 14:22:00] {mark}Мария: да") == [("Мария", "да")]

    def test_a_number_between_marks_is_a_name(self, tmp_path: Path) -> None:
        text = "[12.02.19, 14:22:00] \u202a+7\xa0000\xa0000-00-02\u202c: да"
        assert said(tmp_path, text) == [("+7 000 000-00-02", "да")]

    def test_a_text_with_colons_is_no_name(self, tmp_path: Path) -> None:
        texts = ["цена: 5", "срок: день", "да"]
        text = "".join(f"12.02.19, 14:22 - Иван: {one}\n" for one in texts)
        assert said(tmp_path, text) == [("Иван", one) for one in texts]

    def test_a_name_with_a_colon_is_known_by_all_its_messages(self, tmp_path: Path) -> None:
        text = "".join(f"12.02.19, 14:2{n} - Дача: план: слово {n}\n" for n in range(3))
        assert said(tmp_path, text) == [("Дача: план", f"слово {n}") for n in range(3)]

    @pytest.mark.parametrize(
        "line",
        [
            "Иван создал(-а) группу «Дача: план»",
            'Ivan created group "Trip: plan"',
            "Иван изменил(-а) тему на „Дача: план“",
            "Вы добавили Мария",
            "Сообщения и звонки защищены сквозным шифрованием. Подробнее",
        ],
    )
    def test_a_system_line_has_no_author_and_is_left_out(self, tmp_path: Path, line: str) -> None:
        found = read(tmp_path, f"12.02.19, 14:22 - {line}\n12.02.19, 14:23 - Иван: да\n")
        assert [(message.author, message.text) for message in messages(found)] == [("Иван", "да")]
        assert drops(found) == {"service": 1}

    def test_a_colon_without_a_space_ends_a_known_name(self, tmp_path: Path) -> None:
        text = "12.02.19, 14:22 - Иван: да\n12.02.19, 14:23 - Иван:нет\n12.02.19, 14:24 - Иван:\nвот\n"
        assert said(tmp_path, text) == [("Иван", "да"), ("Иван", "нет"), ("Иван", "вот")]

    def test_notices_in_the_name_of_the_group_are_service(self, tmp_path: Path) -> None:
        text = (
            f"[12.02.19, 14:22:00] Дача: {LRM}Иван создал группу\n"
            f"[12.02.19, 14:23:00] Дача: {LRM}\u202a+7 000\u202c добавлен(-а)\n"
            f"[12.02.19, 14:24:00] Иван: да\n"
        )
        found = read(tmp_path, text)
        assert [message.text for message in messages(found)] == ["да"]
        assert drops(found) == {"service": 2}


class TestPlaceholders:
    def one(self, folder: Path, body: str) -> tuple[list[str], dict[str, int]]:
        found = read(folder, f"12.02.19, 14:20 - Иван: начало\n12.02.19, 14:22 - Иван: {body}\n")
        return [message.text for message in messages(found)][1:], dict(drops(found))

    @pytest.mark.parametrize(
        "phrase",
        [
            *("<Без медиафайлов>", "<Файл пропущен>", f"{LRM}изображение отсутствует", "видео отсутствует"),
            *("<Media omitted>", "image omitted", f"{LRM}GIF omitted", "Contact card omitted", "null"),
            *("<Medien ausgeschlossen>", "Bild weggelassen", "Kontaktkarte ausgelassen"),
            *("<Multimedia omitido>", "imagen omitida", "sticker omitido"),
            *("<Mídia oculta>", "<Arquivo de mídia oculto>", "imagem não revelada", "áudio ocultado"),
            *("<Médias omis>", "image absente", "audio omis", "document manquant"),
            *("<Media omessi>", "immagine omessa", "sticker non incluso"),
            *("<Medya dahil edilmedi>", "görüntü dahil edilmedi", "Çıkartma dahil edilmedi"),
            *("<Без медіафайлів>", "зображення відсутнє", "документ пропущено"),
            *(
                "IMG-20190213-WA0001.jpg (файл добавлен)",
                "смета.pdf (file attached)",
                "a.ogg (archivo adjunto)",
            ),
            *("b.mp4 (Datei angehängt)", "c.pdf (arquivo anexado)", "d.jpg (fichier joint)"),
            *("e.jpg (file allegato)", "f.jpg (dosya ekli)", "g.jpg (файл додано)"),
            f"{LRM}<прикреплено: 00000012-PHOTO-2025-03-01-09-03-00.jpg>",
            f"{LRM}<attached: 00000012-PHOTO-2025-03-01-09-03-00.jpg>",
            f"{LRM}obraz pominięto",  # a language without a list: the mark tells
        ],
    )
    def test_a_placeholder_is_no_content_in_any_language(self, tmp_path: Path, phrase: str) -> None:
        assert self.one(tmp_path, phrase) == ([], {"placeholder": 1})

    @pytest.mark.parametrize(
        "body",
        [
            "IMG-20190213-WA0001.jpg (файл добавлен)\nподпись",
            "<Media omitted>\nподпись",
            f"подпись {LRM}<attached: 00000012-PHOTO-2025-03-01-09-03-00.jpg>",
            f"подпись {LRM}изображение отсутствует",
            f"{LRM}изображение отсутствует\nподпись",
            f"подпись\n{LRM}image omitted",
        ],
    )
    def test_a_caption_stays(self, tmp_path: Path, body: str) -> None:
        assert self.one(tmp_path, body) == (["подпись"], {"placeholder": 1})

    @pytest.mark.parametrize(
        "phrase",
        [
            *("Данное сообщение удалено", "Вы удалили данное сообщение.", "This message was deleted"),
            *(
                "You deleted this message.",
                "Diese Nachricht wurde gelöscht.",
                "Du hast diese Nachricht gelöscht.",
            ),
            *("Se eliminó este mensaje.", "Eliminaste este mensaje.", "Esta mensagem foi apagada"),
            *("Você apagou esta mensagem", "Ce message a été supprimé", "Questo messaggio è stato eliminato"),
            *("Bu mesaj silindi", "Ви видалили це повідомлення.", f"{LRM}This message was deleted."),
            "This message was deleted by admin Ivan.",
        ],
    )
    def test_a_deleted_message_is_left_out(self, tmp_path: Path, phrase: str) -> None:
        assert self.one(tmp_path, phrase) == ([], {"deleted": 1})

    @pytest.mark.parametrize(
        "mark",
        [
            *("<Сообщение изменено>", f"{LRM}<Сообщение изменено>", "<This message was edited>"),
            *("<Diese Nachricht wurde bearbeitet.>", "<Se editó este mensaje.>", "<Mensagem editada>"),
            *("<Ce message a été modifié>", "<Questo messaggio è stato modificato>", "<Bu mesaj düzenlendi>"),
        ],
    )
    def test_the_mark_of_an_edit_is_cut_off(self, tmp_path: Path, mark: str) -> None:
        assert self.one(tmp_path, f"приеду в семь {mark}") == (["приеду в семь"], {})

    @pytest.mark.parametrize(
        "body",
        [
            "у меня image omitted написано, что делать?",
            "нажми <Enter>",
            "<b>жирный</b>",
            "смотри отчёт.pdf (страница 3)",
            "данное сообщение удалено модератором форума, а не мной, честно",
            f"{LRM}+7 000 000-00-09 мой новый номер",
            f"{LRM}Местоположение: https://maps.example.com/?q=55.7,37.6",
            "видео отсутствует\nпотому что камера сломалась\nвидео будет завтра",
        ],
    )
    def test_what_a_person_writes_about_it_stays(self, tmp_path: Path, body: str) -> None:
        texts, _ = self.one(tmp_path, body)
        assert len(texts) == 1
        assert texts[0].split("\n")[-1] == body.split("\n")[-1].removeprefix(LRM)

    def test_a_poll_is_content(self, tmp_path: Path) -> None:
        body = (
            f"{LRM}ОПРОС:\nКуда едем?\n{LRM}ВАРИАНТ: Дача ({LRM}2 голоса)\n{LRM}ВАРИАНТ: Лес ({LRM}0 голосов)"
        )
        texts, dropped = self.one(tmp_path, body)
        assert texts == ["ОПРОС:\nКуда едем?\nВАРИАНТ: Дача (2 голоса)\nВАРИАНТ: Лес (0 голосов)"]
        assert not dropped

    def test_phrases_are_written_as_they_are_looked_up(self) -> None:
        for phrase in PLACEHOLDERS | DELETED | EDITED:
            assert phrase == " ".join(phrase.casefold().split()).removesuffix(".")
            assert len(phrase) <= 60


class TestChats:
    @pytest.mark.parametrize(
        "name",
        [
            "Чат WhatsApp с Иван.txt",
            "Чат WhatsApp с контактом Иван.txt",
            "Чат WhatsApp із Иван.txt",
            "WhatsApp Chat with Иван.txt",
            "WhatsApp Chat - Иван.txt",
            "WhatsApp Chat with Иван (2).txt",
            "WhatsApp_Chat_with_Иван.txt",
            "WhatsApp Chat mit Иван.txt",
            "WhatsApp-Chat mit Иван.txt",
            "Chat de WhatsApp con Иван.txt",
            "Conversa do WhatsApp com Иван.txt",
            "Discussion WhatsApp avec Иван.txt",
            "Chat WhatsApp con Иван.txt",
            "Иван ile WhatsApp Sohbeti.txt",
            "WhatsApp Chat - Иван/_chat.txt",
        ],
    )
    def test_the_file_names_the_chat_in_any_language(self, tmp_path: Path, name: str) -> None:
        (message,) = messages(read(tmp_path, "12.02.19, 14:22 - Иван: да\n", name))
        assert (message.chat_id, message.chat_title) == ("Иван", "Иван")

    def test_a_zip_names_the_chat_of_its_member(self, tmp_path: Path) -> None:
        with zipfile.ZipFile(tmp_path / "WhatsApp Chat - Дача.zip", "w") as archive:
            archive.writestr("_chat.txt", "[12.02.19, 14:22:00] Иван: да\r\n")
            archive.writestr("00000001-PHOTO-2019-02-12-14-22-00.jpg", b"\xff\xd8")
        (file,) = discover(tmp_path)
        assert isinstance(file, ArchiveFile)
        (message,) = messages(records("whatsapp", file))
        assert (message.chat_id, message.text) == ("Дача", "да")
        assert message.place == "WhatsApp Chat - Дача.zip!_chat.txt:1"

    def test_a_bare_chat_file_is_named_by_its_folder(self, tmp_path: Path) -> None:
        file = written(tmp_path, "Поход/_chat.txt", "[12.02.19, 14:22:00] Иван: да\n")
        assert chat_name(file) == "Поход"

    def test_any_other_name_is_the_chat(self, tmp_path: Path) -> None:
        assert chat_name(written(tmp_path, "семья.txt", "x")) == "семья"

    def test_overlapping_exports_share_their_ids(self, tmp_path: Path) -> None:
        lines = [f"12.02.19, 14:{20 + n // 2} - Иван: {'да' if n % 3 else 'нет'}\n" for n in range(10)]
        first = messages(read(tmp_path, "".join(lines[:8]), "Чат WhatsApp с Дача.txt"))
        second = messages(read(tmp_path, "".join(lines), "WhatsApp Chat with Дача.txt"))
        assert [message.id for message in second[:8]] == [message.id for message in first]
        assert len({message.id for message in second}) == 10


class TestOtherFiles:
    @pytest.mark.parametrize(
        "text",
        [
            "2026-03-09 10:00:00 - INFO: started\n2026-03-09 10:00:01 - ERROR: failed\n",
            "[2026-03-09 10:00:00] production.ERROR: failed\n",
            "2026-03-09 10:00:00,123 - root - INFO - started\n",
            "Список покупок:\n12.02.19 хлеб\n",
            "date,time,author,text\n12.02.19,14:22,Иван,да\n",
            "12:30 встреча: обсудить план\n",
            '{"role": "user", "text": "12.02.19, 14:22 - Иван: да"}\n',
            "1\n00:00:01,000 --> 00:00:04,000\nИван: да\n",
        ],
    )
    def test_logs_lists_and_tables_are_no_talk(self, tmp_path: Path, text: str) -> None:
        reader = reader_of(written(tmp_path, "other.txt", text))
        assert reader is None or reader.name == "jsonl"

    def test_a_diary_in_the_memory_stays_a_note(self, tmp_path: Path) -> None:
        file = written(tmp_path, "memory/2026-03-09.md", "2026-03-09 10:00 - сделал: отчёт\n")
        reader = reader_of(file)
        assert reader is not None
        assert reader.name == "markdown"


class TestLimits:
    def test_text_before_the_first_message_is_told_once(self, tmp_path: Path) -> None:
        found = read(tmp_path, "конец сообщения\n12.02.19, 14:22 - Иван: да\n")
        assert [message.text for message in messages(found)] == ["да"]
        assert [skip.reason for skip in skips(found)] == ["text before the first message"]

    def test_an_endless_message_is_given_in_parts(self, tmp_path: Path) -> None:
        text = "12.02.19, 14:22 - Иван: начало\n" + "слово и ещё слово\n" * (4 * MAX_MESSAGE // 18)
        found = messages(read(tmp_path, text))
        assert 2 <= len(found) <= 5
        assert all(len(message.text) < 2 * MAX_MESSAGE + 100 for message in found)
        assert "\n".join(message.text for message in found).count("слово") == 2 * (4 * MAX_MESSAGE // 18)
        assert len({message.id for message in found}) == len(found)

    def test_places_are_the_lines_of_the_heads(self, tmp_path: Path) -> None:
        two, three = "два " * 50, "три " * 50
        text = f"12.02.19, 14:22 - Иван: раз\n{two}\n\n12.02.19, 14:23 - Иван: {three}\n" * 2_500
        found = messages(read(tmp_path, text))
        assert len(found) == 5_000
        assert [int(message.place.rpartition(":")[2]) for message in found] == [
            line for n in range(2_500) for line in (4 * n + 1, 4 * n + 4)
        ]
        assert found[-2].text == f"раз\n{two.strip()}"

    def test_every_message_is_one_of_the_reader(self, tmp_path: Path) -> None:
        (message,) = messages(read(tmp_path, "12.02.19, 14:22 - Иван: да\n"))
        assert message == Message(
            chat_id="talk",
            id=message.id,
            source="whatsapp",
            role="user",
            text="да",
            place="talk.txt:1",
            at=1549970520000,
            chat_title="talk",
            author="Иван",
        )

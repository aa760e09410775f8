"""Telegram Desktop's result.json: golden messages, streaming repair, broken and odd files."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, seed, settings
from hypothesis import strategies as st

from indexer.archives import ArchiveFile, reader_of
from indexer.archives.json_text import Text
from schemas.records import Message, Record
from tests.indexer.archives.reading import drops, messages, records, samples, skips, written


def chat(folder: Path, *found: Any, **fields: Any) -> ArchiveFile:
    head = {"name": "Чат", "type": "personal_chat", "id": 1, **fields}
    return written(
        folder, "result.json", json.dumps({**head, "messages": list(found)}, ensure_ascii=False, indent=1)
    )


def sample(folder: Path, name: str) -> ArchiveFile:
    (found,) = [file for file in samples("telegram", folder) if file.name == name]
    return found


def message(id: int, text: Any = "да", **fields: Any) -> dict[str, Any]:
    return {
        "id": id,
        "type": "message",
        "date_unixtime": "1740808801",
        "from": "Иван",
        "text": text,
        **fields,
    }


def one(folder: Path, *arguments: Any, **fields: Any) -> Message:
    (found,) = messages(records("telegram", chat(folder, message(1, *arguments, **fields))))
    return found


class TestGolden:
    def test_a_full_export_gives_its_chats_and_left_chats_only(self, tmp_path: Path) -> None:
        full = sample(tmp_path, "result.json")
        found = records("telegram", full)
        assert [(m.chat_id, m.chat_title, m.id, m.author) for m in messages(found)] == [
            ("100000001", "Избранное", "50", "Иван Петров"),
            ("1500000000", "Команда поиска", "2", "Иван Петров"),
            ("1500000000", "Команда поиска", "3", "Мария Сидорова"),
            ("1500000000", "Команда поиска", "4", "Удалённый аккаунт"),
            ("1500000000", "Команда поиска", "6", "Иван Петров"),
            ("1500000000", "Команда поиска", "7", "Мария Сидорова"),
            ("1500000000", "Команда поиска", "10", "Канал проекта"),
            ("100000009", "Удалённый аккаунт", "4", "Удалённый аккаунт"),
            ("77", "Старая группа", "2", "Иван Петров"),
        ]
        assert not any("+7 000" in repr(record) for record in found)

    def test_texts_edits_replies_and_forwards(self, tmp_path: Path) -> None:
        single = sample(tmp_path, "single.json")
        by_id = {m.id: m for m in messages(records("telegram", single))}
        assert by_id["3"].text == (
            "Ок, смотри доку (https://example.com/docs). Команда: python -m indexer build\n"
            "for x in y:\n    print(x)"
        )
        assert (by_id["3"].at, by_id["3"].edited, by_id["3"].reply_to) == (1740808920000, 1740809100000, "2")
        assert by_id["4"].meta == {"forwarded_from": "Новости ИИ"}
        assert by_id["7"].text == "Какой размер чанка?\n— 600\n— 1200"


class TestMinimalFiles:
    def test_a_chat_without_name_and_id_is_known_and_named_by_its_file(self, tmp_path: Path) -> None:
        bare = {"type": "message", "date_unixtime": "1544006350", "from": "Автор", "text": "привет"}
        file = written(tmp_path, "batch.json", json.dumps({"messages": [bare, bare]}))
        reader = reader_of(file)
        assert reader is not None
        assert reader.name == "telegram"
        first, second = messages(records("telegram", file))
        assert (first.chat_id, first.chat_title) == ("batch", None)
        assert first.id != second.id

    def test_chats_without_ids_in_one_export_stay_apart(self, tmp_path: Path) -> None:
        bare = {"type": "message", "date_unixtime": "1544006350", "from": "Автор", "text": "привет"}
        chats = [{"name": name, "messages": [bare]} for name in ("раз", "два")]
        file = written(tmp_path, "batch.json", json.dumps({"chats": {"list": chats}}))
        assert {m.chat_id for m in messages(records("telegram", file))} == {"batch/раз", "batch/два"}


class TestBrokenFiles:
    def broken(self, folder: Path, size: int, *spoilt: int, filler: str = "") -> list[Record]:
        file = chat(folder, *(message(n, f"текст {n}{filler}") for n in range(1, size)))
        data = file.path.read_text("utf-8")
        for n in spoilt:
            data = data.replace(f'"текст {n}{filler}"', f'"текст {n}{filler}', 1)
        return records("telegram", written(folder, "result.json", data))

    def test_a_break_costs_its_message_and_names_the_place(self, tmp_path: Path) -> None:
        found = self.broken(tmp_path, 60, 40)
        assert [m.id for m in messages(found)] == [str(n) for n in range(1, 60) if n != 40]
        assert [(skip.place, skip.reason) for skip in skips(found)] == [
            ("result.json#39", "broken JSON after this record")
        ]

    def test_many_breaks_in_a_file_of_many_pieces_cost_only_their_messages(self, tmp_path: Path) -> None:
        spoilt = (1, 2, 300, 301, 650, 899)
        found = self.broken(tmp_path, 900, *spoilt, filler=" слово" * 60)
        assert [m.id for m in messages(found)] == [str(n) for n in range(1, 900) if n not in spoilt]
        assert {m.chat_id for m in messages(found)} == {"1"}
        assert len(skips(found)) == 4

    @pytest.mark.parametrize("lost", ["раз 3", "раз 1", "два 1", "два 3"])
    def test_a_break_in_a_full_export_never_mixes_chats(self, tmp_path: Path, lost: str) -> None:
        chats = [
            {
                "name": name,
                "type": "personal_chat",
                "id": n,
                "messages": [message(i, f"{name} {i}") for i in (1, 2, 3)],
            }
            for n, name in ((11, "раз"), (12, "два"), (13, "три"))
        ]
        text = json.dumps({"about": "", "chats": {"about": "", "list": chats}}, ensure_ascii=False, indent=1)
        found = records(
            "telegram", written(tmp_path, "result.json", text.replace(f'"{lost}"', f'"{lost}', 1))
        )
        expected = {
            (n, f"{name} {i}") for n, name in (("11", "раз"), ("12", "два"), ("13", "три")) for i in (1, 2, 3)
        }
        assert {(m.chat_id, m.text) for m in messages(found)} == {
            pair for pair in expected if pair[1] != lost
        }
        assert len(skips(found)) == 1

    def test_a_break_in_the_head_of_a_chat_keeps_its_messages_apart_from_the_others(
        self, tmp_path: Path
    ) -> None:
        chats = [
            {"name": name, "type": "personal_chat", "id": n, "messages": [message(1, name)]}
            for n, name in ((11, "раз"), (12, "два"), (13, "три"))
        ]
        text = json.dumps({"chats": {"list": chats}}, ensure_ascii=False, indent=1).replace(
            '"name": "два"', '"name": два"'
        )
        found = messages(records("telegram", written(tmp_path, "result.json", text)))
        assert [(m.chat_id, m.text) for m in found] == [("11", "раз"), ("result/3", "два"), ("13", "три")]

    def test_a_cut_file_is_told_once(self, tmp_path: Path) -> None:
        data = chat(tmp_path, *(message(n) for n in range(1, 9))).path.read_bytes()
        found = records("telegram", written(tmp_path, "result.json", data[: len(data) // 2]))
        assert [skip.reason for skip in skips(found)] == ["the file ends in the middle"]

    @pytest.mark.parametrize(
        ("odd", "kept"),
        [
            (message(2, 42), 0),
            (message(2, None), 0),
            (message(2, [1, None, {"text": 5}, "есть"]), 1),
            (message(2, date_unixtime=["x"], date={"a": 1}, **{"from": 5}, from_id=[]), 1),
            ("строка", 0),
            (None, 0),
            ([[]], 0),
            (message(2, type="hologram"), 0),
            (message(2, poll=7, edited=True, reply_to_message_id=1.5), 1),
            ({}, 0),
        ],
    )
    def test_wrong_types_cost_at_most_themselves(self, tmp_path: Path, odd: Any, kept: int) -> None:
        found = messages(records("telegram", chat(tmp_path, message(1), odd, message(3))))
        assert len(found) == 2 + kept
        assert [found[0].id, found[-1].id] == ["1", "3"]

    def test_messages_that_are_no_list_and_empty_chats_give_nothing(self, tmp_path: Path) -> None:
        for value in ("null", "5", "{}", "[]"):
            text = f'{{"name": "Чат", "type": "personal_chat", "id": 1, "messages": {value}}}'
            assert not messages(records("telegram", written(tmp_path, "result.json", text)))

    def test_brackets_without_end_take_no_memory_and_raise_nothing(self, tmp_path: Path) -> None:
        text = '{"name": "Чат", "messages": [' + '{"a":[' * 200_000
        assert not messages(records("telegram", written(tmp_path, "result.json", text)))

    def test_bytes_that_are_no_utf8_cost_a_character(self, tmp_path: Path) -> None:
        data = chat(tmp_path, message(1, "до XX после")).path.read_bytes().replace(b"XX", b"\xff\xfe")
        (found,) = messages(records("telegram", written(tmp_path, "result.json", data)))
        assert found.text == "до \ufffd\ufffd после"


class TestShapes:
    def test_a_link_whose_text_shows_its_target_is_not_doubled(self, tmp_path: Path) -> None:
        part = {"type": "text_link", "text": "https://a.example/", "href": "https://a.example/"}
        assert one(tmp_path, [part]).text == "https://a.example/"

    def test_a_placeholder_sentence_is_never_text(self, tmp_path: Path) -> None:
        text = "(File not included. Change data exporting settings to download.)"
        found = records("telegram", chat(tmp_path, message(1, text)))
        assert not messages(found)
        assert drops(found) == {"placeholder": 1, "empty": 1}

    def test_a_third_partys_phone_is_never_text(self, tmp_path: Path) -> None:
        contact = {"first_name": "Пётр", "phone_number": "+7 000 000 00 09"}
        assert not messages(records("telegram", chat(tmp_path, message(1, "", contact_information=contact))))

    def test_a_bot_and_an_integer_author(self, tmp_path: Path) -> None:
        found = one(tmp_path, "курс", via_bot="@rates_bot", from_id=7)
        assert (found.author_id, found.meta) == ("user7", {"via_bot": "@rates_bot"})

    def test_text_entities_stand_in_for_a_missing_text(self, tmp_path: Path) -> None:
        raw = message(1, text_entities=[{"type": "plain", "text": "из сущностей"}])
        del raw["text"]
        (found,) = messages(records("telegram", chat(tmp_path, raw)))
        assert found.text == "из сущностей"


class Trickle(io.RawIOBase):
    """A stream that gives its bytes in steps of a fixed size."""

    def __init__(self, data: bytes, step: int) -> None:
        self._data, self._step = data, step

    def read(self, size: int = -1, /) -> bytes:
        taken, self._data = self._data[: self._step], self._data[self._step :]
        return taken


@seed(20260308)
@settings(max_examples=200, deadline=None)
@given(
    parts=st.lists(
        st.sampled_from(["\\x0C", "\\\\", "\\\\x0C", "\\n", "ё", "x", "0", "\\x9f", '\\"', "a"]), max_size=12
    ),
    step=st.integers(1, 7),
)
def test_repair_does_not_depend_on_where_the_stream_is_cut(parts: list[str], step: int) -> None:
    data = ("[" + '"' + "".join(parts) + '"' + "]").encode()
    whole = "".join(Text(io.BytesIO(data)).steps())
    cut = "".join(Text(Trickle(data, step)).steps())  # type: ignore[arg-type]
    assert cut == whole
    expected = "".join(
        {"\\x0C": " ", "\\\\": "\\", "\\\\x0C": "\\x0C", "\\n": "\n", '\\"': '"', "\\x9f": "\x9f"}.get(p, p)
        for p in parts
    )
    assert json.loads(whole) == [expected]

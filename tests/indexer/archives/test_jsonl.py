"""Plain JSONL: golden messages, every shape of a key, every encoding and broken line."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, seed, settings
from hypothesis import strategies as st

from indexer.archives import ArchiveFile, reader_of
from indexer.archives import lines as lines_module
from schemas.records import Message
from tests.indexer.archives.reading import (
    OPTIONS,
    WITH_TOOLS,
    drops,
    messages,
    records,
    samples,
    skips,
    written,
)


def line_file(folder: Path, *values: Any) -> ArchiveFile:
    return written(
        folder, "notes.jsonl", "".join(json.dumps(value, ensure_ascii=False) + "\n" for value in values)
    )


def one(folder: Path, **fields: Any) -> Message:
    (found,) = messages(records("jsonl", line_file(folder, {"role": "user", "content": "да", **fields})))
    return found


def test_golden(tmp_path: Path) -> None:
    (file,) = [file for file in samples("jsonl", tmp_path) if file.name == "syn_ru.jsonl"]
    found = records("jsonl", file)
    assert [(m.chat_id, m.role, m.text, m.at) for m in messages(found)] == [
        ("syn_ru", "user", "Какой порт у сервиса поиска?", 1740808800000),
        ("syn_ru", "assistant", "Порт 8741.", 1740808805000),
        ("syn_ru", "user", "строка\u2028с разделителем U+2028", None),
        ("syn_ru", "user", "без перевода строки в конце", None),
    ]
    assert [(skip.place, skip.reason) for skip in skips(found)] == [("syn_ru.jsonl:6", "broken JSON")]
    assert drops(found) == {"tool_result": 1}
    tool = next(m for m in messages(records("jsonl", file, WITH_TOOLS)) if m.role == "tool")
    assert tool.text == '{"ok": true}'


class TestKeys:
    def test_an_own_id_chat_session_and_author_are_kept(self, tmp_path: Path) -> None:
        found = one(tmp_path, id="m1", chat="семья", session=0, author="Оля", title="Дом", reply_to="m0")
        assert (found.id, found.chat_id, found.session, found.author) == ("m1", "семья", "0", "Оля")
        assert (found.chat_title, found.reply_to) == ("Дом", "m0")

    @pytest.mark.parametrize(
        ("role", "expected", "author"),
        [
            ("human", "user", None),
            ("AI", "assistant", None),
            ("bot", "assistant", None),
            ("model", "assistant", None),
            ("note", "note", None),
            ("Иван", "user", "Иван"),
            (None, "user", None),
            (5, "user", None),
        ],
    )
    def test_roles(self, tmp_path: Path, role: Any, expected: str, author: str | None) -> None:
        found = one(tmp_path, role=role)
        assert (found.role, found.author) == (expected, author)

    @pytest.mark.parametrize("key", ["ts", "timestamp", "at", "date"])
    def test_any_time_key(self, tmp_path: Path, key: str) -> None:
        assert one(tmp_path, **{key: "1740808800"}).at == 1740808800000

    @pytest.mark.parametrize("value", [None, [], {}, True, "вчера", 1e300, -5, "1" * 400, ["2025-01-01"], 0])
    def test_a_time_that_is_none_is_none(self, tmp_path: Path, value: Any) -> None:
        assert one(tmp_path, ts=value).at is None

    @pytest.mark.parametrize("value", [[], {}, True, 1.5, "", "  ", None])
    def test_an_id_that_can_be_none_is_derived(self, tmp_path: Path, value: Any) -> None:
        assert one(tmp_path, id=value).id.startswith("h_")


class TestContent:
    def test_text_blocks_are_joined_and_others_counted(self, tmp_path: Path) -> None:
        blocks = [
            {"type": "text", "text": "раз"},
            "два",
            {"type": "thinking", "thinking": "хм"},
            {"type": "tool_use", "input": {"a": 1}},
            {"type": "image", "source": {}},
            5,
        ]
        found = records("jsonl", line_file(tmp_path, {"role": "assistant", "content": blocks}))
        assert [m.text for m in messages(found)] == ["раз\nдва"]
        assert drops(found) == {"thinking": 1, "tool_call": 1, "broken_block": 1}

    @pytest.mark.parametrize("value", [None, "", "  ", "\u200b", "…", "👍", [], [{"type": "image"}]])
    def test_a_text_without_a_letter_or_digit_is_dropped(self, tmp_path: Path, value: Any) -> None:
        found = records("jsonl", line_file(tmp_path, {"role": "user", "content": value}))
        assert drops(found) == {"empty": 1}

    def test_text_is_made_storable_and_else_left_as_written(self, tmp_path: Path) -> None:
        raw = '{"role": "user", "content": " a\\ud83d\\u0000b\\r\\nё  е\\u0306 \\n"}\n'
        (found,) = messages(records("jsonl", written(tmp_path, "notes.jsonl", raw)))
        assert found.text == "a\ufffdb\nё  е\u0306"

    def test_a_line_without_text_among_others_is_counted(self, tmp_path: Path) -> None:
        found = records("jsonl", line_file(tmp_path, {"content": "да"}, {"role": "user"}, {"content": True}))
        assert len(messages(found)) == 1
        assert [skip.place for skip in skips(found)] == ["notes.jsonl:2", "notes.jsonl:3"]

    def test_lines_without_any_text_are_not_ours(self, tmp_path: Path) -> None:
        assert reader_of(line_file(tmp_path, {"size": 600, "overlap": 600}, {"size": 0})) is None

    def test_texts_that_nobody_said_are_read_only_when_given_by_name(self, tmp_path: Path) -> None:
        queries = line_file(tmp_path, {"id": "q1", "text": "сортировка денег", "rel": ["m1"]})
        assert reader_of(queries) is None
        reader = reader_of(replace(queries, given=True))
        assert reader is not None
        assert reader.name == "jsonl"


class TestIdentity:
    def test_equal_lines_are_two_messages_and_both_keep_their_ids_when_lines_are_put_before(
        self, tmp_path: Path
    ) -> None:
        pair = [{"role": "user", "content": "да"}] * 2
        before = [m.id for m in messages(records("jsonl", line_file(tmp_path, *pair)))]
        after = [m.id for m in messages(records("jsonl", line_file(tmp_path, {"text": "раньше"}, *pair)))]
        assert len(set(before)) == 2
        assert after[1:] == before


class TestEncodings:
    TEXT = '{"role": "user", "content": "привет, мир"}\n{"role": "user", "content": "ещё"}'

    @pytest.mark.parametrize("codec", ["utf-8", "utf-8-sig", "utf-16", "utf-32"])
    def test_marked_encodings_are_read(self, tmp_path: Path, codec: str) -> None:
        file = written(tmp_path, "notes.jsonl", self.TEXT.encode(codec))
        reader = reader_of(file)
        assert reader is not None
        found = list(reader.read(file, OPTIONS))
        assert [m.text for m in messages(found)] == ["привет, мир", "ещё"]
        assert not skips(found)

    def test_windows_1251_is_read_and_named_once(self, tmp_path: Path) -> None:
        file = written(tmp_path, "notes.jsonl", self.TEXT.encode("cp1251"))
        found = records("jsonl", file)
        assert [m.text for m in messages(found)] == ["привет, мир", "ещё"]
        assert [skip.reason for skip in skips(found)] == ["not UTF-8, read as windows-1251"]

    def test_a_stray_byte_costs_a_character_not_the_encoding(self, tmp_path: Path) -> None:
        data = self.TEXT.encode().replace("мир".encode(), b"\xd0\xff\xd0\xb8\xd1\x80")
        assert (
            messages(records("jsonl", written(tmp_path, "notes.jsonl", data)))[0].text
            == "привет, \ufffd\ufffdир"
        )


class TestLines:
    def test_a_line_longer_than_the_cap_is_skipped_and_the_rest_read(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(lines_module, "MAX_LINE", 3 << 20)
        file = line_file(tmp_path, {"text": "до"}, {"text": "я" * (2 << 20)}, {"text": "после"})
        found = records("jsonl", file)
        assert [m.text for m in messages(found)] == ["до", "после"]
        assert [skip.place for skip in skips(found)] == ["notes.jsonl:2"]

    def test_a_first_line_longer_than_the_head_is_still_known(self, tmp_path: Path) -> None:
        reader = reader_of(line_file(tmp_path, {"role": "user", "text": "слово " * 50_000}, {"text": "да"}))
        assert reader is not None
        assert reader.name == "jsonl"

    def test_deep_nesting_costs_its_line(self, tmp_path: Path) -> None:
        text = '{"text": "до"}\n{"text": ' + "[" * 100_000 + "\n" + '{"text": "после"}\n'
        found = records("jsonl", written(tmp_path, "notes.jsonl", text))
        assert [m.text for m in messages(found)] == ["до", "после"]
        assert len(skips(found)) == 1

    def test_an_unfinished_last_line_is_normal(self, tmp_path: Path) -> None:
        found = records("jsonl", written(tmp_path, "notes.jsonl", '{"text": "до"}\n{"text": "не до'))
        assert len(messages(found)) == 1
        assert not skips(found)
        assert drops(found) == {"unfinished_line": 1}


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["type", "text", "id"]), inner)
    ),
    max_leaves=8,
)
KEYS = st.sampled_from(
    [
        "role",
        "content",
        "text",
        "ts",
        "date",
        "id",
        "chat",
        "session",
        "author",
        "title",
        "type",
        "message",
        "parentId",
        "timestamp",
        "summary",
        "edited",
        "reply_to",
        "customType",
    ]
)


@seed(20260308)
@settings(max_examples=80, deadline=None)
@given(values=st.lists(st.dictionaries(KEYS, JSON, max_size=8), max_size=5))
@pytest.mark.parametrize("source", ["jsonl", "openclaw"])
def test_no_record_whatever_raises(source: str, values: list[dict[str, Any]], tmp_path_factory: Any) -> None:
    folder = tmp_path_factory.getbasetemp()
    found = records(source, line_file(folder, *values))
    assert all(isinstance(m.text, str) and m.text.encode() and m.id for m in messages(found))

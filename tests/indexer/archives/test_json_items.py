"""Records out of one big JSON document: those of json.loads, wherever it is cut, and past what is broken."""

from __future__ import annotations

import codecs
import io
import json
import re
import tracemalloc
from typing import Any, BinaryIO, cast

import pytest
from hypothesis import given, seed, settings
from hypothesis import strategies as st

from indexer.archives import json_items, json_window
from indexer.archives.json_items import (
    BROKEN,
    ENDS_EARLY,
    LEGACY,
    MISNAMED,
    TOO_DEEP,
    TOO_LONG,
    TOO_MANY,
    Fault,
    Item,
    Layout,
    Opened,
    Value,
    walk,
)
from indexer.archives.json_text import Text
from indexer.archives.streams import DamagedFile

_RECORD = re.compile(r'\{\s*"id":')
_TALK = re.compile(r'\{\s*"name":\s*"[^"\\]*",\s*"records":\s*\[')
FLAT = Layout(
    items=frozenset({"records.item"}),
    fields=frozenset({"name", "count"}),
    begins={"records.item": _RECORD},
)
MANY = Layout(
    items=frozenset({"talks.item.records.item"}),
    fields=frozenset({"talks.item.name"}),
    opens=frozenset({"talks.item", "talks.item.records"}),
    begins={"talks.item.records.item": _RECORD, "talks.item": _TALK},
    flat=True,
)
Found = list[Item | Value | Opened | Fault]


class Stream(io.RawIOBase):
    """Gives its bytes in steps of a fixed size, and breaks off with an error where it is told to."""

    def __init__(self, data: bytes, step: int, damaged: bool = False) -> None:
        self._data, self._step, self._damaged = data, step, damaged

    def read(self, size: int = -1, /) -> bytes:
        taken, self._data = self._data[: self._step], self._data[self._step :]
        if not taken and self._damaged:
            raise DamagedFile("damaged")
        return taken


def text_of(data: str | bytes, step: int = 1 << 20) -> Text:
    data = data.encode("utf-8", "surrogatepass") if isinstance(data, str) else data
    return Text(cast(BinaryIO, Stream(data, step)))


def read(data: str | bytes, layout: Layout = FLAT, step: int = 1 << 20) -> Found:
    return list(walk(text_of(data, step), layout))


def records(found: Found) -> list[Any]:
    return [one.value for one in found if isinstance(one, Item)]


def values(found: Found) -> dict[str, Any]:
    return {one.path: one.value for one in found if isinstance(one, Value)}


def faults(found: Found) -> list[str]:
    return [one.reason for one in found if isinstance(one, Fault)]


def document(*given: Any, **fields: Any) -> str:
    return json.dumps({"name": "Чат", **fields, "records": list(given)}, ensure_ascii=False, indent=1)


def talks(*names: str, each: int = 3) -> str:
    made = [
        {"name": name, "records": [{"id": n, "text": f"{name} {n}"} for n in range(each)]} for name in names
    ]
    return json.dumps({"about": "", "talks": made}, ensure_ascii=False, indent=1)


def said(found: Found) -> list[tuple[int, str]]:
    """(how many objects were opened before it, text) of every record."""
    opened, told = 0, []
    for one in found:
        if isinstance(one, Opened) and one.path == "talks.item":
            opened += 1
        elif isinstance(one, Item) and isinstance(one.value, dict):
            told.append((opened, one.value.get("text", "")))
    return told


@pytest.fixture
def tiny(monkeypatch: pytest.MonkeyPatch) -> None:
    """Windows of one step, so that a record is cut at every place."""
    monkeypatch.setattr(json_window, "_STEP", 1)


SCALARS = st.none() | st.booleans() | st.integers(-(10**20), 10**20) | st.floats(allow_nan=False) | st.text()
ANYTHING = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)
RECORDS = st.lists(st.fixed_dictionaries({"id": st.integers(), "any": ANYTHING}) | ANYTHING, max_size=6)


class TestSoundDocuments:
    @seed(20260308)
    @settings(max_examples=70, deadline=None)
    @given(
        given_records=RECORDS,
        count=SCALARS,
        step=st.integers(1, 40),
        window=st.integers(1, 80),
        indent=st.sampled_from([None, 0, 1]),
        ascii_only=st.booleans(),
    )
    def test_records_and_values_are_those_of_json_loads_wherever_windows_are_cut(
        self,
        given_records: list[Any],
        count: Any,
        step: int,
        window: int,
        indent: int | None,
        ascii_only: bool,
    ) -> None:
        whole = {"before": [given_records], "count": count, "records": given_records, "name": count}
        data = json.dumps(whole, indent=indent, ensure_ascii=ascii_only).encode("utf-8", "replace")
        expected = json.loads(text_without_controls(data), strict=False)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(json_window, "_STEP", window)
            found = read(data, step=step)
        assert not faults(found)
        assert repr(records(found)) == repr(expected["records"])
        assert repr(values(found)) == repr({"count": expected["count"], "name": expected["name"]})

    @pytest.mark.usefixtures("tiny")
    @pytest.mark.parametrize(
        "number", ["1.5", "1e5", "1.5e-7", "-0", "-12", "1E+3", "12345678901234567890", "true"]
    )
    def test_a_number_is_whole_wherever_its_window_ends(self, number: str) -> None:
        for step in range(1, 12):
            for tail in (",", " ,", "\n,"):
                found = read(f'{{"count": {number}{tail} "records": [{number}, {number}]}}', step=step)
                assert values(found) == {"count": json.loads(number)}
                assert records(found) == [json.loads(number)] * 2
                assert not faults(found)

    @pytest.mark.usefixtures("tiny")
    def test_lists_in_lists_are_walked(self) -> None:
        layout = Layout(items=frozenset({"item.item.item"}))
        found = read("[[[1, 2], []], [], [[3], [[4]]], [[{}]]]", layout, step=3)
        assert records(found) == [1, 2, 3, [4], {}]

    def test_the_root_may_be_the_list(self) -> None:
        assert records(read('[1, {"id": 2}, null]', Layout(items=frozenset({"item"})))) == [
            1,
            {"id": 2},
            None,
        ]

    def test_objects_are_told_when_they_begin(self) -> None:
        found = read(talks("раз", "два"), MANY)
        assert said(found) == [(1, f"раз {n}") for n in range(3)] + [(2, f"два {n}") for n in range(3)]
        assert not faults(found)

    def test_several_lists_of_records_are_told_apart_by_their_paths(self) -> None:
        layout = Layout(items=frozenset({"a.item", "b.item"}))
        found = read('{"a": [1], "b": [2], "c": [3]}', layout)
        assert [(one.path, one.value) for one in found if isinstance(one, Item)] == [
            ("a.item", 1),
            ("b.item", 2),
        ]

    @pytest.mark.parametrize("empty", ["", " \n", "{}", "[]", "null", '""', "5", '{"records": []}'])
    def test_nothing_gives_no_record(self, empty: str) -> None:
        assert not [one for one in records(read(empty)) if isinstance(one, dict)]


class TestEncodings:
    DATA = document({"id": 1, "text": "ёлка 🎄"}, {"id": 2, "text": "да"})

    @pytest.mark.parametrize(
        ("mark", "codec"),
        [
            (codecs.BOM_UTF8, "utf-8"),
            (codecs.BOM_UTF16_LE, "utf-16-le"),
            (codecs.BOM_UTF16_BE, "utf-16-be"),
            (codecs.BOM_UTF32_LE, "utf-32-le"),
            (codecs.BOM_UTF32_BE, "utf-32-be"),
        ],
    )
    def test_what_a_bom_tells_is_read(self, mark: bytes, codec: str) -> None:
        for step in (1 << 20, 1 << 4, 7):
            found = read(mark + self.DATA.encode(codec), step=max(step, 4))
            assert [one["text"] for one in records(found)] == ["ёлка 🎄", "да"]
            assert not faults(found)

    def test_windows_1251_is_read_and_told_once(self) -> None:
        data = document(*({"id": n, "text": "привет, ёлка"} for n in range(50)))
        found = read(data.encode("cp1251"))
        assert [one["text"] for one in records(found)] == ["привет, ёлка"] * 50
        assert faults(found) == [LEGACY]

    def test_a_stray_byte_costs_a_character(self) -> None:
        found = read(self.DATA.encode().replace("да".encode(), b"\xff\xd0"))
        assert records(found)[1]["text"] == "\ufffd\ufffd"
        assert not faults(found)

    def test_control_characters_become_spaces_and_are_counted(self) -> None:
        raw = b'{"records": [{"id": 1, "text": "a\x00b\x1fc\\x0Cd\\\\x0Ce"}]}'
        for step in range(1, 30):
            text = text_of(raw, step)
            assert records(list(walk(text, FLAT))) == [{"id": 1, "text": "a b c d\\x0Ce"}]
            assert text.controls == 3

    def test_lone_surrogates_of_escapes_are_kept_for_the_reader(self) -> None:
        assert records(read('{"records": [{"id": "\\ud83d"}]}')) == [{"id": "\ud83d"}]


BREAKS = {
    "a quote is missing": ('"слово 5"', '"слово 5'),
    "a quote too many": ('"слово 5"', '"слово "5"'),
    "a comma is missing": ('"слово 5",', '"слово 5"'),
    "a colon is missing": ('"text": "слово 5"', '"text" "слово 5"'),
    "a bracket is missing": ('"слово 5",\n   "more": [\n    1\n   ]', '"слово 5",\n   "more": [\n    1\n'),
    "a brace too many": ('"слово 5"', '{"слово 5"'),
    "a bracket too many": ('"слово 5"', '["слово 5"'),
    "no escape": ('"слово 5"', '"слово \\q"'),
    "half an escape": ('"слово 5"', '"слово \\u12"'),
    "no value": ('"слово 5"', "слово"),
    "too many digits": ('"слово 5"', "1" * 5_000),
    "too deep": ('"слово 5"', "[" * 100_000),
}


class TestFaults:
    def data(self, size: int = 12) -> str:
        return document(*({"id": n, "text": f"слово {n}", "more": [1]} for n in range(size)))

    @pytest.mark.parametrize("fault", BREAKS)
    @pytest.mark.parametrize("flat", [True, False])
    def test_a_broken_record_costs_itself_and_is_told(self, fault: str, flat: bool) -> None:
        layout = Layout(FLAT.items, FLAT.fields, begins=FLAT.begins, flat=flat)
        sound, broken = BREAKS[fault]
        data = self.data()
        assert data.count(sound) == 1
        found = read(data.replace(sound, broken), layout)
        kept = [one["id"] for one in records(found) if isinstance(one, dict) and "more" in one]
        if flat or fault != "a bracket is missing":  # else the record takes those behind it in
            assert kept == [n for n in range(12) if n != 5]
            assert faults(found)[0] == (TOO_DEEP if fault == "too deep" else BROKEN)
        assert faults(found)

    @pytest.mark.usefixtures("tiny")
    @pytest.mark.parametrize("fault", ["a quote is missing", "a comma is missing", "no value"])
    def test_it_is_taken_up_again_wherever_windows_are_cut(self, fault: str) -> None:
        data = self.data().replace(*BREAKS[fault])
        for step in range(1, 60, 7):
            assert [one["id"] for one in records(read(data, step=step))] == [n for n in range(12) if n != 5]

    def test_a_cut_at_any_place_keeps_the_records_before_it(self) -> None:
        data = self.data(6)
        ends = [match.end() for match in re.finditer(r"\n  \}", data)]
        for cut in range(1, len(data.rstrip()) - 1):
            found = read(data[:cut])
            assert len(records(found)) == sum(end <= cut for end in ends), cut
            assert faults(found) == [ENDS_EARLY], cut

    def test_what_stands_behind_the_document_is_told(self) -> None:
        assert faults(read(self.data() + " x")) == [BROKEN]

    def test_a_second_document_is_read_too(self) -> None:
        found = read(self.data(3) + "\n" + self.data(2))
        assert [one["id"] for one in records(found)] == [0, 1, 2, 0, 1]
        assert faults(found) == [BROKEN]

    def test_a_record_past_the_limit_is_told_and_passed(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(json_window, "MAX_ITEM", 5_000)
        monkeypatch.setattr(json_window, "_STEP", 1_000)
        found = read(document({"id": 1}, {"id": 2, "text": "а" * 20_000}, {"id": 3}), step=1_000)
        assert [one["id"] for one in records(found)] == [1, 3]
        assert faults(found) == [TOO_LONG]

    def test_a_file_of_faults_alone_ends(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(json_items, "MAX_FAULTS", 20)
        found = read('{"records": [' + '{"id": x},' * 1_000)
        assert faults(found) == [*[BROKEN] * 20, TOO_MANY]

    @pytest.mark.parametrize("depth", [10, 100_000])
    def test_nesting_around_the_records_is_passed_over(self, depth: int) -> None:
        deep = "[" * depth + "]" * depth
        found = read(f'{{"before": {deep}, "records": [{{"id": 1}}]}}')
        assert records(found) == [{"id": 1}]
        assert faults(found) == ([] if depth == 10 else [TOO_DEEP])

    def test_endless_brackets_end(self) -> None:
        for opening in ("[", '{"records":', '{"a":', '{"records":[', '{"records":[{"id":'):
            assert faults(read(opening * 100_000))

    def test_a_stream_that_breaks_off_gives_what_came_before(self) -> None:
        data = self.data().encode()[:-200]
        found: Found = []
        with pytest.raises(DamagedFile):
            found.extend(walk(Text(cast(BinaryIO, Stream(data, 100, damaged=True))), FLAT))
        assert [one["id"] for one in records(found)] == list(range(9))

    @seed(20260309)
    @settings(max_examples=100, deadline=None)
    @given(
        position=st.integers(0, 700),
        junk=st.sampled_from(['"', "{", "}", "[", "]", ",", ":", "\\", "1", "x", "\x00", ""]),
    )
    def test_any_character_in_any_place_costs_at_most_two_records(self, position: int, junk: str) -> None:
        data = self.data()
        found = read(
            data[:position] + junk + data[position + 1 :], Layout(FLAT.items, begins=FLAT.begins, flat=True)
        )
        kept = [one.get("id") for one in records(found) if isinstance(one, dict)]
        assert len(set(range(12)) - set(kept)) <= 2
        assert len(found) < 60


class TestObjectsOfRecords:
    @pytest.mark.parametrize("lost", [f"{name} {n}" for name in ("раз", "два", "три") for n in range(3)])
    def test_a_broken_record_never_moves_others_into_another_object(self, lost: str) -> None:
        found = read(talks("раз", "два", "три").replace(f'"{lost}"', f'"{lost}', 1), MANY)
        expected = [(at, f"{name} {n}") for at, name in enumerate(("раз", "два", "три"), 1) for n in range(3)]
        assert said(found) == [one for one in expected if one[1] != lost]
        # The last string without end reaches to the end of the file.
        assert faults(found) == [ENDS_EARLY if lost == "три 2" else BROKEN]

    @pytest.mark.parametrize(
        ("sound", "broken"),
        [('"name": "два"', '"name": два"'), ('"name": "два"', '"name" "два"'), ('"два",\n', '"два"\n')],
    )
    def test_records_of_an_object_with_a_broken_head_are_of_one_more_object(
        self, sound: str, broken: str
    ) -> None:
        found = read(talks("раз", "два", "три").replace(sound, broken, 1), MANY)
        numbers = {text: at for at, text in said(found)}
        assert len(said(found)) == 9
        assert numbers["раз 2"] < numbers["два 0"] == numbers["два 2"] < numbers["три 0"]

    def test_records_under_a_damaged_key_are_found_and_told(self) -> None:
        for key, other in (("records", "recordz"), ("talks", "talkz")):
            found = read(talks("раз", "два").replace(f'"{key}"', f'"{other}"', 1), MANY)
            assert [text for _, text in said(found)] == [
                f"{name} {n}" for name in ("раз", "два") for n in range(3)
            ]
            assert MISNAMED in faults(found)

    def test_lists_that_only_look_like_records_are_left_alone(self) -> None:
        layout = Layout(FLAT.items, begins=FLAT.begins, aside=frozenset({"others"}))
        assert records(read('{"others": [{"id": 1}], "records": [{"id": 2}]}', layout)) == [{"id": 2}]

    def test_something_else_in_place_of_a_list_is_given_as_it_is(self) -> None:
        found = read(
            '{"talks": [{"name": "раз", "records": null}, 5, {"name": "два", "records": [{"id": 1}]}]}', MANY
        )
        assert [(one.path, one.value) for one in found if isinstance(one, Item)] == [
            ("talks.item.records", None),
            ("talks.item", 5),
            ("talks.item.records.item", {"id": 1}),
        ]


def test_memory_does_not_grow_with_the_document() -> None:
    record = json.dumps({"id": 1, "text": "слово " * 100}, ensure_ascii=False).encode() + b","

    class Endless(io.RawIOBase):
        left = 12

        def read(self, size: int = -1, /) -> bytes:
            self.left -= 1
            return b'{"records": [' if self.left == 11 else record * 900 if self.left > 0 else b""

    tracemalloc.start()
    try:
        count = sum(isinstance(one, Item) for one in walk(Text(cast(BinaryIO, Endless())), FLAT))
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert count == 10 * 900
    assert peak < 7_000_000  # of 10 MB


def text_without_controls(data: bytes) -> str:
    """The document as Text gives it."""
    return "".join(text_of(data).steps())

"""Records that are the values of an object, whatever their keys: walked, and gone on at after damage."""

from __future__ import annotations

import io
import json
import re
from typing import Any

from indexer.archives.json_items import MISNAMED, Fault, Item, Layout, Opened, Value, walk
from indexer.archives.json_text import Text

LAYOUT = Layout(
    items=frozenset({"item.mapping.*"}),
    fields=frozenset({"item.name"}),
    opens=frozenset({"item", "item.mapping"}),
    begins={
        "item": re.compile(r'\{"name"'),
        "item.mapping.*": re.compile(r'"(\w{1,9})": \{"id": "\1"'),
    },
    anywhere=True,
)
ONE = {"name": "один", "mapping": {"a": {"id": "a"}, "b.c": {"id": "b.c"}, "item": 5}}
TWO = {"name": "два", "mapping": {"d": {"id": "d"}, "e": {"id": "e"}}}


def found(text: str) -> list[Any]:
    return [
        (event.path, event.value) if isinstance(event, Item | Value)
        else event.path if isinstance(event, Opened) else event
        for event in walk(Text(io.BytesIO(text.encode())), LAYOUT)
    ]  # fmt: skip


def ids(text: str) -> list[str]:
    return [
        event[1]["id"] for event in found(text) if isinstance(event, tuple) and isinstance(event[1], dict)
    ]


def faults(text: str) -> list[str]:
    return [event.reason for event in found(text) if isinstance(event, Fault)]


def test_values_are_records_under_their_own_paths() -> None:
    assert found(json.dumps([ONE])) == [
        "item",
        ("item.name", "один"),
        "item.mapping",
        ("item.mapping.a", {"id": "a"}),
        ("item.mapping.b.c", {"id": "b.c"}),
        ("item.mapping.item", 5),
    ]


def test_what_stands_in_place_of_an_object_is_told_as_a_record() -> None:
    assert found('[7, {"mapping": []}]') == [("item", 7), "item", ("item.mapping", [])]


def test_a_list_in_place_of_an_object_is_gone_through() -> None:
    assert ids(json.dumps([[ONE], TWO])) == ["a", "b.c", "d", "e"]


def test_a_broken_record_costs_itself_and_the_walk_goes_on_in_the_same_object() -> None:
    text = json.dumps([TWO, TWO]).replace('{"id": "d"}', '{"id": "d}', 1)
    assert ids(text) == ["e", "d", "e"]
    assert len(faults(text)) == 1


def test_a_broken_beginning_of_an_object_costs_no_record() -> None:
    text = json.dumps([ONE, TWO]).replace('{"name": "\\u0434', '{"name" "\\u0434')
    assert ids(text)[-2:] == ["d", "e"]
    assert len(faults(text)) == 1


def test_a_record_outside_of_its_object_is_found() -> None:
    text = '[{"name": "один", "mapping": {"a": {"id": "a"}}, "b": {"id": "b"}, "c": {"id": "c"}}}]'
    assert ids(text) == ["a", "b", "c"]
    assert faults(text) == [MISNAMED]

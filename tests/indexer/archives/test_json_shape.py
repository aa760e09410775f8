from __future__ import annotations

import codecs
import json

import pytest

from indexer.archives.json_shape import Shape, may_have, shape_of

LIST = '[{"a": {"x": 1, "\\"q\\"": []}, "b": "тут \\"c\\": 1"}, {"d": null}]'


@pytest.mark.parametrize(
    "head",
    [
        LIST.encode(),
        codecs.BOM_UTF8 + LIST.encode(),
        codecs.BOM_UTF16_LE + LIST.encode("utf-16-le"),
        b"\xff\xff" + LIST.encode(),
        b"\n  " + json.dumps(json.loads(LIST), indent=1).encode(),
    ],
)
def test_the_keys_of_all_objects_of_a_list_are_seen(head: bytes) -> None:
    assert shape_of(head) == Shape(True, frozenset({"a", "b", "d"}))


def test_an_object_has_its_own_keys_and_what_follows_it_does_not_count() -> None:
    assert shape_of(b'{"a": {"x": 1}, "b": [{"y": 2}]}\n{"c": 3}') == Shape(False, frozenset({"a", "b"}))


def test_a_cut_head_shows_what_it_has() -> None:
    assert shape_of(b'[{"a": 1, "b": "te\\"x\\": ') == Shape(True, frozenset({"a", "b"}))


@pytest.mark.parametrize("head", [b"", b"text", b'"text" and more [', b"<html>{"])
def test_what_does_not_begin_as_a_container_has_no_shape(head: bytes) -> None:
    assert shape_of(head) is None or not shape_of(head).keys  # type: ignore[union-attr]


@pytest.mark.parametrize("head", [b'[{"a' + b'\\"' * 30_000, b"[" * 60_000, b'{"' * 30_000])
def test_a_hostile_head_takes_no_time(head: bytes) -> None:
    assert shape_of(head) is not None


@pytest.mark.parametrize("codec", ["utf-8", "utf-8-sig", "utf-16", "utf-32"])
def test_a_key_that_is_there_may_be_there_in_every_encoding(codec: str) -> None:
    assert may_have(LIST.encode(codec), ("d",))
    assert codec.startswith(("utf-16", "utf-32")) or not may_have(LIST.encode(codec), ("x y",))

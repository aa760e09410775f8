"""At size: the same questions of a set's own index and of one that holds every set's text."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from schemas.problems import SettingsError
from service.evaluation.judged import JudgedQuery
from service.evaluation.sets import FOREIGN
from service.evaluation.together import HELD_OUT, AtSize, at_size, held_out


def written(path: Path, *lines: dict[str, Any]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines), "utf-8")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for number, text in enumerate(("Кота зовут Барсик", "Пёс живёт в Твери")):
        written(
            tmp_path / "ru_chat" / f"dialog{number}.jsonl",
            {
                "chat": f"dialog{number}",
                "id": f"m{number}",
                "role": "user",
                "ts": f"2025-03-0{number + 1}T10:00:00+03:00",
                "text": text,
            },
        )
    written(
        tmp_path / "ru_chat" / "queries.jsonl",
        {"text": "как зовут кота", "rel": ["m0"], "chat": "dialog0", "kind": "name"},
        {"text": "где живёт пёс", "rel": ["m1"], "chat": "dialog1", "kind": "fact"},
        {"text": "как зовут ежа", "rel": [], "chat": "dialog0", "kind": "none"},
    )
    for language in ("ru", "en"):
        written(
            tmp_path / f"xquad_{language}.jsonl",
            {"type": "doc", "id": "p1", "title": "Oslo", "text": f"Oslo ({language})"},
            {"type": "query", "id": "q", "text": "capital?", "rel": ["p1"]},
        )
    written(
        tmp_path / "gigamemory_ru.jsonl",
        {"id": 1, "sessions": [{"id": 1, "messages": [{"role": "user", "content": "Кота зовут Барсик"}]}]},
        {"id": 2, "sessions": [{"id": 1, "messages": [{"role": "user", "content": "Ёж на даче"}]}]},
    )
    return tmp_path


@pytest.fixture
def size(folder: Path) -> AtSize:
    return at_size(folder, ["ru_chat"], 7)


def test_every_set_of_the_folder_is_poured_in_without_copies(size: AtSize) -> None:
    assert size.poured == ["xquad_ru", "xquad_en", "ru_chat", "gigamemory"]
    texts = [line["text"] for lines in size.joined.files.values() for line in lines]
    assert sorted(texts) == sorted(
        ["Oslo (ru)", "Oslo (en)", "Кота зовут Барсик", "Пёс живёт в Твери", "Ёж на даче"]
    )
    chats = {line["chat"] for lines in size.joined.files.values() for line in lines}
    assert chats == {"xquad_ru", "xquad_en", "dialog0", "dialog1", "gigamemory2"}


def test_only_the_chosen_sets_are_asked_alone_and_together_by_the_same_name(size: AtSize) -> None:
    (alone,) = size.alone
    assert alone.name == "ru_chat"
    names = ["ru_chat/together", "ru_chat/together/per-conversation"]
    assert [judged.name for judged in alone.sets] == [judged.name for judged in size.joined.sets] == names
    assert [judged.pooled for judged in size.joined.sets] == [True, False]


def test_the_questions_are_the_same_but_for_the_chats_that_are_held_against_them(size: AtSize) -> None:
    (alone,) = size.alone
    for own, joined in zip(alone.sets, size.joined.sets, strict=True):
        asked = [[(query.text, query.kind) for query in judged.queries] for judged in (own, joined)]
        assert asked[0] == asked[1]
    held = [query for query in size.joined.sets[0].queries if query.kind == HELD_OUT]
    assert [(query.text, query.among) for query in held] == [
        ("как зовут кота", ("xquad_ru", "xquad_en", "dialog1", "gigamemory2")),
        ("где живёт пёс", ("xquad_ru", "xquad_en", "dialog0", "gigamemory2")),
    ]
    assert [query.among for query in alone.sets[0].queries if query.among] == [("dialog1",), ("dialog0",)]


def test_foreign_questions_are_asked_inside_a_chat_only(size: AtSize) -> None:
    pooled, inside = (judged.queries for judged in size.joined.sets)
    assert not any(query.kind == FOREIGN for query in pooled)
    assert any(query.kind == FOREIGN for query in inside)
    assert any(query.kind == "none" for query in pooled)


def test_the_time_is_that_of_the_sets_own_newest_message(size: AtSize) -> None:
    assert {judged.now for judged in size.joined.sets} == {datetime(2025, 3, 2, 7, tzinfo=UTC)}


def test_a_set_without_chats_is_poured_in_and_not_asked(folder: Path) -> None:
    with pytest.raises(SettingsError, match="its questions name no chat"):
        at_size(folder, ["xquad"], 7)


def test_a_chosen_set_must_be_there(folder: Path) -> None:
    with pytest.raises(SettingsError, match="There is no locomo"):
        at_size(folder, ["locomo", "ru_chat"], 7)


def test_what_is_held_out_has_an_answer_in_its_own_chat_and_none_elsewhere() -> None:
    judged = [JudgedQuery(f"{chat}{at}", ("m",), chat) for chat in "abc" for at in range(20)]
    judged += [JudgedQuery("?", (), "a", "none", answerable=False)]
    found = held_out(judged, "abcd", seed=3, count=5)
    assert len(found) == 15
    assert not any(query.answerable or query.relevant for query in found)
    assert all(query.text[0] not in query.among and len(query.among) == 3 for query in found)
    fewer = held_out(judged, "abc", seed=3, count=5)
    assert [query.text for query in fewer] == [query.text for query in found]

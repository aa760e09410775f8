from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from schemas.problems import SettingsError
from service.cli.search_evaluation import SETS
from service.evaluation.judged import JudgedQuery
from service.evaluation.sets import ADAPTERS, FOREIGN, foreign, gigamemory, locomo, ru_chat, xquad


def written(path: Path, *lines: dict[str, Any]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines), "utf-8")


def turn(conversation: str, number: int, speaker: str, text: str) -> dict[str, Any]:
    return {
        "type": "doc",
        "conv": conversation,
        "id": f"{conversation}/D1:{number}",
        "session": "session_1",
        "date": "1:56 pm on 8 May, 2023",
        "speaker": speaker,
        "text": f"{speaker}: {text}",
    }


def asked(conversation: str, category: int, text: str) -> dict[str, Any]:
    gold = [f"{conversation}/D1:1"]
    return {"type": "query", "conv": conversation, "category": category, "text": text, "rel": gold}


def test_the_command_offers_every_adapter() -> None:
    assert set(SETS) == set(ADAPTERS)


def test_a_conversation_becomes_a_chat_with_its_dates_and_speakers(tmp_path: Path) -> None:
    written(
        tmp_path / "locomo_dev.jsonl",
        turn("c1", 1, "Ann", "I moved to Oslo."),
        turn("c2", 1, "Bob", "Tea? Bob: yes."),
        asked("c1", 4, "Where did Ann move?"),
        asked("c2", 5, "Where did Bob move?"),
    )
    (corpus,) = locomo(tmp_path, 7)
    assert corpus.files["c1.jsonl"] == [
        {
            "chat": "c1",
            "session": "session_1",
            "id": "c1/D1:1",
            "role": "user",
            "author": "Ann",
            "ts": "2023-05-08T13:56:00+00:00",
            "text": "I moved to Oslo.",
        }
    ]
    assert corpus.files["c2.jsonl"][0]["text"] == "Tea? Bob: yes."
    alone, pooled = corpus.sets
    assert (alone.pooled, pooled.pooled) == (False, True)
    assert pooled.queries == [
        JudgedQuery("Where did Ann move?", ("c1/D1:1",), "c1", "single_hop", answerable=True),
        JudgedQuery("Where did Bob move?", ("c2/D1:1",), "c2", "adversarial", answerable=False),
    ]
    # Ann's question, asked where nobody knows her.
    assert alone.queries[2:] == [JudgedQuery("Where did Ann move?", (), "c2", FOREIGN, answerable=False)]


def test_foreign_queries_are_the_same_for_the_same_seed_and_never_of_the_own_chat() -> None:
    judged = [JudgedQuery(f"{chat}{at}", ("m",), chat) for chat in "abc" for at in range(20)]
    found = foreign(judged, seed=3, count=10)
    assert found == foreign(judged, seed=3, count=10)
    assert len(found) == 30
    assert all(query.text[0] != query.chat for query in found)
    assert not any(query.answerable or query.relevant for query in found)


def test_paragraphs_are_asked_in_both_languages(tmp_path: Path) -> None:
    for language, text in (("ru", "\ufeffОсло — столица."), ("en", "Oslo is a capital.")):
        written(
            tmp_path / f"xquad_{language}_dev.jsonl",
            {"type": "doc", "id": "p1", "title": "Oslo", "text": text},
            {"type": "query", "id": "q", "text": f"capital? ({language})", "rel": ["p1"]},
        )
    russian, english = xquad(tmp_path, 7)
    assert russian.files["paragraphs.jsonl"][0]["text"] == "Осло — столица."
    assert [judged.name for judged in russian.sets] == ["xquad/ru-ru", "xquad/en-ru"]
    assert [judged.name for judged in english.sets] == ["xquad/ru-en", "xquad/en-en"]
    assert russian.sets[1].queries[0] == JudgedQuery("capital? (en)", ("p1",))


def test_a_talk_is_asked_in_itself_and_some_in_the_other_one(tmp_path: Path) -> None:
    folder = tmp_path / "ru_chat"
    line = {"chat": "dialog0", "id": "m1", "role": "user", "text": "Кот Барсик."}
    written(folder / "dialog0.jsonl", line)
    written(folder / "dialog1.jsonl", line | {"chat": "dialog1"})
    written(
        folder / "queries.jsonl",
        {"text": "как зовут кота", "rel": ["m1"], "chat": "dialog0", "kind": "name"},
        {"text": "как зовут пса", "rel": [], "chat": "dialog1", "kind": "none"},
    )
    (corpus,) = ru_chat(tmp_path, 7)
    assert corpus == ru_chat(folder, 7)[0]
    assert corpus.files["dialog0.jsonl"] == [line]
    assert [(query.kind, query.chat) for query in corpus.sets[0].queries] == [
        ("name", "dialog0"),
        ("none", "dialog1"),
        (FOREIGN, "dialog1"),
    ]


def test_the_languages_are_chats_of_their_own(tmp_path: Path) -> None:
    for language in ("ru", "en"):
        written(
            tmp_path / f"xquad_{language}.jsonl",
            {"type": "doc", "id": "p1", "title": "Oslo", "text": language},
            {"type": "query", "id": "q", "text": "capital?", "rel": ["p1"]},
        )
    chats = [corpus.files["paragraphs.jsonl"][0]["chat"] for corpus in xquad(tmp_path, 7)]
    assert chats == ["xquad_ru", "xquad_en"]


def test_a_talk_that_is_another_sets_own_is_not_poured_in(tmp_path: Path) -> None:
    def record(number: int, *texts: str) -> dict[str, Any]:
        messages = [{"role": "user", "content": text} for text in texts]
        return {"id": number, "sessions": [{"id": 1, "messages": messages}]}

    written(tmp_path / "gigamemory_ru.jsonl", record(1, "Кот", "Пёс"), record(2, "Кот", "Ёж", "Лось"))
    filler = gigamemory(tmp_path, {"Кот", "Пёс"})
    assert list(filler.files) == ["gigamemory2.jsonl"]
    assert filler.files["gigamemory2.jsonl"][1] == {
        "chat": "gigamemory2",
        "session": 1,
        "id": "gigamemory2-1-1",
        "role": "user",
        "text": "Ёж",
    }
    assert filler.sets == ()
    assert not gigamemory(tmp_path / "none", ()).files


@pytest.mark.parametrize("name", SETS)
def test_a_folder_without_the_set_says_so(tmp_path: Path, name: str) -> None:
    with pytest.raises(SettingsError, match="There is no"):
        ADAPTERS[name](tmp_path, 7)

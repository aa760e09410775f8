from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from indexer.text.normal import normal
from schemas.http import Answer, Hit, SearchRequest
from service.engine import LiveEngine
from tests.fakes.index import Line, engine_over, published, said

DAY = 86_400
START = 1_772_323_200  # 2026-03-01T00:00:00Z
TOPICS = ("сервер", "докер", "бюджет", "отпуск", "граф", "память", "деплой", "база")
PEOPLE = ("Иван Петров", "Мария", "Олег")


def lines() -> Iterator[Line]:
    for number in range(90):
        topic, author = TOPICS[number % 8], PEOPLE[number % 3]
        text = f"Обсуждаем {topic}, вопрос {number}: что решили про {TOPICS[number * 5 % 8]} и OpenClaw?"
        at = START + number * 7 * 3600
        yield said(text, f"a{number}", chat="работа", chat_title="Рабочий чат", author=author, ts=at)
    for number in range(30):
        text = f"Ёлка номер {number} стоит у сервера, спросить у @user{number % 4}"
        yield said(text, f"b{number}", chat="дом", chat_title="Ёлки", author="Олег", ts=START + number * DAY)
    long = " ".join(f"Раздел {number} длинной заметки говорит о резервных копиях." for number in range(90))
    yield said(long, "long", chat="заметки", author="Мария", ts=START)
    yield said("Запись без времени: пароли лежат в сейфе", "timeless", chat="сейф")


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LiveEngine]:
    with engine_over(published(tmp_path_factory.mktemp("hits"), lines())) as opened:
        yield opened


def ask(engine: LiveEngine, q: str, **more: Any) -> Answer:
    return engine.search(SearchRequest.model_validate({"q": q, **more}))


def ids(hits: list[Hit]) -> list[str]:
    return [f"{hit.chat.id}/{hit.id}" for hit in hits]


def total(hit: Hit) -> float:
    assert hit.explain is not None
    return float(sum(leg["contribution"] for leg in hit.explain.values()))


QUERIES = (
    "что решили про серверы",
    "граф и память в OpenClaw",
    "что Мария говорила про бюджет 5 марта",
    "@user3 ёлка",
    "резервные копии",
    "мой",
    "вчера",
    "unrelated english words",
)


@pytest.mark.parametrize("unit", ["chunk", "message"])
@pytest.mark.parametrize("mode", ["hybrid", "vector", "text", "entities"])
@pytest.mark.parametrize("q", QUERIES)
def test_the_contributions_of_every_hit_sum_to_its_score(
    engine: LiveEngine, q: str, mode: str, unit: str
) -> None:
    hits = ask(engine, q, mode=mode, unit=unit, explain=True, limit=100).hits
    for hit in hits:
        assert total(hit) == pytest.approx(hit.score, rel=0, abs=1e-6)
        assert 0 < hit.score <= 1
    assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)


@pytest.mark.parametrize("unit", ["chunk", "message"])
@pytest.mark.parametrize("mode", ["hybrid", "vector", "text", "entities"])
def test_pages_are_disjoint_consecutive_parts_of_one_long_page(
    engine: LiveEngine, mode: str, unit: str
) -> None:
    q = "что решили про сервер и OpenClaw"
    whole = ids(ask(engine, q, mode=mode, unit=unit, limit=60).hits)
    paged = [
        id_
        for offset in range(0, 60, 7)
        for id_ in ids(ask(engine, q, mode=mode, unit=unit, limit=7, offset=offset).hits)
    ]
    assert paged[: len(whole)] == whole
    assert len(set(paged)) == len(paged)


def test_a_page_behind_the_last_hit_is_empty(engine: LiveEngine) -> None:
    assert ask(engine, "сервер", offset=1000).hits == []


def test_min_score_keeps_exactly_the_hits_above_it(engine: LiveEngine) -> None:
    every = ask(engine, "что решили про серверы", limit=100).hits
    bound = every[len(every) // 2].score + 1e-5
    kept = ask(engine, "что решили про серверы", limit=100, min_score=bound).hits
    assert ids(kept) == ids([hit for hit in every if hit.score >= bound])
    assert 0 < len(kept) < len(every)


def test_the_span_of_a_message_in_a_chunk_is_its_text(engine: LiveEngine) -> None:
    written = {(line.get("chat"), line["id"]): line["content"] for line in lines()}
    hits = ask(engine, "сервер OpenClaw ёлка копии", limit=100).hits
    assert len(hits) > 10
    for hit in hits:
        for message in hit.messages:
            shown = hit.text[slice(*message.span)]
            original = written[hit.chat.id, message.id]
            assert shown
            assert shown == original if len(original) <= 600 else shown in original


def test_a_hit_of_messages_is_the_message_with_the_id_of_its_source(engine: LiveEngine) -> None:
    written = {(line.get("chat"), line["id"]): line["content"] for line in lines()}
    hits = ask(engine, "сервер OpenClaw ёлка", unit="message", limit=100).hits
    assert len(hits) > 10
    for hit in hits:
        assert hit.text == written[hit.chat.id, hit.id]
        (message,) = hit.messages
        assert (message.id, message.span) == (hit.id, (0, len(hit.text)))


@pytest.mark.parametrize("mode", ["hybrid", "text"])
def test_a_message_over_2000_characters_shows_its_best_window(engine: LiveEngine, mode: str) -> None:
    hit = ask(engine, "раздел 77", unit="message", mode=mode, chat="заметки").hits[0]
    assert hit.id == "long"
    assert "Раздел 77" in hit.text
    assert len(hit.text) <= 600
    assert hit.messages[0].span == (0, len(hit.text))


@pytest.mark.parametrize("unit", ["chunk", "message"])
def test_highlights_cover_every_inflected_form(engine: LiveEngine, unit: str) -> None:
    hits = ask(engine, "ёлок у серверов", unit=unit, chat="дом", highlight=True, limit=5).hits
    assert hits
    for hit in hits:
        marked = [normal(hit.text[start:end]) for start, end in hit.highlights or []]
        assert set(marked) == {"елка", "сервера"}
        assert len(marked) == 2 * len(hit.messages)


def test_highlights_are_absent_unless_asked_for(engine: LiveEngine) -> None:
    hit = ask(engine, "сервер").hits[0]
    assert (hit.highlights, hit.explain, hit.before, hit.after) == (None, None, None, None)


@pytest.mark.parametrize("unit", ["chunk", "message"])
def test_context_is_what_stands_before_and_after_in_the_talk(engine: LiveEngine, unit: str) -> None:
    hits = ask(engine, "вопрос 44", unit=unit, chat="работа", context=2, limit=100).hits
    order = sorted(hits, key=lambda hit: hit.at or "")
    place = {hit.id: at for at, hit in enumerate(order)}
    checked = 0
    for hit in hits:
        before = [near.id for near in hit.before or []]
        after = [near.id for near in hit.after or []]
        assert hit.id not in before + after
        known = [place[id_] for id_ in [*before, hit.id, *after] if id_ in place]
        assert known == sorted(known)
        checked += len(before) == 2 and len(after) == 2
        for near in [*(hit.before or []), *(hit.after or [])]:
            assert near.text
            assert all(near.text[slice(*message.span)] for message in near.messages)
    assert unit == "chunk" or checked


def test_one_chunk_is_shown_with_its_neighbours(engine: LiveEngine) -> None:
    hit = next(
        hit for hit in ask(engine, "заметки копии", context=1, limit=50).hits if hit.before and hit.after
    )
    shown = engine.chunk(hit.id, 1, 1)
    assert (shown.text, shown.messages) == (hit.text, hit.messages)
    assert shown.before == hit.before
    assert shown.after == hit.after


def test_copies_in_other_chats_are_counted_and_not_shown(tmp_path: Path) -> None:
    text = "Решили хранить граф сущностей в одной базе рядом с векторами"
    copies = [said(text, f"m{chat}", chat=chat, ts=START) for chat in ("раз", "два", "три")]
    with engine_over(published(tmp_path, [*copies, said("другое дело", "x", chat="четыре")])) as engine:
        for unit in ("chunk", "message"):
            (hit,) = ask(engine, "граф сущностей", unit=unit, mode="text").hits
            shown = {hit.chat.id, *(copy.chat for copy in hit.also)}
            assert shown == {"раз", "два", "три"}
            assert len(hit.also) == 2


def test_short_equal_messages_are_talk_and_no_copies(tmp_path: Path) -> None:
    short = [said("да, ок", f"m{chat}", chat=chat) for chat in ("раз", "два", "три")]
    with engine_over(published(tmp_path, short)) as engine:
        assert len(ask(engine, "ок", unit="message", mode="text").hits) == 3

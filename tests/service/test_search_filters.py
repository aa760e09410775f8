from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import pytest

from schemas.http import SearchRequest
from schemas.problems import RequestError
from service.engine import LiveEngine
from tests.fakes.index import engine_over, published, said

NOON = int(datetime(2026, 3, 18, 12, tzinfo=UTC).timestamp())
DAY = 86_400
ZONE = "Europe/Moscow"  # UTC+3


def lines() -> Iterator[dict[str, Any]]:
    yield said(
        "сервер упал", "m1", chat="c1", chat_title="Ёлки-Палки", author="Иван Петров", author_id="u1", ts=NOON
    )
    yield said(
        "сервер встал", "m2", chat="c2", chat_title="Другой", author="Мария", author_id="u2", ts=NOON + DAY
    )
    yield said("сервер ждёт", "m3", chat="c3", author="Ёжик", ts=NOON + 2 * DAY)
    yield said("сервер вне времени", "m4", chat="c4")
    yield said("сервер по инструкции", "m5", chat="c5", role="instruction", ts=NOON)
    yield said("сервер из системы", "m6", chat="c6", role="system", ts=NOON)
    # Chat c7 is named like the title of c1.
    yield said("сервер в тёзке", "m7", chat="елки-палки", author="u1", ts=NOON - 40 * DAY)
    yield said("сервер стоит в Docker у Антона", "m8", chat="c8", ts=NOON - 41 * DAY)
    yield said("Иван Петров на связи", "m9", chat="c9", author="Олег", ts=NOON - 60 * DAY)
    # 19 March, 01:00 in Moscow.
    yield said("сервер после полуночи", "m10", chat="c10", ts=NOON + 10 * 3600)


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LiveEngine]:
    settings = published(tmp_path_factory.mktemp("filters"), lines(), timezone=ZONE)
    with engine_over(settings) as opened:
        yield opened


def found(engine: LiveEngine, unit: str, **more: Any) -> set[str]:
    request = SearchRequest.model_validate(
        {"q": "сервер", "unit": unit, "mode": "text", "limit": 100, **more}
    )
    return {message.id for hit in engine.search(request).hits for message in hit.messages}


USUAL = {"m1", "m2", "m3", "m4", "m6", "m7", "m8", "m10"}

CASES: list[tuple[dict[str, Any], set[str]]] = [
    ({}, USUAL),
    ({"chat": "c1"}, {"m1"}),
    ({"chat": ["c1", "c2"]}, {"m1", "m2"}),
    ({"chat": "ДРУГОЙ"}, {"m2"}),
    ({"chat": "ЁЛКИ-ПАЛКИ"}, {"m1"}),
    ({"chat": "елки-палки"}, {"m7"}),  # the id comes first
    ({"chat": "нет такого"}, set()),
    ({"author": "иван петров"}, {"m1"}),
    ({"author": "ежик"}, {"m3"}),
    ({"author": "u1"}, {"m1"}),  # an id, though someone is named so
    ({"author": "u2"}, {"m2"}),
    ({"author": "никто"}, set()),
    ({"role": "instruction"}, {"m5"}),
    ({"role": ["system", "instruction"]}, {"m5", "m6"}),
    ({"role": "assistant"}, set()),
    ({"source": "jsonl"}, USUAL),
    ({"source": "telegram"}, set()),
    ({"since": "2026-03-19"}, {"m2", "m3", "m10"}),
    ({"until": "2026-03-18"}, {"m1", "m6", "m7", "m8"}),
    ({"since": "2026-03-18", "until": "2026-03-18"}, {"m1", "m6"}),
    ({"since": "2026-03-18T15:00", "until": "2026-03-18T15:00"}, {"m1", "m6"}),
    ({"since": "2026-03-18T12:00:00Z", "until": "2026-03-18T12:00:00Z"}, {"m1", "m6"}),
    ({"since": "2026-03-18T15:00:01"}, {"m2", "m3", "m10"}),
    ({"until": "2026-03-18T14:59:59"}, {"m7", "m8"}),
    ({"since": "1970-01-01"}, USUAL - {"m4"}),
    ({"until": "2999-12-31"}, USUAL - {"m4"}),
    ({"chat": "c1", "author": "Мария"}, set()),
    ({"entity": "докера"}, {"m8"}),
    ({"entity": "DOCKER"}, {"m8"}),
    ({"entity": "нет такой"}, set()),
    ({"entity": "Docker", "chat": "c1"}, set()),
]


@pytest.mark.parametrize("unit", ["chunk", "message"])
@pytest.mark.parametrize(
    ("keys", "ids"), CASES, ids=lambda value: str(value) if isinstance(value, dict) else ""
)
def test_a_filter_keeps_exactly_what_it_names(
    engine: LiveEngine, unit: str, keys: dict[str, Any], ids: set[str]
) -> None:
    assert found(engine, unit, **keys) == ids


@pytest.mark.parametrize("unit", ["chunk", "message"])
@pytest.mark.parametrize("mode", ["hybrid", "vector", "entities"])
@pytest.mark.parametrize(
    "keys", [{"chat": "c2"}, {"author": "Мария"}, {"since": "2026-03-19", "until": "2026-03-19"}]
)
def test_no_mode_returns_what_a_filter_leaves_out(
    engine: LiveEngine, unit: str, mode: str, keys: dict[str, Any]
) -> None:
    assert found(engine, unit, mode=mode, **keys) <= {"m2", "m10"}


def test_an_author_is_found_as_an_entity_in_an_inflected_query(engine: LiveEngine) -> None:
    request = SearchRequest(q="что сказал Иван Петров", mode="entities", explain=True)
    hit = engine.search(request).hits[0]
    assert hit.explain is not None
    assert hit.explain["entities"]["matched"] == ["Иван Петров"]
    inflected = SearchRequest(q="поговорить с Иваном Петровым", mode="entities")
    assert engine.search(inflected).hits[0].id == hit.id


@pytest.mark.parametrize(
    ("keys", "where"),
    [
        ({"role": "чужой"}, "role"),
        ({"since": "когда-то"}, "since"),
        ({"until": "2026-02-30"}, "until"),
        ({"until": "99999y"}, "until"),
        ({"since": "2026-03-19", "until": "2026-03-18"}, "since"),
    ],
)
def test_a_filter_that_is_not_understood_is_named(
    engine: LiveEngine, keys: dict[str, Any], where: str
) -> None:
    with pytest.raises(RequestError) as caught:
        found(engine, "chunk", **keys)
    assert (caught.value.code, caught.value.status) == ("invalid_parameter", 422)
    assert [name for name, _ in caught.value.errors] == [where]

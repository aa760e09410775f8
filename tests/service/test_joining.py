from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from schemas.http import Hit, SearchRequest
from service.engine import LiveEngine
from service.joining import MESSAGE_CHARACTERS
from tests.fakes.index import engine_over, published, said

START = 1_772_323_200
FILLER = "Обычная строка про погоду, дорогу и вечерний чай. "


def spread(word: str, parts: int) -> str:
    """A long text that says a word in every window."""
    return "".join(f"Часть {at}: {word} стоит у окна. " + FILLER * 5 for at in range(parts)).strip()


LINES = [
    said("До этого говорили о другом.", "before", ts=START),
    said(spread("фикус", 5), "whole", role="assistant", ts=START + 60),
    said("После этого замолчали.", "after", ts=START + 120),
    said(spread("кактус", 40), "endless", chat="b", role="assistant", ts=START),
    said(f"Сансевиерия. {FILLER * 11}За сансевиерией Grafana. {FILLER * 9}", "named", chat="d", ts=START),
    said(FILLER * 15 + "Пеларгония одна. " + FILLER * 20, "one", chat="c", role="assistant", ts=START),
]
TEXTS = {line["id"]: line["content"] for line in LINES}


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LiveEngine]:
    with engine_over(published(tmp_path_factory.mktemp("passage"), LINES)) as opened:
        yield opened


def hits(engine: LiveEngine, q: str, **more: Any) -> list[Hit]:
    return engine.search(SearchRequest.model_validate({"q": q, "mode": "text", **more})).hits


def test_windows_that_touch_are_one_hit_with_all_of_their_text(engine: LiveEngine) -> None:
    (hit,) = hits(engine, "фикус")
    (message,) = hit.messages
    assert message.id == "whole"
    start, end = message.span
    assert hit.text[start:end] == TEXTS["whole"]
    assert len(hit.text) > 1_000


def test_a_hit_shows_no_more_than_2000_characters_of_a_message(engine: LiveEngine) -> None:
    (hit,) = hits(engine, "кактус")
    start, end = hit.messages[0].span
    assert 1_400 < end - start <= MESSAGE_CHARACTERS
    assert hit.text[start:end] in TEXTS["endless"]


def test_a_window_that_does_not_fit_stays_out(engine: LiveEngine) -> None:
    (hit,) = hits(engine, "пеларгония")
    assert len(hit.text) <= 620
    assert "Пеларгония одна" in hit.text


def test_the_talk_around_a_hit_does_not_repeat_it(engine: LiveEngine) -> None:
    (hit,) = hits(engine, "фикус", context=2)
    shown = [neighbour.text for neighbour in [*(hit.before or []), *(hit.after or [])]]
    assert not any("фикус" in text for text in shown)
    assert any("замолчали" in text for text in shown)


def test_the_names_of_a_hit_are_those_of_all_its_text(engine: LiveEngine) -> None:
    (hit,) = hits(engine, "сансевиерия")
    assert "Grafana" not in engine.chunk(hit.id, 0, 0).text
    assert "Grafana" in hit.text
    assert "Grafana" in hit.entities


def test_highlights_stand_in_the_whole_text(engine: LiveEngine) -> None:
    (hit,) = hits(engine, "фикус", highlight=True)
    assert [hit.text[start:end] for start, end in hit.highlights or []] == ["фикус"] * 5


def test_the_id_of_a_hit_is_of_a_window_inside_it(engine: LiveEngine) -> None:
    (hit,) = hits(engine, "фикус")
    alone = engine.chunk(hit.id, 0, 0)
    start, end = alone.messages[0].span
    assert len(alone.text) < len(hit.text)
    assert alone.text[start:end] in hit.text

"""A search whose words stand nowhere as typed: what it finds, and what it says of it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from schemas.http import Answer, SearchRequest
from service.engine import LiveEngine
from service.render import as_markdown, as_text
from tests.fakes.index import engine_over, published, said

TALK = [
    said("Щербинин пел про пруд", "song"),
    said("капусту квашу осенью", "cabbage"),
    said("прислали программу концерта", "tickets"),
    said("вчера был дождь", "rain"),
]


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LiveEngine]:
    with engine_over(published(tmp_path_factory.mktemp("repaired"), TALK)) as opened:
        yield opened


def ask(engine: LiveEngine, q: str, **more: object) -> Answer:
    return engine.search(SearchRequest.model_validate({"q": q, "unit": "message", **more}))


@pytest.mark.parametrize(
    ("typed", "found", "told"),
    [
        ("sherbinin", "song", {"sherbinin": "щербинин"}),
        ("rfgecnf", "cabbage", {"rfgecnf": "капуста"}),
        ("програма", "tickets", {"програма": "программа"}),
    ],
)
@pytest.mark.parametrize("mode", ["hybrid", "text"])
def test_what_was_meant_is_found_marked_explained_and_told(
    engine: LiveEngine, typed: str, found: str, told: dict[str, str], mode: str
) -> None:
    answer = ask(engine, typed, mode=mode, highlight=True, explain=True)
    best = answer.hits[0]
    assert best.id == found
    assert answer.repaired == told
    assert best.highlights
    assert best.explain is not None
    assert best.explain["message_text"]["terms"]
    shown = as_text(answer, 3_000, ZoneInfo("UTC"))
    assert f"искали также: {next(iter(told.values()))}" in shown
    assert "искали также" in as_markdown(answer, 3_000, ZoneInfo("UTC"))


def test_a_search_of_known_words_says_nothing_of_repairs(engine: LiveEngine, tmp_path: Path) -> None:
    answer = ask(engine, "капусту осенью")
    assert answer.repaired == {}
    assert "искали также" not in as_text(answer, 3_000, ZoneInfo("UTC"))

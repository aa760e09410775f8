from __future__ import annotations

from pathlib import Path

import pytest

from indexer.stores import generation as generations
from indexer.stores.generation import Generation
from indexer.text.lemmas import lemma_column
from schemas.problems import BuildRefused
from service.checks import CHECKS, finds_itself, shrink_guard
from tests.fakes.index import Line, archive, build, published, said, settings_for


def told(root: Path, lines: list[Line]) -> str | None:
    settings = published(root, lines)
    generation = generations.open_current(settings.data)
    try:
        return finds_itself(generation, None)
    finally:
        generation.close()


def many(count: int) -> list[Line]:
    return [said(f"запись {number} про сервер", f"m{number}", chat=f"c{number}") for number in range(count)]


def test_a_build_that_lost_a_fifth_of_the_messages_is_refused_with_both_numbers(tmp_path: Path) -> None:
    settings = settings_for(tmp_path / "index")
    build(settings, archive(tmp_path / "a", many(20)), checks=CHECKS)
    with pytest.raises(BuildRefused) as caught:
        build(settings, archive(tmp_path / "a", many(15)), checks=CHECKS, mirror=True)
    assert "15 messages" in caught.value.message
    assert "20" in caught.value.message
    assert "--force" in caught.value.hint
    assert generations.current_name(settings.data) == "000001"


def test_a_build_that_lost_less_is_published(tmp_path: Path) -> None:
    settings = settings_for(tmp_path / "index")
    build(settings, archive(tmp_path / "a", many(20)), checks=CHECKS)
    report = build(settings, archive(tmp_path / "a", many(16)), checks=CHECKS, mirror=True)
    assert report.generation == "000002"


def test_the_first_generation_has_nothing_to_shrink_from(tmp_path: Path) -> None:
    settings = published(tmp_path, many(1))
    generation = generations.open_current(settings.data)
    try:
        assert shrink_guard(generation, None) is None
    finally:
        generation.close()


@pytest.mark.parametrize(
    "texts",
    [
        ["один"],
        ["да"] * 60,
        ["привет", "привет!", "Привет"] * 30,
        ["и", "в", "не", "что"] * 20,
        ["👍 ок"] * 40,
        [f"Ночной отчёт: бэкап готов, ошибок нет, размер {at} ГБ" for at in range(120)],
        [" ".join(f"строка{row}" for row in range(60)) + f" конец {at}" for at in range(40)],
        [f"слово{at} " * 100 for at in range(30)],
        ["١٢٣ 日本語 ½", "ﷺ ß"],
    ],
    ids=["one", "yes", "hello", "stop words", "emoji", "reports", "long templates", "repeated", "scripts"],
)
def test_an_honest_archive_of_any_kind_finds_itself(tmp_path: Path, texts: list[str]) -> None:
    lines = [said(text, f"m{at}", chat=f"c{at}", author=f"Автор{at % 7}") for at, text in enumerate(texts)]
    assert told(tmp_path, lines) is None


def test_full_text_that_belongs_to_other_chunks_is_seen(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = settings_for(tmp_path / "index")
    words = [f"слово{number} дело{number * 7} место{number * 3}" for number in range(40)]
    lines = [said(text, f"m{at}", chat=f"c{at:02}") for at, text in enumerate(words)]
    # What a writer would do that files each chat's message and chunk under the rows of the next one.
    texts: list[str] = ["пусто", "пусто"]

    def shifted(text: str) -> str:
        texts.append(lemma_column(text))
        return texts[-3]

    monkeypatch.setattr("indexer.stores.vectors.lemma_column", shifted)
    monkeypatch.setattr("indexer.stores.vectors.raw_column", lambda text: "")
    with pytest.raises(BuildRefused) as caught:
        build(settings, archive(tmp_path / "a", lines), checks=[finds_itself])
    assert "sampled chunks are not found by their own words" in caught.value.message


def test_an_empty_archive_passes(tmp_path: Path) -> None:
    settings = published(tmp_path, [said("👍")])
    generation: Generation = generations.open_current(settings.data)
    try:
        assert [check(generation, None) for check in CHECKS] == [None, None]
    finally:
        generation.close()

from collections import Counter
from importlib.resources import files

import pytest

from indexer.entities.gazetteer import known
from indexer.text.aliases import table, types
from indexer.text.names import name_key


def test_the_table_is_broad_and_each_form_stands_once() -> None:
    text = files("indexer.text").joinpath("data", "aliases.tsv").read_text("utf-8")
    rows = [line.split("\t") for line in text.splitlines() if line and not line.startswith("# ")]
    assert len(rows) >= 300
    assert all(len(row) == 3 and all(cell == cell.strip() != "" for cell in row) for row in rows)
    assert [form for form, count in Counter(row[0] for row in rows).items() if count > 1] == []
    assert {row[2] for row in rows} == {"LOC", "ORG", "NAME"}


def test_every_canonical_name_has_a_type_and_the_key_of_its_forms() -> None:
    assert set(types()) == set(table().values())
    assert [form for form, name in table().items() if name_key(form) != name_key(name)] == []


@pytest.mark.parametrize(
    "form, name, kind",
    [
        ("питере", "Санкт-Петербург", "LOC"),
        ("екб", "Екатеринбург", "LOC"),
        ("сбером", "Сбербанк", "ORG"),
        ("т-банке", "Т-Банк", "ORG"),
        ("докером", "Docker", "NAME"),
        ("постгрю", "PostgreSQL", "NAME"),
        ("графаной", "Grafana", "NAME"),
        ("жпт", "GPT", "NAME"),
        ("клоду", "Claude", "NAME"),
        ("энтропик", "Anthropic", "ORG"),
        ("c#", "C#", "NAME"),
    ],
)
def test_slang_in_any_case_is_known_with_its_type_and_key(form: str, name: str, kind: str) -> None:
    found = known(form)
    assert found is not None
    assert (found.name, found.type) == (name, kind)
    assert name_key(form) == name_key(name)


@pytest.mark.parametrize(
    "word", ["мак", "альфа", "тесла", "мегафон", "штаты", "лама", "go", "cursor", "apple"]
)
def test_an_ordinary_word_in_small_letters_is_no_name(word: str) -> None:
    assert known(word) is None
    assert known(word.capitalize()) is not None


@pytest.mark.parametrize(
    "word", ["куда", "скала", "кролик", "влад", "плюсы", "курсор", "хром", "вики", "опус"]
)
def test_common_words_and_first_names_are_no_forms(word: str) -> None:
    assert word not in table()

import pytest

from indexer.entities.nicknames import full_names
from indexer.text.names import name_key


@pytest.mark.parametrize(
    "short, full",
    [
        ("Ваня", ["Иван"]),
        ("Сашу", ["Александр", "Александра"]),
        ("Жене", ["Евгений", "Евгения"]),
        ("лёхе", ["Алексей"]),
        ("Катей", ["Екатерина"]),
        ("Настю", ["Анастасия"]),
        ("Димону", ["Дмитрий"]),
        ("Bob", ["Robert"]),
        ("kate", ["Katherine", "Catherine"]),
        ("Mike", ["Michael"]),
    ],
)
def test_a_short_name_in_any_case_leads_to_the_keys_of_its_full_names(short: str, full: list[str]) -> None:
    assert full_names(name_key(short)) == tuple(dict.fromkeys(map(name_key, full)))


@pytest.mark.parametrize("name", ["Олег", "Иван Петров", "Docker", ""])
def test_what_is_no_short_name_has_no_full_one(name: str) -> None:
    assert full_names(name_key(name)) == ()


def test_a_name_of_several_stays_one_of_several() -> None:
    assert {"вячеслав", "станислав", "ярослав"} <= set(full_names(name_key("Слава")))

from __future__ import annotations

import pytest

from service.question import asks


@pytest.mark.parametrize(
    "query",
    [
        "где ключи от гаража",
        "Кому отдали старый велосипед",
        "сколько стоит доставка",
        "в каком городе живёт Аня",
        "с кем она ездила на море",
        "успела ли Оля на поезд",
        "ремонт на кухне закончен?",
        "чей это номер",
        "Where did we park",
        "the name of the vet, who was it",
        "did Anna pass the exam",
        "isn't the office closed on Friday",
        "How much is the rent",
    ],
)
def test_a_question_is_told_by_its_mark_or_by_a_word_that_asks(query: str) -> None:
    assert asks(query)


@pytest.mark.parametrize(
    "query",
    [
        "ключи от гаража",
        "пароль вайфай дача",
        "список покупок на неделю",
        "рецепт пирога с вишней",
        "garage keys",
        "things Anna has done",
        "будильник на шесть",
        "",
    ],
)
def test_keywords_ask_nothing(query: str) -> None:
    assert not asks(query)

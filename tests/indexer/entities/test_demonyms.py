import pytest

from indexer.entities import Extractor
from indexer.entities.demonyms import place_of
from indexer.entities.naming import readable


@pytest.mark.parametrize(
    "adjective, place",
    [
        ("Российской", "Россия"),
        ("французского", "Франция"),
        ("Арктическом", "Арктика"),
        ("американских", "США"),
        ("франкфуртскую", "Франкфурт"),
        ("казанского", "Казань"),
        ("курского", "Курск"),
        ("рижского", "Рига"),
    ],
)
def test_an_adjective_that_stands_for_a_place_is_that_place(adjective: str, place: str) -> None:
    assert place_of(adjective) == readable(adjective, "LOC") == place


@pytest.mark.parametrize(
    "word", ["Английский", "Тверская", "Киевской", "в Уральске", "Уральском", "красного"]
)
def test_a_street_a_channel_or_another_town_stays_what_it_is(word: str) -> None:
    assert place_of(word) is None


def test_a_noun_of_the_same_form_is_no_adjective(slovnet: Extractor) -> None:
    (mentions,) = slovnet.extract(["был в Уральске и в Алтайском крае"])
    assert [mention.name for mention in mentions] == ["Уральск", "Алтайский край"]

import pytest

from indexer.entities import Extractor
from indexer.entities.acronyms import is_term


@pytest.mark.parametrize(
    "word", ["API", "SQL", "НДС", "ООО", "CPU", "JSON", "LLM", "НДСа", "PDFs", "API-шка", "XIX"]
)
def test_terms_of_trade_are_told_in_any_form(word: str) -> None:
    assert is_term(word)


@pytest.mark.parametrize("word", ["AWS", "МВД", "TON", "США", "НАСА", "Api", "ML"])
def test_names_are_no_terms(word: str) -> None:
    assert not is_term(word)


def found(extractor: Extractor, text: str) -> dict[str, str]:
    (mentions,) = extractor.extract([text])
    return {text[m.start : m.end]: m.type for m in mentions}


def test_acronyms_of_trade_are_neither_organisations_nor_names(slovnet: Extractor) -> None:
    assert found(slovnet, "API отдаёт JSON, SQL тормозит, CPU горит, НДС платит бухгалтер, в XIX веке") == {}
    assert found(slovnet, "Это OTLP HTTP, а GAAP и IFRS потом.") == {}


def test_an_office_is_no_part_of_the_name_after_it(slovnet: Extractor) -> None:
    assert "Ivora Tinn" in found(slovnet, "Их CFO Ivora Tinn запускает дашборд.")
    assert "CTO Иван Петров" not in found(slovnet, "наш CTO Иван Петров решил")


def test_an_acronym_inside_a_longer_name_stays(slovnet: Extractor) -> None:
    assert "SQL Server" in found(slovnet, "Переехали на SQL Server вчера.")

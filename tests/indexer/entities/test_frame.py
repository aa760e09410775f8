import pytest
import spacy

from indexer.entities import Extractor
from indexer.entities.frame import Frame, RazdelTokenizer, slovnet_pipeline
from indexer.entities.patterns import Span


@pytest.mark.parametrize(
    "text", ["Ростов-на-Дону, да", "  два  пробела\n\nи строки ", "👩‍👩‍👧 и\u00a0вот", "", " ", "\t"]
)
def test_tokens_cover_the_text_exactly(text: str) -> None:
    doc = RazdelTokenizer(spacy.blank("ru").vocab)(text)
    assert doc.text == text
    assert "".join(token.text_with_ws for token in doc) == text


def test_a_hyphened_place_is_one_token() -> None:
    doc = RazdelTokenizer(spacy.blank("ru").vocab)("в Ростове-на-Дону жара")
    assert [token.text for token in doc] == ["в", "Ростове-на-Дону", "жара"]


def test_slovnet_is_a_component_of_a_spacy_pipeline(slovnet: Extractor) -> None:
    nlp = slovnet_pipeline()
    assert nlp.pipe_names == ["letopis_slovnet"]
    doc = nlp("Иван Петров приехал в Москву.")
    assert [(ent.text, ent.label_) for ent in doc.ents] == [("Иван Петров", "PER"), ("Москву", "LOC")]
    assert not nlp("   \n").ents


def test_any_pipeline_with_ents_fits_the_frame() -> None:
    nlp = spacy.blank("ru")
    ruler = nlp.add_pipe("entity_ruler")
    ruler.add_patterns([{"label": "LOC", "pattern": "Москва"}])  # type: ignore[attr-defined]
    texts = ["длинный текст, где есть Москва", "", "Москва"]
    assert list(Frame(nlp).names(texts)) == [[Span(24, 30, "LOC")], [], [Span(0, 6, "LOC")]]

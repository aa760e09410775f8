import numpy as np
import pytest
import spacy
from hypothesis import given, settings
from hypothesis import strategies as st
from razdel import tokenize  # type: ignore[import-untyped]

from indexer.entities import Extractor
from indexer.entities import network as network_module
from indexer.entities.tokenizer import RazdelTokenizer

TEXTS = ["Иван Петров приехал в Москву.", "Анна", "вчера в Казани, а потом в Твери и снова в Казани"]


def own(slovnet: Extractor) -> tuple[object, list[np.ndarray]]:
    component = slovnet._names._nlp.get_pipe("letopis_slovnet")  # type: ignore[attr-defined]
    read = component._infer.encoder.input(
        [
            ([token.word for token in tokens], [token.shape for token in tokens])
            for tokens in map(component._tokens, map(slovnet._names._nlp.make_doc, TEXTS))  # type: ignore[attr-defined]
        ]
    )
    return component, [read.word_id, read.shape_id, read.pad_mask]


def test_the_emissions_are_those_of_slovnet(slovnet: Extractor) -> None:
    component, arrays = own(slovnet)
    theirs = component._infer.model(*arrays)  # type: ignore[attr-defined]
    for _ in range(2):  # made, and from memory
        ours = component._network(*arrays)  # type: ignore[attr-defined]
        mask = ~arrays[2]
        np.testing.assert_allclose(ours[mask], theirs[mask], atol=1e-3)


@pytest.mark.parametrize("rows", [4, 12, 64])
def test_a_full_memory_changes_nothing(
    slovnet: Extractor, monkeypatch: pytest.MonkeyPatch, rows: int
) -> None:
    component, arrays = own(slovnet)
    monkeypatch.setattr(network_module, "ROWS", rows)
    small = network_module.Network(component._infer.model)  # type: ignore[attr-defined]
    for _ in range(3):
        np.testing.assert_allclose(small(*arrays), component._network(*arrays), atol=1e-4)  # type: ignore[attr-defined]


_tokenizer = RazdelTokenizer(spacy.blank("ru").vocab)


@settings(max_examples=400, deadline=None, derandomize=True)
@given(st.text("аБ1 2-.,/\\_…!?: )(—яhoY*Δ\n\u2011\u00a0", max_size=16) | st.text(max_size=60))
def test_remembered_stretches_give_the_tokens_of_the_whole_text(text: str) -> None:
    doc = _tokenizer(text)
    assert doc.text == text
    assert [token.text for token in doc if not token.text.isspace()] == [one.text for one in tokenize(text)]

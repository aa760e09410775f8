"""What every embedder promises, run over the list of built-ins with the real HTTP and process boundaries."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from typing import get_args

import numpy as np
import pytest

from indexer.embedders import _ABSENCES, EMBEDDERS, Embedder, unavailable
from schemas.settings import Embedding, Gemini, Local, Ollama, Provider, Settings
from tests.fakes.gemini import FakeGemini
from tests.fakes.ollama import FakeOllama
from tests.fakes.server import nearest

TEXTS = ("Сервер переехал на новую площадку", "Кошка спит на подоконнике", "The build is green again")


@pytest.fixture(scope="module", params=list(EMBEDDERS))
def configured(request: pytest.FixtureRequest) -> Iterator[tuple[str, Settings, Mapping[str, str]]]:
    with ExitStack() as stack:
        gemini, ollama = stack.enter_context(FakeGemini()), stack.enter_context(FakeOllama())
        embedding = Embedding(
            cloud=True,
            query_timeout_ms=10_000,
            gemini=Gemini(base_url=gemini.url),
            ollama=Ollama(host=ollama.url),
            local=Local(workers=1),
        )
        yield request.param, Settings(embedding=embedding), {"GEMINI_API_KEY": "k" * 39}


@pytest.fixture(scope="module")
def embedder(configured: tuple[str, Settings, Mapping[str, str]]) -> Iterator[Embedder]:
    name, settings, environment = configured
    embedder = EMBEDDERS[name](settings, environment)
    yield embedder
    embedder.close()


def test_every_provider_of_the_settings_is_listed_with_its_absence() -> None:
    assert set(EMBEDDERS) == set(_ABSENCES) == set(get_args(Provider))


def test_a_configured_provider_takes_part(configured: tuple[str, Settings, Mapping[str, str]]) -> None:
    assert unavailable(*configured) is None


def test_documents_are_unit_rows_in_the_order_of_the_texts(embedder: Embedder) -> None:
    rows = embedder.documents(TEXTS)
    assert rows.dtype == np.float32
    assert rows.shape == (3, embedder.identity.dims)
    assert np.linalg.norm(rows, axis=1) == pytest.approx(1, abs=1e-3)
    again = np.stack([embedder.documents([text])[0] for text in TEXTS])
    assert np.abs(rows - again).max() < 1e-5


def test_a_query_is_a_unit_vector_nearest_to_the_same_text(embedder: Embedder) -> None:
    rows = embedder.documents(TEXTS)
    for index, text in enumerate(TEXTS):
        vector = embedder.query(text)
        assert vector.shape == (embedder.identity.dims,)
        assert np.linalg.norm(vector) == pytest.approx(1, abs=1e-3)
        assert nearest(vector, rows) == index


def test_no_texts_give_no_rows(embedder: Embedder) -> None:
    assert embedder.documents([]).shape == (0, embedder.identity.dims)


def test_no_text_however_odd_breaks_it(embedder: Embedder) -> None:
    odd = ["\x00", "\ud800", "а\ud83dб", " ", "", "…", "\u202e", "\ufdfa" * 3, "👩‍👩‍👧‍👦", "обычный текст"]
    rows = embedder.documents(odd)
    assert np.linalg.norm(rows, axis=1) == pytest.approx(1, abs=1e-3)
    for text in odd[:5]:
        assert np.linalg.norm(embedder.query(text)) == pytest.approx(1, abs=1e-3)


def test_a_text_of_any_length_gets_one_vector(embedder: Embedder) -> None:
    assert embedder.documents(["Архив переписки о серверах. " * 5_000]).shape[0] == 1


def test_the_space_is_named_by_its_provider(
    configured: tuple[str, Settings, Mapping[str, str]], embedder: Embedder
) -> None:
    assert embedder.identity.provider == configured[0]
    assert embedder.workers >= 1
    assert embedder.max_batch >= 100
    assert embedder.paid == (configured[0] == "gemini")
    assert not embedder.english_only


def test_closing_twice_is_harmless(configured: tuple[str, Settings, Mapping[str, str]]) -> None:
    name, settings, environment = configured
    embedder = EMBEDDERS[name](settings, environment)
    embedder.warm()
    embedder.close()
    embedder.close()

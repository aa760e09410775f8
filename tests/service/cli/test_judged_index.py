"""An evaluation set's own index: made once, and embedded once however many indexes hold its texts."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from indexer.embedders import EMBEDDERS
from indexer.embedders.hash import HashEmbedder
from indexer.stores.generation import current_manifest
from service.cli.judged_index import indexed
from service.evaluation.sets import Corpus


class Counting(HashEmbedder):
    """The hash embedder, which also remembers what it was given."""

    def __init__(self) -> None:
        self.texts: list[str] = []

    def documents(self, texts: Sequence[str]) -> np.ndarray[Any, np.dtype[np.float32]]:
        self.texts += texts
        return super().documents(texts)


@pytest.fixture
def embedder(monkeypatch: pytest.MonkeyPatch) -> Counting:
    made = Counting()
    monkeypatch.setitem(EMBEDDERS, "hash", lambda settings, environment: made)
    return made


def corpus(name: str, *texts: str) -> Corpus:
    lines = [
        {"chat": text, "id": "1", "role": "user", "ts": "2025-03-01T10:00:00Z", "text": text}
        for text in texts
    ]
    return Corpus(name, "UTC", {"talk.jsonl": lines}, ())


def test_only_the_named_provider_makes_vectors(tmp_path: Path, embedder: Counting) -> None:
    settings = indexed(corpus("cats", "Кот спит", "Кот ест"), tmp_path, "hash")
    manifest = current_manifest(settings.data)
    assert manifest is not None
    assert [space["provider"] for space in manifest.spaces] == ["hash"]
    assert len(embedder.texts) == 2


def test_what_another_index_has_embedded_is_not_embedded_again(tmp_path: Path, embedder: Counting) -> None:
    indexed(corpus("cats", "Кот спит", "Кот ест"), tmp_path, "hash")
    del embedder.texts[:]
    both = corpus("both", "Кот спит", "Кот ест", "Пёс лает")
    settings = indexed(both, tmp_path, "hash", beside=["cats", "never made"])
    assert [text.rsplit(": ", 1)[-1] for text in embedder.texts] == ["Пёс лает"]
    manifest = current_manifest(settings.data)
    assert manifest is not None
    assert manifest.spaces[0]["coverage"] == 1.0


def test_a_second_run_embeds_nothing(tmp_path: Path, embedder: Counting) -> None:
    for _ in range(2):
        indexed(corpus("cats", "Кот спит"), tmp_path, "hash")
    assert len(embedder.texts) == 1

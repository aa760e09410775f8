from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import pytest

from indexer.stores import generation as generations
from indexer.stores.generation import Generation
from schemas.settings import Settings
from service import staleness
from service.staleness import Staleness
from tests.fakes.index import archive, build, published, said, settings_for


class Clock:
    """Stands for the time module of `service.staleness`."""

    def __init__(self, now: float) -> None:
        self.now = now

    def monotonic(self) -> float:
        return self.now

    def time(self) -> float:
        return self.now


def opened(settings: Settings) -> Generation:
    generation = generations.open_current(settings.data)
    generation.close()  # what is asked of it here stands in the manifest
    return generation


def clocked(monkeypatch: pytest.MonkeyPatch, generation: Generation, hours: float = 0.0) -> Clock:
    clock = Clock(generation.manifest.built_at / 1000 + hours * 3600)
    monkeypatch.setattr(staleness, "time", clock)
    return clock


def rewritten(path: Path) -> None:
    """The same number of bytes, other content, another time."""
    path.write_bytes(path.read_bytes().swapcase())
    os.utime(path, ns=(1, 1))


def test_a_touched_source_with_the_same_content_is_not_stale(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = published(tmp_path, [said("сервер", "m1")])
    generation = opened(settings)
    clocked(monkeypatch, generation)
    os.utime(tmp_path / "archive" / "talk.jsonl", ns=(1, 1))
    assert Staleness(settings.data).of(generation) == []


def test_a_changed_source_is_named_once_the_cache_is_old(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = published(tmp_path, [said("сервер", "m1")])
    generation = opened(settings)
    clock = clocked(monkeypatch, generation)
    stale = Staleness(settings.data)
    assert stale.of(generation) == []
    rewritten(tmp_path / "archive" / "talk.jsonl")
    assert stale.of(generation) == []
    clock.now += 31
    assert stale.of(generation) == ["talk.jsonl has changed since this generation was built"]


def test_the_next_generation_is_looked_at_anew(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    settings = published(tmp_path, [said("сервер", "m1")])
    first = opened(settings)
    clocked(monkeypatch, first)
    stale = Staleness(settings.data)
    path = archive(tmp_path / "archive", [said("сервер", "m1"), said("ещё", "m2")])
    assert stale.of(first) != []
    build(settings, path)
    assert stale.of(opened(settings)) == []


@pytest.mark.parametrize(("hours", "told"), [(0, []), (35.9, []), (40, ["the last build is 40 h old"])])
def test_a_missed_night_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, hours: float, told: list[str]
) -> None:
    settings = published(tmp_path, [said("сервер", "m1")])
    generation = opened(settings)
    clocked(monkeypatch, generation, hours)
    assert Staleness(settings.data).of(generation) == told


def test_thousands_of_changed_sources_are_told_in_few_sentences(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = settings_for(tmp_path / "index")
    for number in range(25):
        archive(tmp_path / "archive", [said(f"сервер {number}", "m1")], f"talk{number}.jsonl")
    build(settings, tmp_path / "archive")
    generation = opened(settings)
    clocked(monkeypatch, generation)
    for path in (tmp_path / "archive").iterdir():
        rewritten(path)
    told = Staleness(settings.data).of(generation)
    assert len(told) == 10
    assert told[-1] == "16 more sources have changed since this generation was built"


def test_a_source_without_a_place_is_passed_over(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    settings = published(tmp_path, [said("сервер", "m1")])
    generation = opened(settings)
    clocked(monkeypatch, generation)
    nowhere = [{**source, "locate": None, "size": 0} for source in generation.manifest.sources]
    bare = replace(generation, manifest=replace(generation.manifest, sources=nowhere))
    assert Staleness(settings.data).of(bare) == []

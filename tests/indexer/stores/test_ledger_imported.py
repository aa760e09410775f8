"""Imported spaces in the ledger: beside a provider's own one, and an excuse for none."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from indexer.stores.ledger import Ledger
from schemas.records import Space
from tests.indexer.stores.talks import absorb, chunk, file, message

OWN, OLD = Space("gemini", "new", 3, 1), Space("gemini", "old", 3, 0)
OTHER = Space("ollama", "old", 3, 0)
ROWS = np.eye(3, dtype=np.float32)


@pytest.fixture
def ledger(tmp_path: Path) -> Iterator[Ledger]:
    with Ledger(tmp_path) as opened:
        absorb(opened, file(), message("1"))
        opened.chunks.replace("talk", [chunk(text, ordinal=n) for n, text in enumerate("abc")])
        yield opened


def hashes() -> list[bytes]:
    return [chunk(text)[1] for text in "abc"]


def test_an_imported_space_counts_beside_the_own_one_and_without_its_provider(ledger: Ledger) -> None:
    old, own = (ledger.vectors.space_id(space) for space in (OLD, OWN))
    ledger.vectors.use(own, "gemini")
    ledger.vectors.keep(old, hashes()[:2], ROWS[:2])
    ledger.vectors.keep(own, hashes(), ROWS)
    assert ledger.vectors.spaces() == [(old, OLD, 2), (own, OWN, 3)]
    ledger.vectors.providers = ["local"]
    assert ledger.vectors.spaces() == [(old, OLD, 2)]
    ledger.chunks.replace("talk", [chunk("c")])
    assert ledger.vectors.spaces() == []


def test_what_has_only_an_imported_vector_is_still_to_be_embedded(ledger: Ledger) -> None:
    old, own = (ledger.vectors.space_id(space) for space in (OLD, OWN))
    ledger.vectors.keep(old, hashes(), ROWS)
    assert sorted(ledger.vectors.texts(ledger.vectors.pending(own))) == ["a", "b", "c"]
    assert ledger.vectors.own() == []


def test_keeping_again_is_no_change_of_content(ledger: Ledger) -> None:
    old = ledger.vectors.space_id(OLD)
    assert ledger.vectors.keep(old, hashes()[:2], ROWS[:2]) == 2
    before = ledger.meta.revision
    assert ledger.vectors.keep(old, hashes()[:2], ROWS[:2]) == 0
    assert ledger.meta.revision == before
    assert ledger.vectors.keep(old, hashes(), ROWS) == 1
    assert ledger.meta.revision > before


def test_the_same_numbers_leave_the_model_that_they_were_wrongly_named_after(ledger: Ledger) -> None:
    old, other, own = (ledger.vectors.space_id(space) for space in (OLD, OTHER, OWN))
    for space in (old, own):
        ledger.vectors.keep(space, hashes(), ROWS)
    ledger.vectors.keep(other, hashes(), np.roll(ROWS, 1, axis=0))
    assert ledger.vectors.disown(other, hashes()) == 0
    ledger.vectors.drop(other)
    ledger.vectors.keep(other, hashes()[:1], ROWS[:1])
    assert ledger.vectors.disown(other, hashes()[:1]) == 1
    assert {held.space: held.covered for held in ledger.vectors.spaces()} == {OLD: 2, OTHER: 1, OWN: 3}


def test_boundaries_go_with_the_text_that_a_newer_redactor_changes(ledger: Ledger) -> None:
    absorb(ledger, file("b.jsonl"), message("2", "секрет тут", chat_id="s", windows=((0, 10),)))
    assert ledger.messages.windows("s", "2") == [[0, 10]]
    assert ledger.messages.rewrite(lambda text: text.replace("секрет", "[REDACTED:test]")) == 1
    assert ledger.messages.windows("s", "2") == []
    assert ledger.messages.windows("s", "3") is None
    (kept,) = ledger.messages.talk("s")
    assert kept.windows == ()

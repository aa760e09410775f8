from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from indexer.embedders.hash import HashEmbedder
from indexer.embedders.retry import Patient, embed_documents
from schemas.problems import EmbedderError, Interrupted, Outage, Quota, QuotaExhausted, Refusal, TextRejected


class Scripted(HashEmbedder):
    """Raises its errors one a call, then embeds; rejects batches that hold a text in `rejects`."""

    def __init__(self, *errors: EmbedderError, rejects: Sequence[str] = ()) -> None:
        self.errors = list(errors)
        self.rejects = set(rejects)
        self.batches: list[tuple[str, ...]] = []

    def documents(self, texts: Sequence[str]) -> NDArray[np.float32]:
        self.batches.append(tuple(texts))
        if self.errors:
            raise self.errors.pop(0)
        if self.rejects & set(texts):
            raise TextRejected(f"one of {len(texts)} is bad")
        return super().documents(texts)


class Clock:
    """Sleeps without sleeping."""

    def __init__(self) -> None:
        self.now = 0.0

    def sleep(self, seconds: float) -> None:
        self.now += seconds


@pytest.mark.parametrize("jitter", [0.0, 0.999])
def test_a_quota_is_waited_out_and_the_same_call_repeated(jitter: float) -> None:
    scripted, clock = Scripted(Quota("slow down", 7.0), Quota("slow down", 7.0)), Clock()
    patient = Patient(scripted, sleep=clock.sleep, jitter=lambda: jitter)
    assert patient.documents(["а", "б"]).shape == (2, 64)
    assert 14.0 <= clock.now <= 2 * 7.0 * 1.25
    assert scripted.batches == [("а", "б")] * 3


def test_a_provider_that_always_says_now_is_asked_ever_more_rarely() -> None:
    scripted, clock = Scripted(*[Quota("slow down", 0.0)] * 8), Clock()
    Patient(scripted, sleep=clock.sleep, jitter=lambda: 0.0).documents(["а"])
    assert clock.now == pytest.approx(1 + 2 + 4 + 8 + 16 + 32 + 60 + 60)


def test_a_wait_past_the_bound_ends_the_day_without_sleeping() -> None:
    clock = Clock()
    patient = Patient(Scripted(Quota("slow down", 3600.0)), max_wait=900.0, sleep=clock.sleep)
    with pytest.raises(QuotaExhausted, match="900 s"):
        patient.documents(["а"])
    assert clock.now == 0.0


def test_the_waits_of_one_call_are_bounded_together() -> None:
    clock = Clock()
    patient = Patient(Scripted(*[Quota("slow down", 40.0)] * 99), max_wait=100.0, sleep=clock.sleep)
    with pytest.raises(QuotaExhausted):
        patient.documents(["а"])
    assert 80.0 <= clock.now <= 100.0


def test_a_wait_can_be_interrupted_within_a_second() -> None:
    clock = Clock()
    patient = Patient(
        Scripted(Quota("slow down", 60.0)), cancelled=lambda: clock.now > 3.0, sleep=clock.sleep
    )
    with pytest.raises(Interrupted):
        patient.documents(["а"])
    assert clock.now <= 4.0


@pytest.mark.parametrize("error", [Outage("x"), Refusal("x"), QuotaExhausted("x"), TextRejected("x")])
def test_nothing_but_a_quota_is_waited_for(error: EmbedderError) -> None:
    clock = Clock()
    with pytest.raises(type(error)):
        Patient(Scripted(error), sleep=clock.sleep).documents(["а"])
    assert clock.now == 0.0


@settings(max_examples=60, derandomize=True)
@given(st.integers(1, 40).flatmap(lambda n: st.tuples(st.just(n), st.sets(st.integers(0, n - 1)))))
def test_exactly_the_rejected_texts_are_named_and_the_others_kept(drawn: tuple[int, set[int]]) -> None:
    count, bad = drawn
    texts = [f"текст {number}" for number in range(count)]
    scripted = Scripted(rejects=[texts[index] for index in bad])
    if count > 1 and len(bad) == count:
        with pytest.raises(Refusal, match=f"all {count}"):
            embed_documents(scripted, texts)
        return
    embedded = embed_documents(scripted, texts)
    good = [index for index in range(count) if index not in bad]
    assert set(embedded.rejected) == bad
    assert embedded.accepted == tuple(good)
    assert embedded.vectors.shape == (len(good), 64)
    assert np.array_equal(embedded.vectors, HashEmbedder().documents([texts[index] for index in good]))


def test_a_batch_without_bad_texts_is_one_call() -> None:
    scripted = Scripted()
    embed_documents(scripted, ["а"] * 20)
    assert len(scripted.batches) == 1


def test_a_fault_in_the_middle_of_halving_returns_nothing() -> None:
    scripted = Scripted(TextRejected("bad"), Outage("gone"))
    with pytest.raises(Outage):
        embed_documents(scripted, ["а", "б"])

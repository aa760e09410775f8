from __future__ import annotations

import time
from itertools import pairwise

import pytest
from hypothesis import given, seed, settings
from hypothesis import strategies as st

from indexer.archives.seed.stitching import stitched
from tests.fakes.seed import cut, long_text

TEXT = st.integers(1, 400).flatmap(
    lambda words: st.builds(long_text, st.just(words), st.text("абв", max_size=3))
)


@seed(1)
@settings(max_examples=60, deadline=None)
@given(TEXT, st.integers(120, 700), st.integers(30, 110))
def test_a_text_cut_with_any_overlap_is_itself_again(text: str, size: int, overlap: int) -> None:
    chunks = cut(text, size, overlap)
    again, spans = stitched(chunks)
    assert again == text
    assert [again[start:end] for start, end in spans] == chunks


@seed(2)
@settings(max_examples=200, deadline=None)
@given(st.lists(st.text("аб \n", min_size=1, max_size=30), max_size=8))
def test_whatever_the_chunks_are_each_stands_where_its_span_says(chunks: list[str]) -> None:
    text, spans = stitched(chunks)
    assert [text[start:end] for start, end in spans] == chunks
    assert all(one <= two for (_, one), (_, two) in pairwise(spans))


def test_chunks_that_do_not_overlap_are_joined_by_a_newline() -> None:
    assert stitched(["первый абзац", "второй абзац"]) == ("первый абзац\nвторой абзац", ((0, 12), (13, 25)))


def test_a_letter_that_two_chunks_share_by_chance_is_not_eaten() -> None:
    assert stitched(["это они", "и снова"])[0] == "это они\nи снова"


def test_a_chunk_inside_the_one_before_adds_nothing() -> None:
    assert stitched(["конец длинного рассказа", "рассказа"]) == (
        "конец длинного рассказа",
        ((0, 23), (15, 23)),
    )


def test_of_several_overlaps_the_usual_one_is_taken() -> None:
    text = "=" * 1_700
    assert stitched(cut(text))[0] == text


def test_stripped_chunks_lose_only_the_space_between_them() -> None:
    text = long_text(200)
    again, _ = stitched(chunk.strip() for chunk in cut(text))
    assert again.split() == text.split()


def test_nothing_is_an_empty_text() -> None:
    assert stitched([]) == ("", ())


@pytest.mark.parametrize("chunk", ["a" * 50_000, "ab" * 25_000])
def test_a_text_made_to_hurt_takes_no_long_time(chunk: str) -> None:
    began = time.monotonic()
    stitched([chunk] * 40)
    assert time.monotonic() - began < 2.0

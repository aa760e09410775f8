"""Messages that were imported with boundaries of their own are cut at those."""

from __future__ import annotations

import hashlib
from datetime import UTC

from hypothesis import given, seed, settings
from hypothesis import strategies as st

from indexer.archives.seed.stitching import stitched
from indexer.chunking import chunks
from indexer.text.normal import has_words
from schemas.records import Chunk, Message
from tests.fakes.seed import cut, long_text

TEXT = st.text(st.sampled_from("абв где. \n"), max_size=60)


def message(id_: str, text: str, windows: tuple[tuple[int, int], ...] = (), at: int | None = None) -> Message:
    return Message(
        chat_id="seed:1",
        id=id_,
        source="seed",
        role="user",
        text=text,
        place="a:1",
        at=at,
        author="Аня",
        chat_title="Индекс",
        windows=windows,
    )


def packed(*said: Message) -> list[Chunk]:
    return list(chunks(said, UTC))


@st.composite
def windowed(draw: st.DrawFn) -> Message:
    text = draw(TEXT)
    places = st.integers(-2, len(text) + 3)
    windows = draw(st.lists(st.tuples(places, places), max_size=6))
    return message(
        str(draw(st.integers(0, 10**9))), text, tuple(windows), draw(st.sampled_from([None, 1, 2]))
    )


@seed(1)
@settings(max_examples=200, deadline=None)
@given(st.lists(windowed(), max_size=6, unique_by=lambda one: one.id))
def test_whatever_the_windows_are_no_chunk_lies_inside_another(said: list[Message]) -> None:
    made = packed(*said)
    assert len({chunk.id for chunk in made}) == len(made)
    texts = {one.id: one for one in said}
    spans: dict[str, list[tuple[int, int]]] = {}
    for chunk in made:
        first = texts[chunk.pieces[0].message_id]
        if chunk.header:
            continue
        (piece,) = chunk.pieces
        span = (piece.message_start, piece.message_start + len(chunk.text))
        assert span in first.windows
        assert chunk.text == first.text[slice(*span)] == chunk.indexed
        assert (piece.start, piece.end) == (0, len(chunk.text))
        spans.setdefault(first.id, []).append(span)
    for own in spans.values():
        for start, end in own:
            assert sum(one <= start and end <= two for one, two in own) == 1
    for one in said:
        whole = [(a, b) for a, b in one.windows if 0 <= a < b <= len(one.text)]
        for a, b in whole:
            if has_words(one.text[a:b]):
                assert any(x <= a and b <= y for x, y in spans[one.id])
        if has_words(one.text) and not any(has_words(one.text[a:b]) for a, b in whole):
            assert any(piece.message_id == one.id for chunk in made for piece in chunk.pieces)


def test_each_window_is_one_chunk_of_its_bare_text() -> None:
    text = long_text(300)
    _, windows = stitched(cut(text))
    made = packed(message("1", text, windows, 1_772_996_580_000))
    assert [chunk.text for chunk in made] == [part for part in cut(text) if part in {c.text for c in made}]
    assert len(made) == len(
        [end for at, (_, end) in enumerate(windows) if end not in {w[1] for w in windows[:at]}]
    )
    assert all(chunk.header == "" and chunk.indexed == chunk.text for chunk in made)
    digest = hashlib.sha256(cut(text)[0].encode()).digest()
    assert hashlib.sha256(made[0].indexed.encode()).digest() == digest
    assert (made[0].first_at, made[0].last_at) == (1_772_996_580_000, 1_772_996_580_000)


def test_it_shares_no_window_with_its_neighbours() -> None:
    made = packed(message("1", "до"), message("2", "само", ((0, 4),)), message("3", "после"))
    assert [chunk.text for chunk in made] == ["Аня: до", "само", "Аня: после"]
    assert [chunk.header for chunk in made] == ["Индекс · Аня", "", "Индекс · Аня"]


def test_windows_that_hold_no_word_leave_the_message_to_our_own_rules() -> None:
    (made,) = packed(message("1", "слово …", ((6, 7),)))
    assert made.text == "Аня: слово …"

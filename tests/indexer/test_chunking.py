from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC
from itertools import pairwise
from pathlib import Path

import pytest
import regex
from hypothesis import given, seed, settings
from hypothesis import strategies as st

from indexer.chunking import PAUSE_MS, chunks, cut, words_of_date
from indexer.text.normal import has_words, scrubbed
from schemas.records import Chunk, Message

CASES = Path(__file__).parents[1] / "cases"
HOUR = 3_600_000


def message(id_: str, text: str, at: int | None = None, **more: str | None) -> Message:
    return Message(
        chat_id="talk",
        id=id_,
        source="jsonl",
        role="user",
        text=text,
        place="a:1",
        at=at,
        author=more.get("author", "Аня"),
        session=more.get("session"),
    )


def packed(messages: Sequence[Message], size: int = 600, overlap: int = 100) -> list[Chunk]:
    return list(chunks(messages, UTC, size, overlap))


def boundaries(text: str) -> set[int]:
    return {0} | {cluster.end() for cluster in regex.finditer(r"\X", text)}


TEXT = st.text(st.sampled_from("абв где. \n\n👩🏻‍⚖️и\u0306e\u0301!🇷🇺"), max_size=80)
WORDS = st.lists(st.sampled_from(["да", "сервер упал.", "почему?\n", "👍", "…", "x" * 40]), max_size=12).map(
    " ".join
)


@st.composite
def talks(draw: st.DrawFn) -> list[Message]:
    at, made = 0, []
    for number in range(draw(st.integers(0, 14))):
        at += draw(st.sampled_from([1, HOUR, PAUSE_MS - 1, PAUSE_MS, 30 * HOUR]))
        made.append(
            message(
                str(number),
                draw(WORDS | TEXT),
                draw(st.sampled_from([None, at])),
                author=draw(st.sampled_from(["Аня", "Олег", None])),
                session=draw(st.sampled_from(["s1", "s1", "s2"])),
            )
        )
    return made


SIZES = st.sampled_from([(1, 0), (7, 3), (60, 20), (120, 60), (600, 100)])


@seed(1)
@settings(max_examples=80, deadline=None)
@given(talks(), SIZES)
def test_chunks_of_any_talk_keep_the_promises(said: list[Message], sizes: tuple[int, int]) -> None:
    size, overlap = sizes
    made = packed(said, size, overlap)
    texts = {one.id: one for one in said}
    covered: dict[str, set[int]] = {}
    assert [chunk.ordinal for chunk in made] == list(range(len(made)))
    assert len({chunk.id for chunk in made}) == len(made)
    for chunk in made:
        held = [texts[piece.message_id] for piece in chunk.pieces]
        for piece, one in zip(chunk.pieces, held, strict=True):
            length = piece.end - piece.start
            assert chunk.text[piece.start : piece.end] == one.text[piece.message_start :][:length]
            covered.setdefault(one.id, set()).update(range(piece.message_start, piece.message_start + length))
        assert len({one.session for one in held}) == 1
        known = [one.at for one in held if one.at is not None]
        assert all(later - earlier < PAUSE_MS for earlier, later in pairwise(known))
        assert (chunk.first_at, chunk.last_at) == (min(known, default=None), max(known, default=None))
    for one in said:
        if has_words(one.text):
            wordy = {at for at, char in enumerate(one.text) if has_words(char)}
            assert wordy <= covered[one.id]
        else:
            assert one.id not in covered
    for inner in made:
        for outer in made:
            assert inner is outer or not _inside(inner, outer)


def _spans(chunk: Chunk) -> dict[str, set[int]]:
    return {
        p.message_id: set(range(p.message_start, p.message_start + p.end - p.start)) for p in chunk.pieces
    }


def _inside(inner: Chunk, outer: Chunk) -> bool:
    wide = _spans(outer)
    return all(id_ in wide and span <= wide[id_] for id_, span in _spans(inner).items())


@seed(2)
@settings(max_examples=120, deadline=None)
@given(talks(), st.sampled_from([(60, 20), (120, 60), (600, 100)]))
def test_a_window_of_whole_messages_is_never_longer_than_the_size(
    said: list[Message], sizes: tuple[int, int]
) -> None:
    for chunk in packed(said, *sizes):
        if len(chunk.pieces) > 1:
            assert len(chunk.text) <= sizes[0]
        else:
            assert len(chunk.text) <= sizes[0] + 64


@seed(3)
@settings(max_examples=120, deadline=None)
@given(talks(), talks())
def test_appending_changes_only_the_tail(said: list[Message], more: list[Message]) -> None:
    before = packed(said, 60, 20)
    latest = max((one.at or 0 for one in said), default=0)
    later = [replace(one, id=f"new {one.id}", at=one.at and one.at + latest) for one in more]
    after = packed(said + later, 60, 20)
    if before:
        tail = before[-1].pieces[0].message_id
        kept = [chunk for chunk in before if all(piece.message_id != tail for piece in chunk.pieces)]
        assert [chunk.id for chunk in after[: len(kept)]] == [chunk.id for chunk in kept]
        assert [chunk.indexed for chunk in after[: len(kept)]] == [chunk.indexed for chunk in kept]


def test_a_newcomer_changes_only_the_chunks_in_which_they_speak() -> None:
    said = [message(str(n), "о серверах и графах " * 5, n) for n in range(30)]
    before = packed(said)
    after = packed([*said, message("31", "всем привет", 31, author="Новый")])
    assert [chunk.indexed for chunk in before[:-1]] == [chunk.indexed for chunk in after[: len(before) - 1]]
    assert all("Новый" not in chunk.header for chunk in after[:-1])
    assert "Новый" in after[-1].header


def test_ids_are_the_same_over_rebuilds_and_tell_equal_texts_apart() -> None:
    said = [message(str(n), "да", n * PAUSE_MS) for n in range(5)]
    ids = [chunk.id for chunk in packed(said)]
    assert ids == [chunk.id for chunk in packed(said)]
    assert len(set(ids)) == 5


def test_the_header_tells_title_date_in_words_and_the_authors_of_the_window() -> None:
    said = replace(message("1", "привет, сервер", 1_683_500_000_000), chat_title="Дача")
    (chunk,) = packed([said])
    assert chunk.header == "Дача · 7 мая 2023 · Аня"
    assert chunk.text == "Аня: привет, сервер"
    assert words_of_date(1_683_500_000_000, UTC, "en") == "7 May 2023"


def test_an_author_unknown_is_named_by_role_in_the_language_of_the_text() -> None:
    lines = [packed([message("1", text, author=None)])[0].text for text in ("привет", "hello")]
    assert lines == ["пользователь: привет", "user: hello"]


# --- cut --------------------------------------------------------------------------------------------------


@seed(4)
@settings(max_examples=300, deadline=None)
@given(st.lists(TEXT | WORDS, max_size=5).map("".join), st.integers(1, 50), st.data())
def test_spans_advance_cover_and_end_between_graphemes(text: str, size: int, data: st.DataObject) -> None:
    overlap = data.draw(st.integers(0, size // 2))
    spans = cut(text, size, overlap)
    whole = boundaries(text)
    assert not text or (spans[0][0] == 0 and spans[-1][1] == len(text))
    for (start, end), (next_start, next_end) in pairwise(spans):
        assert start < next_start <= end < next_end
    for start, end in spans:
        assert {start, end} <= whole
        assert end - start <= size or not whole & set(range(start + 1, start + size + 1))


@pytest.mark.parametrize("size, overlap", [(0, 0), (-1, 0), (10, -1), (10, 6), (1, 1)])
def test_a_cut_without_progress_is_refused(size: int, overlap: int) -> None:
    with pytest.raises(ValueError, match="no progress"):
        cut("текст", size, overlap)


def test_the_best_boundary_is_a_blank_line_then_a_newline_then_a_sentence_then_a_space() -> None:
    text = "a" * 60 + "{}" + "b" * 10 + "{}" + "c" * 100
    assert cut(text.format("\n\n", "\n"), 100, 0)[0] == (0, 62)
    assert cut(text.format("\n", ". "), 100, 0)[0] == (0, 61)
    assert cut(text.format(". ", " "), 100, 0)[0] == (0, 62)
    assert cut(text.format(" ", ""), 100, 0)[0] == (0, 61)
    assert cut(text.format("", ""), 100, 0)[0] == (0, 100)


def test_a_size_of_one_gives_as_many_chunks_as_letters() -> None:
    text = (CASES / "21_overlap_ge_size" / "text.txt").read_text("utf-8")
    assert len(text) == 2_000
    assert len(cut(text, 1, 0)) == 2_000
    assert len(packed([message("1", text)], 1, 0)) == 2_000


def test_no_emoji_family_and_no_decomposed_letter_is_torn() -> None:
    text = (CASES / "23_emoji_grapheme_boundary" / "text.txt").read_text("utf-8")
    whole = boundaries(text)
    for size, overlap in ((600, 100), (7, 3), (2, 1), (601, 0), (598, 100)):
        for start, end in cut(text, size, overlap):
            assert {start, end} <= whole
    for chunk in packed([message("1", text)]):
        chunk.text.encode("utf-8")


def test_a_lone_surrogate_can_be_chunked_once_it_is_scrubbed() -> None:
    said = json.loads((CASES / "23_emoji_grapheme_boundary" / "lone.json").read_text("utf-8"))["text"]
    (chunk,) = packed([message("1", scrubbed(said))])
    assert chunk.text.encode("utf-8").decode() == "Аня: \ufffd начало"


def test_a_code_block_is_cut_between_lines_and_keeps_its_language() -> None:
    text = (CASES / "24_code_block_split" / "msg.md").read_text("utf-8")
    spans = cut(text, 600, 100)
    assert all(text[end - 1] == "\n" for _, end in spans[:-1])
    assert all(text[start - 1] == "\n" for start, _ in spans[1:])
    made = packed([message("1", text)])
    assert len(made) > 1
    for chunk in made:
        (piece,) = chunk.pieces
        assert chunk.text[piece.start : piece.end] == text[piece.message_start :][: piece.end - piece.start]
    assert all(chunk.header.endswith("python") for chunk in made[1:-1])


def test_messages_without_a_letter_or_digit_make_no_chunk() -> None:
    lines = (CASES / "25_empty_whitespace_only" / "msgs.jsonl").read_text("utf-8").splitlines()
    said = [message(str(n), json.loads(line)["content"], n) for n, line in enumerate(lines)]
    (chunk,) = packed(said)
    assert chunk.text == "Аня: ок"


def test_a_long_text_without_any_boundary_is_cut_in_linear_time() -> None:
    for text in ("я" * 300_000, "и\u0306" * 150_000, "👩\u200d" * 20_000, "\u0301" * 100_000):
        assert cut(text, 600, 100)[-1][1] == len(text)


def test_a_window_of_a_long_message_names_the_language_of_the_block_that_is_open() -> None:
    blocks = [
        f"```{name}\n" + "строка кода\n" * 40 + "```\n" + "обычный текст. " * 40 for name in ("go", "lua")
    ]
    text = "\n".join(blocks * 3)
    for chunk in packed([message("1", text)]):
        before = text[: chunk.pieces[0].message_start].split("\n")
        marks = [line for line in before if line.startswith("```")]
        expected = marks[-1][3:] if len(marks) % 2 else ""
        assert chunk.header.split(" · ")[-1] == (expected or "Аня")

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import example, given, seed, settings
from hypothesis import strategies as st

from indexer.text.normal import has_words, normal, scrubbed, tokens

ANY_TEXT = st.text(st.characters(exclude_categories=[]), max_size=40)
MARKED = st.text("еЕёиИйa\u0300\u0301\u0306\u0308\u0345\u0327ŉßİΐ\ud83d\udc00", max_size=12)


@seed(1)
@settings(max_examples=400, deadline=None)
@given(ANY_TEXT | MARKED)
@example("е\u0301\u0308")
@example("И\u0301\u0306")
@example("\u0345\u0301")
def test_the_normal_form_of_any_text_is_its_own_normal_form(text: str) -> None:
    once = normal(text)
    assert normal(once) == once
    assert "ё" not in once
    assert "\u0301" not in once
    once.encode("utf-8")


@seed(2)
@settings(max_examples=200, deadline=None)
@given(st.text("абвеёийЙЁ\u0306\u0308\u0301 xyz", max_size=20))
def test_composed_and_decomposed_text_are_one(text: str) -> None:
    assert normal(unicodedata.normalize("NFD", text)) == normal(unicodedata.normalize("NFC", text))


@pytest.mark.parametrize(
    "text, expected",
    [
        ("МОЙ", "мой"),
        ("мои\u0306", "мой"),
        ("мои", "мои"),
        ("Ёлка", "елка"),
        ("е\u0308лка", "елка"),
        ("за\u0301мок", "замок"),
        ("Straße", "strasse"),
        ("a\ud83db", "a\ufffdb"),
    ],
)
def test_what_readers_hold_for_one_word_is_one_and_й_stays_apart_from_и(text: str, expected: str) -> None:
    assert normal(text) == expected


@pytest.mark.parametrize(
    "text, expected",
    [
        ("Сервер-42, упал!", ["сервер", "42", "упал"]),
        ("snake_case и C++", ["snake", "case", "и", "c"]),
        ("👍 — …", []),
        ("", []),
        ("ещё раз", ["еще", "раз"]),
        ("v2.1.0", ["v2", "1", "0"]),
    ],
)
def test_tokens_are_letter_and_digit_runs(text: str, expected: list[str]) -> None:
    assert tokens(text) == expected


@seed(3)
@settings(max_examples=200, deadline=None)
@given(ANY_TEXT)
def test_tokens_are_in_normal_form_and_free_of_syntax(text: str) -> None:
    for token in tokens(text):
        assert token.isalnum()
        assert normal(token) == token


@pytest.mark.parametrize("text", ["", "   ", "\u200b", "\u00a0\ufeff", "...", "—", "👍", "_", "\u0301"])
def test_a_text_without_letter_or_digit_has_no_words(text: str) -> None:
    assert not has_words(text)


@pytest.mark.parametrize("text", ["ок", "5", "👍 a", "Ⅷ", "漢"])
def test_a_letter_or_a_digit_is_a_word(text: str) -> None:
    assert has_words(text)


@seed(4)
@settings(max_examples=200, deadline=None)
@given(ANY_TEXT)
def test_a_scrubbed_text_can_be_stored_and_keeps_its_length_but_for_nul(text: str) -> None:
    clean = scrubbed(text)
    clean.encode("utf-8")
    assert len(clean) == len(text) - text.count("\x00")
    assert scrubbed(clean) == clean

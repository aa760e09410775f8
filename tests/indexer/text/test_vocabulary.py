from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from indexer.text.vocabulary import Place, Vocabulary

KNOWN = Vocabulary(
    ["кот", "кота", "котёл".replace("ё", "е"), "docker", "gpt4", "я", "а" * 24, "а" * 25, "猫猫"]
)


def walked(vocabulary: Vocabulary, letters: str) -> Place | None:
    place: Place | None = vocabulary.root
    for letter in letters:
        place = vocabulary.step(place, letter) if place is not None else None
    return place


def stands(vocabulary: Vocabulary, word: str) -> bool:
    place = walked(vocabulary, word)
    return place is not None and vocabulary.ends(place)


def test_words_of_letters_are_kept_and_what_is_too_short_or_too_long_is_not() -> None:
    assert len(KNOWN) == 5
    assert all(KNOWN.holds(word) for word in ("кот", "кота", "котел", "docker", "а" * 24))
    assert not any(KNOWN.holds(word) for word in ("gpt4", "я", "а" * 25, "猫猫", "", "ко", "котик"))


def test_a_beginning_is_no_word_and_leads_to_one() -> None:
    assert walked(KNOWN, "ко") is not None
    assert not stands(KNOWN, "ко")
    assert stands(KNOWN, "кот")
    assert walked(KNOWN, "ком") is None
    assert walked(KNOWN, "а" * 25) is None
    assert walked(KNOWN, "котŋ") is None


def test_no_words_lead_nowhere() -> None:
    nothing = Vocabulary([])
    assert len(nothing) == 0
    assert walked(nothing, "а") is None
    assert not nothing.holds("кот")
    assert nothing.near("котел", 1) == []


def test_words_near_a_misspelt_one_are_those_of_the_spelling() -> None:
    assert KNOWN.near("dockre", 1) == [(1, "docker")] == KNOWN.spelling.near("dockre", 1)


WORDS = st.lists(st.text("абяz", min_size=2, max_size=6), max_size=30)


@given(WORDS, st.text("абяz", min_size=2, max_size=6))
@settings(max_examples=200, deadline=None, derandomize=True)
def test_a_walk_finds_exactly_the_words(words: list[str], word: str) -> None:
    vocabulary = Vocabulary(words)
    assert stands(vocabulary, word) == vocabulary.holds(word) == (word in words)
    begins = any(other.startswith(word) for other in words)
    assert (walked(vocabulary, word) is not None) == begins

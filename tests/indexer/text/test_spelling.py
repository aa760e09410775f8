from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from indexer.text.spelling import Spelling, swapped, tolerance

KNOWN = Spelling(["docker", "докер", "петров", "петровым", "kubernetes", "постгрес", "мария", "gpt4", "кот"])


def distance(one: str, other: str) -> int:
    """The restricted Damerau-Levenshtein distance, cell by cell."""
    table = [[i + j if not i * j else 0 for j in range(len(other) + 1)] for i in range(len(one) + 1)]
    for i, a in enumerate(one, 1):
        for j, b in enumerate(other, 1):
            table[i][j] = min(table[i - 1][j] + 1, table[i][j - 1] + 1, table[i - 1][j - 1] + (a != b))
            if i > 1 and j > 1 and a == other[j - 2] and one[i - 2] == b:
                table[i][j] = min(table[i][j], table[i - 2][j - 2] + 1)
    return table[-1][-1]


@pytest.mark.parametrize(
    ("word", "near"),
    [
        ("dcoker", [(1, "docker")]),
        ("dokcer", [(1, "docker")]),  # no trigram of it is left
        ("doker", [(1, "docker")]),
        ("доккер", [(1, "докер")]),
        ("петрво", [(1, "петров")]),
        ("kuberntees", [(1, "kubernetes")]),
        ("kubirnetis", [(2, "kubernetes")]),
        ("docker", [(0, "docker")]),
        ("dakers", []),
        ("кто", []),  # too short to be misspelt
        ("gpt5", []),  # another number is another thing
        ("", []),
        ("слово" * 40, []),
        ("😀😀😀😀😀", []),
    ],
)
def test_a_slip_finds_the_word_that_was_meant(word: str, near: list[tuple[int, str]]) -> None:
    assert KNOWN.near(word, tolerance(word)) == near


def test_short_words_are_forgiven_nothing_and_long_ones_two_slips() -> None:
    assert [tolerance("а" * length) for length in (3, 4, 7, 8, 24, 25)] == [0, 1, 1, 2, 2, 0]
    assert tolerance("пять5") == 0


def test_no_words_are_near_nothing() -> None:
    assert Spelling([]).near("docker", 2) == []
    assert len(Spelling([])) == 0


@pytest.mark.parametrize(
    ("typed", "meant"),
    [("ghbdtn", "привет"), ("вщслук", "docker"), ("Gtnhjd", "петров"), ("`krf", "ёлка"), ("2024", "2024")],
)
def test_the_other_layout_gives_what_the_same_keys_mean(typed: str, meant: str) -> None:
    assert swapped(typed) == meant


WORDS = st.lists(st.text("абвгд", min_size=4, max_size=11), min_size=1, max_size=30)


@given(WORDS, st.text("абвгд", min_size=4, max_size=11), st.integers(1, 3))
@settings(max_examples=200, deadline=None, derandomize=True)
def test_it_finds_what_the_plain_table_finds(words: list[str], word: str, edits: int) -> None:
    plain = sorted((distance(word, other), other) for other in set(words))
    assert Spelling(words).near(word, edits) == [found for found in plain if found[0] <= edits]


def test_the_longest_words_are_compared_to_their_last_letter() -> None:
    word = "абвгд" * 4 + "абвг"
    assert Spelling([word]).near(word[:-1], 2) == [(1, word)]
    assert Spelling([word[:-2]]).near(word, 2) == [(2, word[:-2])]
    assert np.array_equal(Spelling([word]).near(word[:-1] + "я", 1), [(1, word)])

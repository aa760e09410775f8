from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from indexer.text.lemmas import analyser
from indexer.text.transliteration import dictionary, english_words, plain, readings, spellings
from indexer.text.vocabulary import Vocabulary

NAMES = Vocabulary(["щербинин", "сузуки", "хонда"])
LATIN = Vocabulary(["kubernetes", "suzuki", "honda", "panther", "update", "docker", "michael", "school"])


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("shchuka", "щука"),
        ("schuka", "щука"),
        ("shuka", "щука"),
        ("zhizn'", "жизнь"),
        ("zhizn", "жизнь"),
        ("khleb", "хлеб"),
        ("hleb", "хлеб"),
        ("xleb", "хлеб"),
        ("yabloko", "яблоко"),
        ("jabloko", "яблоко"),
        ("iabloko", "яблоко"),
        ("yubka", "юбка"),
        ("jubka", "юбка"),
        ("lublu", "люблю"),
        ("yozh", "еж"),
        ("jozh", "еж"),
        ("novyy", "новый"),
        ("novyj", "новый"),
        ("noviy", "новый"),
        ("novy", "новый"),
        ("russkii", "русский"),
        ("dostoevsky", "достоевский"),
        ("tsena", "цена"),
        ("cena", "цена"),
        ("ob'yavlenie", "объявление"),
        ("semya", "семья"),
        ("etazh", "этаж"),
        ("ehtazh", "этаж"),
        ("schastye", "счастье"),
        ("peremeshchaetsya", "перемещается"),
        ("peremeschajetsja", "перемещается"),
    ],
)
def test_every_system_is_read(written: str, meant: str) -> None:
    assert meant in [word for cost, word in readings(written, dictionary()) if cost <= 2]


def test_what_some_system_writes_stands_before_what_people_mix_up() -> None:
    assert readings("mat", dictionary())[0] == (0, "мат")
    assert (1, "мать") in readings("mat", dictionary())


def test_a_name_that_only_the_index_knows_is_read_too() -> None:
    assert readings("sherbinin", NAMES) == [(1, "щербинин")]
    assert readings("suzuki", NAMES) == [(0, "сузуки")]
    assert readings("docker", NAMES) == []


@pytest.mark.parametrize("word", ["what", "does", "drive", "ghbdtn", "", "'", "x" * 500, "y" * 500])
def test_what_is_no_russian_word_has_no_reading(word: str) -> None:
    assert readings(word, dictionary()) == []


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("кубернетес", "kubernetes"),
        ("сузуки", "suzuki"),
        ("хонда", "honda"),
        ("пантер", "panther"),
        ("апдейт", "update"),
        ("докер", "docker"),
    ],
)
def test_a_latin_name_is_known_by_its_sound(typed: str, meant: str) -> None:
    assert meant in [word for _, word in spellings(typed, LATIN)]


def test_a_russian_word_is_no_latin_name() -> None:
    assert spellings("школа", LATIN) == []


def test_the_plain_reading_takes_the_longest_groups() -> None:
    assert plain("terrasa") == "терраса"
    assert plain("shchi") == "щи"
    assert plain("") == ""


def test_english_words_are_no_russian_stop_words_and_no_comment() -> None:
    assert {"code", "game", "base", "status"} <= english_words()
    assert all(word.isascii() and word.isalpha() and word.islower() for word in english_words())


@settings(max_examples=300, deadline=None, derandomize=True)
@given(st.text("abcdehijklmnopstuvyz'", max_size=14))
def test_every_reading_is_a_word_of_the_dictionary(word: str) -> None:
    for cost, read in readings(word, dictionary()):
        assert cost >= 0
        assert analyser().word_is_known(read)

from __future__ import annotations

import apsw
import pytest

from indexer.text.aliases import canonical, expansions, lexicon_version, stop_words, table
from indexer.text.lemmas import lemma_column, lemmas, raw_column, terms
from indexer.text.normal import normal, tokens


@pytest.mark.parametrize(
    "form, other",
    [
        ("серверов", "сервер"),
        ("сервера", "серверами"),
        ("елки", "елка"),
        ("стали", "сталь"),
        ("петровым", "петров"),
        ("servers", "server"),
        ("running", "runs"),
        ("докере", "docker"),
        ("докер", "docker"),
        ("k8s", "kubernetes"),
    ],
)
def test_inflections_slang_and_latin_twins_share_a_term(form: str, other: str) -> None:
    assert set(terms(form)) & set(terms(other))


@pytest.mark.parametrize("form, other", [("мой", "моль"), ("сервер", "сервис"), ("python", "pytest")])
def test_different_words_share_none(form: str, other: str) -> None:
    assert not set(terms(form)) & set(terms(other))


@pytest.mark.parametrize("token", ["стали", "мыла", "еще", "42", "v2", "ҡала", "漢字", "docker"])
def test_lemmas_are_distinct_and_in_normal_form(token: str) -> None:
    found = lemmas(token)
    assert found
    assert len(set(found)) == len(found)
    assert all(normal(lemma) == lemma for lemma in found)


def test_the_lemma_column_holds_each_token_before_its_terms() -> None:
    words = lemma_column("Серверов, ещё 42!").split()
    assert words[0] == "серверов"
    assert words[1] == "сервер"
    assert "42" in words
    assert raw_column("Серверов, ещё 42!") == "серверов еще 42"


def test_a_plain_nominative_finds_the_inflected_text_from_any_sqlite() -> None:
    db = apsw.Connection(":memory:")
    db.execute("CREATE VIRTUAL TABLE t USING fts5(raw, lemma, tokenize='unicode61 remove_diacritics 0')")
    for text in ("мои серверы", "мой сервер", "ёлка у докера"):
        db.execute("INSERT INTO t VALUES (?, ?)", (raw_column(text), lemma_column(text)))

    def found(query: str) -> list[int]:
        return [row for (row,) in db.execute("SELECT rowid FROM t WHERE t MATCH ? ORDER BY rowid", (query,))]

    assert found("lemma: сервер") == [1, 2]
    assert found("raw: мой") == [2]
    assert found("lemma: docker") == [3]
    assert found("lemma: елка") == [3]


def test_every_alias_is_known_by_its_normal_form() -> None:
    for form, name in table().items():
        assert normal(form) == form
        assert canonical(form.upper()) == name
        assert expansions(form) == tuple(tokens(name))
    assert canonical("нетакогослова") is None
    assert expansions("нетакогослова") == ()


def test_stop_words_carry_no_topic_and_topics_are_none() -> None:
    words = stop_words()
    assert {"и", "в", "на", "что", "the", "of", "is"} <= words
    assert not words & {"сервер", "память", "docker", "граф", "решили"}
    assert all(normal(word) == word for word in words)


def test_the_lexicon_has_one_version_until_it_changes() -> None:
    assert lexicon_version() == lexicon_version()
    assert len(lexicon_version()) == 12

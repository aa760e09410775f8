"""The words of a store, as repairs of queries read them."""

from __future__ import annotations

from pathlib import Path

from tests.fakes.index import store_of


def test_the_vocabulary_holds_every_word_of_the_chunks_and_its_lemmas(tmp_path: Path) -> None:
    store = store_of(tmp_path, {"talk": ["Гуляли с ёжиками у Kubernetes", "id 4f3c и foo_bar"]}, {})
    try:
        words = store.vocabulary()
        assert words is store.vocabulary()
        for word in ("гуляли", "гулять", "ежиками", "ежик", "kubernetes", "foo", "bar"):
            assert words.holds(word)
            assert store.knows(word) or word in ("гулять", "ежик")
        assert not any(words.holds(word) for word in ("4f3c", "кот", "гуля"))
        assert words.near("ежикоми", 1) == [(1, "ежиками")]
    finally:
        store.close()


def test_a_store_without_chunks_has_no_words(tmp_path: Path) -> None:
    store = store_of(tmp_path, {}, {})
    try:
        assert len(store.vocabulary()) == 0
    finally:
        store.close()

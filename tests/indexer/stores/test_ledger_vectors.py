from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from indexer.stores.ledger import Ledger
from schemas.records import Mention, Space
from tests.indexer.stores.talks import HOUR, absorb, chunk, file, message

GEMINI, LOCAL = Space("gemini", "m", 3, 1), Space("local", "e5", 3, 1)


@pytest.fixture
def ledger(tmp_path: Path) -> Iterator[Ledger]:
    with Ledger(tmp_path) as opened:
        yield opened


def fill(ledger: Ledger, chats: dict[str, list[tuple[str, int | None]]], source: str = "jsonl") -> None:
    absorb(
        ledger,
        file(f"{source}.jsonl"),
        *(message("1", chat_id=chat, source=source, chat_title=f"О «{chat}»") for chat in chats),
    )
    for chat, said in chats.items():
        ledger.chunks.replace(chat, [chunk(text, chat, n, at) for n, (text, at) in enumerate(said)])


def rows(count: int) -> np.ndarray[tuple[int, int], np.dtype[np.float32]]:
    return np.eye(3, dtype=np.float32)[np.arange(count) % 3]


def test_the_newest_chat_is_embedded_first_and_each_chat_in_its_order(ledger: Ledger) -> None:
    fill(
        ledger, {"old": [("a", 1), ("b", 2)], "new": [("c", HOUR), ("d", 2 * HOUR)], "undated": [("e", None)]}
    )
    space = ledger.vectors.space_id(GEMINI)
    assert ledger.vectors.texts(ledger.vectors.pending(space)) == ["c", "d", "a", "b", "e"]


def test_a_vector_is_paid_once_for_equal_texts_and_kept_over_a_rechunking(ledger: Ledger) -> None:
    fill(ledger, {"one": [("same", 1)], "two": [("same", 2), ("other", 3)]})
    space = ledger.vectors.space_id(GEMINI)
    pending = ledger.vectors.pending(space)
    assert sorted(ledger.vectors.texts(pending)) == ["other", "same"]
    ledger.vectors.keep(space, pending, rows(2))
    ledger.chunks.replace("two", [])
    ledger.chunks.replace("two", [chunk("other", "two"), chunk("third", "two", 1)])
    assert ledger.vectors.texts(ledger.vectors.pending(space)) == ["third"]


def test_vectors_of_two_spaces_are_kept_apart_to_the_bit(ledger: Ledger) -> None:
    fill(ledger, {"one": [("a", 1)]})
    spaces = [ledger.vectors.space_id(space) for space in (GEMINI, LOCAL)]
    assert spaces == [ledger.vectors.space_id(space) for space in (GEMINI, LOCAL)]
    (digest,) = ledger.vectors.pending(spaces[0])
    for number, space in enumerate(spaces):
        assert ledger.vectors.pending(space) == [digest]
        ledger.vectors.keep(space, [digest], rows(3)[number : number + 1])
    for number, space in enumerate(spaces):
        assert ledger.vectors.find(space, digest) == rows(3)[number].tobytes()
    assert ledger.vectors.find(spaces[0], b"unknown") is None


def test_a_space_is_held_once_it_covers_a_present_chunk(ledger: Ledger) -> None:
    fill(ledger, {"one": [("a", 1), ("b", 2)]})
    space = ledger.vectors.space_id(GEMINI)
    assert ledger.vectors.spaces() == []
    ledger.vectors.keep(space, ledger.vectors.pending(space)[:1], rows(1))
    assert ledger.vectors.spaces() == [(space, GEMINI, 1)]


def test_a_quarantined_text_is_not_sent_to_that_space_again(ledger: Ledger) -> None:
    fill(ledger, {"one": [("a", 1)]})
    gemini, local = ledger.vectors.space_id(GEMINI), ledger.vectors.space_id(LOCAL)
    (digest,) = ledger.vectors.pending(gemini)
    ledger.vectors.quarantine(gemini, digest, "the provider refused it")
    assert ledger.vectors.pending(gemini) == []
    assert ledger.vectors.pending(local) == [digest]


def test_a_fallback_leaves_out_what_a_better_space_has(ledger: Ledger) -> None:
    fill(ledger, {"one": [("a", 1), ("b", 2)]})
    gemini, local = ledger.vectors.space_id(GEMINI), ledger.vectors.space_id(LOCAL)
    first, second = ledger.vectors.pending(gemini)
    ledger.vectors.keep(gemini, [first], rows(1))
    assert ledger.vectors.pending(local, (), [gemini]) == [second]
    assert ledger.vectors.pending(local) == [first, second]


@pytest.mark.parametrize("private", ["дом", "О «дом»", "о «ДОМ»"])
def test_a_private_chat_is_left_out_by_id_or_title(ledger: Ledger, private: str) -> None:
    fill(ledger, {"дом": [("a", 1)], "работа": [("b", 2)]})
    space = ledger.vectors.space_id(GEMINI)
    assert ledger.vectors.texts(ledger.vectors.pending(space, [private])) == ["b"]


def test_a_private_source_is_left_out(ledger: Ledger) -> None:
    fill(ledger, {"one": [("a", 1)]}, "telegram")
    fill(ledger, {"two": [("b", 2)]}, "openclaw")
    space = ledger.vectors.space_id(GEMINI)
    assert ledger.vectors.texts(ledger.vectors.pending(space, ["telegram"])) == ["b"]


def test_purging_drops_the_vectors_of_texts_that_are_gone(ledger: Ledger) -> None:
    fill(ledger, {"one": [("a", 1), ("b", 2)]})
    space = ledger.vectors.space_id(GEMINI)
    both = ledger.vectors.pending(space)
    ledger.vectors.keep(space, both, rows(2))
    ledger.chunks.replace("one", [chunk("a", "one")])
    assert ledger.vectors.purge() == 1
    assert [ledger.vectors.find(space, digest) is not None for digest in both] == [True, False]


def test_a_batch_with_a_missing_vector_is_kept_in_no_part(ledger: Ledger) -> None:
    fill(ledger, {"one": [("a", 1), ("b", 2)]})
    space = ledger.vectors.space_id(GEMINI)
    with pytest.raises(ValueError):
        ledger.vectors.keep(space, ledger.vectors.pending(space), rows(1))
    assert len(ledger.vectors.pending(space)) == 2


def test_chunks_come_back_as_they_were_cut(ledger: Ledger) -> None:
    fill(ledger, {"one": []})
    cut = [chunk("a", "one", 0, 5), chunk("b", "one", 1, None)]
    ledger.chunks.replace("one", cut)
    assert list(ledger.chunks.of("one")) == cut
    assert ledger.chunks.count() == 2


def test_mentions_are_kept_by_extractor_and_text(ledger: Ledger) -> None:
    absorb(ledger, file(), message("1", "Иван"), message("2", "Иван"), message("3", "пусто"))
    pending = ledger.mentions.pending("v1")
    assert sorted(ledger.mentions.texts(pending)) == ["Иван", "пусто"]
    ivan = Mention(0, 4, "PER", "Иван", "иван")
    found = [[ivan] if text == "Иван" else [] for text in ledger.mentions.texts(pending)]
    ledger.mentions.keep("v1", zip(pending, found, strict=True))
    assert ledger.mentions.pending("v1") == []
    assert ledger.mentions.of("v1", "talk") == {"1": (ivan,), "2": (ivan,)}
    assert ledger.mentions.pending("v2") == pending
    assert ledger.mentions.of("v2", "talk") == {}


def test_the_largest_chats_come_first_each_spread_evenly(ledger: Ledger) -> None:
    fill(
        ledger,
        {
            "short": [("a", 1)],
            "long": [(f"l{number}", number) for number in range(9)],
            "middle": [(f"m{number}", number) for number in range(4)],
        },
    )
    space = ledger.vectors.space_id(LOCAL)
    hashes = [digest for _, digest in ledger.chunks.of("long")] + [
        digest for _, digest in ledger.chunks.of("middle")
    ]
    vectors = np.arange(39, dtype=np.float32).reshape(13, 3)
    ledger.vectors.keep(space, hashes, vectors)
    long, middle = ledger.vectors.largest(LOCAL, space, 2, 3)
    assert long.tolist() == vectors[[0, 3, 6]].tolist()
    assert middle.tolist() == vectors[[9, 11]].tolist()
    # What has no vector in the space is not of it.
    assert len(ledger.vectors.largest(LOCAL, space, 5, 100)) == 2
    assert ledger.vectors.largest(GEMINI, ledger.vectors.space_id(GEMINI), 5, 100) == []

"""A space's weight: half for a good one, nothing for one that means nothing."""

from __future__ import annotations

import numpy as np
import pytest

from indexer import weighing


def test_random_vectors_get_no_weight() -> None:
    chance = np.random.default_rng(3)
    chunks, followers = chance.normal(size=(2, 200, 64)).astype(np.float32)
    assert weighing.self_retrieval(chunks, followers) == pytest.approx(0.5, abs=0.04)
    assert weighing.weight(chunks, followers) == 0.0


def test_a_space_that_knows_what_belongs_together_gets_half() -> None:
    chunks = np.random.default_rng(3).normal(size=(200, 64)).astype(np.float32)
    assert weighing.self_retrieval(chunks, chunks) == 1.0
    assert weighing.weight(chunks, chunks) == weighing.FULL


def test_a_constant_space_is_worthless() -> None:
    same = np.ones((50, 8), np.float32)
    assert weighing.self_retrieval(same, same) == pytest.approx(0.5)
    assert weighing.weight(same, same) == 0.0


def test_a_few_pairs_measure_nothing() -> None:
    few = np.eye(weighing.MIN_SAMPLE - 1, dtype=np.float32)
    assert weighing.weight(few, few) is None


def test_meaning_grows_with_self_retrieval() -> None:
    found = [weighing.meaning(area, 200) for area in (0.0, 0.55, 0.6, 0.7, 0.75, 1.0)]
    assert found == sorted(found)
    assert found[0] == found[1] == 0.0
    assert found[-2] == found[-1] == 1.0


def test_a_few_pairs_of_random_vectors_get_no_weight_by_chance() -> None:
    chance = np.random.default_rng(3)
    pairs = weighing.MIN_SAMPLE
    drawn = (chance.normal(size=(2, pairs, 64)).astype(np.float32) for _ in range(400))
    weights = [weighing.weight(chunks, followers) for chunks, followers in drawn]
    assert np.mean([weight != 0 for weight in weights]) < 0.1
    # And few pairs are enough for a space that means something.
    assert weighing.meaning(0.9, pairs) == 1.0


def spread(dims: int, seed: int = 3, chunks: int = 100) -> np.ndarray:
    """Unit rows over so many of 256 dims, around a common direction."""
    rows = np.zeros((chunks, 256), np.float32)
    rows[:, :dims] = np.random.default_rng(seed).normal(size=(chunks, dims))
    rows[:, -1] = 3 * dims**0.5
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


@pytest.mark.parametrize("dims", [20, 40, 120])
def test_the_directions_of_a_chat_are_counted_whatever_all_its_chunks_share(dims: int) -> None:
    found = weighing.directions([spread(dims, 1), spread(dims, 2)])
    assert found == pytest.approx(dims, rel=0.1)


def test_chats_in_two_languages_are_no_fewer_directions() -> None:
    one, other = spread(120), -spread(120, 4)
    assert weighing.directions([one, other]) == pytest.approx(120, rel=0.1)


def test_some_copies_of_a_chunk_are_no_crowd() -> None:
    chat = spread(120)
    chat[:10] = chat[0]
    assert weighing.room(weighing.directions([chat])) == 1.0


def test_the_same_chunk_again_and_again_is_one_direction() -> None:
    assert weighing.directions([np.ones((30, 4), np.float32) / 2]) == pytest.approx(1.0)


def test_chunks_at_right_angles_have_all_the_room_there_is() -> None:
    axes = np.eye(15, dtype=np.float32)
    assert weighing.room(weighing.directions([np.concatenate((axes, -axes))])) == 1.0


def test_a_crowded_space_keeps_enough_to_find_what_words_can_not() -> None:
    chunks = np.random.default_rng(3).normal(size=(200, 64)).astype(np.float32)
    weights = [weighing.weight(chunks, chunks, [spread(dims)]) for dims in (8, 54, 120)]
    assert weights == sorted(weights)
    assert weights[0] == pytest.approx(weighing.CROWDED)
    assert weights[-1] == weighing.FULL


def test_room_without_meaning_gets_no_weight() -> None:
    chance = np.random.default_rng(3)
    chunks, followers = chance.normal(size=(2, 200, 64)).astype(np.float32)
    assert weighing.weight(chunks, followers, [spread(120)]) == 0.0

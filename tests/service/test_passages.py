from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from schemas.http import ChatRef, Hit, MessageRef, Neighbour
from service.passages import joined, overlap, passages
from tests.fakes.engine import hit


def window(id: str, *messages: tuple[str, str], chat: str = "chat-1") -> Hit:
    """A chunk as the engine returns it: "Author: text" lines, spans after the prefix."""
    text, refs = "", []
    for message_id, said in messages:
        text += ("\n" if text else "") + "Иван: "
        refs.append(
            MessageRef(id=message_id, author="Иван", role="user", span=(len(text), len(text) + len(said)))
        )
        text += said
    return hit(id, text, refs, chat=ChatRef(id=chat))


def told(*hits: Hit) -> list[list[str]]:
    return [[line.text for line in passage.lines] for passage in passages(hits)]


def test_neighbouring_windows_tell_a_shared_message_once_in_the_order_of_the_talk() -> None:
    early = window("c_1", ("1", "раз"), ("2", "два"))
    late = window("c_2", ("2", "два"), ("3", "три"))
    assert told(early, late) == told(late, early) == [["раз", "два", "три"]]
    assert passages([late, early])[0].ids == ("c_2", "c_1")


def test_a_hit_between_two_others_joins_all_three_where_the_best_one_stood() -> None:
    first, middle, last = (
        window("c_1", ("1", "а"), ("2", "б")),
        window("c_2", ("2", "б"), ("3", "в")),
        window("c_3", ("3", "в"), ("4", "г")),
    )
    other = window("c_9", ("1", "чужое"), chat="chat-2")
    assert told(last, other, first, middle) == [["а", "б", "в", "г"], ["чужое"]]


def test_pieces_of_one_long_message_are_joined_where_they_overlap() -> None:
    words = " ".join(f"слово{number}" for number in range(200))
    first, second = window("c_1", ("1", words[:600])), window("c_2", ("1", words[500:1100]))
    assert told(second, first) == [[words[:1100]]]


def test_pieces_with_a_gap_show_that_something_is_missing() -> None:
    assert joined("начало письма кот", "тот конец") == "начало письма кот … тот конец"
    assert joined("одно и то же", "и то") == "одно и то же"
    assert joined("и то", "одно и то же") == "одно и то же"


def test_equal_message_ids_of_different_chats_stay_apart() -> None:
    assert len(told(window("c_1", ("1", "раз")), window("c_2", ("1", "два"), chat="chat-2"))) == 2


def test_neighbours_that_were_asked_for_are_read_in_their_place() -> None:
    before, found, after = (window(f"c_{n}", (f"{n}", f"т{n}"), (f"{n + 1}", f"т{n + 1}")) for n in (1, 2, 3))

    def near(one: Hit) -> Neighbour:
        return Neighbour(id=one.id, text=one.text, messages=one.messages)

    assert told(found.model_copy(update={"before": [near(before)], "after": [near(after)]})) == [
        ["т1", "т2", "т3", "т4"]
    ]


def test_a_hit_without_messages_is_one_line() -> None:
    assert told(hit("m", "просто текст", []), hit("n", "другой", [])) == [["просто текст"], ["другой"]]


@given(st.text("аб ", max_size=30), st.text("аб ", max_size=30))
@settings(max_examples=200, deadline=None, derandomize=True)
def test_the_overlap_is_the_longest_shared_end_and_beginning(earlier: str, later: str) -> None:
    size = overlap(earlier, later)
    assert earlier.endswith(later[:size])
    assert not any(
        earlier.endswith(later[:more]) for more in range(size + 1, min(len(earlier), len(later)) + 1)
    )


@given(st.lists(st.integers(0, 12), min_size=1, max_size=6), st.integers(1, 4))
@settings(max_examples=200, deadline=None, derandomize=True)
def test_every_message_of_every_hit_is_told_exactly_once(starts: list[int], width: int) -> None:
    hits = [
        window(f"c_{start}", *((str(n), f"сообщение {n}") for n in range(start, start + width)))
        for start in dict.fromkeys(starts)
    ]
    found = [text for passage in told(*hits) for text in passage]
    assert sorted(found) == sorted(
        {f"сообщение {n}" for start in starts for n in range(start, start + width)}
    )
    for passage in told(*hits):
        numbers = [int(text.split()[1]) for text in passage]
        assert numbers == sorted(numbers)

from __future__ import annotations

import time
from collections.abc import Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from indexer.stores.sqlite import SqliteStore
from service.query import terms_of
from service.repair import Repair, repaired
from tests.fakes.index import store_of

TALK = [
    "Щербинин пел про пруд, а Маша слушала",
    "капусту квашу правильно, каждую осень",
    "прислали программу концерта на субботу",
    "код лежит в репозитории, деплой через kubernetes и docker",
    "заметки веду в Zettelkasten",
    "Каренин выступил хорошо, ёжики танцевали",
]


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SqliteStore]:
    opened = store_of(tmp_path_factory.mktemp("repair"), {"talk": TALK}, {})
    yield opened
    opened.close()


@pytest.mark.parametrize(
    ("typed", "read"),
    [
        ("sherbinin pro prud", "щербинин про пруд"),
        ("Scherbinin", "щербинин"),
        ("kak pravilno kvasit' kapustu", "как правильно квасить капусту"),
        ("kto prislal programmu?", "кто прислал программу?"),
        ("kak postavit' docker", "как поставить docker"),  # what stands in the index stays
        ("gde lezhit kod, a3f9c0", "где лежит код, a3f9c0"),
        ("KAK PRAVILNO KVASIT' KAPUSTU", "как правильно квасить капусту"),
        ("progrramma na subbotu", "программа на субботу"),  # misspelt, too
    ],
)
def test_russian_in_latin_letters_is_read_as_russian(store: SqliteStore, typed: str, read: str) -> None:
    assert repaired(typed, store).text == read


@pytest.mark.parametrize(
    ("typed", "read"),
    [
        ("rfr ghfdbkmyj rdfcbnm rfgecne", "как правильно квасить капусту"),
        ("Oth,byby", "щербинин"),
        ("rfie c k.,jdm.?", "кашу с любовью"),
        ("rfr yfcnhjbnm docker", "как настроить docker"),
        ("как настроить лгиуктуеуы", "как настроить kubernetes"),
    ],
)
def test_the_other_layout_is_read(store: SqliteStore, typed: str, read: str) -> None:
    assert repaired(typed, store).text == read


@pytest.mark.parametrize(
    ("typed", "word", "meant"),
    [
        ("нашел програму", "програму", "программу"),
        ("щербинен пел", "щербинен", "щербинин"),
        ("цеттелькастен", "цеттелькастен", "zettelkasten"),
        ("repositori kubernetse", "kubernetse", "kubernetes"),
    ],
)
def test_a_misspelt_word_is_sought_as_what_was_meant_too(
    store: SqliteStore, typed: str, word: str, meant: str
) -> None:
    repair = repaired(typed, store)
    assert repair.also[word][0] == meant
    assert repair.changes[word].startswith(meant)
    assert word in repair.text


@pytest.mark.parametrize(
    "query",
    [
        "как правильно квасить капусту",
        "кот",  # a word, though not of this archive: not код
        "котёл и кит",
        "how long do I boil the rice",
        "what is the code for this",
        "favorite jazz records",
        "code",
        "Tim",
        "docker compose up",
        "iPhone 15 Pro Max",  # про is a word, and so is pro
        "hunter2 Tr0ub4dor&3",
        "550e8400-e29b-41d4-a716-446655440000 deadbeefcafe",
        "getUserName kodBaza foo_bar os.path C:\\kod https://kod.ru/kapusta kod@kapusta.ru",
        "d41d8cd98f00b204e9800998ecf8427e",
        "С++ и .NET",
        "ии ai",
        "не",
        "?!…",
        "",
        "猫 và мышь",
        "Аннушкин Кленов",  # names of the dictionary
    ],
)
def test_what_may_be_meant_as_it_stands_stays(store: SqliteStore, query: str) -> None:
    assert repaired(query, store) == Repair(query)


def test_latin_among_russian_words_was_typed_on_purpose(store: SqliteStore) -> None:
    repair = repaired("песня Sherbinin", store)
    assert repair.text == "песня Sherbinin"
    assert repair.also == {"sherbinin": ("щербинин",)}
    assert repaired("и pesnya sherbinina", store).text == "и песня щербинина"


def test_names_among_english_words_are_sought_in_cyrillic_too(store: SqliteStore) -> None:
    repair = repaired("what did Karenin do in the second act", store)
    assert repair.text == "what did Karenin do in the second act"
    assert repair.also == {"karenin": ("каренин",)}


def test_a_name_is_no_common_word(store: SqliteStore) -> None:
    assert repaired("где живет Ежикин", store).also == {}
    assert repaired("где живет Каренен", store).also["каренен"] == ("каренин",)


def test_other_readings_stand_beside_the_likeliest(store: SqliteStore) -> None:
    repair = repaired("kod kapustu", store)
    (code, cabbage) = terms_of(repair.text, repair.also)
    assert ("код",) in code.lemmas
    assert ("капуста",) in cabbage.lemmas


def test_few_words_of_a_query_are_bent(store: SqliteStore) -> None:
    query = " ".join(f"програм{letter}" for letter in "ямюёйц")
    assert len(repaired(query, store).changes) <= 4


@pytest.mark.parametrize(
    "query",
    [
        "щ" * 2_000,
        "x" * 2_000,
        "'" * 2_000,
        "shch" * 500,
        "shchyaiy " * 222,
        "мо\u0438\u0306 " * 400,
        "абвгджз " * 250,
        "qwertyuiop[];'., " * 117,
        "a.b." * 500,
        "галл-" * 400,
        "ya," * 600,
        "ыва'" * 500,
        "kaк " * 500,
        "\ud800kak\x00 " * 300,
    ],
)
def test_hostile_queries_are_answered_at_once(store: SqliteStore, query: str) -> None:
    repaired("програма", store)  # what is made once is made
    started = time.perf_counter()
    repaired(query, store)
    assert time.perf_counter() - started < 1.0  # measured: 0.02


@settings(max_examples=200, deadline=None, derandomize=True)
@given(st.text(st.sampled_from("акотмслёй akotmsl',.[]-_’Щ\u0301\u0306\ud80017"), max_size=40))
def test_any_text_is_read_and_changes_are_told(store: SqliteStore, query: str) -> None:
    repair = repaired(query, store)
    assert (repair == Repair(query)) == (not repair.changes)
    for typed in repair.changes:
        assert typed in query or typed in repair.text
    terms_of(repair.text, repair.also)

"""The second pass over the archive: small letters, handles, and a person's corrections."""

from __future__ import annotations

from indexer.entities.corrections import Corrections
from indexer.entities.graph import Entity, Graph, MessageMentions, Place
from indexer.entities.relations import graph_of
from indexer.text.names import name_key, written_key
from schemas.records import Correction, Mention


def said(number: int, text: str, *names: tuple[str, str, str], **more: str) -> MessageMentions:
    """A message with mentions: (as written, type, display name) each."""
    mentions = []
    for surface, kind, name in names:
        start = text.index(surface)
        mentions.append(Mention(start, start + len(surface), kind, name, name_key(surface)))
    place = Place(f"c{number}", 0, len(text))
    return MessageMentions("talk", str(number), text, (place,), number * 1000, tuple(mentions), **more)


def named(graph: Graph) -> dict[str, Entity]:
    return {entity.name: entity for entity in graph.entities}


PROPER = [
    said(1, "Ставим Барсук на сервер", ("Барсук", "NAME", "Барсук")),
    said(2, "В Барсуке починили очередь", ("Барсуке", "NAME", "Барсук")),
]


def test_a_name_in_small_letters_is_found_by_its_twin_in_proper_case() -> None:
    lower = said(3, "а барсук опять упал", ("барсук", "MAYBE", "барсук"))
    found = named(graph_of([*PROPER, lower]))
    assert found["Барсук"].mentions == 3
    assert found["Барсук"].type == "NAME"


def test_a_candidate_without_a_twin_is_no_entity_and_one_capital_may_be_an_accident() -> None:
    lower = said(3, "а барсук опять упал", ("барсук", "MAYBE", "барсук"))
    assert named(graph_of([lower])) == {}
    assert named(graph_of([PROPER[0], lower]))["Барсук"].mentions == 1


def test_a_handle_is_the_person_whom_the_archive_knows_by_it() -> None:
    talk = [
        said(1, "привет", author="Иван Петров", handle="ivan_p"),
        said(2, "спроси @ivan_p", ("@ivan_p", "HANDLE", "@ivan_p")),
        said(3, "Иван Петров знает", ("Иван Петров", "PER", "Иван Петров")),
    ]
    found = named(graph_of(talk))
    assert list(found) == ["Иван Петров"]
    assert (found["Иван Петров"].mentions, found["Иван Петров"].type) == (2, "PER")


def test_a_handle_of_two_people_is_nobodys() -> None:
    talk = [
        said(1, "да", author="Иван Петров", handle="boss"),
        said(2, "нет", author="Олег Попов", handle="boss"),
        said(3, "спроси @boss", ("@boss", "HANDLE", "@boss")),
    ]
    assert list(named(graph_of(talk))) == ["@boss"]


def test_a_short_name_is_the_only_person_of_the_talk_who_may_be_called_so() -> None:
    full = said(1, "Иван Петров пришёл", ("Иван Петров", "PER", "Иван Петров"))
    short = said(2, "Ваня ушёл", ("Ваня", "PER", "Ваня"))
    assert named(graph_of([full, short]))["Иван Петров"].mentions == 2
    other = said(3, "Иван Сидоров тут", ("Иван Сидоров", "PER", "Иван Сидоров"))
    assert set(named(graph_of([full, short, other]))) == {"Иван Петров", "Иван Сидоров", "Ваня"}


# --- corrections ----------------------------------------------------------------------------------------

TEAM = [
    said(1, "Барсук готов", ("Барсук", "NAME", "Барсук")),
    said(2, "Проект Б сдан", ("Проект Б", "NAME", "Проект Б")),
    said(3, "Проект Б и Барсук", ("Проект Б", "NAME", "Проект Б"), ("Барсук", "NAME", "Барсук")),
]
BADGER, PROJECT = name_key("Барсук"), name_key("Проект Б")


def corrected(*made: Correction) -> Graph:
    return graph_of(TEAM, Corrections(made))


def test_a_merged_name_is_found_by_both_and_counts_as_one() -> None:
    graph = corrected(Correction("merge", PROJECT, BADGER))
    (entity,) = graph.entities
    assert (entity.name, entity.mentions) == ("Барсук", 4)
    assert dict(graph.keys) == {BADGER: 1, PROJECT: 1}
    assert {alias for _, alias, _ in graph.aliases} == {"Барсук", "Проект Б"}


def test_a_renamed_entity_is_shown_so_and_found_as_before() -> None:
    graph = corrected(Correction("rename", BADGER, "Система «Барсук»"))
    assert "Система «Барсук»" in named(graph)
    assert BADGER in dict(graph.keys)


def test_an_ignored_name_is_no_entity_and_relates_to_nothing() -> None:
    graph = corrected(Correction("ignore", BADGER))
    assert list(named(graph)) == ["Проект Б"]
    assert all("Барсук" not in (relation.object_name,) for relation in graph.relations)


def test_a_later_correction_beats_an_earlier_one_and_circles_do_no_harm() -> None:
    merge, back = Correction("merge", PROJECT, BADGER), Correction("merge", BADGER, PROJECT)
    assert len(corrected(merge, back).entities) == 1
    assert len(corrected(merge, Correction("split", PROJECT)).entities) == 2
    assert len(corrected(Correction("ignore", PROJECT), merge).entities) == 1


def test_a_split_name_stays_by_itself_whatever_the_rules_would_make_of_it() -> None:
    talk = [
        said(1, "едем в питер", ("питер", "LOC", "Санкт-Петербург")),
        said(2, "Санкт-Петербург красив", ("Санкт-Петербург", "LOC", "Санкт-Петербург")),
        said(3, "Иван Петров пришёл", ("Иван Петров", "PER", "Иван Петров")),
        said(4, "Иван ушёл", ("Иван", "PER", "Иван")),
    ]
    whole = graph_of(talk)
    assert {entity.name: entity.mentions for entity in whole.entities} == {
        "Санкт-Петербург": 2,
        "Иван Петров": 2,
    }
    made = Corrections([Correction("split", written_key("питер")), Correction("split", name_key("Иван"))])
    apart = graph_of(talk, made)
    assert sorted(named(apart)) == ["Иван", "Иван Петров", "Санкт-Петербург", "питер"]
    assert written_key("питер") in dict(apart.keys)

"""Whether an entity is found by its name in any inflection: people and places, inflected at random."""

from __future__ import annotations

import random
import tempfile
from collections.abc import Sequence
from pathlib import Path

from indexer.entities.graph import Entity, Graph
from indexer.stores.graph import GraphStore
from indexer.stores.graph_writer import write_graph
from indexer.text.lemmas import analyser
from indexer.text.names import name_key

_MEN = (
    *("Александр", "Алексей", "Андрей", "Антон", "Артём", "Борис", "Вадим", "Валентин", "Василий", "Виктор"),
    *("Виталий", "Владимир", "Вячеслав", "Геннадий", "Георгий", "Григорий", "Даниил", "Денис", "Дмитрий"),
    *("Евгений", "Егор", "Иван", "Игорь", "Илья", "Кирилл", "Константин", "Лев", "Леонид", "Максим"),
    *("Михаил", "Никита", "Николай", "Олег", "Павел", "Пётр", "Роман", "Семён", "Сергей", "Степан"),
    *("Тимофей", "Фёдор", "Юрий", "Яков"),
)
_WOMEN = (
    *("Алина", "Алла", "Анастасия", "Анна", "Валерия", "Вера", "Галина", "Дарья", "Ева", "Екатерина"),
    *("Елена", "Зоя", "Инна", "Ирина", "Ксения", "Лариса", "Лидия", "Любовь", "Людмила", "Маргарита"),
    *("Марина", "Мария", "Надежда", "Наталья", "Нина", "Ольга", "Полина", "Светлана", "София", "Татьяна"),
)
_SURNAMES = (
    *("Абрамов", "Баранов", "Белов", "Белоусов", "Богданов", "Васильев", "Виноградов", "Волков", "Воробьёв"),
    *("Гаврилов", "Гончаров", "Григорьев", "Гусев", "Давыдов", "Дмитриев", "Егоров", "Жуков", "Зайцев"),
    *("Захаров", "Иванов", "Ильин", "Калинин", "Карпов", "Киселёв", "Ковалёв", "Козлов", "Комаров"),
    *("Королёв", "Крылов", "Кузнецов", "Кузьмин", "Лебедев", "Макаров", "Медведев", "Мельников", "Миронов"),
    *("Морозов", "Назаров", "Никитин", "Новиков", "Орлов", "Осипов", "Павлов", "Петров", "Поляков"),
    *("Романов", "Семёнов", "Сидоров", "Смирнов", "Соколов", "Соловьёв", "Сорокин", "Степанов", "Тарасов"),
    *("Титов", "Тихонов", "Федотов", "Филиппов", "Фролов", "Цветков", "Чернов", "Шевченко", "Яковлев"),
)
_PLACES = (
    *("Москва", "Казань", "Самара", "Уфа", "Пермь", "Воронеж", "Саратов", "Тюмень", "Ижевск", "Барнаул"),
    *("Иркутск", "Хабаровск", "Ярославль", "Владивосток", "Томск", "Оренбург", "Кемерово", "Рязань", "Пенза"),
    *("Липецк", "Киров", "Чебоксары", "Тула", "Калининград", "Курск", "Сочи", "Тверь", "Иваново", "Брянск"),
    *("Белгород", "Владимир", "Архангельск", "Калуга", "Смоленск", "Вологда", "Череповец", "Мурманск"),
    *("Петрозаводск", "Кострома", "Новороссийск", "Псков", "Карелия", "Камчатка", "Сибирь", "Байкал"),
)
_CASES = ("gent", "datv", "accs", "ablt", "loct")


def inflected(word: str, case: str, gender: str | None = None) -> str | None:
    """A name in a case, as pymorphy3 inflects it; None where it can't."""
    for parse in analyser().parse(word):
        if not any(mark in parse.tag for mark in ("Name", "Surn", "Geox")) or parse.tag.number == "plur":
            continue
        if gender is not None and parse.tag.gender not in (gender, None):
            continue
        form = parse.inflect({case, "sing"})
        if form is not None:
            return str(form.word).capitalize()
    return None


def people_and_places(count: int, seed: int = 0) -> list[tuple[str, str, str]]:
    """(nominative, inflected, type) of `count` different names, the same for the same seed."""
    chance = random.Random(seed)
    names: dict[str, tuple[str, str, str]] = {}
    while len(names) < count:
        case = chance.choice(_CASES)
        made = _place(chance, case) if chance.random() < 0.05 else _person(chance, case)
        if made is not None:
            names.setdefault(made[0], made)
    return list(names.values())


def _place(chance: random.Random, case: str) -> tuple[str, str, str] | None:
    name = chance.choice(_PLACES)
    form = inflected(name, case)
    return (name, form, "LOC") if form else None


def _person(chance: random.Random, case: str) -> tuple[str, str, str] | None:
    gender = chance.choice(("masc", "femn"))
    given = chance.choice(_MEN if gender == "masc" else _WOMEN)
    surname = chance.choice(_SURNAMES)
    if gender == "femn" and not surname.endswith("о"):
        surname += "а"
    forms = inflected(given, case, gender), inflected(surname, case, gender)
    if None in forms:
        return None
    return f"{given} {surname}", f"{forms[0]} {forms[1]}", "PER"


def recall_at_1(count: int = 1000) -> dict[str, float]:
    """Share of entities that come first when they are asked for in another case and in small letters."""
    names = people_and_places(count)
    with tempfile.TemporaryDirectory(prefix="letopis-") as folder:
        path = Path(folder) / "entity_graph.db"
        write_graph(path, _graph(names), {})
        store = GraphStore(path)
        try:
            first = [
                bool(found := store.search(asked.lower(), None, 1)) and _same(found[0].name, name)
                for name, asked, _ in names
            ]
        finally:
            store.close()
    return {"recall_at_1": round(sum(first) / len(first), 4), "names": len(first)}


def _same(found: str, name: str) -> bool:
    return name_key(found) == name_key(name)


def _graph(names: Sequence[tuple[str, str, str]]) -> Graph:
    keys = {name_key(name): (name, kind) for name, _, kind in names}
    entities = tuple(
        Entity(number, key, name, kind, 1, 1, None, None)
        for number, (key, (name, kind)) in enumerate(keys.items(), 1)
    )
    aliases = tuple((entity.id, entity.name, 1) for entity in entities)
    return Graph(entities, tuple((e.key, e.id) for e in entities), aliases, (), ())

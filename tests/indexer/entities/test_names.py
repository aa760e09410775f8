import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from indexer.entities.naming import readable
from indexer.text.lemmas import analyser
from indexer.text.names import name_key, name_words

CASES = ("nomn", "gent", "datv", "accs", "ablt", "loct")
PERSONS = [
    "Иван Петров", "Анна Смирнова", "Сергей Кузнецов", "Мария Соколова", "Дмитрий Лебедев", "Ольга Морозова",
    "Никита Волков", "Екатерина Новикова", "Илья Фёдоров", "Юлия Павлова", "Пётр Толстой", "Наталья Белова",
    "Михаил Достоевский", "Татьяна Крупская", "Павел Дуров", "Елена Ильина", "Артём Голубев",
    "Софья Никитина", "Лев Гумилёв", "Александр Пушкин",
]  # fmt: skip


def inflected(name: str, case: str) -> str:
    gender = "femn" if name.split()[0][-1] in "ая" and name.split()[0] not in ("Никита", "Илья") else "masc"
    words = []
    for number, word in enumerate(name.split()):
        tag = "Surn" if number else "Name"
        parse = next(
            parse
            for parse in analyser().parse(word.lower())
            if tag in parse.tag
            and parse.tag.case == "nomn"
            and parse.tag.gender == gender
            and parse.tag.number == "sing"
        )
        words.append(parse.inflect({case, "sing", gender}).word)
    return " ".join(words)


@pytest.mark.parametrize("name", PERSONS)
def test_all_cases_of_a_person_share_one_key_and_one_nominative(name: str) -> None:
    forms = [inflected(name, case) for case in CASES]
    assert len(set(forms)) >= 4
    assert {name_key(form) for form in forms} == {name_key(name)}
    shown = {readable(form.title(), "PER").replace("ё", "е") for form in forms}
    assert shown == {name.replace("ё", "е")}


@pytest.mark.parametrize(
    "forms",
    [
        ("иваном петровым", "Ивану Петрову", "ИВАН ПЕТРОВ", "Иван  Петров"),
        ("Артем", "Артём", "артёмом"),
        ("Ростове-на-Дону", "Ростов на Дону", "ростов-на-дону"),
        ("нижнем новгороде", "Нижний Новгород"),
        ("питере", "Питер", "Санкт-Петербурге", "спб"),
        ("докере", "Docker", "docker'а", "Docker-ом"),
        ("OpenAI", "openai", "OpenAI’s"),
        ("gpt-4o", "GPT 4o"),
        ("Маше", "маша", "Маши", "Машей"),
        ("Центрального банка", "центральный банк"),
        ("вале", "Валя", "Вали"),
        ("Тинькофф", "Т-Банк", "тбанке"),
        ("Юле", "Юли", "Юля", "юлей"),
        ("Коле", "Коля", "коли"),
        ("Маэхара", "Маэхары", "Маэхарой", "маэхаре"),
        ("Хайнц", "Хайнца", "Хайнцем"),
        ("Чиангмай", "Чиангмая", "чиангмае"),
    ],
)
def test_one_name_in_any_form_has_one_key(forms: tuple[str, ...]) -> None:
    assert len({name_key(form) for form in forms}) == 1


def test_different_names_keep_different_keys() -> None:
    names = [
        "C",
        "C++",
        "C#",
        "Иван Петров",
        "Анна Петрова",
        "gpt-4o",
        "gpt-4",
        "5 $",
        "5 ₽",
        "Казань",
        "Москва",
    ]
    assert len({name_key(name) for name in names}) == len(names)


@settings(max_examples=300, deadline=None, derandomize=True)
@given(st.text(max_size=40) | st.text("ивАнЁ- 'q+#", max_size=30))
def test_a_key_is_made_of_any_text_and_ignores_case_and_yo(text: str) -> None:
    key = name_key(text)
    assert bool(key) == bool(text.strip())
    assert "ё" not in key


@pytest.mark.parametrize(
    "surface, type_, before, name",
    [
        ("Сергею Викторовичу Кузнецову", "PER", "позвони", "Сергей Викторович Кузнецов"),
        ("Лебедева", "PER", "врача", "Лебедев"),
        ("А. С. Пушкину", "PER", "", "А. С. Пушкин"),
        ("Людмилу Зенькович", "PER", "", "Людмила Зенькович"),
        ("Дмитрия Бадовского", "PER", "", "Дмитрий Бадовский"),
        ("Ростове-на-Дону", "LOC", "в", "Ростов-на-Дону"),
        ("Антильских островов", "LOC", "", "Антильские острова"),
        ("Тбилиси", "LOC", "в", "Тбилиси"),
        ("японского дипломатического ведомства", "ORG", "", "японское дипломатическое ведомство"),
        ("Министерством обороны РФ", "ORG", "", "Министерство обороны РФ"),
        ("МИДа", "ORG", "", "МИД"),
        ("Tartine Lab", "NAME", "", "Tartine Lab"),
        ("Голубых озёр", "LOC", "", "Голубые озёра"),
        ("Патриарших прудов", "LOC", "", "Патриаршие пруды"),
        ("Воробьёвых гор", "LOC", "", "Воробьёвы горы"),
        ("Боснии и Герцеговине", "LOC", "в", "Босния и Герцеговина"),
        ("Подгорице", "LOC", "в", "Подгорица"),
        ("Убуде", "LOC", "в", "Убуд"),
        ("Чиангмае", "LOC", "в", "Чиангмай"),
        ("Цетинье", "LOC", "в", "Цетинье"),
        ("Нью-Йорке", "LOC", "в", "Нью-Йорк"),
        ("Большим театром", "ORG", "", "Большой театр"),
        ("Высшей школы экономики", "ORG", "", "Высшая школа экономики"),
        ("Национальной Медиа Группы", "ORG", "", "Национальная Медиа Группа"),
        ("Тинькофф Банка", "ORG", "", "Тинькофф Банк"),
        ("Рострудом", "ORG", "", "Роструд"),
        ("12-й армией", "ORG", "", "12-я армия"),
        ("9-го канала", "ORG", "", "9-й канал"),
        ("Илону Маску", "PER", "", "Илон Маск"),
        ("Марлен Ларюэль", "PER", "", "Марлен Ларюэль"),
        ("Булату Окуджаве", "PER", "", "Булат Окуджава"),
        ("Ромке", "PER", "", "Ромка"),
        ("Маш", "PER", "", "Маша"),
    ],
)
def test_a_name_is_shown_in_the_nominative(surface: str, type_: str, before: str, name: str) -> None:
    assert readable(surface, type_, before) == name


@pytest.mark.parametrize(
    "name",
    ["C++", "docker'а", "Ростове-на-Дону", "Санкт-Петербург", "gpt-4o", "Иваном Петровым", "т-банке", "5 ₽"],
)
def test_a_name_inside_a_query_has_the_key_of_the_name(name: str) -> None:
    assert name_key(" ".join(name_words(name))) == name_key(name)


def test_the_words_of_a_query_keep_compounds_and_signs() -> None:
    assert name_words("Что с C++ и Docker-ом в Ростове-на-Дону?") == [
        "что", "с", "c++", "и", "docker", "в", "ростове-на-дону",
    ]  # fmt: skip

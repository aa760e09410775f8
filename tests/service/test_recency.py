from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.recency import BAND, contribution, wanted

DAY = 86_400_000
UNKNOWN = np.iinfo(np.int64).min

NEWEST = (
    "где я сейчас работаю",
    "на чём теперь ездит Марк",
    "какой у нас сейчас тариф на интернет",
    "когда мы в последний раз меняли масло",
    "последний раз, когда болела спина",
    "сколько нас на данный момент в хоре",
    "что в итоге решили с дачей",
    "какой актуальный номер телефона у слесаря",
    "курит ли дядя до сих пор",
    "кто нынешний староста группы",
    "текущий адрес склада",
    "самый свежий замер роста дочки",
    "на сегодняшний день сколько заявок закрыто",
    "в настоящее время кто ведёт бухгалтерию",
    "окончательная дата свадьбы",
    "последняя версия меню на банкет",
    "последние показания счётчика",
    "он по-прежнему живёт в Туле?",
    "на чём остановились в конце концов",
    "напомни, какой пароль теперь от домофона",
    "куда семья ездила в самую последнюю поездку",
    "итоговая смета на баню",
    "бюджет праздника сейчас",
    "Сколько всё ещё должен Игнат?",
    "а у меня сейчас какая ставка по вкладу",
    "я сейчас на какой диете?",
    "where do I live now",
    "what is my current phone plan",
    "which gym am I currently going to",
    "the latest price for the tent",
    "what was the most recent blood pressure reading",
    "what do we use these days for backups",
    "does Nora still teach violin",
    "how many hens do we have as of today",
    "what is our router password at the moment",
    "when did I last change the filter, last time I mean",
    "which school does he no longer attend",
    "what did we decide on in the end",
    "final budget for the trip",
    "our up-to-date guest list",
    "who is leading the choir at present",
    "is the sofa still for sale?",
    "does Ole smoke anymore",
    "what was our last agreement about the fence",
    "последний адрес мастерской",
    "кого в итоге взяли вторым гитаристом",
)
OLDEST = (
    "когда я впервые упомянул переезд",
    "какую сумму называли изначально",
    "какой был первоначальный план отпуска",
    "в первый раз на какой вершине мы были",
    "какое имя сначала хотели дать коту",
    "первая версия сметы",
    "что поначалу говорил мастер про котёл",
    "какую цену просили в самом начале",
    "самый первый репетитор Глеба",
    "вначале кем хотела стать Уля?",
    "what did we originally plan for the attic",
    "when did I first mention the noise in the engine",
    "what was the initial budget",
    "the first time we went sailing",
    "which color did she want at first",
    "what was the very first name of the band",
    "earliest estimate for the roof",
    "first draft of the vows",
    "when did Otto first visit the clinic",
)
NEITHER = (
    "какую машину купил Марк",
    "рецепт окрошки",
    "last name of the plumber",
    "first name of the new teacher",
    "как называется последняя глава книги",
    "последние слова деда",
    "что обсуждали last week",
    "what did we do last year",
    "что купить в первую очередь",
    "на первый взгляд какой он человек",
    "где проходит первый этап регаты",
    "на каком этаже первая квартира",
    "кто дал ей первую помощь",
    "first aid kit for the car",
    "first of all, what should we pack",
    "love at first sight story",
    "where is the first class lounge",
    "who painted the still life in the hall",
    "does she drink still water",
    "which electric current does the welder need",
    "where is my current account card",
    "who is coming on Friday at the latest",
    "как починить текущий кран",
    "когда текущий ремонт подъезда",
    "когда итоговая контрольная по химии",
    "актуальность темы диплома",
    "о чём фильм «Сейчас самое время»",
    'who sang "Now and Forever"',
    "every now and then, what does he bake",
    "что нового в последнее время",
    "what did Nora do recently",
    "Would she still move abroad if the job fell through?",
    "какая была цена изначально и какая сейчас",
    "what does he drive now and what did he drive before",
    "какая машина сейчас и какая была раньше",
    "что сначала делать, грунтовать или шпаклевать",
    "нужно ли сначала замочить фасоль, а потом варить",
    "Я теперь езжу на автобусе",
    "сейчас я учусь играть на ложках",
    "у нас теперь живёт попугай",
    "I now work from the garden shed.",
    "We're currently staying with my aunt",
    "Вчера долго спорили с мастером, теперь он обещает прийти в среду, привезти плитку, клей и затирку",
    "",
    "теперь понятно",
    "when does the current events club meet",
    "now that's a pity",
    "right now I'm hungry",
    "первое свидание с Олей",
    "последний звонок в школе",
    "who came first in the race",
    "who was the first captain of the team",
    "what should we pack first",
    "как изменилась цена с самого начала",
    "?!",
)


@pytest.mark.parametrize("query", NEWEST)
def test_a_question_about_the_present_state_wants_the_newest(query: str) -> None:
    assert wanted(query) == "newest"


@pytest.mark.parametrize("query", OLDEST)
def test_a_question_about_the_beginning_wants_the_oldest(query: str) -> None:
    assert wanted(query) == "oldest"


@pytest.mark.parametrize("query", NEITHER)
def test_what_only_sounds_like_it_wants_neither(query: str) -> None:
    assert wanted(query) is None


@given(st.text())
def test_any_text_is_understood(text: str) -> None:
    assert wanted(text) in ("newest", "oldest", None)


def added(
    scores: list[float], days: list[int | None], direction: str = "newest", hits: list[bool] | None = None
) -> list[float]:
    times = np.array([UNKNOWN, *(UNKNOWN if day is None else day * DAY for day in days)], np.int64)
    can_hit = np.array([False, *(hits or [True] * len(scores))])
    found = contribution(np.array([0.0, *scores], np.float32), times, can_hit, direction)  # type: ignore[arg-type]
    return [round(float(value), 3) for value in found[1:]]


def test_of_equal_evidence_the_newest_gets_all() -> None:
    assert added([0.8, 0.8, 0.8], [10, 300, 90]) == [0.0, 1.0, 0.5]
    assert added([0.8, 0.8, 0.8], [10, 300, 90], "oldest") == [1.0, 0.0, 0.5]


def test_clearly_worse_evidence_gets_nothing_however_new() -> None:
    assert added([1.0, 0.99 * (1 - BAND)], [1, 900]) == [0.0, 0.0]


def test_nearly_equal_evidence_gets_less_the_worse_it_is() -> None:
    assert added([1.0, 1 - BAND / 2], [1, 900]) == [0.0, 0.5]


def test_messages_of_one_talk_do_not_outdate_each_other() -> None:
    times = np.array([UNKNOWN, 0, 60_000, 40 * DAY, 40 * DAY + 60_000], np.int64)
    scores = np.array([0, 1, 1, 1, 1], np.float32)
    found = contribution(scores, times, scores > 0, "newest")
    assert found.tolist() == [0, 0, 0, 1, 1]


def test_an_unknown_time_is_neither_new_nor_old() -> None:
    assert added([1.0, 1.0, 1.0], [None, 5, 9]) == [0.0, 0.0, 1.0]
    assert added([1.0, 1.0, 1.0], [None, 5, 9], "oldest") == [0.0, 1.0, 0.0]


def test_what_cannot_hit_sets_no_measure() -> None:
    assert added([9.0, 1.0, 1.0], [999, 5, 40], hits=[False, True, True]) == [0.0, 0.0, 1.0]


@pytest.mark.parametrize("direction", ["newest", "oldest"])
def test_where_there_is_one_time_or_nothing_all_stays_as_it_was(direction: str) -> None:
    assert added([1.0, 0.9], [7, 7], direction) == [0.0, 0.0]
    assert added([1.0], [7], direction) == [0.0]
    assert added([0.0, 0.0], [7, 8], direction) == [0.0, 0.0]
    assert added([1.0, 1.0], [None, None], direction) == [0.0, 0.0]
    assert added([], [], direction) == []


@given(
    st.lists(
        st.tuples(st.floats(0, 2, width=32), st.one_of(st.none(), st.integers(0, 3_000)), st.booleans()),
        max_size=30,
    ),
    st.floats(0.01, 1),
    st.sampled_from(["newest", "oldest"]),
)
def test_a_worse_one_overtakes_only_within_the_gap(
    rows: list[tuple[float, int | None, bool]], weight: float, direction: str
) -> None:
    scores = [score for score, _, _ in rows]
    hits = [hit for _, _, hit in rows]
    found = added(scores, [day for _, day, _ in rows], direction, hits)
    assert all(0 <= part <= 1 for part in found)
    can = [at for at, score in enumerate(scores) if hits[at] and score > 0]
    if can:
        best = max(scores[at] for at in can)
        band = BAND * best
        first = max(can, key=lambda at: scores[at] + weight * found[at])
        assert best - scores[first] <= weight * band / (weight + band) + 0.002 * (1 + weight)

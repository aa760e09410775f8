from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.addressee import speaker

ASSISTANT = (
    "что ты советовал от бессонницы",
    "как ты объяснял разницу между ипотекой и рассрочкой",
    "по твоим словам, сколько варить свёклу",
    "какой крем ты мне рекомендовал",
    "ты порекомендовала какую-то книгу про грибы",
    "что вы предлагали вместо гипсокартона",
    "какую температуру духовки ты называл",
    "сколько воды ты велел пить",
    "какой предел скорости ты назвал безопасным",
    "советовал ли ты менять свечи",
    "где ты писал про прививки от клещей",
    "что ты ответил насчёт визы",
    "о чём ты предупреждал перед походом",
    "какую книгу ты посоветовал племяннику",
    "что ты тогда говорил про витамин Д",
    "ты рассказывал нам о кольцах Сатурна",
    "твой совет по засолке огурцов",
    "твоё объяснение парадокса близнецов",
    "твои рекомендации по поливу",
    "что ассистент ответил про страховку",
    "какой план предложил бот",
    "агент предложил два маршрута",
    "бот написал, что нужна справка",
    "нейросеть посоветовала лак",
    "ответ ассистента про налоги",
    "рекомендации помощника по сну",
    "как называл этот сорт чатбот",
    "по твоему мнению, какой фильм лучше",
    "you recommended a podcast about bees",
    "what did you say about my knee",
    "what have you suggested for the damp wall",
    "did you mention a cheaper train",
    "which tea did you recommend for sleep",
    "you told me how to prune roses",
    "how did you explain compound interest",
    "the assistant suggested a shorter route",
    "what did the assistant answer about the visa",
    "what the bot wrote about refunds",
    "did the AI propose another name",
    "your advice on sourdough",
    "your earlier recommendation for hiking boots",
    "according to you, how long should rice soak",
    "the list of museums you gave me",
    "ChatGPT recommended a tripod",
    "ты дал рецепт хумуса",
    "какие ты давал советы по собеседованию",
    "твой список рекомендаций по сериалам",
    "ты учил меня ставить закваску",
    "the map you shared",
)
USER = (
    "что я говорил про отпуск",
    "что я писал о соседях",
    "какие симптомы я тебе описывал",
    "мои слова о новой работе",
    "упоминал ли я аллергию",
    "когда я рассказывал про рыбалку",
    "сколько денег я называл за гараж",
    "что я сказал начальнику",
    "что пользователь упоминал о диете",
    "сообщения пользователя про ремонт",
    "о чём спрашивал пользователь в мае",
    "мои вопросы про налоги",
    "по моим словам, кто виноват",
    "я же говорила, какой у меня размер",
    "что я отвечал про переезд",
    "I told you the name of my vet",
    "what did I say about the contract",
    "have I mentioned a sister",
    "what I wrote about the trip to the lake",
    "did I tell you my shoe size",
    "the user said something about a cat",
    "what did the user mention about his job",
    "the user's messages about billing",
    "in my own words, why did I quit",
    "I asked about the boiler",
    "which books have I already mentioned",
    "когда я жаловался на сон",
    "when did I complain about noise",
)
NOBODY = (
    "чем ты занимаешься по вечерам",
    "как зовут твою жену",
    "твоя жена любит театр?",
    "где ты работаешь",
    "какую машину ты купил",
    "ты вернулся в секцию или передумал",
    "как ты назвал собаку",
    "что ты сказал начальнику",
    "что ты обещал жене",
    "кому ты рассказывал, сыну или брату, сказал ли дочери",
    "что сказал врач про колено",
    "что советовал тренер",
    "мастер предложил заменить трубу",
    "где я живу",
    "что я люблю на завтрак",
    "я купил велосипед",
    "мои планы на лето",
    "твой день рождения",
    "страховой агент предложил скидку",
    "агент по недвижимости сказал цену",
    "мой помощник написал отчёт",
    "помощник депутата ответил на жалобу",
    "что ты советовал, когда я сказал про боль",
    "что я говорил и что ты ответил",
    "как работает чат-бот банка",
    "у кого купить советы по вязанию",
    "where do you live",
    "what is your wife's name",
    "your favorite movie",
    "did you buy the ladder",
    "what did you tell your boss",
    "you told my mother about the party",
    "what did Nora say about the trip",
    "she told me about a lake",
    "where do I park",
    "my plans for spring",
    "the estate agent said the roof leaks",
    "my assistant wrote the minutes",
    "what did I say and what did you answer",
    "the doctor recommended rest",
    "advice on buying a tent",
    "рецепт сырников",
    "",
    "ты написал книгу?",
    "о чём ты писал диплом",
    "ты предложил ей выйти замуж",
    "кому ты рассказал секрет",
    "твой совет директоров",
    "which languages do you speak",
    "?!",
)


@pytest.mark.parametrize("query", ASSISTANT)
def test_a_question_about_advice_or_answers_names_the_assistant(query: str) -> None:
    assert speaker(query) == "assistant"


@pytest.mark.parametrize("query", USER)
def test_a_question_about_ones_own_words_names_the_user(query: str) -> None:
    assert speaker(query) == "user"


@pytest.mark.parametrize("query", NOBODY)
def test_a_question_about_a_person_or_about_both_names_nobody(query: str) -> None:
    assert speaker(query) is None


@given(st.text())
def test_any_text_is_understood(text: str) -> None:
    assert speaker(text) in ("assistant", "user", None)

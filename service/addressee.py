"""Questions that name who said it: the assistant ("что ты советовал") or the user himself ("what did I say").

Only a verb or a noun of saying or advising, bound to a person, tells it. "Ты" and "you" alone ask about the
person ("где ты работаешь"), and so does what he told someone else ("что ты сказал начальнику").
"""

from __future__ import annotations

import re
from typing import Literal

from indexer.text.lemmas import analyser
from indexer.text.normal import normal

Speaker = Literal["assistant", "user"]


def _whole(pattern: str) -> re.Pattern[str]:
    """Whole words; a blank stands for any run of blanks."""
    return re.compile(rf"\b(?:{pattern})\b".replace(" ", r"\s+"))


# Verbs, in the past. Advice may be for a third one ("порекомендовал мальчику"); what is said to a third one
# was said elsewhere.
_RU_ADVISED = (
    r"(?:по|на)?советовал[аи]?|(?:по)?рекомендовал[аи]?|подсказ(?:ыв)?ал[аи]?|объясн[ия]л[аи]?|разъясн[ия]л[аи]?|"
    r"прочил[аи]?|велел[аи]?|предупре(?:ждал|дил)[аи]?|перечисл[ия]л[аи]?|"
    r"расписывал[аи]?|уточн[ия]л[аи]?|подтвер(?:ждал|дил)[аи]?"
)
_RU_SAID = (
    r"предл(?:агал|ожил)[аи]?|(?:про)?говорил[аи]?|сказал[аи]?|рассказ(?:ыв)?ал[аи]?|"
    r"(?:на|о)?писал[аи]?|описывал[аи]?|отве(?:чал|тил)[аи]?|"
    r"упом(?:инал|янул)[аи]?|назвал[аи]?|называл[аи]?|разреш[иа]л[аи]?|утверждал[аи]?|обещал[аи]?|"
    r"сообщ[иа]л[аи]?|указ(?:ыв)?ал[аи]?|отме(?:чал|тил)[аи]?|приводил[аи]?|спрашивал[аи]?|спросил[аи]?|"
    r"(?:по)?жаловал(?:ся|ась|ись)|(?:по)?делил(?:ся|ась|ись)|учил[аи]?"
)
_RU_VERB = rf"(?:{_RU_ADVISED}|{_RU_SAID})"
_EN_PAST = (
    r"(?:recommended|suggested|advised|explained|said|mentioned|told|wrote|written|answered|replied|proposed|"
    r"stated|described|listed|noted|claimed|warned|asked|complained|shared)"
)
_EN_BASE = (
    r"(?:recommend|suggest|advise|explain|say|mention|tell|write|answer|reply|propose|state|describe|list|note|"
    r"claim|warn|ask|complain|share)"
)
_EN_BETWEEN = r"(?:ever |already |once |actually |originally |just |also |previously |earlier |last |first )?"

# Between the person and the verb: adverbs, objects; never another person who could be its subject.
_RU_BETWEEN = r"(?:(?!(?:я|ты|вы|мы|он|она|они|кто)\b)\w+ ){0,3}?"
_RU_AFTER = r" (?:(?:же|ли|бы|мне|нам|тебе|вам|раньше|тогда|уже) )?"

_RU_MACHINE = (
    r"(?:ассистент|помощник|бот|чат бот|чатбот|нейросеть|нейронка|ии|гпт|chatgpt|gpt|claude|клод|агент)"
)
_RU_MACHINES = (
    r"(?:ассистента|помощника|бота|чат бота|чатбота|нейросети|нейронки|ии|гпт|chatgpt|gpt|claude|клода|"
    r"агента)"
)
_EN_MACHINE = r"(?:(?:the |an? |ai )?(?:assistant|chatbot|bot|ai|agent|llm)|chatgpt|gpt|claude)"
_RU_PERSON = r"(?:пользователь|юзер)"
_RU_WORDS = (
    r"(?:слов|слова|словам|слове|совета?(?! директоров)|советы|советам|советов|рекомендаци\w+|объяснени\w+|"
    r"ответ\w*)"
)
_EN_WORDS = (
    r"(?:words|advice|recommendations?|suggestions?|explanations?|answers?|repl(?:y|ies)|response|responses)"
)

# Agents and helpers of flesh: "страховой агент", "agent of the estate".
_HUMAN = _whole(
    r"агент\w* (?:по|из|от) ?\w*|"
    r"(?:помощник|ассистент)\w* (?:по (?:хозяйству|дому|продажам|кадрам)|из|депутат\w*|режиссер\w*|врача)|"
    r"\w+(?:ый|ой|ий|ого|ому) (?:агент|помощник|ассистент)\w*|"
    r"(?:мой|моя|наш|его|ее|моего|нашего) (?:агент|помощник|ассистент)\w*|"
    r"(?:estate|insurance|travel|booking|secret|sales|press|literary|customs|shop|dental|teaching|personal|"
    r"my|our|his|her|their) (?:agent|assistant)s?"
)


def _said(person: str, verb: str) -> str:
    return rf"{person} {_RU_BETWEEN}(?P<before>{verb})|(?P<after>{verb}){_RU_AFTER}{person}"


_RU_YOU = _whole(_said("(?:ты|вы)", _RU_VERB))
_RU_I = _whole(_said("я", _RU_VERB))
_RU_OTHER_WORDS = r"(?:мнени\w+|версии|оценке|совету|подсказке|прогнозу)"

_ASSISTANT = _whole(
    rf"{_RU_MACHINE} {_RU_BETWEEN}{_RU_VERB}|{_RU_VERB} (?:\w+ ){{0,2}}?{_RU_MACHINE}|"
    rf"{_RU_WORDS} (?:от )?{_RU_MACHINES}|тво(?:и|их|им|ими|й|его|ему|ем|я|ей|ю|е) (?:\w+ )?{_RU_WORDS}|"
    rf"по (?:твое(?:му|й)|ваше(?:му|й)) {_RU_OTHER_WORDS}|ваш(?:и|их|им|ими) {_RU_WORDS}|"
    rf"{_EN_MACHINE}(?: has| had)? {_EN_BETWEEN}{_EN_PAST}|did {_EN_MACHINE} {_EN_BETWEEN}{_EN_BASE}|"
    rf"(?:assistant|chatbot|bot|ai|agent|chatgpt|claude)(?:'s|’s) {_EN_WORDS}|"
    rf"your (?:\w+ )?{_EN_WORDS}|according to (?:you|{_EN_MACHINE})"
)
_USER = _whole(
    rf"{_RU_PERSON} {_RU_BETWEEN}{_RU_VERB}|{_RU_VERB} (?:\w+ ){{0,2}}?{_RU_PERSON}|"
    r"(?:слов|слова|словам|вопрос\w*|сообщени\w+) (?:пользователя|юзера)|"
    r"мо(?:и|их|им|ими) слов(?:а|ам|ами|ах)?|мо(?:и|их|им|й|его|ему|е|ем) (?:вопрос\w*|сообщени\w+)|"
    rf"the user(?: has| had)? {_EN_BETWEEN}{_EN_PAST}|did the user {_EN_BETWEEN}{_EN_BASE}|"
    rf"(?:the )?user(?:'s|’s) (?:words|messages?|questions?)|"
    rf"i(?:'ve|’ve| have| had)? {_EN_BETWEEN}{_EN_PAST}|"
    rf"(?:did|have|had) i {_EN_BETWEEN}(?:{_EN_BASE}|{_EN_PAST})|"
    r"my (?:own )?words|according to me"
)
_EN_YOU = _whole(
    rf"you(?:'ve|’ve| have| had)? {_EN_BETWEEN}(?P<before>{_EN_PAST})|"
    rf"(?:did|have|had) you {_EN_BETWEEN}(?P<after>{_EN_BASE}|{_EN_PAST})"
)
_EN_GIVEN = _whole(r"you (?:gave|give) (?:me|us)|did you give (?:me|us)")
_EN_ELSEWHERE = re.compile(
    r"\s+(?:to )?(?:your|my|his|her|their|him|them|everyone|people|"
    r"the (?:boss|doctor|teacher|police|kids))\b"
)
_RU_ADVICE = re.compile(rf"(?:{_RU_ADVISED})")
_RU_NAMED = re.compile(r"\W*(?:а\W+)?как\W+(?:ты|вы)\W+(?:\w+\W+){0,2}назва")
# "Ты написал книгу": what a person makes.
_RU_MADE = re.compile(
    r"\s+(?:\w+\s+)?(?:диплом|диссертаци|книг|роман|повест|песн|стих|картин|музык|икон|портрет)"
)
_RU_GAVE = _whole(
    rf"(?:ты|вы) {_RU_BETWEEN}да(?:л|ла|ли|вал|вала|вали) {_RU_BETWEEN}(?:совет\w*|рецепт\w*|ссылк\w+|список|"
    r"спис\w+|пример\w*|рекомендаци\w+|инструкци\w+|определени\w+|объяснени\w+)"
)
_TO_ONESELF = ("мне", "нам", "себе")
_TO_THIRD = ("ей", "ему", "им", "кому")
_WORD = re.compile(r"\w+")


def speaker(query: str) -> Speaker | None:
    """Whose words a query asks for.

    Args:
        query: any text, Russian or English.

    Returns:
        The role of the speaker; None where it names none, or both.
    """
    text = _HUMAN.sub(" ", normal(query))
    assistant = _ASSISTANT.search(text) is not None or _you_said(text)
    user = _USER.search(text) is not None or _RU_I.search(text) is not None
    if assistant == user:
        return None
    return "assistant" if assistant else "user"


def _you_said(text: str) -> bool:
    if _EN_GIVEN.search(text) or _RU_GAVE.search(text):
        return True
    for match in _EN_YOU.finditer(text):
        if not _EN_ELSEWHERE.match(text, match.end()):
            return True
    if _RU_NAMED.match(text):  # "как ты назвал собаку"
        return False
    said = list(_RU_YOU.finditer(text))
    if any(_RU_ADVICE.fullmatch(match["before"] or match["after"]) for match in said):
        return True
    return any(not _RU_MADE.match(text, match.end()) for match in said) and not _has_listener(text)


def _has_listener(text: str) -> bool:
    """Whether the text names a third one in the dative: "сказал начальнику", "обещал жене"."""
    return any(
        word in _TO_THIRD or (word not in _TO_ONESELF and _is_listener(word)) for word in _WORD.findall(text)
    )


def _is_listener(word: str) -> bool:
    return len(word) > 2 and {"NOUN", "anim", "datv"} in analyser().parse(word)[0].tag

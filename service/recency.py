"""Questions about the newest or the first state of a thing ("где я сейчас работаю", "what was it at first").

A chat states one fact again and again with other values: "бюджет 50 000", months later "подняли до 70 000".
Words and vectors hold these for equal; such a question wants the newest, or the first one of them. What only
sounds like it ("last name", "в первую очередь", a statement that was pasted as a query) is taken out first.
"Recently", "lately" and "в последнее время" ask for no state: people say them of things told months ago.
"""

from __future__ import annotations

import re
from typing import Literal

import numpy as np

from indexer.stores import NO_TIME, Ids, Mask
from indexer.text.normal import normal
from service.ranking import Array

Direction = Literal["newest", "oldest"]

# Evidence this share of the best score below it is no equal any more.
BAND = 0.15

# Times less than this apart are one: the messages of one talk do not outdate each other.
_ONE_TALK = 12 * 3_600_000

# A title or a quotation is what the query is about: «Сейчас самое время».
_QUOTED = re.compile(r"«[^»]*»|“[^”]*”|„[^“”]*[“”]|\"[^\"]*\"")


def _any(phrases: str) -> re.Pattern[str]:
    """One pattern for the phrases of a table: whole words, a blank stands for blanks or hyphens."""
    found = [phrase for line in phrases.strip().splitlines() for phrase in line.strip().split(" ; ")]
    return re.compile(rf"\b(?:{'|'.join(found)})\b".replace(" ", r"[\s-]+"))


# What is stated again and again, so that it has a last and a first version.
_RU_STATED = (
    r"(?:раз[ауе]?|верси\w+|вариант\w*|редакци\w+|данн\w+|новост\w+|изменени\w+|обновлени\w+|информаци\w+|"
    r"решени\w+|результат\w*|показател\w+|показани\w+|анализ\w*|замер\w*|разговор\w*|упоминани\w+|визит\w*|"
    r"созвон\w*|цен\w+|сумм\w+|смет\w+|бюджет\w*|оклад\w*|зарплат\w*|отчет\w*|статус\w*|состояни\w+|план\w*|"
    r"договоренност\w+|сообщени\w+|запис\w+|адрес\w*|номер\w*|телефон\w*)"
)
_EN_STATED = (
    r"(?:versions?|drafts?|prices?|offers?|budgets?|plans?|decisions?|choices?|amounts?|figures?|results?|"
    r"status|estimates?|quotes?|updates?|news|conversations?|mentions?|messages?|ideas?|address|addresses|"
    r"agreements?|readings?|salary|rent|schedule|deadline)"
)

_FALSE_FRIENDS = _any(r"""
    текущ\w+ (?:ремонт\w*|счет\w*|кран\w*|труб\w+|вод\w+) ; итогов\w+ (?:экзамен|контрольн|аттестаци|работ)\w*
    актуальност\w+ ; (?:не|прямо) сейчас же ; сейчас вернусь ; теперь понятно
    в первую очередь ; на первый взгляд ; с первого раза ; за первый раз
    (?:every )?now and (?:then|again) ; just now ; from now on ; now that's ; current events
    still (?:life|lifes|lives|waters?|images?|frames?|photos?) ; (?:stand|sit|stay|keep|hold|lie)\w* still
    (?:electric\w*|ocean|sea|alternating|direct|strong|eddy|welding) currents? ; current accounts?
    would(?: \w+){1,4} still ; still (?:would|have (?:wanted|gone))
    at the (?:very )?latest ; first time (?:buyers?|parents?|visitors?) ; first of all
    at first (?:glance|sight|light|hand) ; (?:the )?earliest possible
""")

_NEWEST = _any(rf"""
    сейчас ; теперь ; нынче ; ныне ; нынешн\w+ ; текущ(?:ий|ая|ее|ие|ую|его|ей|ему|ем|их|им|ими)
    на (?:данный|текущий|нынешний) момент ; в (?:данный|текущий) момент ; в настоящее время ; по сей день
    к настоящему (?:моменту|времени) ; на сегодня(?:шний день)? ; по состоянию на ; до сих пор ; все еще
    по прежнему ; актуальн(?!ост)\w+ ; в (?:конечном )?итоге ; итогов\w+ ; в конце концов ; окончательн\w+
    последн\w+ {_RU_STATED} ; сам\w+ последн\w+ ; свеж\w+ {_RU_STATED} ; новейш\w+
    (?:сам\w+|наиболее) (?:свеж\w+|нов(?:ый|ая|ое|ые|ую|ого|ой|ом|ых|ым))
    к последнему (?:разговору|времени|моменту)
    now ; currently ; current ; nowadays ; presently ; at (?:the|this) moment ; at present ; these days
    as of (?:now|today) ; to this day ; still ; any(?: )?more ; no longer ; latest ; newest
    (?:most )?up to date ; last time ; last {_EN_STATED} ; final {_EN_STATED} ; in the end ; eventually
    last known ; most recent(?:ly)?
""")

_OLDEST = _any(rf"""
    впервые ; перв(?:ый|ого|ом) раза? ; изначально ; (?:из|перво)начальн\w+ ; поначалу ; вначале
    в самом начале ; с самого начала ; сам\w+ перв\w+ ; перв\w+ {_RU_STATED} ; сначала ; сперва
    first time ; originally ; initially ; at first ; in the beginning ; at the very beginning ; earliest
    from the start ; very first ; (?:first|original|initial|earliest) {_EN_STATED}
    (?:did|do|does|was|were|have|has|had)(?: \w+){{1,4}}(?<!\bthe)(?<!\ba) first(?= \w)(?! and)
""")

# Now and before: a change is asked for, and both of its ends answer.
_BOTH = _any(r"""
    (?:и|а|или) (?:\w+ ){0,5}(?:раньше|прежде|до этого|потом) ; как (?:\w+ ){0,4}(?:менял\w+|изменил\w+)
    (?:and|or) (?:\w+ ){0,6}(?:before|previously|then) ; how (?:\w+ ){0,6}changed?
""")

# "What comes first" of a procedure: an order of steps, not of what was told.
_STEPS = _any(r"""
    (?:сначала|сперва)\b.{0,100}?\b(?:или|потом|затем|после) ; (?:надо|нужно|лучше|стоит) (?:сначала|сперва)
""")

_ASKS = _any(r"""
    как(?:ой|ая|ое|ие|ого|ую|ому|ом|им|ими|их|ов|ова|овы) ; скольк\w+ ; кто ; кого ; кому ; кем ; котор\w+ из
    чей ; чья ; чье ; чьи ; ли ; куда ; откуда ; почему ; зачем ; насколько
    what ; which ; who ; whose ; whom ; where ; when ; why ; how
    напомни\w* ; найди\w* ; покажи\w* ; скажи\w* ; remind ; find ; show ; tell me
""")
# These also join clauses of a statement: they ask where they stand at its beginning.
_ASKS_EARLY = re.compile(
    r"\W*(?:\w+\W+){0,2}?(?:что|чем|чего|чему|как|где|когда|is|are|am|was|were|do|does|did|has|have|had|can)\b"
)
_OWN = re.compile(
    r"\W*(?:(?:ну|так|вот|а|и|so|well|and)\W+)*"
    r"(?:я|мы|у меня|у нас|мне|нам|теперь (?:я|мы|у|мне)|сейчас (?:я|мы|у|мне)|"
    r"(?:right )?(?:now )?(?:i|i'm|i’m|we|we're))\b"
)
# A search of so many words that asks nothing is a text that was pasted.
_LONG = 12


def wanted(query: str) -> Direction | None:
    """Which of several statements of one fact a query wants.

    Args:
        query: any text, Russian or English.

    Returns:
        "newest" or "oldest"; None where it names neither or both, or states something itself.
    """
    text = _FALSE_FRIENDS.sub(" ", _QUOTED.sub(" ", normal(query)))
    newest = _NEWEST.search(text) is not None
    oldest = _OLDEST.search(text) is not None and _STEPS.search(text) is None
    if newest == oldest or _BOTH.search(text) or _is_statement(text):
        return None
    return "newest" if newest else "oldest"


def _is_statement(text: str) -> bool:
    """Whether a text tells something instead of asking for it."""
    if "?" in text or _ASKS.search(text) or _ASKS_EARLY.match(text):
        return False
    return _OWN.match(text) is not None or len(text.split()) > _LONG


def contribution(scores: Array, times: Ids, can_hit: Mask, direction: Direction, band: float = BAND) -> Array:
    """What the time of equal evidence adds.

    Only what scores nearly as well as the best takes part: its closeness c falls from 1 at the best score to
    0 at `band` of it below. Among those, r is the place in time, 0 for the oldest talk and 1 for the newest
    (the other way round for "oldest"). The product c·r leaves what is clearly worse where it was: with a
    weight w the newest overtakes an older one only within a gap of w·b/(w + b), b = band · best.

    Args:
        scores: sums of all other evidence, ≥ 0, by row.
        times: UTC ms by row; the least integer where it is unknown.
        can_hit: the rows that may be returned.
        direction: see `wanted`.
        band: share of the best score, above 0.

    Returns:
        0–1 by row; 0 where the time is unknown, or where nothing of another time is as good.
    """
    found = np.zeros(len(scores), np.float32)
    rows = np.flatnonzero(can_hit & (scores > 0))
    if not len(rows):
        return found
    best = float(scores[rows].max())
    least = max(band * best, float(np.finfo(np.float32).tiny))
    close = np.clip(1 - (best - scores[rows]) / least, 0, 1)
    takes_part = (close > 0) & (times[rows] != NO_TIME)
    rows, close = rows[takes_part], close[takes_part]
    late = _places(times[rows])
    found[rows] = close * (late if direction == "newest" else late.max(initial=0) - late)
    return found


def _places(times: Ids) -> Array:
    """Evenly from 0 for the oldest talk to 1 for the newest; all 0 where there is one talk."""
    order = np.argsort(times, kind="stable")
    begins = np.diff(times[order], prepend=times[order[:1]]) > _ONE_TALK
    talks = np.empty(len(times), np.float32)
    talks[order] = np.cumsum(begins)
    return talks / max(1.0, float(talks.max(initial=0)))

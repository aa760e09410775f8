"""Secrets that people tell each other: "пароль от вайфая - …", "the password is …", "пин-код 4821"."""

from __future__ import annotations

import re

from indexer.redaction.assignments import is_value
from indexer.redaction.rule import VALUE, Rule, has_digit, looks_random

# What follows "пароль:" where none is told: "пароль: забыл, спроси у Ани".
_NO_SECRET = re.compile(
    r"(?i)(?:нет|да|есть|не|тот|тут|там|это|как|что|где|потом|тоже|такой|прежний|старый|новый|забыл\w*|спроси\w*"
    r"|обязател\w*|неверн\w*|любой|пуст\w*|смени\w*|введи\w*|пришл\w*|скину\w*|скаж\w*|под)"
)

_NEAR = ("парол", "пас", "кодов", "секрет", "токен", "ключ", "апи", "pass", "pwd", "secret", "key", "token")
_PASSWORD = r"парол[ьяюеи]|пасс?ворд|кодов\w{2,3}\s{1,3}слов\w|password|passwd|passphrase|pwd"
_KEY = (
    r"секретный\s{1,3}ключ|токен|ключ\s{1,3}(?:api|апи)|(?:api|апи)[- _]?ключ|secret(?:[_ -]?key)?|token"
    r"|api[_ -]?key|access[_ -]?key|access[_ -]?token|auth[_ -]?token|client[_ -]?secret|private[_ -]?key"
)
_OF = r"(?:\s{1,3}(?:от|к|для|на|for|to|of)\s{1,3}[^\n:=—–]{1,40}?)?"
_LINK = r"(?P<link>\s{0,3}(?:[:=]|->)\s{0,3}|\s{0,3}[—–]\s{0,3}|\s{1,3}(?:-|это|is)\s{1,3})"


def _told(match: re.Match[str]) -> str:
    """The value without the full stop of its sentence."""
    return match["value"].rstrip(".!?)")


def _is_marked(value: str, word: str) -> bool:
    """No word of the sentence: a digit, a sign or a capital in it, or Latin letters after a Russian word."""
    russian_word = not word.isascii()
    return (
        has_digit(value)
        or any(char in "!@#$%^&*_+=~" for char in value)
        or value[0].isupper()
        or value[1:] != value[1:].lower()
        or (russian_word and value.isascii())
    )


def _is_password(match: re.Match[str]) -> bool:
    value, link = _told(match), match["link"]
    if not is_value(value) or _NO_SECRET.fullmatch(value):
        return False
    if "\n" in link:
        return looks_random(value)
    return ":" in link or "=" in link or _is_marked(value, match["word"])


def _is_key(match: re.Match[str]) -> bool:
    value = _told(match)
    return is_value(value) and len(value) >= 8 and looks_random(value)


def _is_mixed(match: re.Match[str]) -> bool:
    value = _told(match)
    return (
        is_value(value)
        and has_digit(value)
        and any(c.isalpha() or c in "!@#$%^&*_" for c in value)
        and len(value) >= 6
    )


TALK: tuple[Rule, ...] = (
    Rule(
        "password",
        _NEAR,
        re.compile(rf"(?i)(?<![\w?&#-])(?P<word>{_PASSWORD})(?!\w){_OF}{_LINK}{VALUE}"),
        "value",
        _is_password,
    ),
    Rule(
        "password",
        _NEAR,
        re.compile(rf"(?i)(?<![\w?&#-])(?:{_KEY})(?!\w){_OF}{_LINK}{VALUE}"),
        "value",
        _is_key,
    ),
    Rule(
        "password",
        ("парол", "passw"),
        re.compile(
            rf"(?i)(?<!\w)(?:парол[ьяюеи]|password)\s{{1,3}}(?:(?:от|for)\s{{1,3}}\S{{1,40}}\s{{1,3}})?{VALUE}"
        ),
        "value",
        _is_mixed,
    ),
    Rule(
        "pin",
        ("пин", "pin", "cvv", "cvc"),
        re.compile(
            r"(?i)(?<!\w)(?:пин|pin|cvv|cvc)2?(?:[- ]?(?:код|code))?[а-я]{0,2}"
            r"(?:\s{1,3}(?:от|к|для|на|for|of)\s{1,3}[^\W\d]{1,20}(?:\s{1,3}[^\W\d]{1,20})?)?"
            r"\s{0,3}(?:[:=—–-]|is|это)?\s{0,3}(?P<value>\d{3,8})(?![\w]|[.,:]\d)"
        ),
        "value",
        lambda match: len(match["value"]) != 3 or match[0][0] in "cC",
    ),
)

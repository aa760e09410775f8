"""Secrets are replaced before anything is written: a key that a chunk border cuts escapes every later filter.

Each pattern is linear in the text and is tried only where a cheap literal or word of its kind stands. A
placeholder is `[REDACTED:kind]`. Raise VERSION with any change of the rules: archives are then read anew.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass

VERSION = 1

_EDGE = r"(?<![A-Za-z0-9_])"
_STOP = r"(?![A-Za-z0-9_])"


@dataclass(frozen=True, slots=True)
class _Rule:
    kind: str
    near: tuple[str, ...]  # one of these stands in the casefolded text, else the pattern is not run
    pattern: re.Pattern[str]
    group: int = 0
    sound: Callable[[str], bool] = lambda _: True


def _token(body: str) -> re.Pattern[str]:
    return re.compile(_EDGE + body + _STOP)


def _luhn(digits: str) -> bool:
    numbers = [int(digit) for digit in digits if digit.isdigit()]
    doubled = (number * 2 - 9 * (number > 4) for number in numbers[-2::-2])
    return len(set(numbers)) > 1 and (sum(numbers[-1::-2]) + sum(doubled)) % 10 == 0


# A word that is no value: "пароль: нет", "password = <password>", "token: str".
_NO_SECRET = re.compile(
    r"(?i)^(?:нет|да|есть|не|тот|тут|там|потом|забыл\w*|обязател\w*|неверн\w*|любой|пуст\w*|your\S*|none|null"
    r"|true|false|str|string|int|required|optional|example|changeme|password|secret|token|x{3,}|\*+|\.+|…|-+"
    r"|<.*|\$\{?.*|\{.*|\[redacted.*|process\.env.*|os\.environ.*|getenv.*|env\(.*)$"
)


def _is_value(value: str) -> bool:
    return len(value) >= 4 and not _NO_SECRET.match(value) and "(" not in value


def _is_assigned(value: str) -> bool:
    # max_tokens = 150000 is a number of tokens.
    return _is_value(value) and not value.isdigit()


_WORDS = (
    r"парол[ьяюе]|пароль\s+от\s+[^\s:=—–-]{1,40}|пасс?ворд|пин-?код|кодов\w{2,3}\s+слов\w|секретный\s+ключ|токен"
    r"|ключ\s+(?:api|апи)|(?:api|апи)[- _]?ключ|password|passwd|passphrase|pwd|secret(?:[_ -]?key)?"
    r"|api[_ -]?key|access[_ -]?key|access[_ -]?token|auth[_ -]?token|client[_ -]?secret|private[_ -]?key"
)

RULES: tuple[_Rule, ...] = (
    _Rule(
        "private_key",
        ("-----begin",),
        re.compile(
            r"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----[\s\S]*?"
            r"(?:-----END [A-Z0-9 ]{0,40}-----|\Z)"
        ),
    ),
    _Rule("jwt", ("eyj",), re.compile(_EDGE + r"eyJ[\w-]{8,}\.[\w-]{8,}(?:\.[\w-]*)?")),
    _Rule("google_key", ("aiza",), _token(r"AIza[\w-]{30,}")),
    _Rule(
        "google_oauth", ("ya29.", "gocspx-"), re.compile(_EDGE + r"(?:ya29\.[\w.-]{20,}|GOCSPX-[\w-]{20,})")
    ),
    _Rule("anthropic_key", ("sk-ant-",), re.compile(_EDGE + r"sk-ant-[\w-]{16,}")),
    _Rule("openai_key", ("sk-",), re.compile(_EDGE + r"sk-(?:proj-|svcacct-|or-v1-)?[A-Za-z0-9_-]{20,}")),
    _Rule(
        "github_token",
        ("ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_"),
        re.compile(_EDGE + r"(?:gh[pousr]_[A-Za-z0-9]{20,}|github_pat_\w{20,})"),
    ),
    _Rule("gitlab_token", ("glpat-",), re.compile(_EDGE + r"glpat-[\w-]{16,}")),
    _Rule("slack_token", ("xox", "xapp-"), re.compile(_EDGE + r"(?:xox[abeoprs]|xapp)-[\w.-]{10,}")),
    _Rule("slack_webhook", ("hooks.slack.com",), re.compile(r"hooks\.slack\.com/services/[\w/]{20,}")),
    _Rule("aws_key", ("akia", "asia"), _token(r"(?:AKIA|ASIA)[A-Z0-9]{16}")),
    _Rule("huggingface_token", ("hf_",), _token(r"hf_[A-Za-z0-9]{20,}")),
    _Rule(
        "stripe_key",
        ("k_live_", "k_test_", "whsec_"),
        re.compile(_EDGE + r"(?:[srp]k_(?:live|test)|whsec)_\w{16,}"),
    ),
    _Rule("npm_token", ("npm_",), _token(r"npm_[A-Za-z0-9]{30,}")),
    _Rule("pypi_token", ("pypi-",), re.compile(_EDGE + r"pypi-[\w-]{30,}")),
    _Rule("groq_key", ("gsk_",), _token(r"gsk_[A-Za-z0-9]{30,}")),
    _Rule("xai_key", ("xai-",), re.compile(_EDGE + r"xai-[\w-]{30,}")),
    _Rule("sendgrid_key", ("sg.",), re.compile(_EDGE + r"SG\.[\w-]{16,}\.[\w-]{16,}")),
    _Rule("digitalocean_token", ("dop_v1_", "doo_v1_"), _token(r"do[op]_v1_[a-f0-9]{40,}")),
    _Rule(
        "yandex_token",
        ("y0_", "aqvn", "t1."),
        re.compile(_EDGE + r"(?:y0_[\w-]{30,}|AQVN[\w-]{30,}|t1\.[\w-]{20,}\.[\w-]{40,})"),
    ),
    _Rule(
        "discord_token",
        ("m", "n", "o"),
        re.compile(_EDGE + r"[MNO][\w-]{23,27}\.[\w-]{6}\.[\w-]{27,40}" + _STOP),
    ),
    _Rule("bot_token", (":aa",), re.compile(r"(?<!\d)\d{8,11}:AA[\w-]{30,}")),
    _Rule(
        "url_password",
        ("://",),
        re.compile(r"(?<=://)[^\s/@:?#]{0,200}:([^\s/@]{1,200}(?:@[^\s/@:]{1,200})?)@(?=[\w.\[-])"),
        1,
    ),
    _Rule(
        "url_secret",
        ("=",),
        re.compile(
            r"(?i)[?&#](?:access_token|api_?key|auth|key|pass(?:word)?|secret|sig(?:nature)?|token)=([^\s&#\"'<>]{8,})"
        ),
        1,
        _is_value,
    ),
    _Rule(
        "authorization",
        ("authorization", "bearer", "basic"),
        re.compile(r"(?i)\b(?:authorization\s*[:=]\s*)?(?:bearer|basic)\s+([\w.~+/=-]{12,})"),
        1,
        lambda value: any(char.isdigit() for char in value) or len(value) >= 24,
    ),
    _Rule(
        "assignment",
        ("key", "token", "secret", "pass", "pwd"),
        re.compile(
            r"(?i)(?<![\w])[\"']?[\w.-]{0,60}(?:api_?key|token|secret|passw(?:or)?d|pwd|private_key|access_key)[\w]{0,20}[\"']?"
            r"\s{0,3}(?:=>|:=|=|:)\s{0,3}[\"'`]?([^\s\"'`,;]{6,})"
        ),
        1,
        _is_value,
    ),
    _Rule(
        "password",
        (
            "парол",
            "пас",
            "пин",
            "кодов",
            "секрет",
            "токен",
            "ключ",
            "апи",
            "pass",
            "pwd",
            "secret",
            "key",
            "token",
        ),
        re.compile(
            rf"(?i)(?<!\w)(?:{_WORDS})(?!\w)(?:\s+(?:от|к|для|на|for)\s+[^\n:=]{{1,40}}?)?\s{{0,3}}(?::|=|—|–|\s-\s|->|это|is)"
            r"\s{0,3}[\"'`«]?([^\s\"'`»,;]{4,})"
        ),
        1,
        _is_value,
    ),
    _Rule(
        "password",
        ("парол", "passw", "pin", "пин"),
        re.compile(
            r"(?i)(?<!\w)(?:парол[ьяюе]|password|пин-?код)\s+(?:от\s+\S{1,40}\s+)?[\"'`«]?"
            r"((?=[^\s]*\d)(?=[^\s]*[A-Za-zА-Яа-я!@#$%^&*_])[^\s\"'`»,;]{6,})"
        ),
        1,
        _is_value,
    ),
    _Rule("card", ("",), re.compile(r"(?<![\w.-])\d(?:[ -]?\d){12,18}(?![\w-]|\.\d)"), 0, _luhn),
)


def redacted(text: str, counts: Counter[str] | None = None) -> str:
    """The text with every secret replaced by `[REDACTED:kind]`.

    Args:
        text: any text.
        counts: is increased by kind; the secret itself is told nowhere.
    """
    folded = text.casefold()
    for rule in RULES:
        if any(near in folded for near in rule.near):
            text = rule.pattern.sub(_replacement(rule, counts), text)
    return text


def _replacement(rule: _Rule, counts: Counter[str] | None) -> Callable[[re.Match[str]], str]:
    def replace(match: re.Match[str]) -> str:
        secret = match[rule.group]
        if "[REDACTED:" in secret or not rule.sound(secret):
            return match[0]
        if counts is not None:
            counts[rule.kind] += 1
        start, end = (at - match.start() for at in match.span(rule.group))
        return f"{match[0][:start]}[REDACTED:{rule.kind}]{match[0][end:]}"

    return replace

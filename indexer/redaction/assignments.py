"""Secrets that machines write down: URLs, headers, `.env`, JSON, YAML, command lines."""

from __future__ import annotations

import re

from indexer.redaction.rule import VALUE, Rule, has_digit, looks_random

# What stands where a value would: a type, a variable, a placeholder, a piece of code.
_NO_VALUE = re.compile(
    r"(?i)(?:none|null|nil|undefined|true|false|any|str|string|text|int|bytes|bool|required|optional\S*|secretstr"
    r"|example|changeme|password|secret|token|hidden|x{3,}|\*+|\.+|…|-+|your\S*|<.*|\$.*|\{.*|%.*|\[redacted.*"
    r"|process\.env.*|os\.environ.*|getenv.*|env\(.*|[a-z_][\w.]{0,80}[._](?:password|passwd|secret|token|key)"
    r"|[\w.]+\(.*|(?:var)?char\b.*|\[.*|@.*|&.*|!.*)"
)

_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[А-ЯЁа-яё]+|\d+")

# Words behind the telling one: API_KEY_PROD, password2, SECRET_KEY_BASE.
_TAIL = frozenset(
    (
        *("prod", "production", "dev", "test", "staging", "base", "value"),
        *("main", "old", "new", "admin", "root", "user"),
    )
)
_PASSWORDS = frozenset(
    ("password", "passwd", "passw", "pwd", "passphrase", "passcode", "secret", "пароль", "пароли", "пароля")
)
_ENDINGS = ("password", "passwd", "passphrase", "secret")
_KEYS = frozenset(
    (
        *("api", "access", "private", "secret", "auth", "encryption", "signing", "master", "service"),
        *("account", "license", "shared", "storage", "deploy", "ssh", "app"),
        *("openai", "anthropic", "gemini", "google", "aws"),
    )
)


def is_value(value: str) -> bool:
    """Whether it can be a secret at all: no type, no variable, no call."""
    return len(value) >= 4 and not _NO_VALUE.fullmatch(value)


def _is_assigned(match: re.Match[str]) -> bool:
    words = [word.lower() for word in _WORD.findall(match["name"])]
    while len(words) > 1 and (words[-1] in _TAIL or words[-1].isdigit()):
        words.pop()
    value = match["value"]
    if not words or not is_value(value):
        return False
    last, before = words[-1], words[-2] if len(words) > 1 else ""
    if last in _PASSWORDS or last.endswith(_ENDINGS) or (last == "pass" and before):
        return len(value) >= 6
    if (
        last in ("token", "токен")
        or last.endswith(("token", "apikey"))
        or (last == "key" and before in _KEYS)
    ):
        return looks_random(value)
    return False


def _is_credential(match: re.Match[str]) -> bool:
    value = match["value"]
    return has_digit(value) or (len(value) >= 16 and value.lower() != value != value.upper())


ASSIGNMENTS: tuple[Rule, ...] = (
    Rule(
        "url_password",
        ("://",),
        re.compile(r"(?<=://)[^\s/@:?#]{0,200}:(?P<value>[^\s/@]{1,200}(?:@[^\s/@:]{1,200})?)@(?=[\w.\[-])"),
        "value",
    ),
    Rule(
        "url_secret",
        ("=",),
        re.compile(
            r"(?i)[?&#](?:access_token|api_?key|auth|key|pass(?:word)?|secret|sig(?:nature)?|token)="
            r"(?P<value>[^\s&#\"'<>]{8,})"
        ),
        "value",
        lambda match: is_value(match["value"]),
    ),
    Rule(
        "authorization",
        ("authorization",),
        re.compile(
            r"(?i)\bauthorization\\?[\"']?\s{0,3}[:=]\s{0,3}\\?[\"']?(?:(?:bearer|basic|token|apikey|oauth)\s{1,3})?"
            r"(?P<value>[A-Za-z0-9_.~+/=-]{12,})"
        ),
        "value",
        _is_credential,
    ),
    Rule(
        "authorization",
        ("bearer", "basic"),
        re.compile(r"(?i)\b(?:bearer|basic)\s{1,3}(?P<value>[A-Za-z0-9_.~+/=-]{12,})"),
        "value",
        _is_credential,
    ),
    Rule(
        "authorization",
        ("curl",),
        re.compile(
            r"\bcurl\b[^\n]{0,300}?\s(?:-u|--user)[ =]?[\"']?[^\s:\"']{1,100}:(?P<value>[^\s\"']{3,200})"
        ),
        "value",
    ),
    Rule(
        "assignment",
        ("key", "token", "secret", "pass", "pwd", "парол", "токен"),
        re.compile(
            r"(?<![\w.-])(?P<name>[\w.-]{1,80})\\?[\"'`]?[ \t]{0,3}(?:=>|:=|=|:)[ \t]{0,3}\\?" + VALUE
        ),
        "value",
        _is_assigned,
    ),
)

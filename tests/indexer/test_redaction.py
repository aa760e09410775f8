from __future__ import annotations

import json
import time
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import example, given, seed, settings
from hypothesis import strategies as st

from indexer.redaction import RULES, redacted

CASE = Path(__file__).parents[1] / "cases" / "55_secrets_share" / "chat.jsonl"

_HEX = "0123456789abcdef"
_LONG = "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8s9T0"
_PEM = "MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7VJTUt9Us8cKj"
_JWT = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.c2lnbmF0dXJlc2lnbmF0dXJl"


def _joined(*parts: str) -> str:
    """A made-up key, put together here so that no scanner takes this file for a leak."""
    return "".join(parts)


# (text, what must not be left of it, kind)
SECRETS = [
    (f"ключ {(key := _joined('AIza', 'SyA0123456789abcdefghijklmnopqrstuv'))} от карт", key, "google_key"),
    (f"{(key := _joined('ya29.', _LONG))}", key, "google_oauth"),
    (f"{(key := _joined('GOCSPX-', _LONG[:28]))}", key, "google_oauth"),
    (f"{(key := _joined('sk-ant-', 'api03-', _LONG))}", key, "anthropic_key"),
    (f"{(key := _joined('sk-', 'proj-', _LONG))}", key, "openai_key"),
    (f"{(key := _joined('sk-', _LONG))}", key, "openai_key"),
    (f"{(key := _joined('sk-', 'or-v1-', _HEX * 4))}", key, "openai_key"),
    (f"{(key := _joined('ghp', '_', _LONG[:36]))}", key, "github_token"),
    (f"{(key := _joined('github', '_pat_', '11ABCDEFG0', _LONG))}", key, "github_token"),
    (f"{(key := _joined('glpat', '-', _LONG[:20]))}", key, "gitlab_token"),
    (f"{(key := _joined('xoxb', '-123456789012-', _LONG[:24]))}", key, "slack_token"),
    (f"{(key := _joined('xapp', '-1-A012-345-', _HEX))}", key, "slack_token"),
    (
        f"https://{(key := _joined('hooks.slack', '.com/services/T000/B000/', _LONG[:24]))}",
        key,
        "slack_webhook",
    ),
    (f"{(key := _joined('AKIA', 'IOSFODNN7EXAMPLE'))}", key, "aws_key"),
    (
        f"aws_secret_access_key = {(key := _joined('wJalrXUtnFEMI/K7MDENG/', 'bPxRfiCYEXAMPLEKEY'))}",
        key,
        None,
    ),
    (f"{(key := _joined('hf', '_', _LONG[:34]))}", key, "huggingface_token"),
    (f"{(key := _joined('sk', '_live_', _LONG[:24]))}", key, "stripe_key"),
    (f"{(key := _joined('rk', '_test_', _LONG[:24]))}", key, "stripe_key"),
    (f"{(key := _joined('whsec', '_', _LONG[:32]))}", key, "stripe_key"),
    (f"{(key := _joined('npm', '_', _LONG[:36]))}", key, "npm_token"),
    (f"{(key := _joined('pypi', '-AgEIcHlwaS5vcmc', _LONG))}", key, "pypi_token"),
    (f"{(key := _joined('gsk', '_', _LONG * 2))}", key, "groq_key"),
    (f"{(key := _joined('xai', '-', _LONG * 2))}", key, "xai_key"),
    (f"{(key := _joined('SG', '.', _LONG[:22], '.', _LONG))}", key, "sendgrid_key"),
    (f"{(key := _joined('dop', '_v1_', _HEX * 4))}", key, "digitalocean_token"),
    (f"{(key := _joined('y0', '_', _LONG))}", key, "yandex_token"),
    (f"{(key := _joined('AQVN', _LONG))}", key, "yandex_token"),
    (f"{(key := _joined('t1.', _LONG[:24], '.', _LONG * 2))}", key, "yandex_token"),
    (
        f"{(key := _joined('MTk4NjIyNDgzNDcxOTI1MjQ4.', 'Cl2FMQ.', 'ZnCjm1XVW7vRze4b7Cq4se7kKWs'))}",
        key,
        "discord_token",
    ),
    (
        f"токен бота {(key := _joined('7012345678:AA', 'Hx1Y2z3W4v5U6t7S8r9Q0p1O2n3M4l5K6'))}",
        key,
        "bot_token",
    ),
    (
        f"api.telegram.org/bot{(key := _joined('7012345678:AA', 'Hx1Y2z3W4v5U6t7S8r9Q0p1O2n3M4l5K6'))}/getMe",
        key,
        "bot_token",
    ),
    (f"Cookie: session={_JWT}", _JWT, "jwt"),
    (f"-----BEGIN PRIVATE KEY-----\n{_PEM}\n{_PEM}\n-----END PRIVATE KEY-----\nконец", _PEM, "private_key"),
    (f"-----BEGIN OPENSSH PRIVATE KEY-----\n{_PEM}\n{_PEM}", _PEM, "private_key"),
    (f"-----BEGIN RSA PRIVATE KEY-----\\n{_PEM}\\n-----END RSA PRIVATE KEY-----\\n", _PEM, "private_key"),
    (
        f"-----BEGIN PGP PRIVATE KEY BLOCK-----\n\n{_PEM}\n-----END PGP PRIVATE KEY BLOCK-----",
        _PEM,
        "private_key",
    ),
    ("postgres://admin:S3cr3tP@10.0.0.5:5432/prod", "S3cr3tP", "url_password"),
    ("redis://:Пар0ль@кэш.рф:6379", "Пар0ль", "url_password"),
    ("https://вася:пароль-дня@example.org/а", "пароль-дня", "url_password"),
    ("amqp://u:p@ss@host/v", "p@ss", "url_password"),
    ("mongodb+srv://root:hunter2@cluster0.mongodb.net/x", "hunter2", "url_password"),
    ("https://x.org/hook?token=abcdef0123456789", "abcdef0123456789", "url_secret"),
    ("https://x.org/?a=1&api_key=abcdef0123456789#top", "abcdef0123456789", "url_secret"),
    ("пароль: лесная4поляна", "лесная4поляна", "password"),
    ("Пароль от вайфая - dacha2024", "dacha2024", "password"),
    ("Пароль от вайфая: дача2024, не забудь", "дача2024", "password"),
    ("пароль от почты ivan@mail.ru — Qwerty!23", "Qwerty!23", "password"),
    ("пароли: qwerty123", "qwerty123", "password"),
    ("логин ivan пароль Zx9!kk22", "Zx9!kk22", "password"),
    ("новый пароль «Соловей-77»", "Соловей-77", "password"),
    ("пароль\nhunter2hunter2", "hunter2hunter2", "password"),
    ("the password is hunter2", "hunter2", "password"),
    ("Password: correct-horse", "correct-horse", "password"),
    ("passphrase = tr0ub4dor", "tr0ub4dor", "password"),
    ("пин-код 4821", "4821", "pin"),
    ("пин-код: 4821", "4821", "pin"),
    ("ПИН от карты 4821", "4821", "pin"),
    ("cvv 123", "123", "pin"),
    ("CVC2: 123, срок 12/27", "123", "pin"),
    ("пароль - qwerty", "qwerty", "password"),
    ('password: "correct horse battery"', "horse", "password"),
    ('{"dbPassword": "it\'s me (again)"}', "again", "assignment"),
    ("кодовое слово: Барсик", "Барсик", "password"),
    ("токен: 9f8e7d6c5b4a39281706", "9f8e7d6c5b4a39281706", "password"),
    ('{"api_key": "abcdef0123456789"}', "abcdef0123456789", "assignment"),
    ('{"password":"hunter2!", "user":"a"}', "hunter2!", "assignment"),
    (r"{\"client_secret\": \"Ab12Cd34Ef56\"}", "Ab12Cd34Ef56", "assignment"),
    ('"accessToken": "Ab12Cd34Ef56Gh78"', "Ab12Cd34Ef56Gh78", "assignment"),
    ("DB_PASSWORD=пчела-17", "пчела-17", "assignment"),
    ("export SECRET_KEY='django-insecure-x1y2'", "django-insecure-x1y2", "password"),
    ("POSTGRES_PASSWORD=12345678", "12345678", "assignment"),
    ("db:\n  password: hunter2!\n  host: x", "hunter2!", "password"),
    ("  api_token: 0123456789abcdef", "0123456789abcdef", "assignment"),
    ("curl -H 'X-Api-Key: abcdef0123456789' x.org", "abcdef0123456789", "assignment"),
    (f"curl -H 'Authorization: Bearer {_LONG}' x.org", _LONG, "authorization"),
    ("Authorization: Basic dXNlcjpwYXNzd29yZA==", "dXNlcjpwYXNzd29yZA==", "authorization"),
    ("Authorization: token 0123456789abcdef0123", "0123456789abcdef0123", "authorization"),
    (f"Authorization: Bearer {_JWT}", _JWT, None),
    ("curl -u admin:S3cr3tPass https://x.org", "S3cr3tPass", "authorization"),
    ("карта 4111 1111 1111 1111", "4111 1111 1111 1111", "card"),
    ("4111-1111-1111-1111", "4111-1111-1111-1111", "card"),
    ("4111111111111111", "4111111111111111", "card"),
    ("кинь на 2202 2012 3456 7895.", "2202 2012 3456 7895", "card"),
    ("3782 822463 10005 (амекс)", "3782 822463 10005", "card"),
]

TALK = [
    "обсудили пароль и токен, ничего не записали",
    "commit 6c073d8ebb145cb90bca28ce44da090aa11bb22c",
    "id 3f2504e0-4f89-11d3-9a0c-0305e82c3301",
    "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
    "токен: что это такое",
    "токен — это кусок слова",
    "токен это кусок слова, а не слово",
    "ключ: под ковриком",
    "ключи: от дачи и от гаража",
    "max_tokens: 150000",
    "max_tokens=4096, temperature=0.2",
    '{"input_tokens": 1500000, "output_tokens": 2500000}',
    "prompt_tokens: 1234567",
    "tokenizer: bert-base-multilingual",
    "token_type_ids: attention",
    "установи sk-learn, то есть scikit-learn",
    "sk-learn-contrib-project-template-repo",
    "позвони +7 912 345-67-89 или 8 (912) 345-67-89",
    "8 800 2000 600, добавочный 12345",
    "ISBN 978-5-17-090538-2",
    "ISBN 9785170905381",
    "заказ 4111 1111 1111 1112",
    "заказ № 1234567890123456",
    "Python 3.11.4, torch 2.1.0+cu121, build 20240501.1",
    "в 1700000000000 упало, в 1700000000004 поднялось",
    "ts=1711111111119 и 1764000000000000 мкс",
    "2024-05-01 10:00:00.123456",
    "0000 0000 0000 0000",
    "21 22 23 24 25 26 27 28 29 30",
    "docker run -u 1000:1000 image",
    "password = self.settings.password",
    "db_password=config.db_password",
    "пароль: новый, старый не подходит",
    "the password is wrong",
    "пароль нужно сменить до 2025 года",
    "пароль: забыл, спроси у Ани",
    "пароль не подошёл",
    "пароль такой же, как всегда",
    "а пароль где?",
    "password: <password>",
    "password = os.environ['DB_PASSWORD']",
    "token = get_token(user)",
    "api_key=YOUR_API_KEY",
    "api_key: ${API_KEY}",
    "password: string",
    "secret: true",
    "def login(password: str, token: Optional[str]) -> None",
    "the password is required",
    "password is not set",
    "the secret is simple: sleep more",
    "passport: у Ани",
    "it is a basic understanding of transformers",
    "the bearer authentication scheme",
    "http://example.org:8080/path?x=1",
    "git@github.com:user/repo.git",
    "см. https://example.org/@user: там всё есть",
    "https://medium.com/@user/some-article",
    "время 12:30:45@utc",
    "пин-код введи сам",
    "кодовое слово придумаем потом",
    "секрет успеха: работать",
    "ключевое слово: память",
    "primary_key: user_identifier",
    "monkey: banana-split",
    "foreign key = orders.user_id",
    "-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----",
    "номер 5e1d0f7ac0b94ecb9e0b0c1f1f3b7a55",
    "https://t.me/c/1234567890/4111",
    "геометка 55.75583333333333, 37.61777777777778",
]


@pytest.mark.parametrize("text, secret, kind", SECRETS)
def test_a_secret_goes_and_is_counted_by_kind(text: str, secret: str, kind: str | None) -> None:
    counts: Counter[str] = Counter()
    clean = redacted(text, counts)
    assert secret not in clean
    assert secret[-6:] not in clean
    assert "[REDACTED:" in clean
    assert sum(counts.values()) >= 1
    assert kind is None or counts[kind] == 1


@pytest.mark.parametrize("text", TALK)
def test_ordinary_talk_stays_as_it_is(text: str) -> None:
    counts: Counter[str] = Counter()
    assert redacted(text, counts) == text
    assert not counts


@pytest.mark.parametrize("text", [text for text, *_ in SECRETS])
def test_a_second_pass_finds_nothing_more(text: str) -> None:
    counts: Counter[str] = Counter()
    clean = redacted(text)
    assert redacted(clean, counts) == clean
    assert not counts


def test_what_stands_around_a_secret_stays() -> None:
    assert redacted("до -----BEGIN PRIVATE KEY-----\nabc\n-----END PRIVATE KEY----- после") == (
        "до [REDACTED:private_key] после"
    )
    assert redacted("postgres://admin:S3cr3tP@10.0.0.5:5432/prod") == (
        "postgres://admin:[REDACTED:url_password]@10.0.0.5:5432/prod"
    )
    assert redacted("пароль: лесная4поляна, не забудь") == "пароль: [REDACTED:password], не забудь"
    assert redacted("карта 4111 1111 1111 1111, до 12/27") == "карта [REDACTED:card], до 12/27"


def test_the_case_of_shared_secrets_loses_five_and_keeps_two() -> None:
    texts = [json.loads(line)["content"] for line in CASE.read_text("utf-8").splitlines()]
    clean = [redacted(text) for text in texts]
    for before, after in zip(texts[:5], clean[:5], strict=True):
        assert before != after
        assert "[REDACTED:" in after
    for leak in ("AIza", "AAHx1Y", "ghp_", "S3cr3tP", "eyJ", "c2lnbmF0"):
        assert leak not in "".join(clean)
    assert clean[5:] == texts[5:]


def test_every_rule_has_a_literal_that_stands_in_what_it_finds() -> None:
    for text, _, kind in SECRETS:
        if kind is not None:
            near = [rule.near for rule in RULES if rule.kind == kind]
            assert any(any(word in text.casefold() for word in words) for words in near)


@seed(11)
@settings(max_examples=150, deadline=None)
@given(
    st.lists(
        st.sampled_from([text for text, *_ in SECRETS] + TALK) | st.text(max_size=12), min_size=1, max_size=4
    ),
    st.sampled_from([" ", "\n", ", ", ": ", "="]),
)
@example(["password", "пароль", "token"], ": ")
def test_redacting_is_idempotent_on_any_mixture(parts: list[str], glue: str) -> None:
    once = redacted(glue.join(parts))
    assert redacted(once) == once


_MILLION = 1_000_000
ADVERSARIAL = {
    "letters": "a" * _MILLION,
    "cyrillic": "я" * _MILLION,
    "password": "password" * (_MILLION // 8),
    "passwords": "password " * (_MILLION // 9),
    "password-for": "пароль от " * (_MILLION // 10),
    "assignments": "token=" * (_MILLION // 6),
    "key-words": "api_key" * (_MILLION // 7),
    "dotted-key": "a.b-" * (_MILLION // 4) + "token",
    "pem": "-----BEGIN PRIVATE KEY-----" * (_MILLION // 27),
    "pem-begin": "-----BEGIN " * (_MILLION // 11),
    "jwt": "eyJ" * (_MILLION // 3),
    "jwt-dots": "eyJabcdefgh." * (_MILLION // 12),
    "digits": "1" * _MILLION,
    "digit-groups": "1234 " * (_MILLION // 5),
    "urls": "http://a:" * (_MILLION // 9),
    "url-run": "://" + "a" * _MILLION,
    "url-colons": "://a" + ":" * _MILLION,
    "query": "?token=" * (_MILLION // 7),
    "bearer": "bearer " * (_MILLION // 7),
    "sk": "sk-" * (_MILLION // 3),
    "spaces": "пароль" + " " * _MILLION,
    "spaces-token": "token" + " " * _MILLION + ":",
    "discord": "M" * _MILLION + ".",
    "quotes": "\"'" * (_MILLION // 2),
    "sendgrid": "SG." * (_MILLION // 3),
    "xox": "xoxb-" * (_MILLION // 5),
}


@pytest.mark.parametrize("name", ADVERSARIAL)
def test_a_megabyte_made_to_hurt_takes_less_than_two_seconds(name: str) -> None:
    begun = time.process_time()
    redacted(ADVERSARIAL[name])
    assert time.process_time() - begun < 2

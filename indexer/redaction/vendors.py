"""Keys that their vendors made recognisable by a prefix or a shape."""

from __future__ import annotations

import re

from indexer.redaction.rule import EDGE, STOP, Rule, has_digit


def _token(body: str) -> re.Pattern[str]:
    return re.compile(EDGE + body + STOP)


def _open(body: str) -> re.Pattern[str]:
    return re.compile(EDGE + body)


VENDORS: tuple[Rule, ...] = (
    Rule(
        "private_key",
        ("-----begin",),
        re.compile(
            r"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----[\s\S]*?"
            r"(?:-----END [A-Z0-9 ]{0,40}-----|\Z)"
        ),
    ),
    Rule("jwt", ("eyj",), _open(r"eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}(?:\.[A-Za-z0-9_-]*)?")),
    Rule("google_key", ("aiza",), _open(r"AIza[A-Za-z0-9_-]{30,}")),
    Rule(
        "google_oauth",
        ("ya29.", "gocspx-"),
        _open(r"(?:ya29\.[A-Za-z0-9_.-]{20,}|GOCSPX-[A-Za-z0-9_-]{20,})"),
    ),
    Rule("anthropic_key", ("sk-ant-",), _open(r"sk-ant-[A-Za-z0-9_-]{16,}")),
    Rule(
        "openai_key",
        ("sk-",),
        _open(r"sk-(?:proj-|svcacct-|or-v1-)?[A-Za-z0-9_-]{20,}"),
        sound=lambda match: has_digit(match[0]),  # sk-learn-contrib-project-template
    ),
    Rule(
        "github_token",
        ("ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_"),
        _open(r"(?:gh[pousr]_[A-Za-z0-9]{20,}|github_pat_[A-Za-z0-9_]{20,})"),
    ),
    Rule("gitlab_token", ("glpat-",), _open(r"glpat-[A-Za-z0-9_.-]{16,}")),
    Rule("slack_token", ("xox", "xapp-"), _open(r"(?:xox[abeoprs]|xapp)-[A-Za-z0-9.-]{10,}")),
    Rule("slack_webhook", ("hooks.slack.com",), re.compile(r"hooks\.slack\.com/services/[A-Za-z0-9_/]{20,}")),
    Rule("aws_key", ("akia", "asia"), _token(r"(?:AKIA|ASIA)[A-Z0-9]{16}")),
    Rule("huggingface_token", ("hf_",), _token(r"hf_[A-Za-z0-9]{20,}")),
    Rule(
        "stripe_key",
        ("k_live_", "k_test_", "whsec_"),
        _open(r"(?:[srp]k_(?:live|test)|whsec)_[A-Za-z0-9_]{16,}"),
    ),
    Rule("npm_token", ("npm_",), _token(r"npm_[A-Za-z0-9]{30,}")),
    Rule("pypi_token", ("pypi-",), _open(r"pypi-[A-Za-z0-9_-]{30,}")),
    Rule("groq_key", ("gsk_",), _token(r"gsk_[A-Za-z0-9]{30,}")),
    Rule("xai_key", ("xai-",), _open(r"xai-[A-Za-z0-9_-]{30,}")),
    Rule("sendgrid_key", ("sg.",), _open(r"SG\.[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{16,}")),
    Rule("digitalocean_token", ("dop_v1_", "doo_v1_"), _token(r"do[op]_v1_[a-f0-9]{40,}")),
    Rule(
        "yandex_token",
        ("y0_", "aqvn", "t1."),
        _open(
            r"(?:y0_[A-Za-z0-9_-]{30,}|AQVN[A-Za-z0-9_-]{30,}"
            r"|t1\.[A-Za-z0-9_-]{20,}\.[A-Za-z0-9_-]{40,})"
        ),
    ),
    Rule(
        "discord_token",
        ("m", "n", "o"),
        _token(r"[MNO][A-Za-z0-9_-]{23,27}\.[A-Za-z0-9_-]{6}\.[A-Za-z0-9_-]{27,40}"),
    ),
    # Behind a `bot` in Telegram's own URLs, so letters may stand before it.
    Rule("bot_token", (":aa",), re.compile(r"(?<!\d)\d{8,11}:AA[A-Za-z0-9_-]{30,}")),
)

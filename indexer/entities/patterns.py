"""What a pattern tells for certain: addresses, files, versions, models, money, dates, code.

Every quantifier that could meet hostile input is bounded and every match starts at the border of a run, so
the time stays linear in the text.
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Callable, Iterator
from typing import NamedTuple


class Span(NamedTuple):
    """A typed stretch of a text, in code points, half-open."""

    start: int
    end: int
    type: str


_TLD = (
    r"(?:com|org|net|io|dev|ai|app|ru|su|рф|me|co|info|biz|edu|gov|xyz|tech|cloud|site|online|store|pro|tv|"
    r"uk|de|fr|us|eu|by|kz|ua|am|ge|uz|in|cn|jp|sh|gg|to|ly|so|one|live|blog|team|chat|wiki|news)"
)
_EXTENSION = (
    r"(?:py|pyi|ipynb|js|mjs|cjs|ts|tsx|jsx|json|jsonl|ndjson|md|mdx|txt|rst|toml|ya?ml|ini|cfg|conf|env|lock|"
    r"sql|db|sqlite3?|csv|tsv|parquet|xlsx?|docx?|pptx?|pdf|html?|css|scss|vue|svelte|xml|svg|png|jpe?g|gif|"
    r"webp|mp[34]|wav|ogg|zip|tar|gz|tgz|zst|whl|log|sh|bash|zsh|ps1|bat|exe|dll|so|go|rs|c|cc|cpp|h|hpp|"
    r"java|kt|swift|rb|php|pl|lua|r|jl|scala|proto|graphql|ckpt|safetensors|gguf|onnx|pt|bin|service|timer|"
    r"dockerfile|patch|diff|pem|crt|key)"
)
_FAMILY = (
    r"(?:gpt|chatgpt|claude|gemini|gemma|palm|llama|codellama|qwen|qwq|mistral|mixtral|codestral|devstral|"
    r"ministral|deepseek|bge|gte|e5|multilingual-e5|nomic|text-embedding|phi|grok|glm|chatglm|kimi|minimax|"
    r"whisper|dall-e|flux|sdxl|stable-diffusion|gigachat|yandexgpt|saiga|vikhr|rubert|labse|sbert|minilm|"
    r"all-minilm|jina|voyage|cohere|command-r|starcoder|codex|falcon|yi|smollm|granite|olmo|hermes|sonnet|opus|"
    r"haiku|embeddinggemma|nemotron|solar|orca|vicuna|aya|t5|bert|roberta|xlm|deberta|o1|o3|o4)"
)
_MONTH = (
    r"(?:январ[яьею]|феврал[яьею]|марта?|апрел[яьею]|ма[яй]|июн[яьею]|июл[яьею]|августа?|сентябр[яьею]|"
    r"октябр[яьею]|ноябр[яьею]|декабр[яьею])"
)
_MONTH_EN = (
    r"(?:Jan(?:uary)?|Feb(?:ruary)?|Mar(?:ch)?|Apr(?:il)?|May|June?|July?|Aug(?:ust)?|Sep(?:t(?:ember)?)?|"
    r"Oct(?:ober)?|Nov(?:ember)?|Dec(?:ember)?)"
)
_SCALE = r"(?:тыс\.?|тысяч[аи]?|млн\.?|миллион(?:а|ов)?|млрд\.?|миллиард(?:а|ов)?|[кkKКmM])"
_CURRENCY = (
    r"(?:₽|\$|€|£|руб(?:\.|л(?:ей|я|ь|ям|ях|ями|ю|ём|ем))?|р\.|доллар(?:ов|а|ы|ам|ах)?|бакс(?:ов|а|ы)?|евро|"
    r"USD|EUR|RUB|USDT|GBP)"
)
_NUMBER = r"\d{1,3}(?:[ \u00a0\u202f]\d{3}){1,4}(?:[.,]\d{1,2})?|\d{1,12}(?:[.,]\d{1,3})?"

REDACTED = re.compile(r"\[REDACTED(?::[\w-]{1,40})?\]")

_TRAIL = ".,;:!?…'\"»”’*_"
_PAIRS = {")": "(", "]": "[", "}": "{"}


def _trimmed(text: str, start: int, end: int) -> int:
    """The end of a URL without the sentence's own punctuation and without an unopened bracket."""
    while end > start:
        last = text[end - 1]
        opening = _PAIRS.get(last)
        if last in _TRAIL or (opening and text.count(last, start, end) > text.count(opening, start, end)):
            end -= 1
        else:
            break
    return end


def _address(text: str, start: int, end: int) -> int:
    try:
        ipaddress.ip_address(
            text[start:end].rpartition(":")[0]
            if "." in text[start:end] and ":" in text[start:end]
            else text[start:end]
        )
    except ValueError:
        return start
    return end


def _model(text: str, start: int, end: int) -> int:
    """A bare family name (claude, phi) is no model; one with a version or a variant is."""
    form = text[start:end]
    return end if any(sign.isdigit() for sign in form) or form.count("-") + form.count(":") > 0 else start


class _Pattern(NamedTuple):
    type: str
    hint: str
    expression: re.Pattern[str]
    trim: Callable[[str, int, int], int] | None = None


def _make(
    type: str, hint: str, expression: str, trim: Callable[[str, int, int], int] | None = None
) -> _Pattern:
    return _Pattern(type, hint, re.compile(expression), trim)


# In order of trust: an earlier pattern keeps what it took. A pattern runs only where one of the characters
# of its hint stands in the text ("" always, "0" any digit): most chat messages hold none.
_PATTERNS = (
    _make("URL", ":", r"(?i)(?<![\w])(?:https?|ftp|wss?|ssh|git)://[^\s<>\"«»`|\\^{}]{1,2000}", _trimmed),
    _make("EMAIL", "@", r"(?<![\w.+-])[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){0,5}\.[^\W\d_]{2,24}(?!\w)"),
    _make(
        "CODE", "`", r"(?<=`)[A-Za-z_$][\w$]{0,80}(?:(?:\.|::|->)[A-Za-z_$][\w$]{0,80}){0,6}(?:\(\))?(?=`)"
    ),
    _make(
        "URL",
        ".",
        r"(?i)(?<![\w@./\\-])(?:[a-zа-я0-9][a-zа-я0-9-]{0,62}\.){1,6}" + _TLD + r"(?![\w-]|\.\w)(?::\d{1,5})?"
        r"(?:/[^\s<>\"«»`|\\^{}]{0,500})?",
        _trimmed,
    ),
    _make("PATH", "/", r"(?<![\w/.:~@-])(?:~|\.{1,2}|\$[A-Z_]{1,40})(?:/[\w.@+-]{1,120}){1,20}/?", _trimmed),
    _make("PATH", "/", r"(?<![\w/.:~@<-])(?:/[\w.@+-]{1,120}){2,20}/?(?![\w])", _trimmed),
    _make(
        "PATH",
        "/",
        r"(?<![\w/.:~@-])[\w.@+-]{1,120}(?:/[\w.@+-]{1,120}){0,19}/[\w.@+-]{0,120}\."
        + _EXTENSION
        + r"(?!\w)",
    ),
    _make("PATH", "\\", r"(?<!\w)[A-Za-z]:(?:\\[^\s\\\"<>|*?:]{1,120}){1,20}"),
    _make("IP", ".", r"(?<![\w.])(?:\d{1,3}\.){3}\d{1,3}(?::\d{1,5})?(?!\.?\d)", _address),
    _make("IP", ":", r"(?<![\w:.])(?:[0-9a-fA-F]{0,4}:){2,7}[0-9a-fA-F]{1,4}(?![\w:])", _address),
    _make("DATE", "-", r"(?<![\w-])\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01])(?![\d-])"),
    _make("DATE", ".", r"(?<![\w.])(?:0?[1-9]|[12]\d|3[01])\.(?:0[1-9]|1[0-2])\.(?:\d{4}|\d{2})(?!\.?\w)"),
    _make(
        "DATE",
        "0",
        r"(?i)(?<![\w.,:-])\d{1,2}(?:-?го)?\s"
        + _MONTH
        + r"(?!\w)(?:\s\d{4}(?!\w)(?:\s?(?:года|году|г\.))?)?",
    ),
    _make("DATE", "0", r"(?i)(?<!\w)" + _MONTH + r"\s\d{4}(?!\w)(?:\s?(?:года|году|г\.))?"),
    _make("DATE", "0", r"(?<!\w)" + _MONTH_EN + r"\.?\s\d{1,2}(?:st|nd|rd|th)?(?:,?\s\d{4})?(?!\w)"),
    _make("DATE", "0", r"(?<![\w.])\d{1,2}(?:st|nd|rd|th)?\s" + _MONTH_EN + r"(?!\w)(?:,?\s\d{4}(?!\w))?"),
    _make("MONEY", "0", r"(?<![\w.,])(?:" + _NUMBER + r")\s?(?:" + _SCALE + r"\s?)?" + _CURRENCY + r"(?!\w)"),
    _make("MONEY", "$€£₽", r"[$€£₽]\s?(?:" + _NUMBER + r")(?:\s?" + _SCALE + r")?(?!\w)"),
    _make(
        "FILE",
        ".",
        r"(?i)(?<![\w./\\@-])[\w-]{1,80}(?:\.[\w-]{1,40}){0,4}\." + _EXTENSION + r"(?![\w-]|\.\w)",
    ),
    _make(
        "FILE",
        ".",
        r"(?<![\w./\\@-])\.(?:env|gitignore|bashrc|zshrc|dockerignore|editorconfig|npmrc)(?:\.\w{1,20})?(?!\w)",
    ),
    _make("FILE", "fF", r"(?<![\w./-])(?:Dockerfile|Makefile|Procfile|Jenkinsfile|Vagrantfile)(?!\w)"),
    _make(
        "MODEL",
        "",
        r"(?i)(?<![\w./@#-])"
        + _FAMILY
        + r"(?:\d[a-z0-9]{0,20})?(?:[-.:_][a-z0-9]{1,30}){0,10}(?![^\W_]|-[^\W_])",
        _model,
    ),
    _make(
        "MODEL",
        "0",
        r"(?<![\w./@#-])(?:GPT|ChatGPT|Claude|Gemini|Gemma|Llama|Qwen|DeepSeek|Grok|Mistral|Phi|Kimi|GLM)"
        r"(?:\s(?:Sonnet|Opus|Haiku|Pro|Flash|Coder))?\s[VvRrKk]?\d{1,2}(?:\.\d{1,2})?[a-z]?"
        r"(?:\s(?:Sonnet|Opus|Haiku|Pro|Flash|Turbo|Mini|Coder))?(?!\w)",
    ),
    _make(
        "MODEL",
        "bB",
        r"(?i)(?<![\w./@#-])[a-z][a-z0-9.]{1,40}(?:-[a-z0-9.]{1,30}){0,6}-\d{1,3}(?:\.\d)?b(?:-[a-z0-9_.]{1,20}){0,4}(?!\w)",
    ),
    _make(
        "VERSION",
        ".",
        r"(?<![\w.])v?\d{1,5}\.\d{1,5}\.\d{1,6}(?:\.\d{1,6})?(?:[-+.]?(?:a|b|rc|alpha|beta|dev|post)[\d.]{0,8})?(?![\w]|\.\d)",
    ),
    _make("VERSION", "vV", r"(?<![\w.])[vV]\d{1,4}(?:\.\d{1,5}){0,3}(?![\w]|\.\d)"),
    _make("ENV", "_", r"(?<![\w$])\$?[A-Z][A-Z0-9]{0,40}(?:_[A-Z0-9]{1,40}){1,10}(?!\w)"),
    _make("ENV", "$", r"\$\{?[A-Z][A-Z0-9_]{1,60}\}?(?!\w)"),
    _make("NAME", "#", r"(?<![\w#&-])[CFJ]#(?![\w#])"),
    _make("NAME", ".", r"(?<![\w.])\.NET(?!\w)"),
    _make("HANDLE", "@", r"(?<![\w@./])@[A-Za-z_]\w{1,40}(?![\w/])"),
    _make("HASHTAG", "#", r"(?<![\w#/&])#(?![0-9a-fA-F]{3,8}(?!\w))[^\W\d]\w{1,60}"),
    _make(
        "CODE", "_", r"(?<![\w./$-])_{0,2}[a-z][a-z0-9]{0,60}(?:_[a-z0-9]{1,60}){1,12}_{0,2}(?:\(\))?(?!\w)"
    ),
    _make("CODE", "(", r"(?<![\w/$])[A-Za-z_]\w{1,60}(?:\.[A-Za-z_]\w{0,60}){0,5}\(\)"),
    _make(
        "CODE",
        "",
        r"(?<![\w./$-])(?:[A-Z][a-z0-9]{1,30}){3,8}(?!\w)|(?<![\w./$-])[a-z]{2,20}(?:[A-Z][a-z0-9]{1,30}){1,8}(?!\w)",
    ),
)

# Names that only look like a file or a domain.
_NOT_FILES = re.compile(
    r"(?i)^(?:node|vue|next|react|three|d3|express|nuxt|nest|chart|alpine|moment)\.js$|^ASP\.NET$|^[а-я]\.\w+$"
)


def _present(hint: str, text: str, digits: bool) -> bool:
    if hint == "0":
        return digits
    return not hint or any(sign in text for sign in hint)


def found(text: str) -> Iterator[Span]:
    """Non-overlapping pattern spans, unordered; earlier patterns win.

    Args:
        text: a message's text, or a piece of it.

    Yields:
        Spans with a pattern's type; placeholders of the redactor come as type `""`, so that nothing else is
        found in them.
    """
    taken = bytearray(len(text))
    digits = any(map(str.isdigit, text))
    if "[REDACTED" in text:
        for match in REDACTED.finditer(text):
            taken[match.start() : match.end()] = b"\x01" * (match.end() - match.start())
            yield Span(match.start(), match.end(), "")
    for pattern in _PATTERNS:
        if not _present(pattern.hint, text, digits):
            continue
        for match in pattern.expression.finditer(text):
            start, end = match.span()
            if pattern.trim is not None:
                end = pattern.trim(text, start, end)
            if end <= start or 1 in taken[start:end] or _NOT_FILES.match(text[start:end]):
                continue
            taken[start:end] = b"\x01" * (end - start)
            yield Span(start, end, pattern.type)

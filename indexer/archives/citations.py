"""What ChatGPT's page turns into links and chips: marks in the text that say nothing to a reader."""

from __future__ import annotations

import json
import re

# `【4†source】`, `【4:0†plan.pdf】`
_BRACKETS = re.compile(r"[ \t]?【\d[^【】†\n]{0,40}†[^【】\n]{0,200}】")
# U+E200 kind U+E202 argument … U+E201; the end may be cut off.
_RUN = re.compile("[ \t]?\ue200([a-z_]{0,40})((?:\ue202[^\ue200-\ue202]{0,4000})*)(?:\ue201|$)")
_LOOSE = re.compile("\ue202turn\\d{1,4}[a-z]{1,20}\\d{1,4}")
_PRIVATE = re.compile("[\ue200-\ue2ff]")


def without_citations(text: str) -> str:
    """The text without the marks; names of entities and titles of links stay, as the page shows them."""
    if "【" in text:
        text = _BRACKETS.sub("", text)
    if _PRIVATE.search(text):
        text = _PRIVATE.sub("", _LOOSE.sub("", _RUN.sub(_shown, text)))
    return text


def _shown(match: re.Match[str]) -> str:
    space = match.group()[0] if match.group()[0] in " \t" else ""
    kind, arguments = match[1], match[2].split("\ue202")[1:]
    if kind == "entity" and arguments:
        return space + _name(arguments[0])
    if kind == "url" and arguments:
        link = arguments[1] if len(arguments) > 1 and arguments[1].startswith("http") else ""
        return f"{space}{arguments[0]} ({link})" if link else space + arguments[0]
    return ""


def _name(argument: str) -> str:
    """The display name of `["city","Москва","столица"]`."""
    try:
        value = json.loads(argument)
    except (ValueError, RecursionError):
        return ""
    return value[1] if isinstance(value, list) and len(value) > 1 and isinstance(value[1], str) else ""

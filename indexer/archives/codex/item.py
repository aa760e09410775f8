"""What an item of a Codex rollout says: its texts, without the context that the program puts before them."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from indexer.archives.injected import Blocks
from indexer.archives.wording import tidy
from schemas.records import Dropped

_TEXT_BLOCKS = frozenset({"input_text", "output_text", "text", "summary_text", "reasoning_text", "Text"})
_BLOCKS = Blocks(
    {
        "environment_context": "environment",
        "turn_aborted": "interrupted",
        "subagent_notification": "notification",
        "user_shell_command": "command",
        "user_action": "command",
        "INSTRUCTIONS": "instructions",
        "user_instructions": "instructions",
        "permissions instructions": "instructions",
        "collaboration_mode": "instructions",
        "skills_instructions": "instructions",
        "plugins_instructions": "instructions",
        "apps_instructions": "instructions",
        "recommended_plugins": "instructions",
        "skill": "instructions",
        "model_switch": "instructions",
        "personality_spec": "instructions",
    }
)
_HEADING = re.compile(r"^# AGENTS\.md instructions[^\n]*\n\s{0,8}(?=<INSTRUCTIONS>)", re.MULTILINE)
# Without their ends they are the beginning of a context that was cut, and still no words of a person.
_CUT = (
    (re.compile(r"<environment_context>"), "environment"),
    (re.compile(r"<(?:user_instructions|INSTRUCTIONS)>"), "instructions"),
    (re.compile(r"# AGENTS\.md instructions for (?:[/~]|[A-Za-z]:\\)"), "instructions"),
)
_LAYERS = 4  # a context may stand before another one
_IDE = "# Context from my IDE setup:"
_FILES = "# Files mentioned by the user:"
_REQUEST = re.compile(r"^## My request(?: for Codex)?:[ \t]*\n?", re.MULTILINE)
_IMAGE = re.compile(r"<image name=[^<>\n]{0,500}>[ \t]*\n?|</image>[ \t]*\n?")


def texts(content: object) -> Iterator[str]:
    """The text blocks of a content, whatever its shape."""
    if isinstance(content, str):
        yield content
    elif isinstance(content, dict):
        yield from texts(content.get("content") or content.get("output") or content.get("text"))
    elif isinstance(content, list):
        for block in content:
            if isinstance(block, str):
                yield block
            elif isinstance(block, dict) and block.get("type", "text") in _TEXT_BLOCKS:
                if isinstance(text := block.get("text"), str):
                    yield text
            elif isinstance(block, dict) and isinstance(refusal := block.get("refusal"), str):
                yield refusal


def joined(content: object) -> str:
    """All texts of a content, a line each."""
    return tidy("\n".join(texts(content)))


def prompt(content: object) -> tuple[str, list[Dropped]]:
    """The words of a person in a user's item, and what the program wrote into it."""
    said: list[str] = []
    drops: list[Dropped] = []
    for text in texts(content):
        kept = tidy(text)
        for _ in range(_LAYERS):
            kept, found = _unwrapped(kept)
            drops.extend(found)
            if not found:
                break
        said.append(kept)
    return tidy("\n".join(text for text in said if text)), drops


def _unwrapped(text: str) -> tuple[str, list[Dropped]]:
    """One text without injected blocks; each block of a content is the program's or the person's own."""
    bare = _HEADING.sub("", text)
    headings = len(text) - len(bare)
    text, drops = _BLOCKS.taken_off(bare)
    for at, drop in enumerate(drops):
        if drop.kind == "instructions":  # a heading counts with the block below it
            drops[at] = Dropped(drop.kind, drop.characters + headings)
            headings = 0
            break
    text = tidy(text)
    if text.startswith((_IDE, _FILES)) and (match := _REQUEST.search(text)):
        drops.append(Dropped("environment", match.end()))
        text = text[match.end() :]
    for mark, kind in _CUT:
        if mark.match(text):
            return "", [*drops, Dropped(kind, len(text) + headings)]
    if "<image name=" in text or text == "</image>":
        text = _IMAGE.sub("", text)
    return tidy(text), drops


def result(output: object) -> str:
    """What a tool answered; the text inside where the program wrapped it into JSON with an exit code."""
    text = joined(output)
    if text.startswith('{"output"'):
        try:
            inner = json.loads(text)
        except (ValueError, RecursionError):
            return text
        if isinstance(inner, dict) and isinstance(inner.get("output"), str):
            return tidy(inner["output"])
    return text


def asked(item: Mapping[str, Any]) -> int:
    """How many characters a call of a tool holds."""
    for key in ("arguments", "input", "action", "query"):
        if value := item.get(key):
            return len(value) if isinstance(value, str) else len(json.dumps(value, ensure_ascii=False))
    return 0


def thought(item: Mapping[str, Any]) -> str:
    """What a model thought aloud: its summary, else its own words; encrypted content says nothing."""
    return joined(item.get("summary")) or joined(item.get("content"))

"""What one node of a ChatGPT conversation says, and to whom."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC
from typing import Any

from indexer.archives.citations import without_citations
from indexer.archives.conversations import Said, Turn
from indexer.archives.files import ReadOptions
from indexer.archives.identity import source_id
from indexer.archives.times import parse_time
from indexer.archives.wording import label, says_something, tidy
from schemas.records import Dropped, Role, Skipped

# Custom instructions, memory and repositories that are put before a talk; its page shows none of it.
_CONTEXTS = frozenset({"user_editable_context", "model_editable_context", "app_pairing_content"})
_THINKING = frozenset({"thoughts", "reasoning_recap"})
_RESULTS = frozenset(
    {"execution_output", "tether_quote", "tether_browsing_display", "tether_browsing_code"}
    | {"sonic_webpage", "computer_output", "citable_code_output", "system_error", "super_widget"}
)
_SPOKEN = frozenset({"text", "multimodal_text", "code"})
# Where a content without parts holds its words, in the order in which they are to be read.
_WORDS = ("title", "url", "text", "result", "summary", "content", "user_profile", "user_instructions")
# The canvas: documents that are written in calls of a tool and shown beside the talk.
_CANVAS = "canmore."


def turn_of(key: str | None, node: Any, place: str, options: ReadOptions) -> Turn | Skipped:
    """Understand a node of a mapping.

    Args:
        key: its key in the mapping.
        node: its value.
        place: where it stands.
        options: whether thinking and tool results are kept.
    """
    if not isinstance(node, dict):
        return Skipped(place, "a message that is no object", "")
    id = source_id(node.get("id")) or source_id(key)
    if id is None:
        return Skipped(place, "a message without an id", "")
    message = node.get("message")
    body = _dict(message)
    at = parse_time(body.get("create_time"), UTC)
    records: tuple[Said | Dropped | Skipped, ...] = ()
    if body:
        records = tuple(_records(body, source_id(body.get("id")) or id, at, place, options))
    elif message is not None or "message" not in node or node.get("parent") is not None:
        records = (Skipped(place, "a message without a body", ""),)
    return Turn(
        id=id,
        parent=source_id(node.get("parent")),
        rooted="parent" in node and node["parent"] is None,
        children=tuple(child for one in _list(node.get("children")) if (child := source_id(one)) is not None),
        at=at,
        records=records,
        copied_from=source_id(_dict(body.get("metadata")).get("branching_from_conversation_id")),
    )


def _records(
    message: dict[str, Any], id: str, at: int | None, place: str, options: ReadOptions
) -> Iterator[Said | Dropped | Skipped]:
    content, metadata = _content(message.get("content")), _dict(message.get("metadata"))
    author = _dict(message.get("author"))
    kind, role, recipient = content.get("content_type"), author.get("role"), message.get("recipient")
    kind = kind if isinstance(kind, str) else None
    text = _words(content).strip()
    speaker = _Speaker(metadata, id, at)
    if role == "system" or _is_hidden(metadata) or kind in _CONTEXTS:
        yield Dropped("hidden", len(text))
    elif kind in _THINKING:
        yield from speaker.keeps("thinking", options.thinking, "thinking", text, None)
    elif role == "tool" or kind in _RESULTS:
        report = _report(metadata)
        if report:
            yield from speaker.says("assistant", report)
        else:
            name = label(author.get("name"))
            yield from speaker.keeps("tool_result", options.tool_results, "tool", text, name)
    elif role not in ("user", "assistant"):
        yield Skipped(place, "an unknown role", f"role {str(role)[:40]!r}")
    elif role == "assistant" and _is_call(recipient, kind, metadata):
        document = _document(text) if str(recipient).startswith(_CANVAS) else None
        if document is None:
            yield Dropped("tool_call", len(text))
        else:
            name, words = document
            yield from speaker.says("assistant", words, {"canvas": name} if name else {})
    elif kind not in _SPOKEN and not text and not _has_parts(content):
        yield Skipped(place, "an unknown type of content", f"type {str(kind)[:40]!r}")
    else:
        yield from speaker.says(role, text)


def _is_hidden(metadata: dict[str, Any]) -> bool:
    return (
        metadata.get("is_visually_hidden_from_conversation") is True
        or metadata.get("is_user_system_message") is True
    )


def _is_call(recipient: object, kind: object, metadata: dict[str, Any]) -> bool:
    """Whether an assistant speaks to a tool: by the recipient, or in code while it is still thinking."""
    if recipient not in ("all", None):
        return True
    return kind == "code" and metadata.get("reasoning_status") == "is_reasoning"


class _Speaker:
    """Makes the messages of one node."""

    def __init__(self, metadata: dict[str, Any], id: str, at: int | None) -> None:
        self._metadata, self._id, self._at = metadata, id, at

    def says(self, role: Role, text: str, meta: dict[str, str] | None = None) -> Iterator[Said | Dropped]:
        """What a person or the model says; marks of citations are taken out of the model's."""
        text = tidy(text)
        clean = text if role == "user" else without_citations(text).strip()
        if len(clean) < len(text):
            yield Dropped("citation", len(text) - len(clean))
        if says_something(clean):
            yield Said(self._id, role, clean, self._at, meta={**self._about(role), **(meta or {})})
        else:
            yield Dropped("empty", len(clean))

    def keeps(
        self, kind: str, wanted: bool, role: Role, text: str, author: str | None
    ) -> Iterator[Said | Dropped]:
        """Thinking or a tool's result, where the owner wants it."""
        if wanted and says_something(text):
            yield Said(self._id, role, tidy(without_citations(text)), self._at, author)
        else:
            yield Dropped(kind, len(text))

    def _about(self, role: Role) -> dict[str, str]:
        about: dict[str, str] = {}
        model = label(self._metadata.get("model_slug"))
        if model and role == "assistant":
            about["model"] = model[:100]
        names = [label(_dict(one).get("name")) for one in _list(self._metadata.get("attachments"))]
        if any(names):
            about["file_name"] = ", ".join(name for name in names if name)[:200]
        return about


def _words(content: dict[str, Any]) -> str:
    """All text of a content, whatever its type."""
    if isinstance(content.get("parts"), list):
        return "\n".join(text for part in content["parts"] if (text := _part(part)))
    thoughts = [
        thought[key]
        for thought in map(_dict, _list(content.get("thoughts")))
        for key in ("summary", "content")
        if isinstance(thought.get(key), str)
    ]
    return "\n".join([*thoughts, *(content[key] for key in _WORDS if isinstance(content.get(key), str))])


def _part(part: object) -> str:
    """A string, or the text of an object: what was dictated, what a file says; pictures say nothing."""
    text = part if isinstance(part, str) else _dict(part).get("text")
    return text if isinstance(text, str) else ""


def _has_parts(content: dict[str, Any]) -> bool:
    return isinstance(content.get("parts"), list)


def _document(call: str) -> tuple[str | None, str] | None:
    """Name and text that a call wrote into a canvas; None where it wrote nothing.

    A document is kept when it is made, and of each change what was put in: patterns are a model's regular
    expressions and are never run.
    """
    written = _object(call)
    name, texts = label(written.get("name")), [written.get("content")]
    texts += [_dict(one).get("replacement") for one in _list(written.get("updates"))]
    texts += [_dict(one).get("comment") for one in _list(written.get("comments"))]
    words = [text for text in texts if isinstance(text, str) and says_something(text)]
    if not words:
        return None
    return name, "\n".join([name, *words] if name else words)


def _report(metadata: dict[str, Any]) -> str | None:
    """The report of a finished research, which stands in the state of its widget alone."""
    state = _object(_dict(metadata.get("chatgpt_sdk")).get("widget_state"))
    if state.get("status") != "completed":
        return None
    return tidy(_words(_content(_dict(state.get("report_message")).get("content")))) or None


def _object(text: object) -> dict[str, Any]:
    if not isinstance(text, str):
        return {}
    try:
        return _dict(json.loads(text, strict=False))
    except (ValueError, RecursionError):
        return {}


def _content(content: object) -> dict[str, Any]:
    """The content; a bare string, as other programs write it, is one part."""
    return {"content_type": "text", "parts": [content]} if isinstance(content, str) else _dict(content)


def _dict(value: object) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _list(value: object) -> list[Any]:
    return value if isinstance(value, list) else []

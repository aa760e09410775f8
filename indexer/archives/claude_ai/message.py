"""What one message of a Claude.ai conversation says: its text, its attachments and the documents it wrote."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC
from typing import Any

from indexer.archives.conversations import Said, Turn
from indexer.archives.files import ReadOptions
from indexer.archives.identity import derived_id, source_id
from indexer.archives.injected import Blocks
from indexer.archives.times import parse_time
from indexer.archives.wording import label, read_content, says_something, tidy
from schemas.records import Dropped, Role, Skipped

# The parent of every first message.
_ROOT = "00000000-0000-4000-8000-000000000000"
_ROLES: Mapping[str, Role] = {"human": "user", "user": "user", "assistant": "assistant"}
_KNOWN = frozenset({"text", "thinking", "redacted_thinking", "tool_use", "tool_result"})
# `text` puts these where blocks stood that it has no words for.
_PLACEHOLDER = re.compile(
    r"(?:```[ \t]*\n)?(?:This block is not supported on your current device yet\."
    r"|Viewing artifacts created via the Analysis Tool web feature preview isn.t yet supported on mobile\.)"
    r"(?:[ \t]*\n```)?"
)
# Until 2024 artifacts and thinking stood in the text itself.
_THOUGHT = Blocks({"antThinking": "thinking"}, inline=frozenset({"antThinking"}))
_ARTIFACT = re.compile(r"</?antArtifact\b([^<>]{0,500})>")
_TITLE = re.compile(r'\btitle="([^"]{0,300})"')

Records = Iterator[Said | Dropped | Skipped]


@dataclass(frozen=True, slots=True)
class _Written:
    """Where the input of a tool holds a document: the key of its name, and those of its text."""

    name: str
    texts: tuple[str, ...]


# Documents are shown beside the talk and stand nowhere else. Of a change, what was put in is kept.
_DOCUMENTS = {
    "artifacts": _Written("title", ("content", "new_str")),
    "create_file": _Written("path", ("file_text",)),
    "str_replace": _Written("path", ("new_str",)),
    "message_compose_v1": _Written("summary_title", ("variants", "body")),
}


def turn_of(raw: Any, place: str, options: ReadOptions) -> Turn | Skipped:
    """Understand an element of `chat_messages`.

    Args:
        raw: the element.
        place: where it stands.
        options: whether thinking and tool results are kept.
    """
    if not isinstance(raw, dict):
        return Skipped(place, "a message that is no object", "")
    parent = source_id(raw.get("parent_message_uuid"))
    at = _time(raw.get("created_at"))
    own = source_id(raw.get("uuid"))
    id = own or derived_id("", str(raw.get("sender")), at, str(raw.get("text")))
    return Turn(
        id=id,
        parent=None if parent == _ROOT else parent,
        rooted=parent == _ROOT or ("parent_message_uuid" in raw and raw["parent_message_uuid"] is None),
        at=at,
        records=tuple(_records(raw, id, at, place, options)),
    )


def _time(value: object) -> int | None:
    """All times of an export are UTC, whether their offset is there, is cut or is missing."""
    return parse_time(value.rstrip("+") if isinstance(value, str) else value, UTC)


def _records(raw: dict[str, Any], id: str, at: int | None, place: str, options: ReadOptions) -> Records:
    sender = raw.get("sender")
    role = _ROLES.get(sender) if isinstance(sender, str) else None
    if role is None:
        yield Skipped(place, "an unknown sender", f"sender {str(sender)[:40]!r}")
        return
    found = _Blocks([], [], [])
    for block in _list(raw.get("content")):
        found.take(block, place)
    yield from found.others
    said = read_content(found.plain, options)
    yield from said.drops
    for n, (aside, words) in enumerate(said.asides, 1):
        yield Said(f"{id}/{aside}{n}", aside, words, at)
    text = said.text
    if not found.plain and not found.documents:
        text = raw["text"] if isinstance(raw.get("text"), str) else ""
    text, drops = _cleaned(text)
    yield from drops
    parts = [*_documents(found.documents, id, at), *_attached(raw, id, at)]
    if says_something(text):
        yield Said(id, role, text, at, meta=_files(raw))
    elif not (said.drops or said.asides or parts):
        yield Dropped("empty", len(text))
    yield from parts


@dataclass(frozen=True, slots=True)
class _Blocks:
    """The blocks of a message: what `read_content` knows, documents (name, text), and what is neither."""

    plain: list[dict[str, Any]]
    documents: list[tuple[str | None, str]]
    others: list[Dropped | Skipped]

    def take(self, block: Any, place: str) -> None:
        if not isinstance(block, dict):
            self.others.append(Skipped(place, "a block that is no object", ""))
            return
        kind = block.get("type")
        written = _written(block) if kind == "tool_use" else None
        if written is not None:
            self.documents.append(written)
        elif kind == "thinking" and not block.get("thinking"):
            self.plain.append(_summarised(block))
        elif isinstance(kind, str) and kind in _KNOWN:
            self.plain.append(block)
        elif kind == "injected_prompt_block":
            self.others.append(Dropped("hidden", len(str(block.get("prompt") or ""))))
        elif kind != "token_budget":
            self.others.append(Skipped(place, "an unknown type of block", f"type {str(kind)[:40]!r}"))


def _summarised(block: dict[str, Any]) -> dict[str, Any]:
    """Thinking may be hidden; then its summaries are all that is left."""
    summaries = [_dict(one).get("summary") for one in _list(block.get("summaries"))]
    return {"type": "thinking", "thinking": "\n".join(one for one in summaries if isinstance(one, str))}


def _cleaned(text: str) -> tuple[str, list[Dropped]]:
    text, drops = _THOUGHT.taken_off(text)
    if "This block is not" in text or "Viewing artifacts created" in text:
        clean, count = _PLACEHOLDER.subn("", text)
        if count:
            drops = [*drops, Dropped("placeholder", len(text) - len(clean), count)]
        text = clean
    if "antArtifact" in text:
        text = _ARTIFACT.sub(_title, text)
    return tidy(text), drops


def _title(match: re.Match[str]) -> str:
    found = _TITLE.search(match[1])
    return f"{found[1]}\n" if found else ""


def _written(block: dict[str, Any]) -> tuple[str | None, str] | None:
    """Name and text of the document that a tool was to write, or None."""
    name = block.get("name")
    form = _DOCUMENTS.get(name) if isinstance(name, str) else None
    if form is None:
        return None
    given = _dict(block.get("input"))
    texts = [text for key in form.texts for text in _texts(given.get(key))]
    return (label(given.get(form.name)), "\n".join(texts)) if texts else None


def _texts(value: object) -> Iterator[str]:
    """The text, or subject and body of each variant of a letter."""
    if isinstance(value, str) and says_something(value):
        yield value
    for variant in _list(value):
        for key in ("subject", "body"):
            yield from _texts(_dict(variant).get(key))


def _documents(written: list[tuple[str | None, str]], id: str, at: int | None) -> Records:
    for n, (name, text) in enumerate(written, 1):
        meta = {"document": name[:200]} if name else {}
        yield Said(f"{id}/document{n}", "assistant", _headed(name, text), at, meta=meta)


def _attached(raw: dict[str, Any], id: str, at: int | None) -> Records:
    """The texts of attached files, as messages of their own that begin with the name of the file."""
    for n, one in enumerate(_list(raw.get("attachments")), 1):
        content, name = _dict(one).get("extracted_content"), label(_dict(one).get("file_name"))
        if isinstance(content, str) and says_something(content):
            meta = {"file_name": name[:200]} if name else {}
            yield Said(f"{id}/attachment{n}", "user", _headed(name, content), at, meta=meta)


def _headed(name: str | None, text: str) -> str:
    return tidy(f"{name}\n{text}" if name else text)


def _files(raw: dict[str, Any]) -> dict[str, str]:
    """The names of files that were shown to the model; their content is not in the export."""
    names = [label(_dict(one).get("file_name")) for one in _list(raw.get("files"))]
    joined = ", ".join(name for name in names if name)[:200]
    return {"file_name": joined} if joined else {}


def _dict(value: object) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _list(value: object) -> list[Any]:
    return value if isinstance(value, list) else []

"""Made-up exports of ChatGPT and Claude.ai: one JSON document of conversations, one of them very long."""

from __future__ import annotations

import json
import random
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Protocol

# Turns of the longest conversation of an export: a year of one talk that was never closed.
LONGEST = 1_500


class Texts(Protocol):
    def said(self) -> str: ...
    def thought(self) -> str: ...
    def code(self) -> str: ...


def write_list(path: Path, size: int, conversations: Iterator[dict[str, Any]]) -> None:
    """One list of the conversations, about `size` bytes long; json.load is what it is compared with."""
    with path.open("wb") as target:
        target.write(b"[")
        while True:
            target.write(json.dumps(next(conversations), ensure_ascii=False).encode())
            if target.tell() >= size:
                break
            target.write(b", ")
        target.write(b"]")


def plain_document(path: Path) -> None:
    with path.open("rb") as source:
        json.load(source)


def chatgpt_conversations(texts: Texts, chance: random.Random) -> Iterator[dict[str, Any]]:
    """Trees of prompts, thoughts, calls, results and answers; one answer in twenty was made anew."""
    at, longest = 1_740_808_800.0, True
    while True:
        nodes: dict[str, dict[str, Any]] = {"client-created-root": _node("client-created-root", None, None)}
        last = "client-created-root"
        for _ in range(LONGEST if longest else chance.randint(1, 60)):
            for kind in ("prompt", *chance.choices(("thought", "call"), k=chance.randint(0, 2)), "answer"):
                for made in _made(kind, texts):
                    at += chance.randint(1, 60)
                    id = str(uuid.UUID(int=chance.getrandbits(128)))
                    nodes[id] = _node(id, last, {"id": id, "create_time": at, **made})
                    nodes[last]["children"].append(id)
                    if kind != "answer" or chance.random() < 0.95:
                        last = id
        longest = False
        id = str(uuid.UUID(int=chance.getrandbits(128)))
        yield {
            "title": texts.said()[:40],
            "create_time": at,
            "update_time": at,
            "mapping": nodes,
            "moderation_results": [],
            "current_node": last,
            "conversation_id": id,
            "gizmo_id": None,
            "safe_urls": [],
            "default_model_slug": "demo",
            "id": id,
        }


def _node(id: str, parent: str | None, message: dict[str, Any] | None) -> dict[str, Any]:
    return {"id": id, "message": message, "parent": parent, "children": []}


def _made(kind: str, texts: Texts) -> Iterator[dict[str, Any]]:
    if kind == "prompt":
        yield _message("user", {"content_type": "text", "parts": [texts.said()]})
    elif kind == "thought":
        thoughts = [{"summary": "думаю", "content": texts.thought(), "chunks": [], "finished": True}]
        yield _message("assistant", {"content_type": "thoughts", "thoughts": thoughts})
    elif kind == "call":
        yield _message("assistant", {"content_type": "code", "text": texts.code()}, recipient="python")
        yield _message("tool", {"content_type": "execution_output", "text": texts.code()})
    else:
        text = f"{texts.said()} \ue200cite\ue202turn0search{len(kind)}\ue201 {texts.said()}"
        reference = {"matched_text": "cite", "start_idx": 1, "end_idx": 9, "alt": None, "type": "webpage"}
        found = {"domain": "example.com", "entries": [{"title": texts.said(), "snippet": texts.said()}]}
        more = {"content_references": [reference] * 3, "search_result_groups": [found] * 3}
        yield _message("assistant", {"content_type": "text", "parts": [text]}, **more)


def _message(role: str, content: dict[str, Any], recipient: str = "all", **metadata: Any) -> dict[str, Any]:
    return {
        "author": {"role": role, "name": None, "metadata": {}},
        "update_time": None,
        "content": content,
        "status": "finished_successfully",
        "end_turn": True,
        "weight": 1.0,
        "metadata": {"model_slug": "demo", "request_id": "0123456789abcdef", **metadata},
        "recipient": recipient,
        "channel": None,
    }


def claude_conversations(texts: Texts, chance: random.Random) -> Iterator[dict[str, Any]]:
    """Lists of messages with thinking, calls, results and attachments."""
    minute, longest = 0, True
    while True:
        messages: list[dict[str, Any]] = []
        parent = "00000000-0000-4000-8000-000000000000"
        for _ in range(LONGEST if longest else chance.randint(1, 60)):
            for sender in ("human", "assistant"):
                minute += 1
                id = str(uuid.UUID(int=chance.getrandbits(128)))
                messages.append(_claude_message(id, parent, sender, minute, texts, chance))
                parent = id if sender == "human" or chance.random() < 0.95 else parent
        longest = False
        yield {
            "uuid": str(uuid.UUID(int=chance.getrandbits(128))),
            "name": texts.said()[:40],
            "summary": "",
            "created_at": _stamp(minute),
            "updated_at": _stamp(minute),
            "account": {"uuid": str(uuid.UUID(int=1))},
            "chat_messages": messages,
        }


def _claude_message(
    id: str, parent: str, sender: str, minute: int, texts: Texts, chance: random.Random
) -> dict[str, Any]:
    text = texts.said()
    content: list[dict[str, Any]] = [{"type": "text", "text": text, "citations": []}]
    attachments: list[dict[str, Any]] = []
    if sender == "assistant" and chance.random() < 0.5:
        used = {"type": "tool_use", "id": "toolu_1", "name": "web_search", "input": {"query": text}}
        result = {"type": "tool_result", "content": [{"type": "text", "text": texts.code()}]}
        content = [{"type": "thinking", "thinking": texts.thought()}, used, result, *content]
    if sender == "human" and chance.random() < 0.1:
        attachments = [{"file_name": "план.txt", "file_size": 9, "extracted_content": texts.code()}]
    return {
        "uuid": id,
        "text": text,
        "content": content,
        "sender": sender,
        "created_at": _stamp(minute),
        "updated_at": _stamp(minute),
        "attachments": attachments,
        "files": [],
        "parent_message_uuid": parent,
    }


def _stamp(minute: int) -> str:
    day, rest = divmod(minute, 24 * 60)
    month, day = divmod(day, 28)
    return f"{2000 + month // 12}-{month % 12 + 1:02}-{day + 1:02}T{rest // 60:02}:{rest % 60:02}:00.000000Z"

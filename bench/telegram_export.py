"""A made-up full export of Telegram Desktop: one JSON object, indented by a space as the exporter does it."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any, Protocol

PEOPLE = [("Ольга Лебедева", "user200000001"), ("Никита Орлов", "user200000002"), ("Пётр", "user200000003")]
# Messages of a chat: most are short, one is a supergroup of years.
CHATS = (200_000, *[3_000] * 40, *[150] * 10_000)


class Texts(Protocol):
    def said(self) -> str: ...


def write_export(path: Path, size: int, texts: Texts, chance: random.Random) -> None:
    """Chats with about `size` bytes together."""
    with path.open("wb") as target:
        target.write(b'{\n "about": "Here is the data you requested.",\n "chats": {\n  "list": [')
        for number, most in enumerate(CHATS):
            head = {"name": f"Чат {number}", "type": "private_supergroup", "id": 1_500_000_000 + number}
            opened = json.dumps(head, ensure_ascii=False, indent=1).removesuffix("\n}").replace("\n", "\n   ")
            target.write(f'{"," if number else ""}\n   {opened},\n    "messages": ['.encode())
            for id in range(1, most + 1):
                shown = json.dumps(message(id, texts, chance), ensure_ascii=False, indent=1)
                indented = shown.replace("\n", "\n     ")
                target.write(f"{',' if id > 1 else ''}\n     {indented}".encode())
                if target.tell() >= size:
                    break
            target.write(b"\n    ]\n   }")
            if target.tell() >= size:
                break
        target.write(b"\n  ]\n }\n}")


def message(id: int, texts: Texts, chance: random.Random) -> dict[str, Any]:
    """Mostly a sentence; replies, links, stickers, service messages and reactions as often as in a group."""
    at = 1_600_000_000 + id * 60
    name, own = chance.choice(PEOPLE)
    found: dict[str, Any] = {
        "id": id,
        "type": "message",
        "date": "2025-03-01T09:01:10",
        "date_unixtime": str(at),
    }
    kind = chance.random()
    if kind < 0.02:
        found |= {
            "type": "service",
            "actor": name,
            "actor_id": own,
            "action": "pin_message",
            "message_id": id,
        }
        return found | {"text": "", "text_entities": []}
    found |= {"from": name, "from_id": own}
    if chance.random() < 0.25:
        found["reply_to_message_id"] = max(1, id - chance.randint(1, 9))
    if kind < 0.1:
        media = {
            "file": "(File not included. Change data exporting settings to download.)",
            "file_size": 31_000,
        }
        return found | media | {"media_type": "sticker", "width": 512, "text": "", "text_entities": []}
    text = texts.said()[: int(chance.expovariate(1 / 90)) + 2]
    plain: dict[str, Any] = {"type": "plain", "text": text}
    if kind < 0.2:
        link = {"type": "text_link", "text": "вот", "href": "https://example.com/page"}
        found |= {"text": [text, link, ""], "text_entities": [plain, link, {"type": "plain", "text": ""}]}
    else:
        found |= {"text": text, "text_entities": [plain]}
    if chance.random() < 0.15:
        recent = {"from": name, "from_id": own, "date": "2025-03-01T09:05:00"}
        found["reactions"] = [{"type": "emoji", "count": 1, "emoji": "👍", "recent": [recent]}]
    return found

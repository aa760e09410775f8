"""Where samples of every format lie: our own in the repository, others in the folder of LETOPIS_EXPORTS."""

from __future__ import annotations

import os
from pathlib import Path

_GIVEN = os.environ.get("LETOPIS_EXPORTS")
EXPORTS = Path(_GIVEN).absolute() if _GIVEN else None

# Folder of an export folder (and of golden/), and the reader whose samples hold our own files of it.
READER_OF = {
    "chatgpt": "chatgpt",
    "claude_ai": "claude",
    "claude_code": "claude_code",
    "codex": "codex",
    "discord": "discord",
    "jsonl_plain": "jsonl",
    "markdown_memory": "markdown",
    "openclaw": "openclaw",
    "slack": "slack",
    "telegram": "telegram",
    "vk": "vk",
    "whatsapp": "whatsapp",
}
# Samples that lie in the repository under the name that a program gives them.
NAMED = {
    "openclaw/syn_ru_session.jsonl": "11111111-2222-3333-4444-555555555555.jsonl",
    "openclaw/syn_sessions.json": "sessions.json",
    "telegram/syn_ru_full_export.json": "result.json",
    "telegram/syn_ru_single.json": "single.json",
}

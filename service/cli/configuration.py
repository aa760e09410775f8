"""The settings file that `letopis init` writes: every key that a person is likely to change, explained."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

_TEMPLATE = """\
# Settings of Letopis. Relative paths count from this file's folder; docs/settings.md lists every key.
# LETOPIS_* of the environment beat this file (LETOPIS_SERVICE__PORT=8078), and flags beat both.

# Where the index lives. One data folder is one owner's memory.
{data}

# What is read: files, folders or zips. `~` is your home folder.
archives = {archives}

# The zone of times that name none, and of dates in a query; the machine's by default.
# timezone = "Europe/Moscow"

# What tools answered to an agent is most of its context and rarely worth finding; true keeps it.
# tool_results = false
# thinking = false

[embedding]
# true lets the text of your chats and queries be sent to a cloud embedder; the key is GEMINI_API_KEY of the
# environment.
cloud = {cloud}

# Who embeds, best first. Those without a key or a server are left out and named by every build.
# order = ["gemini", "ollama", "local"]

# Chats (by id) and sources that never leave this machine, also with cloud = true.
# local_only = []

# [embedding.gemini]
# The quota of your key; a build stops in time and the next night goes on.
# daily_requests = 1000

# [service]
# Beyond this machine the service needs a token of 16 bytes or more: set LETOPIS_SERVICE__TOKEN.
# host = "127.0.0.1"
# port = 8077

# [notify]
# Run with the build's report on stdin when a build fails or leaves work, and when it is well again.
# command = "mail -s letopis me"

# [quality]
# Judged queries that a new generation must answer as well as the last one; `letopis search --judge`
# writes them.
# golden = "golden.jsonl"
"""


def toml(archives: Sequence[Path], cloud: bool, data: Path | None) -> str:
    """The text of a settings file.

    Args:
        archives: absolute paths; those under the home folder are written with `~`.
        cloud: `embedding.cloud`.
        data: the data folder, or None for the default.
    """
    listed = "".join(f"\n  {_string(shown(archive))}," for archive in archives)
    return _TEMPLATE.format(
        data=f"data = {_string(shown(data))}" if data else '# data = "data/index"',
        archives=f"[{listed}\n]" if listed else "[]",
        cloud="true" if cloud else "false",
    )


def shown(path: Path) -> str:
    """A path with `~` for the home folder."""
    home = Path.home()
    return f"~/{path.relative_to(home)}" if path != home and path.is_relative_to(home) else str(path)


def _string(text: str) -> str:
    # A TOML basic string escapes what a JSON one does, and DEL besides.
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")

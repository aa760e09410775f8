"""Where agents and messengers keep their talks on this machine."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Found:
    """A place that holds talks.

    Attributes:
        path: absolute.
        shown: with `~` for the home folder.
        what: in words.
        readable: whether there is a reader for it.
    """

    path: Path
    shown: str
    what: str
    readable: bool


# Place under the home folder, what it is, and the reader that it needs.
_HOMES = (
    (".openclaw", "OpenClaw: sessions, lcm.db, memory", "openclaw"),
    (".claude/projects", "Claude Code: sessions", "claude_code"),
    (".codex/sessions", "Codex: sessions", "codex"),
    ("memory", "notes of an agent", "markdown"),
)


def archives_of(home: Path, here: Path) -> list[Found]:
    """What there is to read, under the home folder and in the working folder.

    Args:
        home: the home folder.
        here: the working folder.
    """
    from indexer.archives import READERS

    found = [
        Found(home / place, f"~/{place}", _described(home / place, what), reader in READERS)
        for place, what, reader in _HOMES
        if (home / place).is_dir()
    ]
    # Telegram Desktop's own export folder.
    exports = sorted((home / "Downloads" / "Telegram Desktop").glob("ChatExport_*/result.json"))
    found += [
        Found(path.parent, f"~/{path.parent.relative_to(home)}", "an export of Telegram", True)
        for path in exports
    ]
    if here != home:
        found += [
            Found(here / name, name, "notes of an agent", True)
            for name in ("memory", "MEMORY.md")
            if (here / name).exists()
        ]
    return found


def _described(path: Path, what: str) -> str:
    if path.name != ".openclaw":
        return what
    parts = [
        name
        for name, inside in (("sessions", "agents"), ("lcm.db", "lcm.db"), ("memory", "workspace"))
        if (path / inside).exists()
    ]
    return f"OpenClaw: {', '.join(parts)}" if parts else "OpenClaw"

"""Where the files of the deployment stand, and how a Dockerfile is read."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
DEPLOY = ROOT / "deploy"
DOCS = ROOT / "docs"


def instructions(dockerfile: str) -> list[tuple[str, str]]:
    """Instructions of a Dockerfile in order, continuation lines joined, comments left out."""
    lines = "\n".join(line for line in dockerfile.splitlines() if not line.lstrip().startswith("#"))
    joined = re.sub(r"\\\n\s*", " ", lines)
    found = [line.split(None, 1) for line in joined.splitlines() if line.strip()]
    return [(word.upper(), rest.strip()) for word, rest in found]


def commands_of_cli() -> set[str]:
    """Names of the commands that `letopis` has."""
    from service.cli import COMMANDS

    return set(COMMANDS)

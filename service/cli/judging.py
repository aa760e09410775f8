"""`letopis search --judge`: a person says which hits are good, and the golden file keeps it."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from schemas.problems import SettingsError
from service.render import clean

if TYPE_CHECKING:
    from schemas.http import Answer, Hit, SearchRequest
    from schemas.settings import Settings

_SHOWN = 200


@dataclass(slots=True)
class Verdicts:
    """Messages of the hits that were judged.

    Attributes:
        good: ids, in the order of the hits.
        bad: ids of hits that do not answer; one that is also in a good hit is good.
    """

    good: list[str] = field(default_factory=list)
    bad: list[str] = field(default_factory=list)

    def over(self, known: Sequence[str]) -> list[str]:
        """The relevant messages after these verdicts: the later answer counts."""
        gone = set(self.bad).difference(self.good)
        return [id_ for id_ in dict.fromkeys([*known, *self.good]) if id_ not in gone]


def at_terminal() -> bool:
    """Whether somebody can be asked."""
    return sys.stdin.isatty() and sys.stdout.isatty()


def golden_file(settings: Settings, as_json: bool) -> Path:
    """Where verdicts go.

    Raises:
        SettingsError: nobody can be asked, or the settings name no golden file.
    """
    if as_json or not at_terminal():
        raise SettingsError(
            "--judge asks a person, and this is no terminal.", "run it in a terminal, without --json"
        )
    if settings.quality.golden is None:
        raise SettingsError(
            "The settings name no golden file to keep the answers in.",
            'write golden = "golden.jsonl" under [quality] in letopis.toml',
        )
    return settings.quality.golden


def judged(answer: Answer, request: SearchRequest, golden: Path) -> str:
    """Ask about every hit and keep what was said.

    Returns:
        One sentence on what became of it.

    Raises:
        SettingsError: the golden file holds a line that is no judged query.
    """
    if not answer.hits:
        return "Nothing to judge: no hit."
    verdicts = _asked(answer.hits)
    chat = _chat(answer, request)
    kept = _kept(golden, request.q, chat, verdicts)
    if kept is None:
        return "Nothing was judged good, so nothing is kept."
    return f"{golden.name}: {kept} relevant messages for this question."


def _asked(hits: Sequence[Hit]) -> Verdicts:
    verdicts = Verdicts()
    click.echo("\nGood hit? y yes, n no, Enter skip, q quit")
    for number, hit in enumerate(hits, 1):
        click.echo(f"{number}/{len(hits)} {clean(' '.join(hit.text.split()), _SHOWN)}")
        said = _key()
        if said == "q":
            break
        if said:
            (verdicts.good if said == "y" else verdicts.bad).extend(one.id for one in hit.messages)
    return verdicts


def _key() -> str:
    while True:
        said: str = click.prompt("  [y/n/Enter/q]", default="", show_default=False).strip().lower()
        if said in ("", "y", "n", "q"):
            return said


def _chat(answer: Answer, request: SearchRequest) -> str | None:
    """The chat that the search stayed inside, by id; a judged query of one chat is asked there alone."""
    chats = {hit.chat.id for hit in answer.hits}
    return chats.pop() if len(request.chat) == 1 and len(chats) == 1 else None


def _kept(golden: Path, text: str, chat: str | None, verdicts: Verdicts) -> int | None:
    """Write the verdicts into the file: how many messages the question has now, or None for no change."""
    lines = _lines(golden)
    for at, line in enumerate(lines):
        if line.get("text", line.get("q")) == text and line.get("chat") == chat:
            relevant = verdicts.over([str(id_) for id_ in line.get("relevant", line.get("rel", []))])
            lines[at] = {key: value for key, value in line.items() if key != "rel"} | {"relevant": relevant}
            break
    else:
        if not verdicts.good:
            return None
        relevant = verdicts.over(())
        place = {} if chat is None else {"chat": chat}
        lines.append({"text": text, **place, "relevant": relevant, "kind": "judged"})
    golden.parent.mkdir(parents=True, exist_ok=True)
    fresh = golden.with_name(f".{golden.name}.new")
    fresh.write_text("".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines), "utf-8")
    fresh.replace(golden)
    return len(relevant)


def _lines(golden: Path) -> list[dict[str, Any]]:
    if not golden.exists() or not golden.stat().st_size:
        return []
    from service.golden import golden_queries

    golden_queries(golden)  # a broken line is told before anything is written
    return [json.loads(line) for line in golden.read_text("utf-8-sig").splitlines() if line.strip()]

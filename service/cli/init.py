"""`letopis init`: from nothing to a settings file and an estimate, with two questions."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import click

from schemas.problems import SettingsError
from schemas.settings import CONFIG_NAME
from service.cli.configuration import shown, toml
from service.cli.homes import Found, archives_of
from service.cli.options import absolute, print_json, shared


@click.command()
@click.option("--yes", is_flag=True, help="Ask nothing: every archive that was found, no cloud.")
@click.option("--cloud/--no-cloud", default=None, help="Whether texts may be sent to a cloud embedder.")
@click.option(
    "--archive",
    "given",
    multiple=True,
    type=click.Path(path_type=Path),
    metavar="PATH",
    help="An archive to read, instead of those that are found.",
)
@click.option("--force", is_flag=True, help="Overwrite a settings file that is there.")
@shared
def init(
    yes: bool,
    cloud: bool | None,
    given: tuple[Path, ...],
    force: bool,
    config: Path | None,
    data: Path | None,
    as_json: bool,
) -> int:
    """Find your archives, ask about the cloud, write letopis.toml, and show what a build would take."""
    path = absolute(config) or Path.cwd() / CONFIG_NAME
    if path.exists() and not force:
        raise SettingsError(f"{path.name} is there already.", "edit it, or overwrite it with --force")
    answers = _Answers(silent=yes or as_json)
    found = [] if given else archives_of(Path.home(), Path.cwd())
    chosen = [Path.cwd() / archive.expanduser() for archive in given] or answers.archives(found)
    allowed = answers.cloud() if cloud is None else cloud
    _write(path, toml(chosen, allowed, absolute(data)))
    unread = [entry.shown for entry in found if not entry.readable]
    if as_json:
        names = [shown(archive) for archive in chosen]
        estimate = _estimated(path) if chosen else None
        print_json(
            {
                "config": path.name,
                "archives": names,
                "not_readable": unread,
                "cloud": allowed,
                "estimate": estimate,
            }
        )
        return 0
    click.echo(f"Wrote {path.name}.")
    if not chosen:
        click.echo("No archive was found. Next: add one to `archives` in it, then run `letopis build`")
        return 0
    return _show_estimate(path)


@dataclass(frozen=True, slots=True)
class _Answers:
    """Asks, or takes the defaults."""

    silent: bool

    def archives(self, found: Sequence[Found]) -> list[Path]:
        chosen: list[Path] = []
        for entry in found:
            if not entry.readable:
                self._say(f"{entry.shown}: {entry.what}; this version has no reader for it yet.")
            elif self._agreed(f"Read {entry.shown} ({entry.what})?", True):
                chosen.append(entry.path)
        return chosen

    def cloud(self) -> bool:
        self._say(
            "\nA cloud embedder (Gemini) finds a little more, but the text of your chats is sent to it.\n"
            "Without it nothing leaves this machine; a model for Russian and English is bundled."
        )
        return self._agreed("Send texts to the cloud?", False)

    def _agreed(self, question: str, default: bool) -> bool:
        if self.silent:
            return default
        try:
            return click.confirm(question, default=default)
        except click.Abort:
            if sys.stdin.isatty():
                raise
            raise SettingsError(
                "There is nobody to answer the questions.",
                "use --yes for the defaults, --archive PATH and --cloud or --no-cloud for others",
            ) from None

    def _say(self, text: str) -> None:
        if not self.silent:
            click.echo(text)


def _write(path: Path, text: str) -> None:
    fresh = path.with_name(f".{path.name}.new")
    fresh.write_text(text, "utf-8")
    fresh.replace(path)


def _show_estimate(path: Path) -> int:
    from indexer.pipeline import Options
    from schemas.settings import load
    from service.cli.build import rehearse

    settings, _ = load(path)
    code = rehearse(settings, Options(), None, False)
    click.echo("\nNext: `letopis build`, then `letopis search 'a question'` or `letopis serve`")
    return code


def _estimated(path: Path) -> dict[str, object]:
    from indexer.estimate import estimate
    from indexer.pipeline import Options
    from indexer.report import Silent
    from schemas.settings import load

    settings, _ = load(path)
    return estimate(settings, Options(), os.environ, None, Silent()).as_json()

"""What every command takes: `--config FILE`, `--data DIR`, `--json`; and the settings that come of them."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

if TYPE_CHECKING:
    from schemas.settings import Settings

Command = TypeVar("Command", bound=Callable[..., Any])


def shared(command: Command) -> Command:
    """Add `--config`, `--data` and `--json` to a command, as `config`, `data` and `as_json`."""
    for option in (
        click.option("--json", "as_json", is_flag=True, help="Print JSON on stdout and nothing else."),
        click.option("--data", type=click.Path(path_type=Path), metavar="DIR", help="The data folder."),
        click.option(
            "--config",
            type=click.Path(path_type=Path),
            metavar="FILE",
            help="The settings file; letopis.toml of the working folder by default.",
        ),
    ):
        command = option(command)
    return command


def absolute(path: Path | None) -> Path | None:
    """A path of the command line counts from the working folder, not from the settings file's."""
    return None if path is None else Path.cwd() / path.expanduser()


def settings_of(config: Path | None, data: Path | None, flags: Mapping[str, Any] | None = None) -> Settings:
    """The settings of a command.

    Args:
        config: of `--config`.
        data: of `--data`.
        flags: further nested values that beat file and environment.

    Raises:
        SettingsError: see `schemas.settings.load`.
    """
    from schemas.settings import load

    settings, _ = load(absolute(config), {"data": absolute(data), **(flags or {})})
    return settings


def print_json(value: object) -> None:
    """One JSON document on stdout."""
    click.echo(json.dumps(value, ensure_ascii=False, indent=1))

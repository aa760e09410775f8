"""`letopis doctor`: everything that a build and the service need, one line each."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import click

from schemas.problems import SettingsError
from service.cli.finding import Finding, failed, good, warned
from service.cli.options import absolute, print_json, shared
from service.render import clean

_MARKS = {"ok": "✓", "fail": "✗", "warn": "!"}


@click.command()
@shared
def doctor(config: Path | None, data: Path | None, as_json: bool) -> int:
    """Check the driver, settings, archives, generations, embedders, disk, port and token.

    No text of a chat is sent anywhere: a provider is asked to embed one fixed word, and one in the cloud only
    if embedding.cloud is on. Exit 1 if anything is ✗.
    """
    found: list[Finding] = []
    for finding in _findings(config, data):
        found.append(finding)
        if not as_json:
            click.echo(_line(finding))
    sound = all(finding.state != "fail" for finding in found)
    if as_json:
        print_json({"ok": sound, "findings": [finding.as_json() for finding in found]})
    return 0 if sound else 1


def _line(finding: Finding) -> str:
    remedy = f" Next: {finding.hint}" if finding.hint else ""
    return f"{_MARKS[finding.state]} {finding.check:<13}{clean(finding.message, 300)}{remedy}"


def _findings(config: Path | None, data: Path | None) -> Iterator[Finding]:
    from schemas.settings import load
    from service.cli import machine, providers, stores

    yield from machine.drivers()
    try:
        settings, source = load(absolute(config), {"data": absolute(data)})
    except SettingsError as error:
        yield failed("settings", error.message, error.hint or "mend that setting")
        return
    names = sorted(name for name in os.environ if name.upper().startswith("LETOPIS_"))
    told = f"{source.name} was read" if source else "no letopis.toml in the working folder, defaults are used"
    told += f"; from the environment: {', '.join(names)}" if names else "; nothing from the environment"
    yield (
        good("settings", f"{told}.")
        if source or names
        else warned("settings", f"{told}.", "`letopis init` writes one")
    )
    yield from stores.archives(settings)
    yield from stores.data_folder(settings)
    yield from stores.generations(settings)
    yield from stores.lock(settings)
    yield from providers.embedders(settings, os.environ)
    yield from providers.imported_spaces(settings, os.environ)
    yield from providers.names_finder(settings)
    yield from machine.disk(settings)
    yield from machine.clock(settings)
    yield from machine.network(settings)

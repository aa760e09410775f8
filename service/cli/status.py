"""`letopis status`: what /v1/status tells, for a person."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import tzinfo
from pathlib import Path
from typing import Any

import click

from service.cli.options import print_json, settings_of, shared
from service.cli.quantities import size
from service.cli.summary import line
from service.render import clean, local


@click.command()
@shared
def status(config: Path | None, data: Path | None, as_json: bool) -> int:
    """Say what is served, how fresh it is, and what the last run did."""
    from service.engine import LiveEngine

    settings = settings_of(config, data)
    with LiveEngine(settings) as engine:
        found = engine.status()
    if as_json:
        print_json(found)
    else:
        click.echo("\n".join([_headline(found, settings.zone), *_lines(found, settings.zone)]))
    return 0


def _headline(found: Mapping[str, Any], zone: tzinfo) -> str:
    if found["generation"] is None:
        return "No index is served."
    return f"Generation {found['generation']}, built {local(found['built_at'], zone)}."


def _lines(found: Mapping[str, Any], zone: tzinfo) -> Iterator[str]:
    counts = found["counts"]
    if counts:
        yield line("holds", ", ".join(f"{counts[name]:,} {name}" for name in counts))
        yield line("names by", str(found["entities"].get("backend", "")))
    for space in found["spaces"]:
        yield line("vectors", f"{space['name']}: {space['vectors']:,}, {space['coverage']:.0%} of the chunks")
    for source in found["sources"]:
        seen = local(source["last_seen"], zone)[:10] if source["last_seen"] else "without a date"
        text = (
            f"{clean(source['path'], 120)} ({source['kind']}): {source['messages']:,} messages, last {seen}"
        )
        yield line("source", text if source["health"] == "ok" else f"{text}, {source['health']}")
    run = found["last_run"]
    if run is not None:
        spent = ", ".join(f"{count:,} by {name}" for name, count in run["spent"].items()) or "none"
        yield line(
            "last run",
            f"{local(run['at'], zone)}, exit {run['exit']}: {run['new']:,} new messages; "
            f"embedded: {spent}; left to embed: {run['left']:,}",
        )
    for sentence in found["health"]:
        yield line("health", clean(sentence, 300))
    for sentence in found["stale"]:
        yield line("stale", clean(sentence, 200))
    for sentence in found["degraded"]:
        yield line("degraded", clean(sentence, 200))
    disk = found["disk"]
    yield line("disk", f"{size(disk['generation_bytes'])} used, {size(disk['free_bytes'])} free")

"""`letopis archives`: what was found in the archives, and how much of it is talk."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import tzinfo
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from service.cli.cancellation import Cancellation
from service.cli.options import print_json, settings_of, shared
from service.cli.progress import shown
from service.query import shown_time
from service.render import clean, local

if TYPE_CHECKING:
    from indexer.survey import Archive, Found

_PATH = 48
# A folder of ten thousand sessions is told by its largest files; the JSON names all.
_FILES = 40


@click.command()
@click.argument("paths", nargs=-1, type=click.Path(path_type=Path), metavar="[PATH]...")
@click.option(
    "--all", "every", is_flag=True, help=f"List every file, not the {_FILES} largest of an archive."
)
@shared
def archives(
    paths: tuple[Path, ...], every: bool, config: Path | None, data: Path | None, as_json: bool
) -> int:
    """Read the archives (the PATHs, else those of the settings) and say what they hold.

    For every file: its format, talks, messages, dates and what was skipped; for every archive: how many
    characters are talk and how many are tool results, thinking and other noise, and which are indexed.
    Nothing is written.
    """
    from indexer.archives import ReadOptions
    from indexer.survey import survey
    from schemas.problems import SettingsError

    settings = settings_of(config, data)
    roots = [Path.cwd() / path.expanduser() for path in paths] or list(settings.archives)
    if not roots:
        raise SettingsError("There is no archive to look at.", "name one: `letopis archives PATH`")
    options = ReadOptions(settings.zone, settings.tool_results, settings.thinking, settings.deleted_sessions)
    with Cancellation() as cancellation, shown() as progress:
        found = survey(roots, options, progress, cancellation.asked)
    if as_json:
        print_json({"archives": [_with_times(archive.as_json()) for archive in found]})
    else:
        click.echo("\n\n".join("\n".join(_archive(one, settings.zone, every)) for one in found))
    return 1 if all(archive.fault for archive in found) else 0


def _with_times(archive: dict[str, Any]) -> dict[str, Any]:
    for file in archive["files"]:
        for key in ("first_at", "last_at"):
            file[key] = shown_time(file[key])
    return archive


def _archive(archive: Archive, zone: tzinfo, every: bool) -> Iterator[str]:
    yield clean(archive.name, 120)
    if archive.fault:
        yield f"  {archive.fault}"
        return
    files = archive.files
    if not every and len(files) > _FILES:
        files = sorted(files, key=lambda file: -file.account.messages)[:_FILES]
        files += [file for file in archive.files if file.kind is None and file not in files][:_FILES]
    yield f"  {'file':<{_PATH}} {'kind':<11} {'talks':>6} {'messages':>9}  dates"
    for file in files:
        yield from _file(file, zone)
    if len(files) < len(archive.files):
        yield f"  … and {len(archive.files) - len(files):,} more; --all lists them"
    yield ""
    yield from _characters(archive)


def _file(file: Found, zone: tzinfo) -> Iterator[str]:
    account = file.account
    name = clean(file.path, 400)
    shown_name = name if len(name) <= _PATH else f"…{name[1 - _PATH :]}"
    if file.kind is None:
        yield f"  {shown_name:<{_PATH}} {'-':<11}"
    else:
        dates = "–".join(
            dict.fromkeys(
                local(shown_time(at), zone)[:10]
                for at in (account.first_at, account.last_at)
                if at is not None
            )
        )
        yield (
            f"  {shown_name:<{_PATH}} {file.kind:<11} {len(account.chats):>6,} {account.messages:>9,}"
            f"  {dates or 'no dates'}"
        )
    for reason, one in file.as_json()["skipped"].items():
        hint = f". Next: {clean(one['hint'], 300)}" if one["hint"] else ""
        yield f"      skipped {one['count']:,} × {clean(reason, 200)}{hint}"


def _characters(archive: Archive) -> Iterator[str]:
    found = archive.as_json()
    if not found["characters"]:
        yield "  No text was found."
        return
    yield f"  {'characters of':<22} {'records':>9} {'characters':>12} {'share':>7}  indexed"
    for name, verdict in (("indexed", "yes"), ("left_out", "no")):
        for kind, one in found[name].items():
            switch = (
                f" ({one['setting']} = {'true' if verdict == 'yes' else 'false'})" if "setting" in one else ""
            )
            yield (
                f"  {kind:<22} {one['records']:>9,} {one['characters']:>12,} {one['share']:>7.1%}"
                f"  {verdict}{switch}"
            )

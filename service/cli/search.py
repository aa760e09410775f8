"""`letopis search`: the keys of /v1/search as flags, read by the same rules."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, get_args, get_origin

import click

from schemas.http import Answer, SearchRequest
from schemas.problems import RequestError
from service.cli.judging import golden_file, judged
from service.cli.options import settings_of, shared
from service.requests import expected, parse_search

_HELP = {
    "mode": "Which legs search: hybrid, vector, text, entities.",
    "unit": "What is returned: chunk or message.",
    "limit": "How many hits, 1–100.",
    "offset": "How many hits to pass over, 0–1,000.",
    "chat": "Only this chat, by id or title.",
    "author": "Only this author, by id or name.",
    "role": "Only this role; `instruction` and `tool` are left out unless asked for.",
    "agent": "main (default) or worker, the talk of sub-agents; both where both are given.",
    "source": "Only this kind of archive (telegram, openclaw, …).",
    "entity": "Only what mentions this name, in any inflection.",
    "since": "From this date, date-time, or `30d` back from now.",
    "until": "To this date or date-time, inclusive.",
    "min_score": "Only hits of at least this score, 0–1.",
    "context": "Neighbouring chunks to show, 0–5.",
    "highlight": "Mark the matching words (json).",
    "explain": "Say of each hit which leg found it.",
    "format": "text (default), markdown or json.",
    "max_chars": "Bound on the printed text.",
    "strict": "Fail where a leg or a space can't take part.",
    "timeout_ms": "Give up after this time.",
}


def _keys(command: Callable[..., Any]) -> Callable[..., Any]:
    """One flag a key; values go on as written, so that the messages are those of HTTP."""
    for name, field in reversed(SearchRequest.model_fields.items()):
        if name == "q":
            continue
        flag = "--" + name.replace("_", "-")
        if expected(field) == "true or false":
            option = click.option(flag, name, is_flag=True, help=_HELP[name])
        else:
            several = get_origin(field.annotation) is list or list in get_args(field.annotation)
            option = click.option(flag, name, multiple=several, metavar="X", help=_HELP[name])
        command = option(command)
    return command


@click.command()
@click.argument("query", nargs=-1, required=True)
@_keys
@click.option(
    "--judge", is_flag=True, help="Ask of each hit if it is good; quality.golden keeps the answers."
)
@shared
def search(
    query: tuple[str, ...], judge: bool, config: Path | None, data: Path | None, as_json: bool, **keys: Any
) -> int:
    """Search the index: by meaning, by word in any inflection, by name.

    Several words need no quotes. A QUERY that begins with a dash goes after `--`.
    """
    request = _request(" ".join(query), keys, as_json)
    settings = settings_of(config, data)
    golden = golden_file(settings, request.format == "json") if judge else None

    from service.engine import LiveEngine
    from service.render import as_markdown, as_text

    with LiveEngine(settings) as engine:
        answer = _in_time(lambda: engine.search(request), request.timeout_ms)
    if request.format == "json":
        click.echo(answer.model_dump_json(indent=1))
        return 0
    written = as_markdown if request.format == "markdown" else as_text
    click.echo(written(answer, request.max_chars, settings.zone))
    if request.explain:
        from service.cli.explanation import explanation

        click.echo(f"\n{explanation(answer)}")
    if golden is not None:
        click.echo(judged(answer, request, golden))
    return 0


def _request(query: str, keys: dict[str, Any], as_json: bool) -> SearchRequest:
    pairs: list[tuple[str, Any]] = [("q", query)]
    for name, value in keys.items():
        if isinstance(value, tuple):
            pairs += [(name, item) for item in value]
        elif value is not None and value is not False:
            pairs.append((name, value))
    if as_json:
        pairs = [(name, value) for name, value in pairs if name != "format"] + [("format", "json")]
    elif keys.get("format") is None:
        pairs.append(("format", "text"))
    try:
        return parse_search(pairs)
    except RequestError as error:
        hint = error.hint if "openapi" not in error.hint else "`letopis search --help` shows every flag"
        raise RequestError(error.code, error.message, hint, error.errors) from None


def _in_time(call: Callable[[], Answer], timeout_ms: int | None) -> Answer:
    if timeout_ms is None:
        return call()
    import anyio

    from service.limits import Calls

    return anyio.run(Calls(1).run, call, timeout_ms)

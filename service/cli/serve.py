"""`letopis serve`: the HTTP service, in the foreground."""

from __future__ import annotations

import json
import logging
import sys
from pathlib import Path

import click

from service.cli.options import settings_of, shared

log = logging.getLogger("letopis.serve")


@click.command("serve")
@click.option("--host", metavar="H", help="Address to listen on; service.host by default (127.0.0.1).")
@click.option("--port", type=click.IntRange(0, 65535), metavar="P", help="Port; 0 takes a free one.")
@shared
def serve_command(
    host: str | None, port: int | None, config: Path | None, data: Path | None, as_json: bool
) -> int:
    """Run the HTTP service until Ctrl-C or SIGTERM; running requests get 10 s to end.

    A new generation is taken in while it runs. With --json the URL is printed as one object when it is ready.
    """
    settings = settings_of(config, data, {"service": {"host": host, "port": port}})
    logging.basicConfig(
        stream=sys.stderr, level=logging.INFO, format="%(asctime)s %(levelname)s %(name)s: %(message)s"
    )

    from service.engine import LiveEngine
    from service.server import serve

    def ready(url: str) -> None:
        log.info("listening on %s", url)
        if as_json:
            click.echo(json.dumps({"url": url}))
            sys.stdout.flush()

    with LiveEngine(settings, lasting=True) as engine:
        serve(engine, settings, ready)
    return 0

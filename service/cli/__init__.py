"""The command `letopis`: one module a command, imported only when that command is run.

To add a command: write `service/cli/<name>.py` with a click command that returns its exit code, and list it
in COMMANDS. `letopis --help` reads this table alone, so that it answers at once.
"""

from __future__ import annotations

import logging
import sys
from collections.abc import Sequence
from importlib import import_module

import click

from service.cli.faults import exit_code_of, settle_streams

# Module, name of the click command in it, and the line that `letopis --help` shows.
COMMANDS: dict[str, tuple[str, str, str]] = {
    "init": ("init", "init", "Find your archives, write letopis.toml, show the estimate."),
    "build": ("build", "build", "Read the archives and publish a new generation of the index."),
    "import": ("imports", "imports", "Take over an older index with the vectors that were paid for."),
    "search": ("search", "search", "Search the index."),
    "why-not": ("why_not", "why_not", "Follow one message: why a search does not find it."),
    "serve": ("serve", "serve_command", "Run the HTTP service."),
    "status": ("status", "status", "What is served, how fresh it is, what the last run did."),
    "entities": ("entities", "entities", "Names in the index: look them up, connect them, correct them."),
    "eval": ("evaluate", "evaluate", "Measure search and names against judged files."),
    "archives": ("archives", "archives", "Say what the archives hold, and what of it is indexed."),
    "forget": ("forget", "forget", "Forget a talk, a message or a person, for good."),
    "generations": ("generations", "generations", "List, switch and prune the generations on disk."),
    "doctor": ("doctor", "doctor", "Check everything that a build and the service need."),
}


class _Commands(click.Group):
    def list_commands(self, ctx: click.Context) -> list[str]:
        """The names, in the order of a first use."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import the one that is asked for."""
        if cmd_name not in COMMANDS:
            return None
        module, name, _ = COMMANDS[cmd_name]
        command: click.Command = getattr(import_module(f"service.cli.{module}"), name)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """From the table: click's own would import every module."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, line) for name, (_, _, line) in COMMANDS.items()])


@click.group(
    cls=_Commands,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog="Exit: 0 done, 1 failed and nothing changed, 2 usage, 3 published with work left.",
)
@click.version_option(package_name="letopis", prog_name="letopis", message="%(prog)s %(version)s")
def commands() -> None:
    """Letopis: everything ever said in your chats, found again by meaning, by word and by name."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command line.

    Args:
        arguments: without the program's name; those of the process by default.

    Returns:
        The exit code: 0 done, 1 failed and nothing changed, 2 usage, 3 published with work left.
    """
    given = list(sys.argv[1:] if arguments is None else arguments)
    settle_streams()
    # What went wrong is said once, as the error; only `serve` shows its log.
    logging.getLogger("letopis").addHandler(logging.NullHandler())
    return exit_code_of(lambda: commands.main(given, prog_name="letopis", standalone_mode=False), given)

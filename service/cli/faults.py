"""What a person sees when a command fails: one line with the remedy, or a JSON problem; no traceback."""

from __future__ import annotations

import errno
import io
import json
import os
import sys
import traceback
from collections.abc import Callable, Sequence

import click

from schemas.problems import LetopisError

_USAGE_CODES = frozenset({"invalid_parameter", "query_empty", "query_too_long"})


def settle_streams() -> None:
    """A terminal that can't show a character gets a replacement, never an exception."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")


def exit_code_of(run: Callable[[], object], arguments: Sequence[str]) -> int:
    """Run a command and turn whatever it raises into words and an exit code.

    Args:
        run: returns the exit code, or anything else for 0.
        arguments: the command line, asked for `--json`.
    """
    as_json = "--json" in arguments
    try:
        code = run()
        sys.stdout.flush()
    except click.UsageError as error:
        return _usage(error, as_json)
    except LetopisError as error:
        tell(error, as_json)
        return exit_of(error)
    except (click.Abort, KeyboardInterrupt):
        tell(_said("interrupted", "Stopped.", ""), as_json)
        return 1
    except SystemExit as error:  # click's own way out of a closed pipe
        _discard_output()
        return error.code if isinstance(error.code, int) else 1
    except OSError as error:
        if error.errno == errno.EPIPE:  # `letopis search … | head`: the reader has had enough
            _discard_output()
            return 1
        tell(problem_of(error), as_json)
        return 1
    except Exception as error:
        if not _is_database_error(error):
            # A bug of ours: where it happened is what its report needs.
            traceback.print_exc()
        tell(problem_of(error), as_json)
        return 1
    return code if isinstance(code, int) else 0


def tell(error: LetopisError, as_json: bool) -> None:
    """Show an error: one line on stderr, or with `--json` an object on stdout."""
    if as_json:
        click.echo(json.dumps(as_problem(error), ensure_ascii=False))
    else:
        click.echo(f"letopis: {error.line()}", err=True)


def as_problem(error: LetopisError) -> dict[str, str]:
    """The object that `--json` prints: code, message, hint."""
    return {"code": error.code, "message": error.message, "hint": error.hint}


def exit_of(error: LetopisError) -> int:
    """2 where the command line is to blame, else what the error says."""
    return 2 if error.code in _USAGE_CODES else error.exit


def problem_of(error: Exception) -> LetopisError:
    """A fault of the machine (a full disk, missing rights, a damaged database), or a bug, as one of ours."""
    if isinstance(error, OSError):
        reason = error.strerror or type(error).__name__
        # The last component alone: an error tells no home path.
        place = f" ({os.path.basename(os.fsdecode(error.filename))})" if error.filename else ""  # noqa: PTH119
        hint = {
            errno.ENOSPC: "make room on the disk; the next run goes on from here",
            errno.EACCES: "check who owns the data folder; `letopis doctor` looks at it",
            errno.EROFS: "choose a data folder that can be written: --data DIR",
        }.get(error.errno or 0, "run `letopis doctor`")
        return _said("system", f"{reason}{place}.", hint)
    if _is_database_error(error):
        return _said("database", f"The database can't be used: {error}.", "run `letopis doctor`")
    return _said(
        "internal", f"An unexpected fault ({type(error).__name__}).", "report it with the lines above"
    )


def _is_database_error(error: Exception) -> bool:
    apsw = sys.modules.get("apsw")
    return apsw is not None and isinstance(error, apsw.Error)


def _said(code: str, message: str, hint: str) -> LetopisError:
    error = LetopisError(message, hint)
    error.code = code
    return error


def _usage(error: click.UsageError, as_json: bool) -> int:
    if isinstance(error, click.exceptions.NoArgsIsHelpError):
        click.echo(error.format_message(), err=True)
        return error.exit_code
    path = error.ctx.command_path if error.ctx else "letopis"
    message = error.format_message().rstrip(".")
    tell(_said("usage", f"{message}.", _twin(error) or f"`{path} --help` shows how"), as_json)
    return error.exit_code


def _twin(error: click.UsageError) -> str:
    """What other search programs call our flags."""
    if not isinstance(error, click.NoSuchOption) or error.ctx is None or error.ctx.info_name != "search":
        return ""
    from service.requests import TWINS

    twin = TWINS.get(error.option_name.lstrip("-").replace("-", "_"))
    return f"did you mean --{twin}?" if twin not in (None, "q") else ""


def _discard_output() -> None:
    # The interpreter flushes stdout at its end, and would complain about the closed pipe once more.
    try:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except (OSError, ValueError):  # a stdout without a descriptor: nothing to redirect
        return

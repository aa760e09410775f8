"""Everything that can go wrong, as one tree; the CLI and the HTTP layer render the same object.

LetopisError
├── SettingsError          a setting or an environment name is wrong
├── ArchiveError           an archive as a whole can't be read
├── LedgerBusy             another indexer holds the lock
├── DatabaseError          a database of ours is newer than this program, or damaged
│   ├── IndexMissing       no generation has been published yet
│   └── IndexCorrupt       a generation does not match its manifest
├── NoMatch                a command names what is not in the ledger, or names several
├── BuildRefused           a generation did not pass its checks and was not published
├── Interrupted            stopped at a batch by the user; the next run resumes
├── EmbedderError          a provider's answer could not be used
│   ├── Outage             not reachable or broken: fall back, heal later
│   ├── Quota              a short wait, then go on with the same model
│   ├── QuotaExhausted     the day's quota is spent: the next run goes on
│   ├── Refusal            bad key, no access, no such model: off for this run
│   └── TextRejected       the provider will not embed one of these texts
└── RequestError           what a client asked can't be done (HTTP 4xx, 503)
"""

from __future__ import annotations

from typing import Literal

Code = Literal[
    "invalid_parameter",
    "query_empty",
    "query_too_long",
    "body_too_large",
    "unauthorized",
    "forbidden_origin",
    "not_found",
    "method_not_allowed",
    "index_missing",
    "index_corrupt",
    "embedder_unavailable",
    "overloaded",
    "timeout",
    "internal",
]

STATUS: dict[Code, int] = {
    "invalid_parameter": 422,
    "query_empty": 422,
    "query_too_long": 422,
    "body_too_large": 413,
    "unauthorized": 401,
    "forbidden_origin": 403,
    "not_found": 404,
    "method_not_allowed": 405,
    "index_missing": 503,
    "index_corrupt": 503,
    "embedder_unavailable": 503,
    "overloaded": 503,
    "timeout": 504,
    "internal": 500,
}


class LetopisError(Exception):
    """A fault that a person can act on.

    Args:
        message: one sentence that holds the numbers.
        hint: the remedy, one sentence, or an empty string.
    """

    code: str = "internal"
    exit: int = 1

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint

    def line(self) -> str:
        """The message and the remedy as one line for a terminal."""
        return f"{self.message} Next: {self.hint}" if self.hint else self.message


class SettingsError(LetopisError):
    """A setting, a flag or an environment name is wrong."""

    code = "settings"
    exit = 2


class ArchiveError(LetopisError):
    """An archive as a whole can't be read; the others are."""

    code = "archive"


class LedgerBusy(LetopisError):
    """Another indexer holds the lock of this data folder."""

    code = "ledger_busy"


class DatabaseError(LetopisError):
    """A database of ours is newer than this program, or damaged."""

    code = "index_corrupt"


class IndexMissing(DatabaseError):
    """No generation has been published in this data folder."""

    code = "index_missing"


class IndexCorrupt(DatabaseError):
    """A generation does not match its manifest."""

    code = "index_corrupt"


class NoMatch(LetopisError):
    """What a command names is not in the ledger, or several things are called so."""

    code = "not_found"


class BuildRefused(LetopisError):
    """A generation did not pass its checks; nothing was published."""

    code = "build_refused"


class Interrupted(LetopisError):
    """Stopped by the user at a batch; what was embedded stays."""

    code = "interrupted"


class EmbedderError(LetopisError):
    """A provider's answer could not be used; nothing of it was stored."""

    code = "embedder_unavailable"


class Outage(EmbedderError):
    """The provider can't be reached or answers nonsense: fall back now, heal in a later run."""


class Quota(EmbedderError):
    """The provider asks to wait.

    Args:
        message: one sentence.
        wait: seconds to wait before the same call may be made again.
        hint: the remedy.
    """

    def __init__(self, message: str, wait: float, hint: str = "") -> None:
        super().__init__(message, hint)
        self.wait = wait


class QuotaExhausted(EmbedderError):
    """The day's quota is spent: stop paying cleanly, the next run goes on."""


class Refusal(EmbedderError):
    """Bad key, no access, no such model, wrong location: the provider is off for this run."""


class TextRejected(EmbedderError):
    """The provider refuses one of the texts of this batch (a plain 400): bisect, then quarantine."""


class RequestError(LetopisError):
    """What a client asked can't be done.

    Args:
        code: one of the closed list in API.md.
        message: the detail, one sentence.
        hint: the remedy.
        errors: (where, message) pairs, one a wrong parameter.
        retry_after: seconds, for `overloaded`.
    """

    def __init__(
        self,
        code: Code,
        message: str,
        hint: str = "",
        errors: tuple[tuple[str, str], ...] = (),
        retry_after: int | None = None,
    ) -> None:
        super().__init__(message, hint)
        self.code: Code = code
        self.errors = errors
        self.retry_after = retry_after

    @property
    def status(self) -> int:
        """The HTTP status that belongs to the code."""
        return STATUS[self.code]

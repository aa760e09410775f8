"""From what a person typed to what the legs are asked: terms, filters, times."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from datetime import UTC, date, datetime, time, timedelta, tzinfo

from indexer.stores import Term
from indexer.text.aliases import stop_words
from indexer.text.lemmas import lemmas, terms
from indexer.text.normal import normal, tokens
from schemas.http import SearchRequest
from schemas.problems import RequestError
from schemas.records import AGENTS, ROLES, Filter

# 4,096 terms took 10 s; a question has a dozen.
MAX_TERMS = 32

# Letters and digits joined by a sign inside one written word: gpt-4o-mini, foo.bar, don't, C:\Users.
_COMPOUND = re.compile(r"[^\W_]+(?:[-‐‑.'’_:\\/@+]+[^\W_]+)*")
_RELATIVE = re.compile(r"^(\d{1,5})\s*([dhwmy])$")
_HOURS = {"h": 1, "d": 24, "w": 24 * 7, "m": 24 * 30, "y": 24 * 365}


def terms_of(text: str, also: Mapping[str, Sequence[str]] | None = None) -> list[Term]:
    """The terms of a query, at most MAX_TERMS, each once.

    Stop words count for nothing; a query of nothing else is matched by its exact words (мой, not мои).
    The words of a compound must stand side by side, or its lemmas near each other.

    Args:
        text: the query.
        also: further words that a word of the text, in the normal form, may have been meant for.
    """
    words = list(dict.fromkeys(match[0] for match in _COMPOUND.finditer(normal(text))))
    found = [term for word in words if (term := _term(word, also or {})) is not None]
    telling = [term for term in found if not _is_stop(term)]
    if telling:
        return telling[:MAX_TERMS]
    return [Term(term.word, term.raw) for term in found][:MAX_TERMS]


def _term(word: str, also: Mapping[str, Sequence[str]]) -> Term | None:
    raw = tuple(tokens(word))
    if not raw:
        return None
    if len(raw) == 1:
        forms = (raw[0], *also.get(raw[0], ()))
        return Term(word, raw, tuple(dict.fromkeys((lemma,) for form in forms for lemma in terms(form))))
    likeliest = tuple(lemmas(token)[0] for token in raw)
    meant = tuple(lemmas(next(iter(also.get(token, ())), token))[0] for token in raw)
    return Term(word, raw, tuple(dict.fromkeys((likeliest, meant))))


def _is_stop(term: Term) -> bool:
    return all(token in stop_words() for token in term.raw)


def filter_of(request: SearchRequest, zone: tzinfo, now: datetime) -> Filter:
    """The filter that a request asks for.

    Raises:
        RequestError: a role, an agent or a time that is not understood.
    """
    for role in request.role:
        if role not in ROLES:
            raise _invalid("role", f"there is no role {role!r}; it is one of {', '.join(ROLES)}")
    for agent in request.agent:
        if agent not in AGENTS:
            raise _invalid("agent", f"there is no agent {agent!r}; it is one of {', '.join(AGENTS)}")
    since = moment("since", request.since, zone, now, end_of_day=False)
    until = moment("until", request.until, zone, now, end_of_day=True)
    if since is not None and until is not None and since > until:
        raise _invalid("since", f"since ({request.since}) lies after until ({request.until})")
    return Filter(
        chats=tuple(request.chat),
        authors=tuple(request.author),
        roles=tuple(request.role),
        agents=tuple(request.agent),
        sources=tuple(request.source),
        entities=tuple(request.entity),
        since=since,
        until=until,
    )


def moment(key: str, text: str | None, zone: tzinfo, now: datetime, end_of_day: bool = False) -> int | None:
    """UTC ms of a date, a date-time or `30d` back from now; None stays None.

    Raises:
        RequestError: it is none of these; `key` names the parameter.
    """
    if text is None:
        return None
    written = text.strip()
    relative = _RELATIVE.match(written.casefold())
    try:
        if relative:
            found = now - timedelta(hours=int(relative[1]) * _HOURS[relative[2]])
        elif len(written) <= 10:
            day = date.fromisoformat(written)
            # Inclusive: the whole last day counts.
            found = datetime.combine(day, time.max if end_of_day else time.min, tzinfo=zone)
        else:
            found = datetime.fromisoformat(written)
            found = found if found.tzinfo else found.replace(tzinfo=zone)
            if end_of_day and not found.microsecond:
                found = found.replace(microsecond=999_999)  # times are shown in whole seconds
        return int(found.timestamp() * 1000)
    except (ValueError, OverflowError, OSError):
        raise _invalid(
            key, f"{written[:40]!r} is no time; write 2026-03-18, 2026-03-18T10:00 or 30d (back from now)"
        ) from None


def _invalid(key: str, message: str) -> RequestError:
    return RequestError(
        "invalid_parameter", f"The parameter {key} is wrong: {message}.", "", ((key, message),)
    )


def shown_time(at: int | None) -> str | None:
    """UTC ms as ISO 8601 with a Z; None stays None."""
    if at is None:
        return None
    return datetime.fromtimestamp(at / 1000, UTC).isoformat(timespec="seconds").replace("+00:00", "Z")

"""What Gemini's errors mean to us: wait, stop for today, switch off, halve the batch, or fall back."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from schemas.problems import EmbedderError, Outage, Quota, QuotaExhausted, Refusal, TextRejected

if TYPE_CHECKING:
    from google.genai.errors import APIError

# A 429 without a delay: the quota is per minute, so half a minute is a fair first guess.
DEFAULT_WAIT = 30.0

# A 400 that is about the account, not about a text.
_ACCOUNT = re.compile(r"api[ _]key|location|billing|FAILED_PRECONDITION", re.IGNORECASE)
_DAILY = re.compile(r"per\s?day", re.IGNORECASE)
_DELAY = re.compile(r"^(\d+(?:\.\d+)?)s$")


def from_response(error: APIError, key: str) -> EmbedderError:
    """Our error for an HTTP answer other than 200; the key is never in it."""
    said = _said(error, key)
    match error.code:
        case 429 if _DAILY.search(_quota_text(error)):
            return QuotaExhausted(f"Gemini's quota of the day is spent (429): {said}", "the next run goes on")
        case 429:
            wait = _wait(error)
            return Quota(f"Gemini asks to wait {wait:.0f} s (429): {said}", wait)
        case 401 | 403:
            return Refusal(f"Gemini refused the key ({error.code}): {said}", "check GEMINI_API_KEY")
        case 404:
            return Refusal(f"Gemini has no such model (404): {said}", "check embedding.gemini.model")
        case 400 if _ACCOUNT.search(f"{error.message} {error.status} {error.details}"):
            return Refusal(
                f"Gemini refused this account (400): {said}",
                "check GEMINI_API_KEY, and whether the API is offered where this machine stands",
            )
        case 400 | 413 | 422:
            return TextRejected(f"Gemini rejected a text ({error.code}): {said}")
        case _:
            return Outage(f"Gemini answered {error.code}: {said}", "the next run tries it again")


def unreachable(error: Exception) -> Outage:
    """Our error for a call without a usable answer. Its text is left out: it may quote the request."""
    return Outage(
        f"Gemini could not be reached or its answer could not be read ({type(error).__name__}).",
        "the next run tries it again",
    )


def _said(error: APIError, key: str) -> str:
    message = " ".join(str(error.message or error.status or "no reason given").split())
    return message.replace(key, "[key]")[:200]


def _details(error: APIError) -> Iterator[Mapping[str, Any]]:
    body = error.details
    fault = body.get("error", body) if isinstance(body, Mapping) else {}
    details = fault.get("details", ()) if isinstance(fault, Mapping) else ()
    yield from (
        (detail for detail in details if isinstance(detail, Mapping)) if isinstance(details, list) else ()
    )


def _quota_text(error: APIError) -> str:
    failures = [detail for detail in _details(error) if "QuotaFailure" in str(detail.get("@type"))]
    return f"{error.message} {failures}"


def _wait(error: APIError) -> float:
    """Seconds: the longer one of the Retry-After header and RetryInfo, which may both be absent."""
    headers = getattr(error.response, "headers", None) or {}
    said = [str(headers.get("retry-after", "")) + "s"]
    said += [str(detail.get("retryDelay")) for detail in _details(error)]
    waits = [float(found[1]) for text in said if (found := _DELAY.match(text))]
    return max((wait for wait in waits if math.isfinite(wait)), default=DEFAULT_WAIT)

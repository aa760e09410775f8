"""Errors as `application/problem+json` (RFC 9457), from the one tree in schemas/problems.py.

Whatever goes wrong, a client sees one of a closed list of codes, a sentence and a remedy: never a traceback,
a key or a path.
"""

from __future__ import annotations

from typing import get_args

from starlette.responses import Response

from schemas.http import Problem, ProblemError
from schemas.problems import STATUS, Code, LetopisError, RequestError

MEDIA_TYPE = "application/problem+json"

TITLES: dict[Code, str] = {
    "invalid_parameter": "A parameter is wrong",
    "query_empty": "The query is empty",
    "query_too_long": "The query is too long",
    "body_too_large": "The body is too large",
    "unauthorized": "A token is needed",
    "forbidden_origin": "This host or origin is not let in",
    "not_found": "Not found",
    "method_not_allowed": "This method is not allowed here",
    "index_missing": "No index has been built yet",
    "index_corrupt": "The index is damaged",
    "embedder_unavailable": "An embedding provider is not available",
    "overloaded": "Too many requests at once",
    "timeout": "The answer took too long",
    "internal": "An unexpected fault",
}

INTERNAL = RequestError(
    "internal",
    "The service failed on this request.",
    "the service log names the place under this request id",
)


def problem(error: LetopisError, request_id: str) -> Problem:
    """Describe an error to a client.

    Args:
        error: any of ours; one whose code is not on the closed list is shown as `internal`, without its text.
        request_id: stands in `instance` and in the log.
    """
    if error.code not in get_args(Code):
        error = INTERNAL
    code: Code = error.code  # type: ignore[assignment]
    errors = error.errors if isinstance(error, RequestError) else ()
    return Problem(
        type=f"urn:letopis:problem:{code}",
        title=TITLES[code],
        status=STATUS[code],
        detail=error.message,
        instance=request_id,
        code=code,
        hint=error.hint,
        errors=[ProblemError(where=where, message=message) for where, message in errors],
    )


def problem_response(error: LetopisError, request_id: str, headers: dict[str, str] | None = None) -> Response:
    """The response that tells an error: WWW-Authenticate on a 401, Retry-After when overloaded."""
    body = problem(error, request_id)
    extra = dict(headers or {})
    if body.code == "unauthorized":
        extra["WWW-Authenticate"] = 'Bearer realm="letopis"'
    if body.code == "overloaded":
        wait = error.retry_after if isinstance(error, RequestError) else None
        extra["Retry-After"] = str(wait or 1)
    return Response(body.model_dump_json(), body.status, extra, MEDIA_TYPE)

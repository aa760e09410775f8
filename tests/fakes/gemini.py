"""The Gemini API's `:batchEmbedContents`, as measured on the real shapes."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from .server import Fault, LoopbackServer, Reply, Vectors, replied

DIMS = 768


def _fault(status: int, name: str, message: str, *details: dict[str, Any], **headers: str) -> Fault:
    def fault(vectors: Vectors, answer: Callable[[Vectors], Any]) -> Reply:
        error = {"code": status, "message": message, "status": name, "details": list(details)}
        return replied(status, {"error": error}, **headers)

    return fault


def _violation(quota: str) -> dict[str, Any]:
    return {
        "@type": "type.googleapis.com/google.rpc.QuotaFailure",
        "violations": [{"quotaMetric": "embed_content_requests", "quotaId": quota}],
    }


def _retry_info(seconds: float) -> dict[str, Any]:
    return {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": f"{seconds:g}s"}


def quota(seconds: float = 7) -> Fault:
    """A 429 of the minute, with RetryInfo."""
    per_minute = _violation("EmbedContentRequestsPerMinutePerUserPerProjectPerModel-FreeTier")
    return _fault(429, "RESOURCE_EXHAUSTED", "You exceeded your quota.", per_minute, _retry_info(seconds))


def quota_header(seconds: int) -> Fault:
    """A 429 that says the delay in the header alone."""
    return _fault(429, "RESOURCE_EXHAUSTED", "Slow down.", **{"Retry-After": str(seconds)})


def quota_silent() -> Fault:
    """A 429 without any delay."""
    return _fault(429, "RESOURCE_EXHAUSTED", "Slow down.")


def daily_quota() -> Fault:
    """The quota of the day; the RetryInfo beside it means nothing."""
    per_day = _violation("EmbedContentRequestsPerDayPerUserPerProjectPerModel-FreeTier")
    return _fault(429, "RESOURCE_EXHAUSTED", "You exceeded your quota.", per_day, _retry_info(7))


def daily_quota_in_words() -> Fault:
    """The quota of the day, told by the message alone."""
    return _fault(429, "RESOURCE_EXHAUSTED", "Quota exceeded: 1000 requests per day.")


def file_quota(body: bytes) -> Fault:
    """A recorded 429."""

    def fault(vectors: Vectors, answer: Callable[[Vectors], Any]) -> Reply:
        return Reply(429, body)

    return fault


def bad_key(key: str = "") -> Fault:
    """A 400 that says that the key is wrong, and repeats it as some gateways do."""
    info = {"@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": "API_KEY_INVALID"}
    return _fault(400, "INVALID_ARGUMENT", f"API key not valid {key}. Please pass a valid API key.", info)


def wrong_location() -> Fault:
    """A 400 for a machine in a country without the API."""
    return _fault(400, "FAILED_PRECONDITION", "User location is not supported for the API use.")


def unauthorized() -> Fault:
    """A 401."""
    return _fault(401, "UNAUTHENTICATED", "Request had invalid authentication credentials.")


def forbidden() -> Fault:
    """A 403."""
    return _fault(403, "PERMISSION_DENIED", "The caller does not have permission.")


def no_model() -> Fault:
    """A 404."""
    return _fault(404, "NOT_FOUND", "models/nothing is not found for API version v1beta.")


def bad_request() -> Fault:
    """A plain 400."""
    return _fault(400, "INVALID_ARGUMENT", "Request contains an invalid argument.")


class FakeGemini(LoopbackServer):
    """Answers `/v1beta/models/{model}:batchEmbedContents` with vectors of the asked length."""

    dims = DIMS

    def texts_of(self, path: str, body: dict[str, Any]) -> list[str] | None:
        if not (path.startswith("/v1beta/models/") and path.endswith(":batchEmbedContents")):
            return None
        # One vector an entry, however many parts it has: that is how a list of strings collapses.
        return ["".join(part["text"] for part in entry["content"]["parts"]) for entry in body["requests"]]

    def vectors_of(self, texts: list[str], body: dict[str, Any]) -> Vectors:
        self.dims = body["requests"][0].get("outputDimensionality", 3072)
        return super().vectors_of(texts, body)

    def answer(self, vectors: Vectors) -> Any:
        return {"embeddings": [{"values": vector} for vector in vectors]}

    def rejection(self, text: str) -> Reply:
        return replied(
            400, {"error": {"code": 400, "message": "Invalid text.", "status": "INVALID_ARGUMENT"}}
        )

    def entries(self) -> list[int]:
        """How many entries each call had: each counts as one request of the quota."""
        return [len(call.body["requests"]) for call in self.calls]


def recorded(case: str) -> Fault:
    """The 429 of a case file's text."""
    return file_quota(json.dumps(json.loads(case)).encode())

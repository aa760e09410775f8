"""What a client asked, read strictly: URL, form, JSON and command line all become the same flat keys.

Pure: no web framework here, so that the command line reads its flags by the same rules. Bytes are UTF-8 or
they are refused; whether a percent-encoding was UTF-8 is judged on the bytes, never by looking for U+FFFD,
which a person may really search for.
"""

from __future__ import annotations

import difflib
import json
import re
from collections.abc import Iterable, Mapping
from typing import Any, Literal, TypeVar, get_args, get_origin
from urllib.parse import unquote_to_bytes

from annotated_types import Ge, Le
from pydantic import BaseModel, ConfigDict, Field, ValidationError
from pydantic.fields import FieldInfo

from schemas.http import MAX_QUERY, EntitySort, SearchRequest
from schemas.problems import RequestError

CURL_HINT = "with curl: curl -G URL --data-urlencode 'q=…', from a terminal that speaks UTF-8"
# Of a name or a type; a longer one is none.
MAX_NAME = 200

BODY_HINT = """send -d 'q=…' as a form, or a flat JSON object: {"q": "…", "limit": 5}"""

# What other search services call our keys; difflib alone would not find these.
TWINS = {
    "query": "q",
    "question": "q",
    "text": "q",
    "search": "q",
    "k": "limit",
    "n": "limit",
    "size": "limit",
    "top_k": "limit",
    "count": "limit",
    "from": "since",
    "after": "since",
    "to": "until",
    "before": "until",
    "skip": "offset",
    "user": "author",
    "channel": "chat",
    "worker": "agent",
    "subagent": "agent",
}

_SURROGATE = re.compile("[\ud800-\udfff]")
_SHOWN = 60

Model = TypeVar("Model", bound=BaseModel)
Value = str | list[str]


class ChunkRequest(BaseModel):
    """The keys of `/v1/chunks/{id}`."""

    model_config = ConfigDict(extra="forbid")

    before: int = Field(0, ge=0, le=5)
    after: int = Field(0, ge=0, le=5)


class EntitiesRequest(BaseModel):
    """The keys of `/v1/entities`."""

    model_config = ConfigDict(extra="forbid")

    q: str = Field("", max_length=MAX_QUERY)
    type: str | None = Field(None, max_length=MAX_NAME)
    sort: EntitySort = "mentions"
    limit: int = Field(20, ge=1, le=100)


class PathsRequest(BaseModel):
    """The keys of `/v1/paths`: names in any form, or ids of entities."""

    model_config = ConfigDict(extra="forbid")

    from_: str = Field(alias="from", max_length=MAX_NAME)
    to: str = Field(max_length=MAX_NAME)
    limit: int = Field(3, ge=1, le=10)


class GraphRequest(BaseModel):
    """The keys of `/v1/graph`: a name in any form or an entity's id, and how far and how much to draw."""

    model_config = ConfigDict(extra="forbid")

    entity: str = Field(max_length=MAX_NAME)
    depth: int = Field(1, ge=1, le=2)
    limit: int = Field(60, ge=1, le=100)


class NoKeys(BaseModel):
    """A path that takes no keys."""

    model_config = ConfigDict(extra="forbid")


def parse_search(pairs: Iterable[tuple[str, Any]]) -> SearchRequest:
    """Read the flat keys of a search.

    Args:
        pairs: key and value as written, in any order; a repeatable key may come several times. Values are
            strings, or what JSON makes of them; None counts as not given.

    Returns:
        The request; `since` and `until` are still as written.

    Raises:
        RequestError: invalid_parameter names each wrong key; query_empty; query_too_long.
    """
    given = list(pairs)
    if all(key != "q" or value is None for key, value in given):
        given.append(("q", ""))
    request = parse(SearchRequest, given)
    if not request.q.strip():
        raise RequestError("query_empty", "The query q is empty.", "put the words to search for into q")
    if len(request.q) > MAX_QUERY:
        raise RequestError(
            "query_too_long",
            f"The query q has {len(request.q):,} characters; at most {MAX_QUERY:,} are read.",
            "ask for its gist in a sentence or two",
        )
    return request


def parse(model: type[Model], pairs: Iterable[tuple[str, Any]]) -> Model:
    """Read flat keys into a model.

    Raises:
        RequestError: invalid_parameter, with one (key, message) for each wrong key.
    """
    fields = {field.alias or name: field for name, field in model.model_fields.items()}
    values: dict[str, Any] = {}
    faults: list[tuple[str, str]] = []
    hint = ""
    for key, value in _given(pairs):
        if key not in fields:
            faults.append((_cut(key), f"{_shown(key)} is not a known key"))
            hint = hint or nearest(key, fields)
        elif _repeatable(fields[key]):
            values.setdefault(key, []).extend(value if isinstance(value, list) else [value])
        elif key in values:
            faults.append((key, f"{key} is given more than once"))
        else:
            values[key] = value
    try:
        request = model.model_validate(values)
    except ValidationError as error:
        faults += [_fault(entry, fields) for entry in error.errors(include_url=False)]
    if faults:
        messages = dict.fromkeys(message for _, message in faults)
        raise RequestError(
            "invalid_parameter",
            f"{'; '.join(messages)}.",
            hint or "mend it and ask again; /openapi.json lists every key",
            tuple(dict.fromkeys(faults)),
        )
    return request


def pairs_of_query(raw: bytes) -> list[tuple[str, str]]:
    """Split a query string or a form body.

    Args:
        raw: the bytes as they came, percent-encoded or (in a form body) raw UTF-8.

    Raises:
        RequestError: a value that is not UTF-8.
    """
    pairs = []
    for part in raw.split(b"&"):
        if not part:
            continue
        key, _, value = part.partition(b"=")
        name = _text(key, "key")
        pairs.append((name, _text(value, _cut(name))))
    return pairs


def pairs_of_body(body: bytes, content_type: str) -> list[tuple[str, Any]]:
    """Split the body of a POST.

    A body that starts with a brace is JSON whatever its type says: `curl -d '{"q": …}'` calls it a form, and
    no key of ours starts so.

    Args:
        body: the raw bytes.
        content_type: the header's value, or an empty string.

    Raises:
        RequestError: not UTF-8, not JSON, not an object, or a type that is neither.
    """
    kind = content_type.partition(";")[0].strip().lower()
    if body.lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"{") or kind == "application/json":
        return pairs_of_json(body)
    if not body.strip() or kind in ("application/x-www-form-urlencoded", ""):
        return pairs_of_query(body.strip(b"\r\n"))
    raise RequestError(
        "invalid_parameter",
        f"A body of type {_shown(kind)} is not read here; a form or JSON is.",
        BODY_HINT,
        (("body", "neither application/x-www-form-urlencoded nor application/json"),),
    )


def pairs_of_json(body: bytes) -> list[tuple[str, Any]]:
    """Split a flat JSON object; a key that stands twice comes twice.

    Raises:
        RequestError: not UTF-8, not JSON, or not an object.
    """
    try:
        text = body.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise _not_utf8("body", error.start) from None
    try:
        found = json.loads(text, object_pairs_hook=tuple)
    except json.JSONDecodeError as error:
        where = f"line {error.lineno}, column {error.colno}"
        raise _not_json(f"The body is not valid JSON at {where}") from None
    except (ValueError, RecursionError):  # a number of thousands of digits; brackets thousands deep
        raise _not_json("The body is JSON that is too deep or holds too long a number") from None
    # The hook makes a tuple of an object and only of an object: a list stays a list.
    if not isinstance(found, tuple):
        raise _not_json(f"The body is a JSON {type(found).__name__}, not an object of flat keys")
    return list(found)


def nearest(key: str, known: Iterable[str]) -> str:
    """The hint for an unknown key: the known one that was probably meant, else all of them."""
    names = list(known)
    twin = TWINS.get(key.lower())
    near = [twin] if twin in names else difflib.get_close_matches(key.lower(), names, 1)
    if near:
        return f"did you mean {near[0]}?"
    return f"known keys: {', '.join(names)}" if names else "this path takes no keys"


def _given(pairs: Iterable[tuple[str, Any]]) -> Iterable[tuple[str, Any]]:
    for key, value in pairs:
        if value is not None:
            yield _clean(key), _clean(value)


def _clean(value: Any) -> Any:
    if isinstance(value, str):
        return _SURROGATE.sub("\ufffd", value)
    return [_clean(item) for item in value] if isinstance(value, list) else value


def _text(raw: bytes, where: str) -> str:
    plain = unquote_to_bytes(raw.replace(b"+", b" "))
    try:
        return plain.decode("utf-8")
    except UnicodeDecodeError as error:
        raise _not_utf8(where, error.start) from None


def _not_utf8(where: str, byte: int) -> RequestError:
    return RequestError(
        "invalid_parameter",
        f"{where} is not UTF-8 from byte {byte + 1} on.",
        CURL_HINT,
        ((where, "not UTF-8"),),
    )


def _not_json(message: str) -> RequestError:
    return RequestError("invalid_parameter", f"{message}.", BODY_HINT, (("body", message),))


def _repeatable(field: FieldInfo) -> bool:
    return get_origin(field.annotation) is list


def _fault(entry: Mapping[str, Any], fields: Mapping[str, FieldInfo]) -> tuple[str, str]:
    key = str(entry["loc"][0]) if entry["loc"] else "body"
    if entry["type"] == "missing":
        return key, f"{key} is missing; it must be {expected(fields[key])}"
    if entry["type"] == "string_too_long":
        limit = entry["ctx"]["max_length"]
        return key, f"{key} has {len(entry['input']):,} characters; at most {limit:,} are read"
    return key, f"{key} is {_shown(entry['input'])}; it must be {expected(fields[key])}"


def expected(field: FieldInfo) -> str:
    """What a key takes, in words, e.g. `a whole number from 1 to 100`."""
    kinds = [kind for kind in get_args(field.annotation) if kind is not type(None)]
    kind = field.annotation if not kinds or get_origin(field.annotation) in (Literal, list) else kinds[0]
    if get_origin(kind) is Literal:
        return f"one of {', '.join(get_args(kind))}"
    if kind is bool:
        return "true or false"
    if kind in (int, float):
        bounds = {type(entry): entry for entry in field.metadata if isinstance(entry, Ge | Le)}
        noun = "a whole number" if kind is int else "a number"
        least, most = bounds[Ge], bounds[Le]
        return f"{noun} from {least.ge} to {most.le}"  # type: ignore[union-attr]
    return "text, or a list of texts" if get_origin(kind) is list else "text"


def _cut(text: str) -> str:
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"


def _shown(value: Any) -> str:
    if isinstance(value, str):
        return repr(_cut(value))
    if isinstance(value, int | float):
        return _cut(json.dumps(value))
    return "an object" if isinstance(value, tuple) else f"a {type(value).__name__}"

"""The HTTP application: routes that read a request, ask the engine on a thread, and render its answer."""

from __future__ import annotations

import base64
import hashlib
import re
from importlib.resources import files
from typing import Any, Protocol

from fastapi import FastAPI, Request, Response
from pydantic import BaseModel
from pydantic_core import to_json
from starlette.exceptions import HTTPException
from starlette.routing import Match
from starlette.types import Scope

from schemas.http import (
    Answer,
    ChunkAnswer,
    EntityAnswer,
    EntityList,
    EntitySort,
    GraphAnswer,
    PathsAnswer,
    SearchRequest,
)
from schemas.problems import LetopisError, RequestError
from schemas.settings import Settings
from service.contract import contract
from service.exchange import Exchange
from service.guard import Guard, access
from service.limits import BodyLimit, Calls
from service.metrics import CONTENT_TYPE, Metrics
from service.problems import problem_response
from service.render import as_markdown, as_text
from service.requests import (
    ChunkRequest,
    EntitiesRequest,
    GraphRequest,
    NoKeys,
    PathsRequest,
    pairs_of_body,
    pairs_of_query,
    parse,
    parse_search,
)

# Health checks and metrics must not wait behind searches that fill every slot.
PROBE_CALLS = 4
PROBE_SECONDS = 5.0
_ENTITY_ID = re.compile(r"[0-9]{1,18}")  # within SQLite's 64 bits


class Engine(Protocol):
    """What answers; the HTTP layer only renders. Every method may be called from several threads."""

    def search(self, request: SearchRequest) -> Answer:
        """Search; raises RequestError, IndexMissing, IndexCorrupt or EmbedderError."""
        ...

    def chunk(self, chunk_id: str, before: int, after: int) -> ChunkAnswer:
        """One chunk with 0–5 neighbours each side; raises RequestError("not_found")."""
        ...

    def entities(self, q: str, type: str | None, limit: int, sort: EntitySort = "mentions") -> EntityList:
        """Entities by name, exact ones first; an empty `q` means any."""
        ...

    def entity(self, entity_id: int) -> EntityAnswer:
        """One entity; raises RequestError("not_found")."""
        ...

    def paths(self, from_: str, to: str, limit: int) -> PathsAnswer:
        """How two names or ids are connected; raises RequestError("not_found")."""
        ...

    def graph(self, entity: str, depth: int, limit: int) -> GraphAnswer:
        """What stands around a name or id; raises RequestError("not_found")."""
        ...

    def status(self) -> dict[str, Any]:
        """Everything `/v1/status` tells; answers without a generation too."""
        ...

    def ready(self) -> str:
        """Name of the verified generation that is served; raises IndexMissing or IndexCorrupt."""
        ...


def create_app(engine: Engine, settings: Settings, calls: Calls | None = None) -> FastAPI:
    """Put the application together.

    Args:
        engine: what answers.
        settings: `service.*` says who is let in, `timezone` dates the text formats.
        calls: the slots for engine calls; 32 at once and 30 s by default.

    Raises:
        SettingsError: a bind beyond loopback without a token, or a wrong allowed host.
    """
    calls = calls or Calls()
    probes = Calls(PROBE_CALLS, PROBE_SECONDS)
    metrics = Metrics()
    # No docs pages: the framework's load scripts from another host. The contract is our own (contract.py).
    app = FastAPI(title="Letopis", openapi_url=None, docs_url=None, redoc_url=None, redirect_slashes=False)
    app.add_exception_handler(HTTPException, _http_error)
    app.add_middleware(BodyLimit)
    app.add_middleware(Guard, access=access(settings))
    app.add_middleware(Exchange, metrics=metrics)
    _add_search(app, engine, settings, calls)
    _add_lookups(app, engine, calls)
    _add_probes(app, engine, metrics, calls, probes)
    _add_page(app)
    return app


def _add_search(app: FastAPI, engine: Engine, settings: Settings, calls: Calls) -> None:
    @app.api_route("/v1/search", methods=["GET", "POST"], include_in_schema=False)
    async def search(request: Request) -> Response:
        pairs: list[tuple[str, Any]] = list(pairs_of_query(request.scope["query_string"]))
        if request.method == "POST":
            pairs += pairs_of_body(await request.body(), request.headers.get("content-type", ""))
        wanted = parse_search(pairs)

        def rendered() -> Response:  # on the thread too: a large answer takes milliseconds to write
            answer = engine.search(wanted)
            if wanted.format == "text":
                return Response(as_text(answer, wanted.max_chars, settings.zone), media_type="text/plain")
            if wanted.format == "markdown":
                text = as_markdown(answer, wanted.max_chars, settings.zone)
                return Response(text, media_type="text/markdown")
            return _json(answer)

        return await calls.run(rendered, wanted.timeout_ms)


def _add_lookups(app: FastAPI, engine: Engine, calls: Calls) -> None:
    @app.get("/v1/chunks/{chunk_id}", include_in_schema=False)
    async def chunk(request: Request, chunk_id: str) -> Response:
        keys = parse(ChunkRequest, _query(request))
        return await calls.run(lambda: _json(engine.chunk(chunk_id, keys.before, keys.after)))

    @app.get("/v1/entities", include_in_schema=False)
    async def entities(request: Request) -> Response:
        keys = parse(EntitiesRequest, _query(request))
        return await calls.run(
            lambda: _json(engine.entities(keys.q, keys.type or None, keys.limit, keys.sort))
        )

    @app.get("/v1/entities/{entity_id}", include_in_schema=False)
    async def entity(request: Request, entity_id: str) -> Response:
        parse(NoKeys, _query(request))
        if not _ENTITY_ID.fullmatch(entity_id):
            raise RequestError(
                "not_found", "An entity's id is a whole number.", "/v1/entities?q=… lists entities with ids"
            )
        return await calls.run(lambda: _json(engine.entity(int(entity_id))))

    @app.get("/v1/paths", include_in_schema=False)
    async def paths(request: Request) -> Response:
        keys = parse(PathsRequest, _query(request))
        return await calls.run(lambda: _json(engine.paths(keys.from_, keys.to, keys.limit)))

    @app.get("/v1/graph", include_in_schema=False)
    async def graph(request: Request) -> Response:
        keys = parse(GraphRequest, _query(request))
        return await calls.run(lambda: _json(engine.graph(keys.entity, keys.depth, keys.limit)))

    @app.get("/v1/status", include_in_schema=False)
    async def status(request: Request) -> Response:
        parse(NoKeys, _query(request))
        return await calls.run(lambda: _json(engine.status()))


def _add_probes(app: FastAPI, engine: Engine, metrics: Metrics, calls: Calls, probes: Calls) -> None:
    @app.get("/livez", include_in_schema=False)
    async def livez() -> Response:
        return _json({"status": "ok"})

    @app.get("/readyz", include_in_schema=False)
    async def readyz() -> Response:
        return _json({"status": "ready", "generation": await probes.run(engine.ready)})

    @app.get("/metrics", include_in_schema=False)
    async def exposition() -> Response:
        try:
            generation = await probes.run(engine.ready)
        except LetopisError:
            generation = None
        return Response(metrics.text(generation, calls.running), media_type=CONTENT_TYPE)


def _add_page(app: FastAPI) -> None:
    page = files("service").joinpath("static/index.html").read_text("utf-8")
    policy = page_policy(page)

    @app.get("/openapi.json", include_in_schema=False)
    async def openapi() -> Response:
        return _json(contract())

    @app.get("/", include_in_schema=False)
    async def index() -> Response:
        return Response(page, media_type="text/html", headers={"Content-Security-Policy": policy})


def page_policy(page: str) -> str:
    """The page's Content-Security-Policy: its own script and style by hash, this host, nothing else."""

    def hashes(tag: str) -> str:
        blocks = re.findall(rf"<{tag}>(.*?)</{tag}>", page, re.DOTALL)
        digests = [base64.b64encode(hashlib.sha256(block.encode()).digest()).decode() for block in blocks]
        return " ".join(f"'sha256-{digest}'" for digest in digests)

    return (
        f"default-src 'none'; script-src {hashes('script')}; style-src {hashes('style')}; "
        "connect-src 'self'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    )


def _query(request: Request) -> list[tuple[str, str]]:
    return pairs_of_query(request.scope["query_string"])


def _json(answer: BaseModel | dict[str, Any]) -> Response:
    body = (
        answer.model_dump_json(by_alias=True).encode() if isinstance(answer, BaseModel) else to_json(answer)
    )
    return Response(body, media_type="application/json")


async def _http_error(request: Request, error: Exception) -> Response:
    """The framework's own refusals: an unknown path, a wrong method."""
    request_id: str = request.state.request_id
    if isinstance(error, HTTPException) and error.status_code == 405:
        allow = ", ".join(allowed_methods(request.app, request.scope))
        wrong = RequestError("method_not_allowed", "This path does not take that method.", f"use {allow}")
        return problem_response(wrong, request_id, {"Allow": allow})
    return problem_response(
        RequestError("not_found", "There is nothing at this path.", "/openapi.json lists every path"),
        request_id,
    )


def allowed_methods(app: FastAPI, scope: Scope) -> list[str]:
    """Every method that some route takes at this path (the framework names only the first route's)."""
    methods: set[str] = set()
    for route in app.routes:
        match, _ = route.matches(scope)
        if match is not Match.NONE:
            methods |= getattr(route, "methods", None) or set()
    return sorted(methods | ({"HEAD"} if "GET" in methods else set()))

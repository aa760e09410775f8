"""An engine over a handful of chunks, for tests of what stands in front of an engine."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from schemas.http import (
    AliasRef,
    Answer,
    ChatRef,
    ChunkAnswer,
    EntityAnswer,
    EntityList,
    EntityRef,
    EntitySort,
    GraphAnswer,
    GraphEdge,
    GraphNode,
    Hit,
    IndexInfo,
    MentionRef,
    MessageRef,
    PathsAnswer,
    RelationRef,
    SearchRequest,
)
from schemas.problems import RequestError

INDEX = IndexInfo(generation="000042", built_at="2026-03-18T01:00:00Z")
DOCKER = EntityRef(id=7, name="Docker", type="NAME", mentions=3)


def hit(
    id: str = "c_1",
    text: str = "Иван: привет, C++ и gpt-4o",
    messages: list[MessageRef] | None = None,
    **more: Any,
) -> Hit:
    start = len("Иван: ") if text.startswith("Иван: ") else 0
    told = [MessageRef(id="m1", author="Иван", role="user", span=(start, len(text)))]
    values: dict[str, Any] = {
        "id": id,
        "score": 0.73,
        "text": text,
        "chat": ChatRef(id="chat-1", title="Переезд"),
        "source": "openclaw",
        "at": "2026-03-18T10:02:00Z",
        "messages": told if messages is None else messages,
    }
    return Hit(**values | more)


def answer(*hits: Hit, **more: Any) -> Answer:
    values: dict[str, Any] = {
        "query": {"q": "привет"},
        "hits": list(hits),
        "index": INDEX,
        "took_ms": 2.4,
    }
    return Answer(**values | more)


class FakeEngine:
    """Answers every search with `hits`; `fault` is raised by every method, `before` is called first."""

    def __init__(self, *hits: Hit, fault: Exception | None = None) -> None:
        self.hits = hits or (hit(),)
        self.fault = fault
        self.before: Callable[[], object] = lambda: None
        self.asked: list[SearchRequest] = []

    def _begin(self) -> None:
        self.before()
        if self.fault is not None:
            raise self.fault

    def search(self, request: SearchRequest) -> Answer:
        self.asked.append(request)
        self._begin()
        query = request.model_dump(exclude_defaults=True)
        return answer(*self.hits[: request.limit], query=query)

    def chunk(self, chunk_id: str, before: int, after: int) -> ChunkAnswer:
        self._begin()
        for found in self.hits:
            if found.id == chunk_id:
                kept = found.model_dump(include={"id", "text", "chat", "source", "at", "messages"})
                return ChunkAnswer(**kept, index=INDEX)
        raise RequestError("not_found", "No chunk has this id.")

    def entities(self, q: str, type: str | None, limit: int, sort: EntitySort = "mentions") -> EntityList:
        self._begin()
        query = {"q": q, "type": type, "limit": limit, "sort": sort}
        return EntityList(query=query, entities=[DOCKER], index=INDEX)

    def entity(self, entity_id: int) -> EntityAnswer:
        self._begin()
        if entity_id != DOCKER.id:
            raise RequestError("not_found", f"No entity has the id {entity_id}.")
        return EntityAnswer(
            id=7,
            name="Docker",
            type="NAME",
            mentions=3,
            aliases=[AliasRef(name="докер", count=2)],
            relations=[RelationRef(predicate="co_occurs", entity=DOCKER, object="Docker", count=1)],
            newest=[MentionRef(chunk="c_1", message="m1", chat=ChatRef(id="chat-1"), text="докер")],
            index=INDEX,
        )

    def paths(self, from_: str, to: str, limit: int) -> PathsAnswer:
        self._begin()
        step = {"predicate": "together", "from": DOCKER, "to": DOCKER, "count": 1, "weight": 0.025}
        values = {"query": {"from": from_, "to": to, "limit": limit}, "from": DOCKER, "to": DOCKER}
        path = {"steps": [step], "weakest": 0.025}
        return PathsAnswer.model_validate(values | {"paths": [path], "index": INDEX})

    def graph(self, entity: str, depth: int, limit: int) -> GraphAnswer:
        self._begin()
        return GraphAnswer(
            query={"entity": entity, "depth": depth, "limit": limit},
            nodes=[GraphNode(id=7, name="Docker", type="NAME", mentions=3, depth=0)],
            edges=[GraphEdge(source=7, target=7, predicate="co_occurs", weight=0.5, count=2)],
            index=INDEX,
        )

    def status(self) -> dict[str, Any]:
        self._begin()
        return {"generation": "000042", "degraded": [], "sources": {"openclaw": 1}, "note": "чат"}

    def ready(self) -> str:
        self._begin()
        return "000042"

"""The HTTP models: what `/v1/*` takes and gives. Shapes are frozen; fields may be added."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

Mode = Literal["hybrid", "vector", "text", "entities"]
Unit = Literal["chunk", "message"]
Format = Literal["json", "text", "markdown"]
Confidence = Literal["high", "medium", "low"]
EntitySort = Literal["mentions", "recency"]

MAX_QUERY = 2_000


def _listed(value: object) -> object:
    return [value] if isinstance(value, str) else value


Repeatable = Annotated[list[str], BeforeValidator(_listed)]


class SearchRequest(BaseModel):
    """The flat keys of `/v1/search`, the same in a URL, a form, a JSON body and the command line."""

    model_config = ConfigDict(extra="forbid")

    q: str
    mode: Mode = "hybrid"
    unit: Unit = "chunk"
    limit: int = Field(10, ge=1, le=100)
    offset: int = Field(0, ge=0, le=1_000)
    chat: Repeatable = []
    author: Repeatable = []
    role: Repeatable = []
    agent: Repeatable = []
    source: Repeatable = []
    entity: Repeatable = []
    since: str | None = None
    until: str | None = None
    min_score: float = Field(0.0, ge=0.0, le=1.0)
    context: int = Field(0, ge=0, le=5)
    highlight: bool = False
    explain: bool = False
    format: Format = "json"
    max_chars: int = Field(3_000, ge=1, le=100_000)
    strict: bool = False
    timeout_ms: int | None = Field(None, ge=1, le=60_000)


class ChatRef(BaseModel):
    """A talk, named."""

    id: str
    title: str | None = None


class MessageRef(BaseModel):
    """A message inside a hit: `span` counts code points of the hit's text."""

    id: str
    author: str | None = None
    role: str
    at: str | None = None
    span: tuple[int, int]


class Neighbour(BaseModel):
    """A chunk or message next to a hit, for reading on."""

    id: str
    text: str
    at: str | None = None
    messages: list[MessageRef] = []


class Duplicate(BaseModel):
    """Another place where the same text stands."""

    id: str
    chat: str
    at: str | None = None


class Hit(BaseModel):
    """One result. `score` is 0–1 and orders this answer only."""

    id: str
    score: float
    text: str
    highlights: list[tuple[int, int]] | None = None
    chat: ChatRef
    source: str
    at: str | None = None
    messages: list[MessageRef]
    entities: list[str] = []
    before: list[Neighbour] | None = None
    after: list[Neighbour] | None = None
    also: list[Duplicate] = []
    explain: dict[str, Any] | None = None


class IndexInfo(BaseModel):
    """Which generation answered, and how fresh it is."""

    generation: str
    built_at: str
    stale: list[str] = []


class Answer(BaseModel):
    """The response of `/v1/search`.

    `answerable` is how likely the searched talk answers the query at all, 0–1, and `confidence` its band;
    both are null where the bundled model's vectors take no part. No hit is left out for it.
    `repaired` holds the words that were read otherwise, as typed → as read (several joined by a comma).
    """

    query: dict[str, Any]
    hits: list[Hit]
    answerable: float | None = None
    confidence: Confidence | None = None
    repaired: dict[str, str] = {}
    degraded: list[str] = []
    untrusted: bool = True
    index: IndexInfo
    took_ms: float


class ChunkAnswer(BaseModel):
    """The response of `/v1/chunks/{id}`."""

    id: str
    text: str
    chat: ChatRef
    source: str
    at: str | None
    messages: list[MessageRef]
    entities: list[str] = []
    before: list[Neighbour] = []
    after: list[Neighbour] = []
    untrusted: bool = True
    index: IndexInfo


class EntityRef(BaseModel):
    """An entity in a list."""

    id: int
    name: str
    type: str
    mentions: int
    first_at: str | None = None
    last_at: str | None = None


class EntityList(BaseModel):
    """The response of `/v1/entities`."""

    query: dict[str, Any]
    entities: list[EntityRef]
    untrusted: bool = True
    index: IndexInfo


class AliasRef(BaseModel):
    """A form that the entity appears in, with its count; `ambiguous` names what else the form means."""

    name: str
    count: int
    ambiguous: list[str] = []


class RelationRef(BaseModel):
    """A relation with the chunk that shows it."""

    predicate: str
    entity: EntityRef | None
    object: str
    count: int
    npmi: float | None = None
    first_at: str | None = None
    last_at: str | None = None
    evidence: str | None = None


class MentionRef(BaseModel):
    """A place where the entity is named."""

    chunk: str
    message: str
    chat: ChatRef
    at: str | None = None
    text: str


class EntityAnswer(BaseModel):
    """The response of `/v1/entities/{id}`."""

    id: int
    name: str
    type: str
    mentions: int
    aliases: list[AliasRef]
    relations: list[RelationRef]
    newest: list[MentionRef]
    untrusted: bool = True
    index: IndexInfo


class PathStep(BaseModel):
    """A tie of two entities on a path, in the path's direction.

    `predicate` is that of a relation, or `together`: both are named in one chunk or message, too seldom for
    an NPMI. `reverse`: the relation reads from `to` to `from`. `text` shows both names in 300 characters.
    """

    predicate: str
    reverse: bool = False
    from_: EntityRef = Field(alias="from")
    to: EntityRef
    count: int
    weight: float
    npmi: float | None = None
    first_at: str | None = None
    last_at: str | None = None
    evidence: str | None = None
    text: str | None = None


class PathRef(BaseModel):
    """A way from one entity to another; `weakest` is the weight of its weakest step, 0 to 1.

    `hub`: it goes through an entity that stands in more than a tenth of all chunks, and tells little.
    """

    steps: list[PathStep]
    weakest: float
    hub: bool = False


class PathsAnswer(BaseModel):
    """The response of `/v1/paths`."""

    query: dict[str, Any]
    from_: EntityRef = Field(alias="from")
    to: EntityRef
    paths: list[PathRef]
    untrusted: bool = True
    index: IndexInfo


class GraphNode(BaseModel):
    """An entity in a picture, so many steps from its middle."""

    id: int
    name: str
    type: str
    mentions: int
    depth: int


class GraphEdge(BaseModel):
    """A relation in a picture; `source` and `target` are ids of nodes, `weight` is 0 to 1."""

    source: int
    target: int
    predicate: str
    weight: float
    count: int
    npmi: float | None = None
    evidence: str | None = None


class GraphAnswer(BaseModel):
    """The response of `/v1/graph`: the middle first, then the strongest."""

    query: dict[str, Any]
    nodes: list[GraphNode]
    edges: list[GraphEdge]
    untrusted: bool = True
    index: IndexInfo


class ProblemError(BaseModel):
    """One wrong parameter."""

    where: str
    message: str


class Problem(BaseModel):
    """`application/problem+json` (RFC 9457)."""

    type: str
    title: str
    status: int
    detail: str
    instance: str
    code: str
    hint: str = ""
    errors: list[ProblemError] = []

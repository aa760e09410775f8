"""The embedding models an Ollama server may have: preference, prefixes, and how much text they take.

Prefixes are those of each model's card. `max_characters` keeps a text inside the model's context on our side:
the server's `truncate` is ignored by several releases, which answer 400 instead (ollama/ollama#14186).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Model:
    """A family of models.

    Attributes:
        family: part of the server's model name.
        document: put before a document.
        query: put before a query.
        max_characters: of the text, prefix not counted; in the worst common script of that tokenizer.
        english_only: it knows no Russian.
    """

    family: str
    document: str = ""
    query: str = ""
    max_characters: int = 2_000
    english_only: bool = False


# Best first, for Russian beside English. A tokenizer made for many languages packs 3–4 Russian characters
# into a token, an English one (BERT WordPiece) hardly more than one.
MODELS: tuple[Model, ...] = (
    Model("bge-m3", max_characters=8_000),
    Model("nomic-embed-text-v2-moe", "search_document: ", "search_query: ", max_characters=1_500),
    Model("snowflake-arctic-embed2", query="query: ", max_characters=8_000),
    Model(
        "qwen3-embedding",
        query="Instruct: Given a question, find the messages of a chat that answer it\nQuery:",
        max_characters=8_000,
    ),
    Model("multilingual-e5", "passage: ", "query: ", max_characters=1_500),
    Model("embeddinggemma", "title: none | text: ", "task: search result | query: ", max_characters=6_000),
    Model("paraphrase-multilingual", max_characters=500),
    Model(
        "mxbai-embed-large",
        query="Represent this sentence for searching relevant passages: ",
        max_characters=450,
        english_only=True,
    ),
    Model("nomic-embed-text", "search_document: ", "search_query: ", max_characters=2_000, english_only=True),
)

# What `ollama pull` should fetch when the server has nothing fit.
BEST = MODELS[0].family


def described(name: str) -> Model:
    """The family of a server's model name; an unknown one gets no prefixes and 2,000 characters."""
    base = _base(name)
    # The longest family wins: nomic-embed-text-v2-moe holds nomic-embed-text.
    fitting = sorted(
        (model for model in MODELS if model.family in base), key=lambda model: -len(model.family)
    )
    return fitting[0] if fitting else Model(base)


def chosen(names: Iterable[str]) -> str | None:
    """The best known embedding model among the server's models, or None."""
    by_preference = sorted(
        (MODELS.index(model), name) for name in names if (model := described(name)) in MODELS
    )
    return by_preference[0][1] if by_preference else None


def canonical(name: str) -> str:
    """The name without the tag that Ollama adds by itself, so that a space has one name."""
    return name.removesuffix(":latest")


def _base(name: str) -> str:
    return name.lower().rpartition("/")[2].partition(":")[0]

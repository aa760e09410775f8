"""`--explain` for a person: of each hit, which leg found it and with what."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from schemas.http import Answer, Hit
from service.render import clean

# Said in the order and with the facts that matter; what a later ranker adds is shown by name and number.
_FACTS: dict[str, tuple[tuple[str, str], ...]] = {
    "vector": (("similarity", "similarity {:.2f}"), ("rank", "rank {}"), ("space", "{}")),
    "text": (("bm25", "BM25 {:.1f}"), ("rank", "rank {}"), ("terms", "words: {}")),
    "entities": (("matched", "names: {}"), ("rank", "rank {}")),
}


def explanation(answer: Answer) -> str:
    """One block a hit: its id and score, then a line a leg with what it contributed."""
    if not answer.hits:
        return "Nothing to explain: no hit."
    return "\n".join(line for hit in answer.hits for line in _lines(hit))


def _lines(hit: Hit) -> list[str]:
    legs = [
        f"  {name:<11}{_contribution(facts)}{_facts(name, facts)}".rstrip()
        for name, facts in (hit.explain or {}).items()
        if isinstance(facts, Mapping) and facts.get("contribution") != 0
    ]
    return [f"{clean(hit.id)}  score {hit.score:.2f}", *legs]


def _contribution(facts: Mapping[str, Any]) -> str:
    value = facts.get("contribution")
    return f"{value:+.2f}  " if isinstance(value, int | float) else ""


def _facts(name: str, facts: Mapping[str, Any]) -> str:
    shown = [
        pattern.format(_value(facts[fact]))
        for fact, pattern in _FACTS.get(name, ())
        if facts.get(fact) is not None
    ]
    return ", ".join(shown)


def _value(value: Any) -> Any:
    if isinstance(value, list):
        return ", ".join(clean(str(item)) for item in value)
    return value if isinstance(value, int | float) else clean(str(value))

"""`--explain` for a person: of each hit, what every leg gave to its score, at which rank, and why."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from schemas.http import Answer, Hit
from service.render import clean

# Leg by leg: the facts that are shown, what it means that it gave something, and that it gave nothing.
_LEGS: dict[str, tuple[tuple[tuple[str, str], ...], str, str]] = {
    "text": ((("bm25", "BM25 {:.1f}"), ("terms", "words: {}")), "", "no word of the query"),
    "vector": (
        (("similarity", "similarity {:.2f}"), ("weight", "weight {:.2f}"), ("space", "{}")),
        "",
        "not nearer in meaning than other talk",
    ),
    "entities": ((("matched", "names: {}"),), "goes with a name of the query", "no name of the query"),
    "neighbours": ((), "the talk next to it fits as well", "the talk next to it gives nothing"),
    "date": ((), "of a time that the query names", "not of the time that the query names"),
    "author": ((), "said by someone whom the query names", "not said by whom the query names"),
    "message_text": (
        (("bm25", "BM25 {:.1f}"), ("terms", "words: {}")),
        "",
        "no word of the query in the message itself",
    ),
    "phrase": ((), "words of the query stand together", "words of the query stand apart"),
    "answer": ((), "the question before it fits", "follows no question that fits"),
    "recency": ((), "the newest, or first, of equal evidence", "not the newest, or first"),
    "question": ((), "asks itself, as the query does", ""),
    "speaker": ((), "not said by the side that the query asks for", ""),
}
_NAMES = {"message_text": "message text"}


def explanation(answer: Answer) -> str:
    """One table a hit: its id and score, then a row a leg; the contributions sum to the score."""
    if not answer.hits:
        return "Nothing to explain: no hit."
    return "\n\n".join("\n".join(_table(place, hit)) for place, hit in enumerate(answer.hits, 1))


def _table(place: int, hit: Hit) -> Iterator[str]:
    yield f"{place}. {clean(hit.id)}  score {hit.score:.4f}"
    yield from legs_table(hit.explain or {})


def legs_table(explained: Mapping[str, Any]) -> Iterator[str]:
    """The rows of one hit's explanation, best known legs first."""
    yield f"   {'leg':<13} {'gives':>7} {'rank':>6}  why"
    for leg in (*(leg for leg in _LEGS if leg in explained), *(leg for leg in explained if leg not in _LEGS)):
        facts = explained[leg]
        if isinstance(facts, Mapping):
            rank = f"{facts['rank']:,}" if "rank" in facts else "–"
            why = _why(leg, facts, "message_text" in explained)
            gives = f"{facts.get('contribution', 0):.4f}"
            yield f"   {_NAMES.get(leg, leg):<13} {gives:>7} {rank:>6}  {why}".rstrip()


def _why(leg: str, facts: Mapping[str, Any], by_message: bool) -> str:
    shown, given, nothing = _LEGS.get(leg, ((), "", ""))
    if leg == "text" and by_message and facts.get("contribution"):
        return "words of the chunk that it stands in"  # those that are listed are the message's own
    if not facts.get("contribution") and leg != "vector":
        # The text leg looks at the best thousands alone: a word of everything is no evidence.
        terms = facts.get("terms")
        return f"words: {_value(terms)}, of too many others to count" if terms else nothing
    said = [
        pattern.format(_value(facts[fact])) for fact, pattern in shown if facts.get(fact) not in (None, [])
    ]
    if not facts.get("contribution"):
        said.append("no say where the query has words" if facts.get("weight") == 0 else nothing)
    return ", ".join(said) or given


def _value(value: Any) -> Any:
    if isinstance(value, list):
        return ", ".join(clean(str(item)) for item in value)
    return value if isinstance(value, int | float) else clean(str(value))

"""The second pass: what the archive knows in proper case finds its twins in small letters.

The extractor leaves words in small letters that may be names as candidates; here, with the whole archive in
view, those become mentions whose key stands elsewhere with a capital. The others are dropped. A handle
becomes the person whom the archive knows by it.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import replace

from indexer.entities.graph import MessageMentions
from indexer.text.names import name_key
from schemas.records import Mention

CANDIDATE = "MAYBE"
# A capital may be an accident once, at the beginning of a sentence.
SEEN = 2
_NAMES = frozenset({"PER", "LOC", "ORG", "NAME"})
_UNSETTLED = frozenset({CANDIDATE, "HANDLE"})


def promoted(messages: Sequence[MessageMentions]) -> list[MessageMentions]:
    """The messages with their candidates and handles settled: mentions of what they are elsewhere, or gone.

    Args:
        messages: all messages of the archive.
    """
    people = _people(messages)
    seen: defaultdict[str, Counter[tuple[str, str]]] = defaultdict(Counter)
    for message in messages:
        for mention in message.mentions:
            if mention.type in _NAMES and _has_capital(message.text, mention):
                seen[mention.key][mention.type, mention.name] += 1
    known = {
        key: min(counts, key=lambda what: (-counts[what], what))
        for key, counts in seen.items()
        if counts.total() >= SEEN
    }
    return [_settled(message, known, people) for message in messages]


def _people(messages: Sequence[MessageMentions]) -> dict[str, str]:
    """Key of a handle → name of the author who has it; a handle of two authors is nobody's."""
    owners: defaultdict[str, set[str]] = defaultdict(set)
    for message in messages:
        if message.handle and message.author:
            owners[name_key(message.handle)].add(message.author)
    return {handle: next(iter(names)) for handle, names in owners.items() if len(names) == 1}


def _has_capital(text: str, mention: Mention) -> bool:
    return any(map(str.isupper, text[mention.start : mention.end]))


def _settled(
    message: MessageMentions, known: dict[str, tuple[str, str]], people: dict[str, str]
) -> MessageMentions:
    if not any(mention.type in _UNSETTLED for mention in message.mentions):
        return message
    settled: list[Mention] = []
    for mention in message.mentions:
        if mention.type == CANDIDATE:
            if mention.key in known:
                # Its own name is a guess from small letters and has no say in how the entity is shown.
                kind, name = known[mention.key]
                settled.append(replace(mention, type=kind, name=name))
        elif mention.type == "HANDLE" and mention.key in people:
            name = people[mention.key]
            settled.append(replace(mention, type="PER", name=name, key=name_key(name)))
        else:
            settled.append(mention)
    return replace(message, mentions=tuple(settled))

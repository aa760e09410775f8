"""Lone names that stand for a fuller one: "Иван" or "Ваня" in a talk where only one Иван has a surname."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

from indexer.entities.graph import MessageMentions
from indexer.entities.nicknames import full_names
from indexer.text.names import name_key

# A key of more words is no person's name.
_LONGEST = 4


def fuller_names(messages: Sequence[MessageMentions]) -> Mapping[tuple[str, str], str]:
    """Which lone person names mean which full name, talk by talk.

    A lone name is merged when exactly one full name of the same talk, a mentioned person or an author, holds
    it as a word, or holds a first name that it is short for; two of them leave it alone.

    Args:
        messages: all messages, in any order.

    Returns:
        (chat id, lone key) → full key.
    """
    full: dict[str, set[str]] = defaultdict(set)
    lone: dict[str, set[str]] = defaultdict(set)
    for message in messages:
        for mention in message.mentions:
            if mention.type == "PER":
                (full if " " in mention.key else lone)[message.chat_id].add(mention.key)
    authors: dict[str, set[str]] = defaultdict(set)
    for message in messages:
        if message.author and message.chat_id in lone:
            authors[message.chat_id].add(message.author)
    merged: dict[tuple[str, str], str] = {}
    for chat_id, names in lone.items():
        keys = full[chat_id] | {name_key(author) for author in authors[chat_id]}
        holders = _holders(keys)
        for name in names:
            meant = holders[name] or set().union(*(holders[full_name] for full_name in full_names(name)))
            if len(meant) == 1:
                (merged[chat_id, name],) = meant
    return merged


def _holders(keys: Iterable[str]) -> dict[str, set[str]]:
    holders: dict[str, set[str]] = defaultdict(set)
    for key in keys:
        words = key.split()
        if 1 < len(words) <= _LONGEST:
            for word in words:
                holders[word].add(key)
    return holders

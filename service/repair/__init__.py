"""Words of a query that nobody could have meant as they stand, read as what was meant.

Three slips: Russian in Latin letters, the other keyboard layout, a misspelt word. Only what neither the index
nor the dictionary knows is touched, and of several readings those that stand in the index go first. Whether a
query is Russian in Latin letters, or in the other layout, is judged over all its words: "kak" may be как, in
"how to kak" it is not.
"""

from __future__ import annotations

from itertools import islice

from indexer.stores import Store
from indexer.text.normal import tokens
from service.repair.latin import transliterated
from service.repair.layout import other_layout
from service.repair.misspelt import misspelt
from service.repair.words import MAX_WORDS, Repair, is_known

__all__ = ["Repair", "repaired"]


def repaired(query: str, store: Store) -> Repair:
    """Read the unknown words of a query as what they were meant for.

    Args:
        query: as typed.
        store: whose words are known.

    Returns:
        The query as it is, where all its words are known.
    """
    if all(is_known(token, store) for token in islice(tokens(query), MAX_WORDS)):
        return Repair(query)
    read = other_layout(query, store) or transliterated(query, store) or Repair(query)
    return misspelt(read, store)

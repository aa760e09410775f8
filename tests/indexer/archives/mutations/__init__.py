"""Seeded damage to the files of an archive: what disks, editors, exporters and attackers do to them.

A `Specimen` is a sound file with the places of its records; `mutated(specimen, number)` is the same damage
for the same number every time. A mutation tells which bytes it touched, so that a test can hold a reader to
what it promises of all the others.
"""

from __future__ import annotations

import random

from tests.indexer.archives.mutations.of_bytes import BYTES, COSTLY_BYTES
from tests.indexer.archives.mutations.of_databases import DATABASES
from tests.indexer.archives.mutations.of_files import WHOLE
from tests.indexer.archives.mutations.of_json import COSTLY_VALUES, VALUES
from tests.indexer.archives.mutations.of_zips import ZIPS, with_damaged_member
from tests.indexer.archives.mutations.specimens import (
    SQLITE_MAGIC,
    ZIP_MAGIC,
    Chance,
    Kind,
    Mutation,
    Span,
    Specimen,
    specimen,
)

# One of this many mutations is of the costly kinds (a line of 2 MB, 100,000 brackets).
COSTLY = 40


def mutated(sound: Specimen, number: int) -> Mutation:
    """The damage of this number, the same every time."""
    chance = random.Random(f"{sound.name}/{number}")
    if number < len(WHOLE):
        return WHOLE[number](sound, chance)
    kinds = _kinds(sound, number)
    return kinds[chance.randrange(len(kinds))](sound, chance)


def _kinds(sound: Specimen, number: int) -> tuple[Kind, ...]:
    if sound.data.startswith(ZIP_MAGIC):
        return (*ZIPS, *[_member_damaged] * 6)
    if sound.data.startswith(SQLITE_MAGIC):
        return DATABASES
    if number % COSTLY == 0:
        return COSTLY_VALUES if sound.nodes and number % (2 * COSTLY) else COSTLY_BYTES
    return VALUES if sound.nodes and number % 2 else BYTES


def _member_damaged(sound: Specimen, chance: Chance) -> Mutation:
    return with_damaged_member(
        sound, chance, lambda inner: mutated(inner, chance.randrange(len(WHOLE), 10**6))
    )


__all__ = ["Mutation", "Span", "Specimen", "mutated", "specimen"]

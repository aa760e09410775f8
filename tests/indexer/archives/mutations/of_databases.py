"""Damage to databases: in their pages, their tables and their cells."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

import apsw

from tests.indexer.archives.mutations.of_bytes import cut
from tests.indexer.archives.mutations.specimens import Chance, Kind, Mutation, Specimen, any_span, everything

_CELLS: tuple[Any, ...] = (
    *(None, 0, -1, 2**63 - 1, 1.5, float("inf"), "", " ", "x", "\x00", "a\x00b", "NaN", b"", b"\x00\xff\xfe"),
    *(b"\xd0", "9" * 5000, "[" * 5000, '{"a":' * 5000, "2025-99-99 99:99:99", b"\x28\xb5\x2f\xfd\x00", "{}"),
)


def _page(specimen: Specimen, chance: Chance) -> Mutation:
    data = bytearray(specimen.data)
    for _ in range(chance.choice((1, 1, 3, 20))):
        # The file's header is small beside its pages, and each of its bytes means something.
        at = chance.randrange(100) if chance.random() < 0.2 else chance.randrange(len(data))
        data[at] ^= 1 << chance.randrange(8)
    return everything("flipped bits of pages", specimen, bytes(data))


def _page_span(specimen: Specimen, chance: Chance) -> Mutation:
    start, end = any_span(specimen, chance)
    data = specimen.data[:start] + chance.randbytes(end - start) + specimen.data[end:]
    return everything("noise in pages", specimen, data)


def _schema(specimen: Specimen, chance: Chance) -> Mutation:
    """A table or column that another version of the program calls otherwise, or lacks."""
    with _opened(specimen) as connection:
        table, column = _place(connection, chance)
        change, told = chance.choice(
            (
                (f'RENAME COLUMN "{column}" TO "x{column}"', f"{table}.{column} renamed"),
                (f'DROP COLUMN "{column}"', f"{table}.{column} dropped"),
                (f'RENAME TO "x{table}"', f"{table} renamed"),
            )
        )
        with contextlib.suppress(apsw.Error):  # a key can't be dropped
            connection.execute(f'ALTER TABLE "{table}" {change}')
        return everything(told, specimen, connection.serialize("main"))


def _cell(specimen: Specimen, chance: Chance) -> Mutation:
    with _opened(specimen) as connection:
        table, column = _place(connection, chance)
        rows = [row for (row,) in connection.execute(f'SELECT rowid FROM "{table}"')]
        cell = chance.choice(_CELLS)
        connection.execute("PRAGMA ignore_check_constraints = 1")
        with contextlib.suppress(apsw.Error):  # a key that is there already
            sql = f'UPDATE "{table}" SET "{column}" = ? WHERE rowid = ?'
            connection.execute(sql, (cell, chance.choice(rows or [0])))
        told = f"{table}.{column} is {str(cell)[:20]!r} in one row"
        return Mutation(told, connection.serialize("main"), ())  # one row, whichever bytes it has


@contextlib.contextmanager
def _opened(specimen: Specimen) -> Iterator[apsw.Connection]:
    connection = apsw.Connection(":memory:")
    connection.deserialize("main", specimen.data)
    try:
        yield connection
    finally:
        connection.close()


def _place(connection: apsw.Connection, chance: Chance) -> tuple[str, str]:
    tables = [name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
    table = chance.choice(tables)
    return table, chance.choice([row[1] for row in connection.execute(f'PRAGMA table_info("{table}")')])


DATABASES: tuple[Kind, ...] = (*[_page] * 3, _page_span, cut, _schema, _schema, *[_cell] * 4)

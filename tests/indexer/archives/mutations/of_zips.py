"""Damage to zips: in the bytes, in their directory and in one member, and zips that were made to do harm."""

from __future__ import annotations

import io
import re
import struct
import warnings
import zipfile
from collections.abc import Callable

from tests.indexer.archives.mutations.of_bytes import cut, deleted, doubled, flip, flips, swapped
from tests.indexer.archives.mutations.specimens import Chance, Kind, Mutation, Specimen, everything, specimen

Members = list[tuple[str, bytes]]


def _members(data: bytes) -> Members:
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        return [(info.filename, archive.read(info)) for info in archive.infolist()]


def _zipped(members: Members, method: int = zipfile.ZIP_DEFLATED) -> bytes:
    target = io.BytesIO()
    with warnings.catch_warnings(), zipfile.ZipFile(target, "w", method) as archive:
        warnings.simplefilter("ignore")  # a name twice
        for name, data in members:
            archive.writestr(name, data)
    return target.getvalue()


def with_damaged_member(
    zipped: Specimen, chance: Chance, damaged: Callable[[Specimen], Mutation]
) -> Mutation:
    """A sound zip of which one member is damaged, in the ways of its own format."""
    members = _members(zipped.data)
    at = chance.choice([number for number, (_, data) in enumerate(members) if data])
    name, data = members[at]
    inner = damaged(specimen(f"{zipped.name}!{name}", data))
    members[at] = (name, inner.data)
    return Mutation(f"{name}: {inner.kind}", _zipped(members), (zipped.records[at],), sound=True)


_NAMES = (
    *("../evil.json", "/etc/evil.json", "a/../../evil.json", "C:\\evil.json", "\\evil", "..", "con/aux.json"),
    *("a" * 5000 + ".json", "\u202egnp.json", "чат.json", "a\nb.json", "a!b.json", "!"),
)


def _evil_name(zipped: Specimen, chance: Chance) -> Mutation:
    members = _members(zipped.data)
    name = chance.choice(_NAMES)
    members.insert(chance.randrange(len(members) + 1), (name, chance.choice(members)[1]))
    return Mutation(f"a member {name[:20]!r}", _zipped(members), (), sound=True)


def _second_name(zipped: Specimen, chance: Chance) -> Mutation:
    members = _members(zipped.data)
    again = chance.choice(members)
    return Mutation("a name twice", _zipped([(again[0], b"[]"), *members]), (), sound=True)


def _directory_flag(zipped: Specimen, chance: Chance) -> Mutation:
    """Encrypted, of an unknown method, of another size: said by the directory alone."""
    data = bytearray(zipped.data)
    entries = [match.start() for match in re.finditer(rb"PK\x01\x02", zipped.data)]
    entry = chance.choice(entries)
    kind, offset, layout, value = chance.choice(
        (
            ("encrypted", 8, "<H", 1),
            ("unknown method", 10, "<H", chance.choice((1, 9, 12, 14, 93, 99, 65535))),
            ("wrong check sum", 16, "<I", chance.randrange(2**32)),
            ("wrong packed size", 20, "<I", chance.choice((0, 1, 2**31, 2**32 - 1))),
            ("wrong size", 24, "<I", chance.choice((0, 1, 2**31, 2**32 - 1))),
            ("wrong offset", 42, "<I", chance.choice((0, 7, len(data), 2**32 - 1))),
        )
    )
    struct.pack_into(layout, data, entry + offset, value)
    return everything(kind, zipped, bytes(data))


def _name_length(zipped: Specimen, chance: Chance) -> Mutation:
    """Members of other names, which may be those of files that nobody reads."""
    data = bytearray(zipped.data)
    entry = chance.choice([match.start() for match in re.finditer(rb"PK\x01\x02", zipped.data)])
    struct.pack_into("<H", data, entry + 28, chance.randrange(2**16))
    return Mutation("wrong name length", bytes(data), ((0, len(data)),), sound=True)


def _cut_directory(zipped: Specimen, chance: Chance) -> Mutation:
    start = zipped.data.find(b"PK\x01\x02")
    cut = chance.randrange(start, len(zipped.data))
    return everything("cut directory", zipped, zipped.data[:cut])


def _bomb(zipped: Specimen, chance: Chance) -> Mutation:
    members = _members(zipped.data)
    bomb = chance.choice(
        (b"[" * (3 << 20), b"[" + b" " * (3 << 20), b'[{"text":"' + b"a" * (3 << 20) + b'"}]')
    )
    return Mutation("a bomb", _zipped([*members, ("general/bomb.json", bomb)]), (), sound=True)


def _nested(zipped: Specimen, chance: Chance) -> Mutation:
    members = _members(zipped.data)
    return Mutation("a zip in a zip", _zipped([*members, ("inner.zip", zipped.data)]), (), sound=True)


def _missing_member(zipped: Specimen, chance: Chance) -> Mutation:
    members = _members(zipped.data)
    at = chance.randrange(len(members))
    name, _ = members.pop(at)
    return Mutation(f"no {name}", _zipped(members), (zipped.records[at],), sound=True)


def _stored(zipped: Specimen, _: Chance) -> Mutation:
    members = _members(zipped.data)
    return Mutation("not packed", _zipped(members, zipfile.ZIP_STORED), (), sound=True)


ZIPS: tuple[Kind, ...] = (
    *(cut, flip, flips, deleted, swapped, doubled),
    *(
        _evil_name,
        _second_name,
        _directory_flag,
        _directory_flag,
        _cut_directory,
        _name_length,
        _missing_member,
        _nested,
    ),
    *(_bomb, _stored),
)

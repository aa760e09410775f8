"""Damage that knows nothing of the format: what disks and networks do."""

from __future__ import annotations

from tests.indexer.archives.mutations.specimens import (
    Chance,
    Kind,
    Mutation,
    Specimen,
    any_span,
    everything,
    replaced,
)

HUGE = 2_000_000
DEEP = 100_000


def cut(specimen: Specimen, chance: Chance) -> Mutation:
    if not specimen.is_text:
        return everything("cut pages", specimen, specimen.data[: chance.randrange(len(specimen.data))])
    return replaced("cut", specimen, (chance.randrange(len(specimen.data)), len(specimen.data)), b"")


def flip(specimen: Specimen, chance: Chance) -> Mutation:
    at = chance.randrange(len(specimen.data))
    flipped = bytes([specimen.data[at] ^ (1 << chance.randrange(8))])
    return replaced("flipped bit", specimen, (at, at + 1), flipped, counted=True)


def _byte(specimen: Specimen, chance: Chance) -> Mutation:
    at = chance.randrange(len(specimen.data))
    return replaced("wrong byte", specimen, (at, at + 1), chance.randbytes(1), counted=True)


def flips(specimen: Specimen, chance: Chance) -> Mutation:
    data, touched = bytearray(specimen.data), []
    for _ in range(chance.randint(2, 8)):
        at = chance.randrange(len(data))
        data[at] ^= 1 << chance.randrange(8)
        touched.append((at, at + 1))
    return Mutation("flipped bits", bytes(data), tuple(touched))


def doubled(specimen: Specimen, chance: Chance) -> Mutation:
    start, end = any_span(specimen, chance)
    return replaced("doubled span", specimen, (start, end), specimen.data[start:end] * 2)


def deleted(specimen: Specimen, chance: Chance) -> Mutation:
    return replaced("deleted span", specimen, any_span(specimen, chance), b"")


def swapped(specimen: Specimen, chance: Chance) -> Mutation:
    (a, b), (c, d) = sorted((any_span(specimen, chance), any_span(specimen, chance)))
    b, d = min(b, c), max(d, b, c)
    data = specimen.data
    return Mutation(
        "swapped spans", data[:a] + data[c:d] + data[b:c] + data[a:b] + data[d:], ((a, b), (c, d))
    )


def _inserted(kind: str, *news: bytes) -> Kind:
    def insert(specimen: Specimen, chance: Chance) -> Mutation:
        at = chance.randrange(len(specimen.data) + 1)
        return replaced(kind, specimen, (at, at), chance.choice(news), counted=True)

    return insert


def _doubled_record(specimen: Specimen, chance: Chance) -> Mutation:
    if not specimen.records:
        return doubled(specimen, chance)
    start, end = chance.choice(specimen.records)
    return replaced("doubled record", specimen, (start, end), specimen.data[start:end] * 2)


BYTES: tuple[Kind, ...] = (
    cut,
    *[flip] * 4,
    _byte,
    flips,
    doubled,
    _doubled_record,
    deleted,
    swapped,
    _inserted("NUL", b"\x00", b"\x00" * 700),
    _inserted("mark in the middle", b"\xef\xbb\xbf", b"\xff\xfe", b"\xfe\xff"),
    _inserted("line end", b"\n", b"\r\n", b"\r", b"\n\n\n", "\u2028".encode(), "\x85".encode(), b"\x0c"),
    _inserted("escape", rb"\ud83d", rb"\udc00\ud800", rb"\x07", rb"\u0000", b"\\", rb"\u12", b"\\\\"),
    _inserted("no UTF-8", b"\xff", b"\xc3", b"\xed\xa0\x80", b"\xf4\x90\x80\x80", b"\xe2\x80"),
    _inserted(
        "structure", b'"', b"{", b"}", b"[", b"]", b",", b":", b'{"', b"}]}", b"<div>", b"</div>", b"<!--"
    ),
)
COSTLY_BYTES: tuple[Kind, ...] = (
    _inserted("long run", b"x" * HUGE, b" " * HUGE, b"\xd1\x8f" * (HUGE // 2), b"\n" * (HUGE // 20)),
    _inserted("deep nesting", b"[" * DEEP, b'{"a":' * DEEP, b"[" * DEEP + b"]" * DEEP, b"<div>" * DEEP),
    _inserted(
        "repetition",
        b"\\" * DEEP,
        b'"' * DEEP,
        b"&#" * DEEP,
        b"[[" * DEEP,
        b"<" * DEEP,
        b"```\n" * (DEEP // 10),
    ),
)

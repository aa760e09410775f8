"""A whole file that is something else: empty, of another encoding, with other line ends, of other make."""

from __future__ import annotations

from tests.indexer.archives.mutations.specimens import Chance, Kind, Mutation, Specimen, everything


def _empty(specimen: Specimen, _: Chance) -> Mutation:
    return everything("empty", specimen, b"")


def _whitespace(specimen: Specimen, _: Chance) -> Mutation:
    return everything("whitespace", specimen, b" \r\n\t\n" * 500)


def _noise(specimen: Specimen, chance: Chance) -> Mutation:
    return everything("noise", specimen, chance.randbytes(5000))


def _zeros(specimen: Specimen, _: Chance) -> Mutation:
    return everything("zeros", specimen, bytes(len(specimen.data)))


def _other_format(specimen: Specimen, chance: Chance) -> Mutation:
    return everything("another format", specimen, chance.choice(specimen.others or (b"",)))


def _encoded(codec: str, mark: bytes = b"") -> Kind:
    def encode(specimen: Specimen, _: Chance) -> Mutation:
        text = specimen.data.decode("utf-8-sig", "replace")
        if text.count("\ufffd") > 20:  # a sample that is windows-1251 itself
            text = specimen.data.decode("cp1251", "replace")
        data = mark + text.encode(codec, "replace")
        # With a mark the text is all there; without it, or with letters that the codec lacks, it is not.
        whole = bool(mark) and specimen.is_text
        return Mutation(f"encoded as {codec}", data, () if whole else ((0, len(specimen.data)),), whole)

    return encode


def _mojibake(specimen: Specimen, _: Chance) -> Mutation:
    return everything("mojibake", specimen, specimen.data.decode("latin-1").encode())


def _line_ends(end: bytes) -> Kind:
    def ended(specimen: Specimen, _: Chance) -> Mutation:
        data = specimen.data.replace(b"\r\n", b"\n").replace(b"\n", end)
        whole = end == b"\r\n" and specimen.is_text
        return Mutation(f"line ends {end!r}", data, () if whole else ((0, len(specimen.data)),), whole)

    return ended


WHOLE: tuple[Kind, ...] = (
    _empty,
    _whitespace,
    _noise,
    _zeros,
    _encoded("cp1251"),
    _encoded("utf-16-le"),
    _encoded("utf-16-be"),
    _encoded("utf-16-le", b"\xff\xfe"),
    _encoded("utf-16-be", b"\xfe\xff"),
    _encoded("utf-32-le", b"\xff\xfe\x00\x00"),
    _encoded("koi8-r"),
    _mojibake,
    _line_ends(b"\r\n"),
    _line_ends(b"\r"),
    *[_other_format] * 12,
)

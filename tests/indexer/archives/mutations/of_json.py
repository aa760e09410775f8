"""Damage that leaves the JSON whole and its values wrong: what other versions and other programs write."""

from __future__ import annotations

import re

from tests.indexer.archives.mutations.json_spans import Node
from tests.indexer.archives.mutations.of_bytes import DEEP, HUGE
from tests.indexer.archives.mutations.specimens import Chance, Kind, Mutation, Specimen, replaced

_CHEAP_VALUES = (
    *(b"null", b"true", b"false", b"0", b"-1", b"1", b"1.5", b"NaN", b"-Infinity", b"1e999", b"1e308"),
    *(
        b"9" * 30,
        b"-" + b"9" * 400,
        b"9" * 5000,
        b"0.1e-400",
        b'""',
        b'" "',
        b'"x"',
        b'"\\u0000"',
        b'"\\ud83d"',
    ),
    *(b"[]", b"{}", b"[[]]", b"[null]", b'[{"":null}]', b'{"":{}}', b'["a",1,null,{},[]]', b'{"text":1}'),
    *(b'[{"type":1,"text":[]}]', b'[{"type":"text","text":null}]', b'{"id":{}}', b'"2025-99-99T99:99:99Z"'),
    *(b'"9999-12-31T23:59:59+23:59"', b'"0001-01-01T00:00:00+14:00"', b'"\\ud83d\\u0000\\n"', b"1740808800"),
    *(
        b'"' + b"a" * 3000 + b'"',
        b'"../../etc/passwd"',
        b'{"type":"text","text":{"text":"x"}}',
        b"[true,1e5]",
    ),
)


def _value(specimen: Specimen, chance: Chance) -> Mutation:
    node = chance.choice(specimen.nodes)
    new = chance.choice(_CHEAP_VALUES)
    span, says = (node.start, node.end), new.strip(b'" []{}') != b""  # what is empty says nothing, by right
    return replaced(f"value {_where(node)} is {new[:30]!r}", specimen, span, new, sound=True, counted=says)


_KEPT = {"sound": True, "counted": True}


def _where(node: Node) -> str:
    return ".".join(map(str, node.path[-3:])) or "(all)"


def _keyed(specimen: Specimen, chance: Chance) -> Node | None:
    keyed = [node for node in specimen.nodes if node.key is not None]
    return chance.choice(keyed) if keyed else None


def _renamed(specimen: Specimen, chance: Chance) -> Mutation:
    node = _keyed(specimen, chance)
    if node is None or node.key is None:
        return _value(specimen, chance)
    new = chance.choice((b'"x"', b'""', b'"\\u0000"', b'"ID"', b'"type"', b'"text"', b'"__proto__"'))
    renamed = replaced(f"key {_where(node)} is {new!r}", specimen, node.key, new, **_KEPT)
    return Mutation(renamed.kind, renamed.data, ((node.key[0], node.end),), **_KEPT)


def _missing(specimen: Specimen, chance: Chance) -> Mutation:
    node = _keyed(specimen, chance)
    if node is None or node.key is None:
        return _value(specimen, chance)
    start, end = node.key[0], node.end
    data = specimen.data
    if match := re.compile(rb"\s*,").match(data, end):
        end = match.end()
    elif match := re.compile(rb",\s*$").search(data[max(0, start - 200) : start]):
        start -= len(match.group())
    whole = any(start <= first and last <= end for first, last in specimen.records)  # then no trace is left
    return replaced(f"no {_where(node)}", specimen, (start, end), b"", sound=True, counted=not whole)


def _exchanged(specimen: Specimen, chance: Chance) -> Mutation:
    """Two values of one object change places, as in a column shifted by one."""
    node = _keyed(specimen, chance)
    siblings = [one for one in specimen.nodes if node and one.key and one.path[:-1] == node.path[:-1]]
    if len(siblings) < 2 or not node:
        return _value(specimen, chance)
    near = [one for one in siblings if _same_line(specimen.data, one, node)]
    first, second = sorted((node, chance.choice(near)), key=lambda one: one.start)
    if first.start == second.start:
        return _value(specimen, chance)
    a, b, c, d = first.start, first.end, second.start, second.end
    data = specimen.data
    new = data[:a] + data[c:d] + data[b:c] + data[a:b] + data[d:]
    return Mutation(f"{_where(first)} and {_where(second)} exchanged", new, ((a, b), (c, d)), **_KEPT)


def _same_line(data: bytes, one: Node, other: Node) -> bool:
    """Lines hold paths of their own: siblings of one line alone may change places."""
    start, end = min(one.start, other.start), max(one.start, other.start)
    return one.path == other.path or not re.search(rb"\}\s*\n\s*\{", data[start:end])


def _deep_value(specimen: Specimen, chance: Chance) -> Mutation:
    node = chance.choice(specimen.nodes)
    new = chance.choice((b"[" * DEEP + b"]" * DEEP, b'{"a":' * DEEP + b"1" + b"}" * DEEP))
    return replaced(f"value {_where(node)} is deep", specimen, (node.start, node.end), new, **_KEPT)


_LONG_VALUES = (
    *(b'"' + b"x" * HUGE + b'"', b'"' + b" a" * (HUGE // 2) + b'"', b'"' + b"\\n[" * (HUGE // 6) + b'"'),
    *(b"9" * HUGE, b"[" + b"{}," * (HUGE // 20) + b"{}]"),
)


def _long_value(specimen: Specimen, chance: Chance) -> Mutation:
    node = chance.choice(specimen.nodes)
    new = chance.choice(_LONG_VALUES)
    return replaced(f"value {_where(node)} is long", specimen, (node.start, node.end), new, **_KEPT)


VALUES: tuple[Kind, ...] = (*[_value] * 5, _renamed, _missing, _missing, _exchanged)
COSTLY_VALUES: tuple[Kind, ...] = (_deep_value, _long_value)

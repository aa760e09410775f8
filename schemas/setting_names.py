"""Keys of a file and names of the environment that no setting has: refused, with the nearest one that is."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from pydantic import BaseModel

from schemas.problems import SettingsError

PREFIX = "LETOPIS_"


def check_keys(
    values: Mapping[str, Any], model: type[BaseModel], what: str, at: tuple[str, ...] = ()
) -> None:
    """Check the keys of a file, table by table.

    Raises:
        SettingsError: an unknown key, named in full, with the nearest known one.
    """
    fields = _fields(model)
    for name, value in values.items():
        if name not in fields:
            full = ".".join((*at, name))
            raise SettingsError(f"Unknown {what}: {full}.", _nearest(name, fields, at, ".".join))
        inner = fields[name]
        if inner is not None and isinstance(value, Mapping):
            check_keys(value, inner, what, (*at, name))


def check_environment_name(name: str, model: type[BaseModel]) -> None:
    """Check a name that begins with LETOPIS_.

    Raises:
        SettingsError: no setting has that name; the nearest one is told as a name.
    """
    fields = _fields(model)
    parts = name.upper().removeprefix(PREFIX).lower().split("__")
    for depth, part in enumerate(parts):
        if part not in fields:
            rest = parts[depth + 1 :]
            hint = _nearest(part, fields, tuple(parts[:depth]), partial(_name, rest=rest))
            raise SettingsError(f"Unknown environment name: {name}.", hint)
        inner = fields[part]
        fields = _fields(inner) if inner is not None else {}


def _name(known: tuple[str, ...], rest: list[str]) -> str:
    return PREFIX + "__".join((*known, *rest)).upper()


def _fields(model: type[BaseModel]) -> dict[str, type[BaseModel] | None]:
    return {
        name: field.annotation
        if isinstance(field.annotation, type) and issubclass(field.annotation, BaseModel)
        else None
        for name, field in model.model_fields.items()
    }


def _nearest(
    name: str, fields: Mapping[str, object], at: tuple[str, ...], full: Callable[[tuple[str, ...]], str]
) -> str:
    near = difflib.get_close_matches(name, fields, 1)
    if near:
        return f"did you mean {full((*at, near[0]))}?"
    return f"known here: {', '.join(sorted(fields))}" if fields else "remove it"

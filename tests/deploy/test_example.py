"""deploy/letopis.toml: uncommented, it is a valid config that holds every setting."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel

from schemas.settings import Settings, load
from tests.deploy.files import DEPLOY

EXAMPLE = (DEPLOY / "letopis.toml").read_text("utf-8")
# Unset by default, so the example shows a value that one may give.
SHOWN = {
    "timezone",
    "embedding.gemini.base_url",
    "embedding.gemini.daily_requests",
    "embedding.ollama.host",
    "service.token",
    "notify.command",
    "quality.golden",
    "quality.log_empty",
}


def uncommented() -> str:
    return re.sub(r"(?m)^# (?=\[[a-z.]+\]|[a-z_]+ = )", "", EXAMPLE)


def leaves(model: type[BaseModel], at: str = "") -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, field in model.model_fields.items():
        inner = field.annotation
        if isinstance(inner, type) and issubclass(inner, BaseModel):
            found |= leaves(inner, f"{at}{name}.")
        else:
            found[f"{at}{name}"] = field.default
    return found


def flat(values: dict[str, Any], at: str = "") -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, value in values.items():
        found |= flat(value, f"{at}{name}.") if isinstance(value, dict) else {f"{at}{name}": value}
    return found


def plain(value: Any) -> Any:
    return list(value) if isinstance(value, tuple) else value.as_posix() if isinstance(value, Path) else value


def test_as_it_stands_it_changes_nothing() -> None:
    assert tomllib.loads(EXAMPLE) == {}


def test_it_shows_every_setting_at_its_default() -> None:
    shown, known = flat(tomllib.loads(uncommented())), leaves(Settings)
    assert set(shown) == set(known)
    for name in set(known) - SHOWN:
        assert shown[name] == plain(known[name]), name


def test_uncommented_it_is_valid(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "letopis.toml").write_text(uncommented(), "utf-8")
    settings, found = load(tmp_path / "letopis.toml", environment={})
    assert found is not None
    assert settings.data == tmp_path / "data/index"

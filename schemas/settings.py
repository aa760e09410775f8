"""Settings: defaults < letopis.toml < LETOPIS_* environment < flags; an unknown name is an error.

Relative paths count from the config file's folder, so that cron, systemd and a terminal mean the same.
"""

from __future__ import annotations

import os
import tomllib
from collections.abc import Mapping
from datetime import tzinfo
from pathlib import Path
from typing import Any, Literal, Self
from zoneinfo import ZoneInfo

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    SecretStr,
    ValidationError,
    field_validator,
    model_validator,
)
from pydantic_settings import BaseSettings, PydanticBaseSettingsSource, SettingsConfigDict

from schemas.problems import SettingsError
from schemas.setting_names import check_environment_name, check_keys

CONFIG_NAME = "letopis.toml"
PROVIDERS = ("gemini", "ollama", "local", "hash")
Provider = Literal["gemini", "ollama", "local", "hash"]


class _Section(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Chunking(_Section):
    """Window size and overlap in code points, headers not counted."""

    size: int = Field(600, ge=1, le=100_000)
    overlap: int = Field(100, ge=0)

    @model_validator(mode="after")
    def _progress(self) -> Self:
        if self.overlap > self.size // 2:
            raise ValueError(
                f"overlap {self.overlap} is more than half of size {self.size}; "
                f"set it to at most {self.size // 2}"
            )
        return self


class Gemini(_Section):
    """The Gemini API."""

    model: str = "gemini-embedding-2-preview"
    dimensions: int = Field(768, ge=1, le=4096)
    base_url: str | None = None
    api_version: str = "v1beta"
    daily_requests: int | None = Field(None, ge=1)


class Ollama(_Section):
    """A local Ollama server; `auto` takes the best known multilingual model that it has."""

    host: str | None = None
    model: str = "auto"


class Local(_Section):
    """The bundled model; 0 workers means one a core."""

    workers: int = Field(0, ge=0, le=64)


class Embedding(_Section):
    """Which providers embed, in which order, and what may leave the machine."""

    order: tuple[Provider, ...] = ("gemini", "ollama", "local")
    batch_size: int = Field(20, ge=1, le=100)
    floor: bool = True
    cloud: bool = False
    local_only: tuple[str, ...] = ()
    query_timeout_ms: int = Field(1500, ge=10)
    gemini: Gemini = Gemini()
    ollama: Ollama = Ollama()
    local: Local = Local()

    @field_validator("order")
    @classmethod
    def _distinct(cls, order: tuple[Provider, ...]) -> tuple[Provider, ...]:
        if len(set(order)) != len(order) or not order:
            raise ValueError('name each provider once, e.g. ["gemini", "ollama", "local"]')
        return order


class Entities(_Section):
    """Who finds names: slovnet (auto), a genuine ru_core_news_sm (spacy), or patterns alone."""

    backend: Literal["auto", "slovnet", "spacy", "patterns"] = "auto"


class Service(_Section):
    """Where the service listens and whom it lets in."""

    host: str = "127.0.0.1"
    port: int = Field(8077, ge=0, le=65535)
    token: SecretStr | None = None
    allowed_hosts: tuple[str, ...] = ()


class Notify(_Section):
    """A command that gets the build report on stdin when a build ends badly, and on recovery."""

    command: str | None = None


class Quality(_Section):
    """What a new generation is asked before it is published, and where empty searches are noted."""

    golden: Path | None = None
    tolerance: float = Field(0.05, ge=0, le=1)
    log_empty: Path | None = None


class Settings(BaseSettings):
    """All settings of a data folder; see docs/settings.md for the table."""

    model_config = SettingsConfigDict(
        env_prefix="LETOPIS_", env_nested_delimiter="__", extra="forbid", frozen=True
    )

    data: Path = Path("data/index")
    archives: tuple[Path, ...] = ()
    timezone: str | None = None
    tool_results: bool = False
    thinking: bool = False
    deleted_sessions: bool = False
    chunking: Chunking = Chunking()
    embedding: Embedding = Embedding()
    entities: Entities = Entities()
    service: Service = Service()
    notify: Notify = Notify()
    quality: Quality = Quality()

    @field_validator("timezone")
    @classmethod
    def _zone(cls, name: str | None) -> str | None:
        if name is not None:
            try:
                ZoneInfo(name)
            except (KeyError, ValueError, OSError) as error:
                raise ValueError(
                    f"no such time zone: {name!r}; use a name like Europe/Moscow or UTC"
                ) from error
        return name

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,
        file_secret_settings: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """The environment beats what `load` read from the file; flags are merged over both by `load`."""
        return env_settings, init_settings

    @property
    def zone(self) -> tzinfo:
        """The zone of times without one: the configured, else the machine's."""
        return ZoneInfo(self.timezone) if self.timezone else machine_zone()


class _Merged(Settings):
    """Values over which flags were laid: the environment must not beat them once more."""

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,
        file_secret_settings: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """The given values alone."""
        return (init_settings,)


def exactly(values: Mapping[str, Any]) -> Settings:
    """Settings of these values and the defaults alone: neither a file nor the environment takes part.

    Raises:
        pydantic.ValidationError: an unknown key or a value out of range.
    """
    return Settings.model_construct(**_Merged(**values).__dict__)


def machine_zone() -> tzinfo:
    """The machine's own zone, by name where it can be told (offsets change over the year)."""
    name = os.environ.get("TZ", "").lstrip(":")
    if not name:
        link = Path("/etc/localtime")
        target = str(link.resolve()) if link.exists() else ""
        name = target.partition("zoneinfo/")[2]
    try:
        return ZoneInfo(name or "UTC")
    except (KeyError, ValueError, OSError):
        return ZoneInfo("UTC")


def load(
    config: Path | None = None,
    flags: Mapping[str, Any] | None = None,
    environment: Mapping[str, str] | None = None,
) -> tuple[Settings, Path | None]:
    """Read the settings.

    Args:
        config: the TOML file; None means `letopis.toml` in the working folder, if there is one.
        flags: nested values that beat everything else, e.g. `{"service": {"port": 0}}`; None values are
            ignored.
        environment: for the check of unknown LETOPIS_ names; the process's own by default.

    Returns:
        The settings, with every path made absolute, and the file that was read.

    Raises:
        SettingsError: a file that can't be read, an unknown key or name, or a value out of range.
    """
    environment = os.environ if environment is None else environment
    path = config if config is not None else Path(CONFIG_NAME)
    found = path.is_file()
    if config is not None and not found:
        raise SettingsError(f"The config file {path.name} is not there.", "give its path with --config FILE")
    values = _toml(path) if found else {}
    check_keys(values, Settings, f"key in {path.name}")
    for name in environment:
        if name.upper().startswith("LETOPIS_"):
            check_environment_name(name, Settings)
    try:
        settings = Settings(**values)
        if flags:
            merged = _merge(settings.model_dump(), _given(flags))
            settings = exactly(merged)
    except ValidationError as error:
        raise SettingsError(_first(error), "mend that setting; `letopis doctor` lists all of them") from None
    except (ValueError, TypeError) as error:  # pydantic-settings: an environment value that is no JSON
        raise SettingsError(
            f"A LETOPIS_ variable can't be read: {error}.", "lists and tables are JSON"
        ) from None
    base = path.resolve().parent if found else Path.cwd()
    return settings.model_copy(
        update={
            "data": _absolute(base, settings.data),
            "archives": tuple(_absolute(base, archive) for archive in settings.archives),
            "quality": settings.quality.model_copy(
                update={
                    name: _absolute(base, place)
                    for name in ("golden", "log_empty")
                    if (place := getattr(settings.quality, name)) is not None
                }
            ),
        }
    ), (path.resolve() if found else None)


def _absolute(base: Path, path: Path) -> Path:
    return base / path.expanduser()


def _toml(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_bytes().decode("utf-8"))
    except UnicodeDecodeError:
        raise SettingsError(f"{path.name} is not UTF-8.", "save it as UTF-8") from None
    except tomllib.TOMLDecodeError as error:
        raise SettingsError(f"{path.name} is not valid TOML: {error}.", "mend that line") from None


def _given(flags: Mapping[str, Any]) -> dict[str, Any]:
    return {
        name: _given(value) if isinstance(value, Mapping) else value
        for name, value in flags.items()
        if value is not None
    }


def _merge(base: dict[str, Any], over: Mapping[str, Any]) -> dict[str, Any]:
    for name, value in over.items():
        if isinstance(value, Mapping) and isinstance(base.get(name), dict):
            base[name] = _merge(base[name], value)
        else:
            base[name] = value
    return base


def _first(error: ValidationError) -> str:
    fault = error.errors(include_url=False, include_input=False)[0]
    where = ".".join(str(part) for part in fault["loc"])
    message = fault["msg"].removeprefix("Value error, ")
    return f"The setting {where} is wrong: {message}."

"""docker-compose.yml: what each container may do, and what it can't."""

from __future__ import annotations

import re
from typing import Any

import pytest
import yaml

from schemas.settings import Settings, load
from tests.deploy.files import ROOT, commands_of_cli

TEXT = (ROOT / "docker-compose.yml").read_text("utf-8")
COMPOSE = yaml.safe_load(TEXT)
SERVICES: dict[str, Any] = COMPOSE["services"]
OURS = ("service", "indexer")


def mounts(name: str) -> dict[str, dict[str, Any]]:
    return {mount["target"]: mount for mount in SERVICES[name]["volumes"]}


def substituted(value: object, given: dict[str, str]) -> str:
    """A value with `${NAME:-default}` and `${NAME:?message}` filled in, as compose does."""

    def fill(match: re.Match[str]) -> str:
        name, kind, rest = match.groups()
        if given.get(name):
            return given[name]
        if kind == ":?":
            raise KeyError(rest)
        return rest

    return re.sub(r"\$\{(\w+)(:[-?])([^}]*)\}", fill, str(value))


def environment(name: str, given: dict[str, str]) -> dict[str, str]:
    found = SERVICES[name]["environment"]
    return {key: substituted(value, given) for key, value in found.items() if value is not None}


@pytest.mark.parametrize("name", SERVICES)
def test_no_container_has_privileges_or_a_root_that_it_can_write(name: str) -> None:
    service = SERVICES[name]
    assert service["cap_drop"] == ["ALL"]
    assert "cap_add" not in service
    assert service["security_opt"] == ["no-new-privileges:true"]
    assert service["read_only"] is True
    assert service["tmpfs"][0].startswith("/tmp")
    assert "privileged" not in service


def test_the_index_stands_in_a_named_volume_that_only_the_indexer_writes() -> None:
    assert set(COMPOSE["volumes"]) == {"data", "ollama"}
    assert mounts("service") == {
        "/data": {"type": "volume", "source": "data", "target": "/data", "read_only": True}
    }
    assert mounts("indexer")["/data"] == {"type": "volume", "source": "data", "target": "/data"}
    assert "/data" not in mounts("ollama")


def test_archives_are_read_only_and_a_wrong_path_is_told_instead_of_made() -> None:
    archives = mounts("indexer")["/archives"]
    assert archives["read_only"] is True
    assert archives["bind"]["create_host_path"] is False
    assert (ROOT / substituted(archives["source"], {})).is_dir()


def test_only_this_machine_reaches_the_service() -> None:
    assert SERVICES["service"]["ports"] == ["127.0.0.1:8077:8077"]
    assert all("ports" not in SERVICES[name] for name in SERVICES if name != "service")


def test_a_missing_token_stops_compose_with_the_remedy() -> None:
    with pytest.raises(KeyError, match="openssl rand"):
        environment("service", {})


def test_its_variables_make_valid_settings(monkeypatch: pytest.MonkeyPatch, tmp_path: Any) -> None:
    monkeypatch.chdir(tmp_path)
    for name in OURS:
        given = environment(name, {"LETOPIS_SERVICE__TOKEN": "t" * 24})
        with monkeypatch.context() as context:
            for key, value in given.items():
                context.setenv(key, value)
            settings, _ = load(environment=given)
        assert isinstance(settings, Settings)
        assert settings.embedding.cloud is False
        if name == "service":
            assert settings.service.token is not None
            assert "service" in settings.service.allowed_hosts
        else:
            assert [str(path) for path in settings.archives] == ["/archives"]


@pytest.mark.parametrize("name", OURS)
def test_a_gemini_key_is_passed_on_and_never_written_down(name: str) -> None:
    assert SERVICES[name]["environment"]["GEMINI_API_KEY"] is None


@pytest.mark.parametrize("name", OURS)
def test_it_starts_commands_that_the_cli_has(name: str) -> None:
    assert SERVICES[name]["command"][0] in commands_of_cli()


def test_up_starts_the_service_alone_and_the_others_are_asked_for() -> None:
    started = [name for name, service in SERVICES.items() if not service.get("profiles")]
    assert started == ["service"]
    assert SERVICES["ollama"]["profiles"] == ["ollama"]
    assert SERVICES["indexer"]["restart"] == "no"


def test_ollama_is_on_the_same_loopback_so_that_no_text_leaves_the_machine_for_it() -> None:
    assert SERVICES["ollama"]["network_mode"] == "service:service"
    assert SERVICES["indexer"]["network_mode"] == "service:service"
    assert SERVICES["ollama"]["environment"]["OLLAMA_HOST"].startswith("127.0.0.1:")

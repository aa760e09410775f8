"""docs/: what they list is what the code has."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from schemas.http import Answer, SearchRequest
from schemas.problems import STATUS
from schemas.settings import Settings
from service.contract import contract
from tests.deploy.files import DEPLOY, DOCS, ROOT, commands_of_cli
from tests.deploy.test_example import leaves, plain

PAGES = [*sorted(DOCS.glob("*.md")), ROOT / "README.md", ROOT / "README.ru.md", ROOT / "CHANGELOG.md"]


def page(name: str) -> str:
    return (DOCS / name).read_text("utf-8")


def rows(text: str, heading: str = "") -> list[list[str]]:
    """Cells of the first table under a heading, without its head."""
    part = text.partition(heading)[2] if heading else text
    table = re.search(r"(?:^\|.*\n)+", part, re.MULTILINE)
    assert table is not None, heading
    return [
        [cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]] for line in table[0].splitlines()[2:]
    ]


def test_every_setting_is_listed_with_its_default() -> None:
    listed = {name.strip("`"): default for name, default, _ in rows(page("settings.md"))}
    known = leaves(Settings)
    assert list(listed) == list(known)
    for name, default in known.items():
        told = "unset" if default is None else f"`{json.dumps(plain(default))}`"
        assert listed[name] == told, name


def test_every_error_code_is_listed_with_its_status() -> None:
    listed = {code.strip("`"): int(status) for code, status, _ in rows(page("http.md"), "## Errors")}
    assert listed == STATUS


def test_every_route_is_listed_and_no_other() -> None:
    told = [re.findall(r"`(GET|POST) ([^`]+)`", route) for route, _ in rows(page("http.md"))]
    listed = {(method.lower(), path) for found in told for method, path in found}
    known = {(method, path) for path, methods in contract()["paths"].items() for method in methods}
    assert listed - {("get", "/"), ("get", "/openapi.json")} == known - {
        ("get", "/"),
        ("get", "/openapi.json"),
    }


def test_every_key_of_a_search_is_listed_with_its_default() -> None:
    listed: dict[str, str] = {}
    for names, values, default in rows(page("http.md"), "## Keys of a search"):
        listed |= dict.fromkeys(re.findall(r"`(\w+)`", names), default.strip("`").replace(",", "") or values)
    assert set(listed) == set(SearchRequest.model_fields)
    for name, field in SearchRequest.model_fields.items():
        if isinstance(field.default, int | float | str) and not isinstance(field.default, bool):
            assert (
                listed[name] == f"{field.default:g}"
                if isinstance(field.default, float)
                else (listed[name] == str(field.default))
            ), name


def test_the_shown_answer_is_one() -> None:
    shown: dict[str, Any] = json.loads(re.search(r"```json\n(.*?)```", page("http.md"), re.DOTALL)[1])  # type: ignore[index]
    answer = Answer.model_validate(shown)
    assert set(shown) == set(Answer.model_fields)
    assert set(shown["hits"][0]) == set(type(answer.hits[0]).model_fields)


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.name)
def test_commands_named_in_a_page_are_ones_that_the_cli_has(path: Path) -> None:
    named = set(
        re.findall(r"(?:`|^|bin/)letopis ([a-z]+(?:-[a-z]+)*)", path.read_text("utf-8"), re.MULTILINE)
    )
    assert named <= commands_of_cli()


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.name)
def test_links_and_named_files_lead_somewhere(path: Path) -> None:
    text = path.read_text("utf-8")
    links = [link for link in re.findall(r"\]\(([^)#]+)\)", text) if "://" not in link]
    files = re.findall(r"`((?:deploy|docs|schemas|indexer|service|data/demo)/[\w./-]+)`", text)
    missing = [link for link in links if not (path.parent / link).exists()]
    missing += [name for name in files if not (ROOT / name).exists()]
    assert missing == []


def test_units_point_to_a_page_that_is_there() -> None:
    for unit in [*DEPLOY.glob("*.service"), *DEPLOY.glob("*.timer")]:
        (named,) = re.findall(r"Documentation=file:/opt/letopis/(\S+)", unit.read_text("utf-8"))
        assert (ROOT / named).is_file()

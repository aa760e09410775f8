from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from schemas.http import SearchRequest
from schemas.problems import STATUS
from schemas.settings import Settings
from service.app import create_app
from tests.fakes.engine import FakeEngine
from tests.fakes.http import ask

APP = create_app(FakeEngine(), Settings())
DOCUMENT: dict[str, Any] = ask(APP, "GET", "/openapi.json").json()


def references(node: Any) -> Iterator[str]:
    if isinstance(node, dict):
        for key, value in node.items():
            if key == "$ref":
                yield value
            yield from references(value)
    elif isinstance(node, list):
        for value in node:
            yield from references(value)


def operations() -> Iterator[tuple[str, str, dict[str, Any]]]:
    for path, item in DOCUMENT["paths"].items():
        for method, operation in item.items():
            yield path, method, operation


def test_every_route_with_every_method_is_described_and_nothing_else() -> None:
    served = {
        (route.path, method.lower())  # type: ignore[attr-defined]
        for route in APP.routes
        for method in route.methods - {"HEAD"}  # type: ignore[attr-defined]
    }
    assert {(path, method) for path, method, _ in operations()} == served


def test_every_reference_leads_to_a_schema() -> None:
    found = set(references(DOCUMENT))
    assert found
    for reference in found:
        name = reference.removeprefix("#/components/schemas/")
        assert name in DOCUMENT["components"]["schemas"]


def test_the_search_keys_are_all_there_with_their_bounds() -> None:
    keys = {key["name"]: key for key in DOCUMENT["paths"]["/v1/search"]["get"]["parameters"]}
    assert set(keys) == set(SearchRequest.model_fields)
    assert [name for name, key in keys.items() if key["required"]] == ["q"]
    assert (keys["q"]["schema"]["minLength"], keys["q"]["schema"]["maxLength"]) == (1, 2000)
    assert (keys["limit"]["schema"]["minimum"], keys["limit"]["schema"]["maximum"]) == (1, 100)
    assert keys["chat"]["schema"]["type"] == "array"
    assert keys["since"]["schema"]["type"] == "string"
    assert set(DOCUMENT["paths"]["/v1/search"]["post"]["requestBody"]["content"]) == {
        "application/json",
        "application/x-www-form-urlencoded",
    }


def test_every_fault_of_an_operation_is_a_problem_with_codes_of_the_closed_list() -> None:
    for _, _, operation in operations():
        for status, response in operation["responses"].items():
            if status != "200":
                assert list(response["content"]) == ["application/problem+json"]
                codes = response["description"].removeprefix("code: ").split(", ")
                assert {STATUS[code] for code in codes} == {int(status)}
    assert DOCUMENT["components"]["schemas"]["Problem"]["properties"]["code"]["enum"] == list(STATUS)


def test_path_parameters_are_declared_and_operations_have_names_of_their_own() -> None:
    names = [operation["operationId"] for _, _, operation in operations()]
    assert len(set(names)) == len(names)
    for path, _, operation in operations():
        declared = {key["name"] for key in operation["parameters"] if key["in"] == "path"}
        assert declared == set(re.findall(r"{(\w+)}", path))

"""The shipped schemas are schemas, and everything that is generated fits them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from referencing import Registry, Resource
from skill_samples import REPOSITORY

from dcf.skills import validate_manifest

SCHEMAS = REPOSITORY / "dcf/skills/schemas"
GENERATED = REPOSITORY / "generated"


def load(path: Path) -> Any:
    return json.loads(path.read_bytes())


def validator(name: str) -> Draft202012Validator:
    resources = [(path.name, Resource.from_contents(load(path))) for path in SCHEMAS.glob("*.json")]
    registry: Registry[Any] = Registry().with_resources(resources)
    return Draft202012Validator(load(SCHEMAS / name), registry=registry)


@pytest.mark.parametrize("path", sorted(SCHEMAS.glob("*.json")), ids=lambda path: path.name)
def test_a_schema_is_a_schema_and_is_published_as_it_is(path: Path):
    Draft202012Validator.check_schema(load(path))
    assert (GENERATED / "schemas" / path.name).read_bytes() == path.read_bytes()


@pytest.mark.parametrize(
    ("file", "schema"),
    [
        ("catalogs/skills_catalog.json", "skills_catalog.schema.json"),
        ("stub/stub_config.json", "stub_config.schema.json"),
        ("registry.json", "registry.schema.json"),
        ("tests/skill_tests.json", "skill_tests.schema.json"),
        ("skills.lock", "skills_lock.schema.json"),
        *(
            (f"manifests/{p.name}", "manifest.schema.json")
            for p in (GENERATED / "manifests").iterdir()
        ),
    ],
)
def test_a_generated_file_fits_its_schema(file: str, schema: str):
    assert list(validator(schema).iter_errors(load(GENERATED / file))) == []


def manifest() -> dict[str, Any]:
    document: dict[str, Any] = load(GENERATED / "manifests/skill.orders.charge_payment-1.0.0.json")
    return document


def test_a_generated_manifest_is_valid():
    assert validate_manifest(manifest()) == []


def test_an_older_manifest_without_our_members_is_valid():
    older = manifest() | {"manifestApiVersion": "v2.0.0", "permissions": {"egress": "none"}}
    for name in ("dependencies", "complexityProfile"):
        del older[name]
    older["requiredTools"][0]["json_schema"] = None
    assert validate_manifest(older) == []


@pytest.mark.parametrize(
    ("change", "code", "path"),
    [
        ({"skillVersion": "1"}, "SKILL_MANIFEST_VALUE", "/skillVersion"),
        ({"directives": "x"}, "SKILL_MANIFEST_UNKNOWN", "/directives"),
        ({"skillDirectives": ""}, "SKILL_MANIFEST_VALUE", "/skillDirectives"),
        ({"tags": "x"}, "SKILL_MANIFEST_TYPE", "/tags"),
        (
            {
                "requiredTools": [
                    {
                        "toolName": "t",
                        "description": "d",
                        "definition": {"type": "python_source", "sourceCode": "import os"},
                    }
                ]
            },
            "SKILL_MANIFEST_TOOL_KIND",
            "/requiredTools/0/definition",
        ),
    ],
)
def test_what_is_wrong_with_a_manifest(change: dict[str, Any], code: str, path: str):
    [problem] = validate_manifest(manifest() | change)
    assert (problem.code, problem.path) == (code, path)


def test_two_tools_of_one_name_are_refused_whatever_their_case():
    document = manifest()
    document["requiredTools"] *= 2
    document["requiredTools"][1] = document["requiredTools"][1] | {"toolName": "CHARGE_payment"}
    assert [problem.code for problem in validate_manifest(document)] == [
        "SKILL_MANIFEST_TOOL_TWICE"
    ]


@pytest.mark.parametrize("path", sorted(SCHEMAS.glob("*.json")), ids=lambda path: path.name)
def test_every_member_has_a_description_for_editors_and_hints(path: Path):
    assert [place for place, part in members(load(path), "") if not described(part)] == []


def members(schema: Any, at: str) -> Iterator[tuple[str, Any]]:
    """Every part of a schema that an author can fill in."""
    if not isinstance(schema, dict):
        return
    for name, part in schema.get("properties", {}).items():
        if at.rpartition("/")[2] not in ("if", "then", "else"):
            yield f"{at}/{name}", part
        yield from members(part, f"{at}/{name}")
    for name in ("items", "additionalProperties", "propertyNames"):
        if isinstance(schema.get(name), dict):
            yield f"{at}/{name}", schema[name]
            yield from members(schema[name], f"{at}/{name}")
    for name in ("oneOf", "anyOf", "allOf", "$defs"):
        parts = schema.get(name, {})
        for part in parts.values() if isinstance(parts, dict) else parts:
            yield from members(part, f"{at}/{name}")


def described(part: Any) -> bool:
    return isinstance(part, dict) and bool(part.get("description") or part.get("$ref"))

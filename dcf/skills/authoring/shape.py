"""The shipped JSON Schemas, and problems in words for whatever does not fit them."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import replace
from difflib import get_close_matches
from functools import cache
from importlib.resources import files
from typing import Any

from jsonschema import Draft202012Validator
from jsonschema.exceptions import ValidationError
from referencing import Registry, Resource

from dcf.problem import Problem
from dcf.skills.authoring.place import Place

_SUFFIX = ".schema.json"
_VARIABLE = re.compile(r"[A-Z][A-Z0-9_]*")
_OF_A_SECRET = 4
"""Characters that are shown of what may be a secret."""


@cache
def schema_texts() -> dict[str, str]:
    """The text of each shipped schema by file name, in order of the names."""
    folder = files("dcf.skills") / "schemas"
    names = sorted(entry.name for entry in folder.iterdir() if entry.name.endswith(_SUFFIX))
    return {name: (folder / name).read_text(encoding="utf-8") for name in names}


_WRITE = {
    "array": "write a list: [first, second]",
    "boolean": "write true or false",
    "integer": "write a whole number",
    "null": "leave it empty",
    "number": "write a number",
    "object": "write members: {name: value}",
    "string": "write a text, in quotes where it would read as something else",
}
"""How each JSON type is written in YAML."""


@cache
def _validator(name: str) -> Draft202012Validator:
    schemas = {file: json.loads(text) for file, text in schema_texts().items()}
    resources = [(file, Resource.from_contents(schema)) for file, schema in schemas.items()]
    registry: Registry[Any] = Registry().with_resources(resources)
    return Draft202012Validator(schemas[name + _SUFFIX], registry=registry)


def check_shape(place: Place, schema: str, prefix: str) -> list[Problem]:
    """What in ``place`` does not fit the shipped ``schema`` (its file name without suffix).

    Codes are ``{prefix}_MISSING``, ``_UNKNOWN``, ``_TYPE`` and ``_VALUE``. A rule that the schema
    lists under ``x-warning`` is stricter than the earlier system was: breaking it is a warning.
    """
    return check_against(place, _validator(schema), prefix)


def check_against(place: Place, validator: Draft202012Validator, prefix: str) -> list[Problem]:
    """The same for a schema of another room."""
    problems: list[Problem] = []
    seen: set[tuple[str, str]] = set()
    for error in validator.iter_errors(place.value):
        where = place.descend(error.absolute_path)
        # jsonschema reports each missing member apart, without naming it in data: take them once.
        if (where.pointer, str(error.validator)) not in seen:
            rules = error.schema if isinstance(error.schema, dict) else {}
            softened = error.validator in rules.get("x-warning", ())
            problems.extend(
                replace(problem, severity="warning") if softened else problem
                for problem in _in_words(where, error, prefix)
            )
        if error.validator == "required":
            seen.add((where.pointer, "required"))
    return problems


def _in_words(place: Place, error: ValidationError, prefix: str) -> Iterator[Problem]:
    schema: dict[str, Any] = error.schema if isinstance(error.schema, dict) else {}
    rule: Any = error.validator_value
    hint = str(schema.get("description", ""))
    if "propertyNames" in error.absolute_schema_path:
        spot = place.member(str(error.instance)) or place
        yield spot.problem(f"{prefix}_VALUE", f"the name {error.instance!r} is not allowed", hint)
        return
    match error.validator:
        case "required":
            for missing in rule:
                if missing not in place.value:
                    about = schema.get("properties", {}).get(missing, {}).get("description", "")
                    message = f"the member {missing!r} is missing"
                    hint = about or f"add a line `{missing}:`"
                    yield place.problem(f"{prefix}_MISSING", message, hint)
        case "additionalProperties":
            known = list(schema.get("properties", {}))
            for extra in sorted(set(place.value) - set(known)):
                spot = place.member(extra) or place
                message = f"there is no member {extra!r} here"
                yield spot.problem(f"{prefix}_UNKNOWN", message, _closest(extra, known))
        case "type":
            kinds = rule if isinstance(rule, list) else [rule]
            named = " or ".join(kinds)
            message = f"{_name(place)} must be of type {named}, not {json_type(place.value)}"
            yield place.problem(f"{prefix}_TYPE", message, hint or _WRITE[kinds[0]])
        case _:
            message = f"{_shown(_bare(error.instance, place))} is not accepted for {_name(place)}"
            yield place.problem(f"{prefix}_VALUE", message, hint or error.message)


def _name(place: Place) -> str:
    parent, _, name = place.pointer.rpartition("/")
    if name.isdigit():
        return f"an element of {parent.rpartition('/')[2]}"
    return name or "the file"


def _closest(name: str, known: list[str]) -> str:
    near = get_close_matches(name, known, n=1)
    return f"did you mean {near[0]!r}?" if near else f"known are {', '.join(sorted(known))}"


def _bare(value: Any, place: Place) -> Any:
    """``value``, fit to be shown: of what stands among ``secrets`` and is no name of a variable,
    only the beginning. Somebody may have written the secret itself."""
    if "secrets" not in place.pointer.split("/"):
        return value
    if isinstance(value, list):
        return [_bare(one, place) for one in value]
    if not isinstance(value, str) or _VARIABLE.fullmatch(value):
        return value
    return f"{value[:_OF_A_SECRET]}…"


def _shown(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 60 else f"{text[:57]}..."


def json_type(value: Any) -> str:
    """The JSON name of a value's type; ``integer`` for whole numbers without a fraction."""
    match value:
        case None:
            return "null"
        case bool():
            return "boolean"
        case int():
            return "integer"
        case float():
            return "number"
        case str():
            return "string"
        case list():
            return "array"
    return "object"

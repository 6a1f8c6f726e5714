"""The value of a case's match: its type is that of the argument it is compared with."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from dcf.skills.authoring.case_path import CasePath
from dcf.skills.authoring.shape import json_type


@dataclass(frozen=True, slots=True)
class CaseValue:
    """``value`` as it is compared. ``changed``: it was converted. ``wanted``: the types that would
    fit, when the value has none of them and cannot be converted."""

    value: Any
    changed: bool = False
    wanted: tuple[str, ...] = ()


def case_value(
    strategy: str, path: CasePath | None, value: Any, params: dict[str, Any]
) -> CaseValue:
    """What a match compares with, given the schema of the tool's arguments.

    Text such as ``"5"`` becomes the number where the argument is one, because sources written for
    a comparison of texts quoted every value; likewise a number becomes text.
    """
    wanted = _wanted(strategy, path, params)
    if not wanted or _fits(value, wanted):
        return CaseValue(value)
    converted = _convert(value, wanted)
    if converted is None:
        return CaseValue(value, wanted=wanted)
    return CaseValue(converted, changed=True)


def _wanted(strategy: str, path: CasePath | None, params: dict[str, Any]) -> tuple[str, ...]:
    if strategy == "regex":
        return ("string",)
    types = _types(path.schema_in(params) if path else None)
    if strategy == "contains":
        return types if types == ("string",) else ()
    return types if strategy in ("exact", "jsonpath") else ()


def _types(schema: dict[str, Any] | None) -> tuple[str, ...]:
    declared = (schema or {}).get("type", ())
    return (declared,) if isinstance(declared, str) else tuple(declared)


def _fits(value: Any, wanted: tuple[str, ...]) -> bool:
    kind = json_type(value)
    if kind == "number" and float(value).is_integer():
        return "number" in wanted or "integer" in wanted
    return kind in wanted or (kind == "integer" and "number" in wanted)


def _convert(value: Any, wanted: tuple[str, ...]) -> Any:
    if isinstance(value, str):
        try:
            parsed = json.loads(value)
        except (ValueError, RecursionError):
            return None
        return parsed if parsed is not None and _fits(parsed, wanted) else None
    if "string" in wanted and isinstance(value, bool | int | float):
        return json.dumps(value)
    return None

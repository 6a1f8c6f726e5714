"""Choice rules in JSONPath as conditions of a procedure."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from dcf.planner.decompiling.jsonata_condition import NotPlain
from dcf.sop import (
    AllOf,
    AnyOf,
    Comparison,
    Condition,
    Constant,
    Match,
    Name,
    Not,
    Presence,
)

_PATH = re.compile(r"\$\.?([A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*)")
_OPERATORS = {
    "Equals": "==",
    "LessThan": "<",
    "LessThanEquals": "<=",
    "GreaterThan": ">",
    "GreaterThanEquals": ">=",
}
_COMPARISON = re.compile(r"(?:String|Numeric|Boolean|Timestamp)([A-Z]\w*?)(Path)?")


def read_rule(rule: Mapping[str, Any]) -> Condition:
    """The condition of a Choice rule. Raises ``NotPlain``."""
    if isinstance(rule.get("And"), list):
        return _joined(AllOf, rule["And"])
    if isinstance(rule.get("Or"), list):
        return _joined(AnyOf, rule["Or"])
    if isinstance(rule.get("Not"), Mapping):
        return Not(read_rule(rule["Not"]))
    name = Name(dotted(rule.get("Variable")))
    for field, value in rule.items():
        if field in ("Variable", "Next", "Comment", "Assign", "Output"):
            continue
        return _asked(name, field, value)
    raise NotPlain("a rule that compares nothing")


def _joined(kind: type[AllOf] | type[AnyOf], rules: list[Any]) -> Condition:
    parts = tuple(read_rule(rule) for rule in rules)
    return parts[0] if len(parts) == 1 else kind(parts)


def _asked(name: Name, field: str, value: Any) -> Condition:
    if field == "IsPresent" and isinstance(value, bool):
        return Presence(name) if value else Not(Presence(name))
    if field == "IsNull" and isinstance(value, bool):
        return Not(Presence(name)) if value else Presence(name)
    if field == "StringMatches" and isinstance(value, str):
        return Match(name, value)
    found = _COMPARISON.fullmatch(field)
    if found is None or found[1] not in _OPERATORS:
        raise NotPlain(field)
    right = Name(dotted(value)) if found[2] else Constant(value)
    return Comparison(name, _OPERATORS[found[1]], right)  # type: ignore[arg-type]


def dotted(path: Any) -> str:
    """``order.total`` for ``$.order.total``, and for ``$order.total``. Raises ``NotPlain``."""
    found = _PATH.fullmatch(path) if isinstance(path, str) else None
    if found is None:
        raise NotPlain(str(path))
    return found[1]

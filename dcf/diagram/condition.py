"""The condition of a Choice rule in a few words."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any

_SIGNS = {
    "Equals": "=",
    "LessThan": "<",
    "GreaterThan": ">",
    "LessThanEquals": "<=",
    "GreaterThanEquals": ">=",
    "Matches": "matches",
}
_KINDS = ("String", "Numeric", "Boolean", "Timestamp")
_DEEPEST = 8
# What binds otherwise than the "or" between conditions, or looks as if it did.
_MIXES = re.compile(r"\band\b|[?:]")
_QUOTED = re.compile(r""""[^"]*"|'[^']*'""")


def condition_of(rule: Any, depth: int = 0) -> str:
    """``$.total > 5 and not $.paid = true``; "" where the rule says nothing that can be read."""
    if not isinstance(rule, dict) or depth > _DEEPEST:
        return "…" if depth else ""
    if isinstance(rule.get("Condition"), str):
        return bare(rule["Condition"])
    for word, joint in (("And", " and "), ("Or", " or ")):
        if isinstance(rule.get(word), list):
            parts = [_grouped(part, word, depth) for part in rule[word]]
            return joint.join(part for part in parts if part)
    if "Not" in rule:
        return f"not {_grouped(rule['Not'], 'Not', depth)}"
    return _comparison(rule)


def either(conditions: Sequence[str]) -> str:
    """One of ``conditions``, of which each is a text in itself: ``(a and b) or c``."""
    if len(conditions) < 2:
        return "".join(conditions)
    return " or ".join(f"({one})" if _is_mixed(one) else one for one in conditions)


def _is_mixed(condition: str) -> bool:
    return _MIXES.search(_QUOTED.sub("", condition)) is not None


def bare(text: str) -> str:
    """An expression without the braces that mark it as JSONata, on one line."""
    inner = text.strip()
    if inner.startswith("{%") and inner.endswith("%}"):
        inner = inner[2:-2]
    return " ".join(inner.split())


def _grouped(rule: Any, outer: str, depth: int) -> str:
    text = condition_of(rule, depth + 1)
    inner = {"And", "Or"} & rule.keys() if isinstance(rule, dict) else set()
    return f"({text})" if inner - {outer} else text


def _comparison(rule: dict[str, Any]) -> str:
    variable = rule.get("Variable")
    subject = variable if isinstance(variable, str) else ""
    for operator, value in rule.items():
        if operator.startswith("Is") and isinstance(value, bool):
            return f"{subject} is {'' if value else 'not '}{_kind_tested(operator)}"
        sign = _sign(operator)
        if sign:
            return f"{subject} {sign} {_operand(operator, value)}"
    return subject


def _kind_tested(operator: str) -> str:
    kind = operator.removeprefix("Is").lower()
    return kind if kind in ("null", "present") else f"a {kind}"


def _sign(operator: str) -> str:
    rest = operator.removesuffix("Path")
    for kind in _KINDS:
        if rest.startswith(kind):
            return _SIGNS.get(rest.removeprefix(kind), "")
    return ""


def _operand(operator: str, value: Any) -> str:
    if operator.endswith("Path") and isinstance(value, str):
        return value
    try:
        return json.dumps(value, ensure_ascii=False)
    except (TypeError, ValueError):
        return "…"

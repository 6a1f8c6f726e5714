"""Why a Choice went where it went, in words of its definition: no value of a run is in them."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

_ORDERS = {
    "Equals": "is",
    "LessThan": "is below",
    "LessThanEquals": "is at most",
    "GreaterThan": "is above",
    "GreaterThanEquals": "is at least",
    "Matches": "matches",
}
_KINDS = {
    "IsNull": "null",
    "IsPresent": "present",
    "IsString": "a string",
    "IsNumeric": "a number",
    "IsBoolean": "true or false",
    "IsTimestamp": "a timestamp",
}
_OPERATOR = re.compile(rf"(?:String|Numeric|Timestamp|Boolean)({'|'.join(_ORDERS)})(Path)?")
_JSONATA = re.compile(r"\{%\s*(.*?)\s*%\}", re.DOTALL)
_LONGEST = 160
"""Characters of one condition."""


def choice_reason(state: Mapping[str, Any], chosen: str) -> str:
    """Why the Choice ``state``, as it is defined, went to ``chosen``: the rule that held, or those
    of which none did."""
    rules = list(_rules(state))
    held = [_condition(rule) for rule in rules if rule.get("Next") == chosen]
    if state.get("Default") != chosen:
        return " or ".join(held)
    if held:
        return " or ".join([*held, "no other rule held"])
    others = [f"{_condition(rule)} ({rule.get('Next')})" for rule in rules]
    return f"by default, since none of these held: {'; '.join(others)}"


def _rules(state: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    choices = state.get("Choices")
    if isinstance(choices, list):
        yield from (rule for rule in choices if isinstance(rule, Mapping))


def _condition(rule: Mapping[str, Any]) -> str:
    said = " ".join(_words(rule).split())
    return said if len(said) <= _LONGEST else f"{said[: _LONGEST - 1]}…"


def _words(rule: Mapping[str, Any]) -> str:
    if "Condition" in rule:
        text = str(rule["Condition"])
        inside = _JSONATA.fullmatch(text)
        return inside[1] if inside else text
    for name, joint in (("And", " and "), ("Or", " or ")):
        if name in rule:
            return joint.join(f"({_words(one)})" for one in rule[name])
    if "Not" in rule:
        return f"not ({_words(rule['Not'])})"
    return _comparison(rule)


def _comparison(rule: Mapping[str, Any]) -> str:
    variable = rule.get("Variable", "")
    for name, operand in rule.items():
        if name in _KINDS:
            return f"{variable} is {'' if operand else 'not '}{_KINDS[name]}"
        found = _OPERATOR.fullmatch(name)
        if found is not None:
            shown = operand if found[2] else json.dumps(operand, ensure_ascii=False)
            return f"{variable} {_ORDERS[found[1]]} {shown}"
    return str(variable)

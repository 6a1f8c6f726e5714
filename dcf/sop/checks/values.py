"""Inputs, outputs and roles: each named once, their values of their types."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from dcf.sop.findings import Findings
from dcf.sop.procedure import Sop, Value


def check_values(sop: Sop, findings: Findings) -> None:
    """Names that stand twice; defaults, examples and alternatives of another type; roles that
    nobody declared."""
    _check_list("input", sop.inputs, findings)
    _check_list("output", sop.outputs, findings)
    for output in sop.outputs:
        if output.default is not None:
            hint = "an output is what the steps write; inputs have defaults"
            message = f"the output {output.name!r} has a default"
            findings.add("SOP_VALUE", message, hint, output.line)
    _check_roles(sop, findings)


def _check_list(what: str, values: Iterable[Value], findings: Findings) -> None:
    seen: dict[str, int] = {}
    for value in values:
        if value.name in seen:
            first = f" (first on line {seen[value.name]})" if seen[value.name] else ""
            message = f"the {what} {value.name!r} stands twice{first}"
            findings.add("SOP_TWICE", message, "keep one of the two", value.line)
        seen.setdefault(value.name, value.line)
        _check_value(value, findings)
        _check_list("member", value.members, findings)


def _check_value(value: Value, findings: Findings) -> None:
    hint = f"write a value of type {value.type}, or change the type"
    for name, given in (
        *(("default", one) for one in (value.default,) if one is not None),
        *(("example", one) for one in (value.example,) if one is not None),
        *(("alternative", one) for one in value.enum),
    ):
        if not fits(given, value.type) or not _elements_fit(given, value):
            message = f"the {name} {given!r} of {value.name!r} is no {value.type}"
            findings.add("SOP_VALUE", message, hint, value.line)
        elif name != "alternative" and value.enum and given not in value.enum:
            message = f"the {name} {given!r} of {value.name!r} is none of its alternatives"
            findings.add("SOP_VALUE", message, "add it to them, or change it", value.line)


def _elements_fit(given: Any, value: Value) -> bool:
    if value.items is None or not isinstance(given, list):
        return True
    return all(fits(one, value.items) for one in given)


def fits(value: Any, type: str) -> bool:
    """Whether a JSON value is of the JSON type ``type``."""
    match type:
        case "string":
            return isinstance(value, str)
        case "boolean":
            return isinstance(value, bool)
        case "integer":
            return isinstance(value, int) and not isinstance(value, bool)
        case "number":
            return isinstance(value, int | float) and not isinstance(value, bool)
        case "array":
            return isinstance(value, list)
    return isinstance(value, dict)


def _check_people(sop: Sop, findings: Findings) -> None:
    named = [(role.name, role.line) for role in sop.roles]
    for step in sop.all_steps():
        by = step.approval.by if step.approval else ()
        named += [(name, step.line) for name in (*by, step.role or "")]
    for name, line in named:
        if "`" in name:
            hint = "write it without, or with one before and one after the whole name"
            findings.add("SOP_ROLE", f"the name {name!r} has a backtick in it", hint, line)


def _check_roles(sop: Sop, findings: Findings) -> None:
    seen: set[str] = set()
    for role in sop.roles:
        if role.name in seen:
            message = f"the role {role.name!r} stands twice"
            findings.add("SOP_TWICE", message, "keep one of the two", role.line)
        seen.add(role.name)
    _check_people(sop, findings)
    if not seen:
        return
    for step in sop.all_steps():
        for name in step.people if step.kind == "manual" else filter(None, (step.role,)):
            if name not in seen:
                message = (
                    f"step {step.number} names the role {name!r}, which is not among the roles"
                )
                hint = f"add it to the roles, or write one of {', '.join(sorted(seen))}"
                findings.add("SOP_ROLE", message, hint, step.line, "warning")

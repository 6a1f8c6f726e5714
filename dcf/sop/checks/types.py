"""Conditions that compare a declared value with a value of another type."""

from __future__ import annotations

from collections.abc import Iterator

from dcf.sop.checks.values import fits
from dcf.sop.condition import (
    AllOf,
    AnyOf,
    Comparison,
    Condition,
    Constant,
    Membership,
    Name,
    Not,
)
from dcf.sop.findings import Findings
from dcf.sop.language.condition_print import print_condition
from dcf.sop.procedure import Sop, Value
from dcf.sop.step import YES_OR_NO

_NUMBERS = ("number", "integer")


def check_types(sop: Sop, findings: Findings) -> None:
    """What is compared with a constant of a type that it never has: ``\\`confirmed\\` is no`` of a
    text is not ``"no"``, and never holds. Only inputs, outputs and choices have types."""
    declared = {one.name: one for one in (*sop.outputs, *sop.inputs, *_answers(sop))}
    items = {step.loop.item for step in sop.all_steps() if step.loop}
    for step in sop.all_steps():
        for branch in step.branches:
            for name, constant in _compared(branch.condition):
                value = None if name.root in items else _found(declared.get(name.root), name)
                if value is None or not value.is_typed or _may_equal(constant, value):
                    continue
                shown = print_condition(branch.condition)
                message = f"`{shown}` never compares alike: {name.path!r} is of type {value.type}"
                hint = _hint(constant, value)
                findings.add("SOP_TYPE", message, hint, branch.line or step.line)


def _answers(sop: Sop) -> Iterator[Value]:
    """What the choices of persons are known as; nothing else writes yes or no as true or false."""
    chosen: dict[str, set[str]] = {}
    written: list[str] = []
    for step in sop.all_steps():
        written += [one.target for one in step.writes]
        if step.kind == "manual" and step.choices and step.writes:
            chosen.setdefault(step.writes[0].target, set()).update(step.choices)
    for name, choices in chosen.items():
        if written.count(name) == 1:
            yield Value(name, "boolean" if choices == YES_OR_NO else "string")


def _compared(condition: Condition) -> Iterator[tuple[Name, Constant]]:
    match condition:
        case Comparison(name, _, Constant() as constant):
            yield name, constant
        case Membership(name, values):
            yield from ((name, one) for one in values)
        case Not(inner):
            yield from _compared(inner)
        case AllOf(parts) | AnyOf(parts):
            for part in parts:
                yield from _compared(part)


def _found(value: Value | None, name: Name) -> Value | None:
    """The declaration of ``name`` inside ``value``; None where there is none."""
    for member in name.path.split(".")[1:]:
        members = value.members if value is not None and value.type == "object" else ()
        value = next((one for one in members if one.name == member), None)
    return value


def _may_equal(constant: Constant, value: Value) -> bool:
    # 2.5 is no integer, and an integer may still be compared with it.
    kind = "number" if value.type in _NUMBERS else value.type
    return fits(constant.value, kind)


def _hint(constant: Constant, value: Value) -> str:
    if value.type == "string" and isinstance(constant.value, bool):
        return 'write the text in quotes ("no"), or declare the value as yes/no'
    if value.type == "string":
        return f'write "{constant.value}" in quotes, or declare the value as a number'
    return f"compare it with a value of type {value.type}, or declare another type"

"""A YAML text as a procedure: its shape is checked by the schema, its phrases by their readers."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from importlib.resources import files
from typing import Any

from jsonschema import Draft202012Validator

from dcf.skills import check_against, read_yaml
from dcf.sop.findings import Findings
from dcf.sop.procedure import Guardrail, Note, Role, Sop, Value
from dcf.sop.yaml_form.limits import read_budget_of, read_duration_of
from dcf.sop.yaml_form.steps import StepReader

SCHEMA = "sop.schema.json"


def read_yaml_form(text: str, findings: Findings) -> Sop | None:
    """The procedure in ``text`` as far as it can be read; None when its shape is wrong. Problems go
    to ``findings``; checks of the whole are not made here."""
    document, problems = read_yaml(text, findings.file)
    findings.problems += [
        replace(one, code=one.code.replace("SKILL_", "SOP_", 1), file=one.file or None)
        for one in problems
    ]
    if document is None:
        return None
    root = document.root
    shape = check_against(root, validator(), "SOP")
    findings.problems += [replace(one, file=one.file or None) for one in shape]
    if shape:
        return None
    return _Reader(root, findings).sop()


@cache
def schema_text() -> str:
    """The JSON Schema (2020-12) of the YAML form."""
    return (files("dcf.sop") / "schemas" / SCHEMA).read_text(encoding="utf-8")


@cache
def validator() -> Draft202012Validator:
    return Draft202012Validator(json.loads(schema_text()))


class _Reader:
    """``place`` is a value of the document with its mark, of the shape that the schema demands."""

    def __init__(self, root: Any, findings: Findings) -> None:
        self._root = root
        self._findings = findings

    def sop(self) -> Sop:
        root, findings = self._root, self._findings
        read = {
            name: tuple(make(one) for one in _elements(root, name)) for name, make in _LISTS.items()
        }
        steps = StepReader(findings).steps(root.member("steps"), "")
        return Sop(
            root.text("title") or "",
            root.text("objective") or "",
            steps,
            deadline=read_duration_of(root.member("deadline"), findings),
            budget=read_budget_of(root.member("budget"), findings),
            **read,
        )


def _elements(place: Any, name: str) -> list[Any]:
    inside = place.member(name)
    return list(inside.elements()) if inside else []


def _value(place: Any) -> Value:
    given = {
        name: place.value[name]
        for name in ("type", "items", "description", "default", "example")
        if name in place.value
    }
    return Value(
        place.text("name"),
        required=place.value.get("required", "default" not in place.value),
        enum=tuple(place.value.get("enum", ())),
        members=tuple(_value(one) for one in _elements(place, "members")),
        line=place.mark[0],
        is_typed="type" in given,
        **given,
    )


def _role(place: Any) -> Role:
    return Role(place.text("name"), place.text("description") or "", place.mark[0])


def _note(place: Any) -> Note:
    return Note(place.text("title"), place.text("text"), place.mark[0])


def _guardrail(place: Any) -> Guardrail:
    return Guardrail(place.value, place.mark[0])


_LISTS: dict[str, Callable[[Any], Any]] = {
    "inputs": _value,
    "outputs": _value,
    "guardrails": _guardrail,
    "roles": _role,
    "notes": _note,
}

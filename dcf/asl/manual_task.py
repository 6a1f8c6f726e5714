"""``manual``: what a person does of a Task, and answers (an extension of the language).

It stands in the AgentBinding of a Task, in place of skills. What is to be done is the state's
``Comment``; how long the person has is its ``TimeoutSeconds``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from dcf.asl.payload import JSON, excerpt, kind
from dcf.asl.reading.binding import FIELDS
from dcf.asl.reading.fields import check_fields
from dcf.asl.reading.findings import child
from dcf.asl.reading.node import OUT_OF_RANGE, WRONG_TYPE, Node

MANUAL = "manual"
MANUAL_TASK_FAILED = "DCF.ManualTaskFailed"
"""The error of a manual task of which its person says that it could not be done."""
OUR_MEMBERS = ("answer", "by", "note", "at")
"""What the result of a manual task has besides what the person reports."""

_FIELDS = frozenset({"by", "choices", "result"})
_OF_AGENTS = FIELDS - {MANUAL, "task_type"}
_CLASH = "ASL_FIELD_CLASH"
_SAMPLES: dict[str, JSON] = {
    "string": "",
    "integer": 0,
    "number": 0,
    "boolean": False,
    "array": [],
    "object": {},
}


@dataclass(frozen=True, slots=True)
class ManualTask:
    """``by`` are roles or people, any one of whom does it; the operator where nobody is named. With
    ``choices`` they pick one. ``result`` is the schema of the object that they report, None where
    that is left to them."""

    by: tuple[str, ...] = ()
    choices: tuple[str, ...] = ()
    result: dict[str, Any] | None = None

    def faults(self, answer: str | None, reported: JSON) -> list[str]:
        """What is wrong with an answer: the choice, or what is ``reported`` beside it."""
        found = []
        offered = ", ".join(self.choices)
        if self.choices and answer is None:
            found.append(f"one of the choices has to be picked: {offered}")
        elif self.choices and answer not in self.choices:
            found.append(f"{answer!r} is none of the choices: {offered}")
        elif not self.choices and answer is not None:
            found.append(f"there is nothing to choose, and {answer!r} was chosen")
        if not isinstance(reported, dict):
            return [*found, f"what is reported is an object, found {kind(reported)}"]
        ours = [name for name in OUR_MEMBERS if name in reported]
        if ours:
            found.append(f"`{ours[0]}` is filled in by itself and cannot be reported")
        if self.result is not None:
            found += _unlike(self.result, reported)
        return found

    def assumed(self) -> dict[str, JSON]:
        """The result where nobody is asked, in a simulation: done by the first of those who may,
        with the first choice, and of what has to be reported the ``default``, the first of
        ``enum``, or the least value of its type."""
        members = (self.result or {}).get("properties", {})
        required = (self.result or {}).get("required", ())
        reported = {name: _sample(members.get(name)) for name in required}
        answer = {"answer": self.choices[0]} if self.choices else {}
        by = self.by[0] if self.by else "operator"
        return {**reported, **answer, "by": by, "note": "assumed", "at": 0}


def read_manual(state: Node, binding: Node) -> ManualTask | None:
    """The manual task in an AgentBinding of ``state``; None without one. What is wrong goes to its
    findings."""
    node = binding.node(MANUAL)
    if node is None:
        return None
    check_fields(node, _FIELDS, f"`{MANUAL}`")
    for field in binding.value:
        if field in _OF_AGENTS:
            message = f"a person does a manual task, so `{field}` means nothing"
            binding.error(_CLASH, field, message, "leave it out, or make it a task of its own")
    if "Resource" in state:
        message = "a person does a manual task, so `Resource` means nothing"
        state.error(_CLASH, "Resource", message, "leave it out, or make it a task of its own")
    for field in ("HeartbeatSeconds", "HeartbeatSecondsPath"):
        if field in state:
            message = f"a person shows no signs of life, so `{field}` means nothing"
            state.error(_CLASH, field, message, "limit the whole task by `TimeoutSeconds`")
    if not state.value.get("Comment"):
        hint = "write what the person is to do, with all that they have to know"
        state.missing(
            "Comment", "a manual task needs `Comment`, which says what is to be done", hint
        )
    return ManualTask(_texts(node, "by"), _texts(node, "choices"), _result(node))


def _texts(node: Node, field: str) -> tuple[str, ...]:
    """The texts in an array, each once and none of them empty."""
    found: list[str] = []
    said = node.array(field)
    if said == []:
        node.error(OUT_OF_RANGE, field, f"`{field}` is empty", "leave it out")
    for index, one in enumerate(said or ()):
        place = child(node.place(field), index)
        if not isinstance(one, str) or not one:
            message = f"`{field}` holds texts, found {excerpt(one)}"
            node.findings.error(WRONG_TYPE, place, message, "write a text in quotes")
        elif one in found:
            message = f"{excerpt(one)} stands twice"
            node.findings.error(OUT_OF_RANGE, place, message, "keep one of the two")
        else:
            found.append(one)
    return tuple(found)


def _result(node: Node) -> dict[str, Any] | None:
    inner = node.node("result")
    if inner is None:
        return None
    from dcf.schema import SchemaUnusable, schema_of

    schema: dict[str, Any] = inner.value
    try:
        schema_of(schema)
    except SchemaUnusable as unusable:
        place = child(inner.pointer, *unusable.path)
        message = f"this is no JSON Schema: {unusable}"
        inner.findings.error(WRONG_TYPE, place, message, "see https://json-schema.org")
        return None
    if schema.get("type") != "object":
        hint = '{"type": "object", "properties": {"ticket": {"type": "string"}}}'
        message = "what a person reports is an object, and `result` is the schema of another type"
        inner.error(OUT_OF_RANGE, "", message, f"write a schema such as {hint}")
    for name in OUR_MEMBERS:
        if name in schema.get("properties", {}):
            place = child(inner.place("properties"), name)
            message = f"`{name}` is filled in by itself, as are {', '.join(OUR_MEMBERS)}"
            inner.findings.error(OUT_OF_RANGE, place, message, "call it something else")
    return schema


def _unlike(schema: dict[str, Any], reported: JSON) -> list[str]:
    """By what ``reported`` does not fit ``schema``."""
    from dcf.schema import SchemaUnusable, schema_of

    try:
        faults = schema_of(schema).faults(reported)
    except SchemaUnusable as unusable:
        return [f"it cannot be compared with the schema of the task: {unusable}"]
    places = ["/".join(map(str, one.absolute_path)) for one in faults]
    return [
        f"{place}: {one.message}" if place else one.message
        for place, one in zip(places, faults, strict=True)
    ]


def _sample(schema: Any) -> JSON:
    wanted = schema if isinstance(schema, dict) else {}
    least = _SAMPLES.get(str(wanted.get("type", "string")))
    first: JSON = (wanted.get("enum") or [least])[0]
    return wanted.get("default", first)

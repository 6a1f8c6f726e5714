"""Rules that the grammar does not tell, broken in turn: of the text, of the kind of machine, and
those that only warn, where an author hardly meant what stands there.

``ways`` finds every place of a definition; a slip is put wherever a machine gives the chance.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from machine_mutants import Way, pointer, put
from sound_machines import LAMBDA

from dcf.asl import validate
from dcf.asl.reading.source import MAX_DEFINITION, read_json, too_large
from dcf.problem import Problem

_MARK = "\x01mark"


@dataclass(frozen=True)
class Slip:
    """``problems()`` of it have ``code`` at ``pointer``."""

    code: str
    pointer: str
    problems: Callable[[], list[Problem]]


def slips(root: dict[str, Any]) -> Iterator[Slip]:
    """All slips of a definition."""
    yield from _in_text(root)
    yield from _no_json(root)
    yield from _in_kind(root)
    yield from _unlikely(root)


def _judged(code: str, place: str, definition: Any, **how: Any) -> Slip:
    return Slip(code, place, lambda: validate(definition, **how))


def _in_text(root: dict[str, Any]) -> Iterator[Slip]:
    """Slips of the text: each at every place where it can be."""
    text = json.dumps(root)
    yield _written("ASL_JSON_SYNTAX", "", text[:-1])
    yield _written("ASL_JSON_SYNTAX", "", f"{text[:-1]},}}")
    deep = json.dumps({**root, "Comment": _MARK}).replace(json.dumps(_MARK), "[" * 100 + "]" * 100)
    yield _written("ASL_TOO_DEEP", pointer(("Comment", *[0] * 99)), deep)
    longer = json.dumps({**root, "Comment": "x" * MAX_DEFINITION})
    yield _written("ASL_TOO_LARGE", "", longer)
    for way, value in ways(root):
        here = pointer(way)
        if isinstance(value, dict) and value:
            name = json.dumps(next(iter(value)))
            twice = _marked(root, (*way, _MARK)).replace(f"{json.dumps(_MARK)}:", f"{name}:")
            yield _written("ASL_JSON_DUPLICATE_KEY", pointer((*way, next(iter(value)))), twice)
        elif isinstance(value, (int, float)) and not isinstance(value, bool):
            marked, mark = _marked(root, way), json.dumps(_MARK)
            yield _written("ASL_JSON_NOT_FINITE", here, marked.replace(mark, "-Infinity"))
            yield _written("ASL_JSON_NUMBER", here, marked.replace(mark, "9" * 4301))
        elif isinstance(value, str):
            yield _written("ASL_JSON_NOT_UNICODE", here, json.dumps(put(root, way, "\ud800")))


def _marked(root: dict[str, Any], way: Way) -> str:
    return json.dumps(put(root, way, _MARK))


def _written(code: str, place: str, text: str) -> Slip:
    def problems() -> list[Problem]:
        if len(text) > MAX_DEFINITION:
            return [too_large(len(text))]
        value, found = read_json(text)
        return found or validate(value)

    return Slip(code, place, problems)


def _no_json(root: dict[str, Any]) -> Iterator[Slip]:
    """Values that JSON has not, in place of every text."""
    for way, value in ways(root):
        if isinstance(value, str):
            for wrong in (float("nan"), (), b"x"):
                yield _judged("ASL_NOT_JSON", pointer(way), put(root, way, wrong))


def _in_kind(root: dict[str, Any]) -> Iterator[Slip]:
    """What a machine that is EXPRESS, or only for AWS, may not have; and labels."""
    for way, state in ways(root):
        if not isinstance(state, dict):
            continue
        if state.get("Type") == "Task" and "Resource" in state:
            place = (*way, "Resource")
            for waits in (f"{LAMBDA}.waitForTaskToken", "arn:aws:states:::batch:submitJob.sync"):
                yield _judged("ASL_EXPRESS_UNSUPPORTED", pointer(place),
                              put(root, place, waits), type="EXPRESS")  # fmt: skip
            yield _judged("ASL_NOT_ON_AWS", pointer(place), put(root, place, "send-mail"),
                          only_aws=True)  # fmt: skip
            yield _judged("ASL_UNKNOWN_RESOURCE", pointer(place),
                          put(root, place, f"{LAMBDA}.waitForTaskTokn"))  # fmt: skip
        if state.get("ProcessorConfig", {}).get("Mode") == "DISTRIBUTED":
            mode = pointer((*way, "ProcessorConfig", "Mode"))
            yield _judged("ASL_EXPRESS_UNSUPPORTED", mode, root, type="EXPRESS")
    if "Label" in root["States"]["S"]:
        states = {**root["States"], "Twin": {**root["States"]["S"], "Next": "Last"}}
        states["S"] = {**states["S"], "Next": "Twin"}
        yield _judged("ASL_DUPLICATE_LABEL", "/States/Twin/Label", {**root, "States": states})


_CHILD = {
    "ProcessorConfig": {"Mode": "DISTRIBUTED", "ExecutionType": "STANDARD"},
    "StartAt": "Child",
    "States": {"Child": {"Type": "Pass", "End": True}},
}


def _writes_own(name: str) -> dict[str, Any]:
    state = {"Type": "Pass", "QueryLanguage": "JSONata", "Output": {"own": 1}, "End": True}
    return {"StartAt": name, "States": {name: state}}


_UNLIKELY: dict[str, tuple[Way, dict[str, Any]]] = {
    "ASL_PARQUET_UNREAD": (
        ("ItemReader", "ReaderConfig", "InputType"),
        {
            "Type": "Map",
            "ItemProcessor": _CHILD,
            "ItemReader": {
                "Resource": "arn:aws:states:::s3:getObject",
                "ReaderConfig": {"InputType": "PARQUET"},
            },
        },
    ),
    "ASL_NO_SKILLS": (
        ("AgentBinding", "skills"),
        {"Type": "Task", "AgentBinding": {"skills": []}},
    ),
    "ASL_NO_MEMORY": (
        ("ItemProcessor", "States", "Child", "AgentBinding", "memory", "note"),
        {
            "Type": "Map",
            "memory": {"scope": "none"},
            "ItemProcessor": {
                "StartAt": "Child",
                "States": {
                    "Child": {
                        "Type": "Task",
                        "AgentBinding": {"memory": {"note": "$.text"}},
                        "End": True,
                    }
                },
            },
        },
    ),
    "ASL_VARIABLE_HIDDEN": (
        ("Branches", 0, "States", "Branch", "Assign", "own"),
        {
            "Type": "Parallel",
            "Assign": {"own": 1},
            "Branches": [
                {
                    "StartAt": "Branch",
                    "States": {"Branch": {"Type": "Pass", "Assign": {"own": 2}, "End": True}},
                }
            ],
        },
    ),
    "ASL_UNKNOWN_ERROR_NAME": (
        ("Retry", 0, "ErrorEquals", 0),
        {"Type": "Task", "Resource": LAMBDA, "Retry": [{"ErrorEquals": ["States.Timout"]}]},
    ),
}
"""A state by its code: where the problem is, and the state, in any language."""
_UNLIKELY_JSONPATH: dict[str, tuple[Way, dict[str, Any]]] = {
    "ASL_VARIABLE_NEVER_ASSIGNED": (
        ("Parameters", "a.$"),
        {"Type": "Pass", "Parameters": {"a.$": "$nobody.a"}},
    ),
    "ASL_CONSTANT_PATH": (("Parameters", "a"), {"Type": "Pass", "Parameters": {"a": "$.a.b"}}),
    "ASL_STATIC_RESULT": (("Result", "a.$"), {"Type": "Pass", "Result": {"a.$": "$.a"}}),
    "ASL_JSONATA_IN_JSONPATH": (
        ("Parameters", "a"),
        {"Type": "Pass", "Parameters": {"a": "{% $states.input.a %}"}},
    ),
}
_UNLIKELY_JSONATA: dict[str, tuple[Way, dict[str, Any]]] = {
    "ASL_UNKNOWN_FUNCTION": (("Output",), {"Type": "Pass", "Output": "{% $uppercas('a') %}"}),
    "ASL_NOT_IN_STATES": (("Output",), {"Type": "Pass", "Output": "{% $states.contxt %}"}),
    "ASL_NOT_EVALUATED": (("Output",), {"Type": "Pass", "Output": "an {% $states.input %}"}),
    "ASL_MERGED_BRANCHES": (
        ("Branches", 1, "States", "B", "Output", "own"),
        {
            "Type": "Parallel",
            "Branches": [_writes_own("A"), _writes_own("B")],
            "Output": "{% $merge($states.result) %}",
        },
    ),
    "ASL_VARIABLE_TOO_EARLY": (
        ("Output",),
        {"Type": "Pass", "Assign": {"early": 1}, "Output": "{% $early %}"},
    ),
}


def _unlikely(root: dict[str, Any]) -> Iterator[Slip]:
    """A state more, to which StartAt leads, and which a warning is about."""
    jsonata = root.get("QueryLanguage") == "JSONata"
    states = dict(_UNLIKELY_JSONATA)
    if not jsonata:
        states |= _UNLIKELY | _UNLIKELY_JSONPATH
    for code, (way, state) in states.items():
        spoken = {"QueryLanguage": "JSONata"} if code in _UNLIKELY_JSONATA and not jsonata else {}
        odd = {**state, **spoken, "Next": root["StartAt"]}
        yield _judged(code, pointer(("States", "Odd", *way)), _begun(root, Odd=odd))
    loop = {"Type": "Pass", "Next": "Odd"}
    endless = _begun(root, Way=_fork(root, "Odd"), Odd=loop)
    yield _judged("ASL_CYCLE_WITHOUT_EXIT", "/States/Odd", endless)
    if not jsonata:
        task = {"Type": "Task", "Resource": LAMBDA, "Next": "Odd"}
        reads = {"Type": "Pass", "InputPath": "$.order", "Next": root["StartAt"]}
        dropped = _begun(root, Way=task, Odd=reads)
        yield _judged("ASL_DROPPED_FIELD", "/States/Odd/InputPath", dropped)


def _begun(root: dict[str, Any], **more: dict[str, Any]) -> dict[str, Any]:
    """``root``, begun with the first of ``more``."""
    return {**root, "StartAt": next(iter(more)), "States": {**more, **root["States"]}}


def _fork(root: dict[str, Any], other: str) -> dict[str, Any]:
    rule: dict[str, Any] = {"Variable": "$.go", "IsPresent": True, "Next": other}
    if root.get("QueryLanguage") == "JSONata":
        rule = {"Condition": "{% $exists($states.input.go) %}", "Next": other}
    return {"Type": "Choice", "Choices": [rule], "Default": root["StartAt"]}


def ways(value: Any, way: Way = ()) -> Iterator[tuple[Way, Any]]:
    """Every place in ``value``, with what stands there."""
    yield way, value
    if isinstance(value, (dict, list)):
        for step, inner in value.items() if isinstance(value, dict) else enumerate(value):
            yield from ways(inner, (*way, step))

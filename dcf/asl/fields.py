"""Which field may stand where, and which fields the language has but this version has not."""

from __future__ import annotations

import difflib
from collections.abc import Iterable

from dcf.asl.node import Node

_ANY = frozenset({"Type", "Comment", "QueryLanguage"})
_MOVING = frozenset({"Next", "End", "Assign"})
_IO = frozenset({"InputPath", "OutputPath"})
_RESULT = frozenset({"ResultPath", "ResultSelector"})
_ERRORS = frozenset({"Retry", "Catch"})

STATE_FIELDS: dict[str, frozenset[str]] = {
    "Task": _ANY
    | _MOVING
    | _ERRORS
    | {"Resource", "AgentBinding", "Credentials", "TimeoutSeconds", "HeartbeatSeconds"},
    "Pass": _ANY | _MOVING,
    "Choice": _ANY | {"Choices", "Default", "Assign"},
    "Wait": _ANY | _MOVING | {"Seconds", "Timestamp"},
    "Succeed": _ANY,
    "Fail": _ANY | {"Error", "Cause"},
    "Parallel": _ANY | _MOVING | _ERRORS | {"Branches"},
    "Map": _ANY
    | _MOVING
    | _ERRORS
    | {"ItemProcessor", "Iterator", "ItemReader", "ItemSelector", "ItemBatcher", "ResultWriter"}
    | {"MaxConcurrency", "ToleratedFailureCount", "ToleratedFailurePercentage", "Label"},
}
"""What a state of each type may have in either query language."""

JSONPATH_FIELDS: dict[str, frozenset[str]] = {
    "Task": _IO | _RESULT | {"Parameters", "TimeoutSecondsPath", "HeartbeatSecondsPath"},
    "Pass": _IO | {"Result", "ResultPath", "Parameters"},
    "Choice": _IO,
    "Wait": _IO | {"SecondsPath", "TimestampPath"},
    "Succeed": _IO,
    "Fail": frozenset({"ErrorPath", "CausePath"}),
    "Parallel": _IO | _RESULT | {"Parameters"},
    "Map": _IO
    | _RESULT
    | {"ItemsPath", "Parameters", "MaxConcurrencyPath"}
    | {"ToleratedFailureCountPath", "ToleratedFailurePercentagePath"},
}
"""What it may have besides where JSONPath holds."""

JSONATA_FIELDS: dict[str, frozenset[str]] = {
    "Task": frozenset({"Arguments", "Output"}),
    "Pass": frozenset({"Output"}),
    "Choice": frozenset({"Output"}),
    "Wait": frozenset({"Output"}),
    "Succeed": frozenset({"Output"}),
    "Fail": frozenset(),
    "Parallel": frozenset({"Arguments", "Output"}),
    "Map": frozenset({"Items", "Output"}),
}
"""What it may have besides where JSONata holds."""

MACHINE_FIELDS = frozenset({"Comment", "StartAt", "States", "QueryLanguage"})
ROOT_FIELDS = MACHINE_FIELDS | {"Version", "TimeoutSeconds"}
PROCESSOR_FIELDS = MACHINE_FIELDS | {"ProcessorConfig"}


def check_state_fields(node: Node, state_type: str, jsonata: bool) -> None:
    """Report each field that a state of this type may not have in its query language."""
    here, there = (
        (JSONATA_FIELDS, JSONPATH_FIELDS) if jsonata else (JSONPATH_FIELDS, JSONATA_FIELDS)
    )
    allowed = STATE_FIELDS[state_type] | here[state_type]
    for field in node.value:
        if field in allowed:
            continue
        if field in there[state_type]:
            spoken, other = ("JSONata", "JSONPath") if jsonata else ("JSONPath", "JSONata")
            message = f"`{field}` belongs to {other}, and this state speaks {spoken}"
            hint = f"set `QueryLanguage` to `{other}`, or use the fields of {spoken}"
            node.error("ASL_WRONG_QUERY_LANGUAGE", field, message, hint)
        else:
            _refuse(node, field, f"a {state_type} state", allowed)


def check_fields(node: Node, allowed: frozenset[str], owner: str) -> None:
    """Report each field of ``node`` that is not ``allowed`` in ``owner``."""
    for field in node.value:
        if field not in allowed:
            _refuse(node, field, owner, allowed)


def closest_hint(field: str, names: Iterable[str]) -> str:
    """``did you mean …?``, or which names there are."""
    known = sorted(names)
    closest = difflib.get_close_matches(field, known, 1)
    if closest:
        return f"did you mean `{closest[0]}`?"
    return "known here: " + ", ".join(f"`{name}`" for name in known)


def _refuse(node: Node, field: str, owner: str, allowed: frozenset[str]) -> None:
    message = f"{owner} has no field `{field}`"
    node.error("ASL_UNKNOWN_FIELD", field, message, closest_hint(field, allowed))

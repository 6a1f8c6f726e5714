"""Which field may stand where, and which fields the language has but this version has not."""

from __future__ import annotations

import difflib
from collections.abc import Iterable

from dcf.asl.node import Node

_ANY = frozenset({"Type", "Comment", "QueryLanguage"})
_MOVING = frozenset({"Next", "End"})
_IO = frozenset({"InputPath", "OutputPath"})
_RESULT = frozenset({"ResultPath", "ResultSelector"})
_ERRORS = frozenset({"Retry", "Catch"})

STATE_FIELDS: dict[str, frozenset[str]] = {
    "Task": _ANY
    | _MOVING
    | _IO
    | _RESULT
    | _ERRORS
    | {"Resource", "AgentBinding", "Parameters", "TimeoutSeconds", "HeartbeatSeconds"},
    "Pass": _ANY | _MOVING | _IO | {"Result", "ResultPath", "Parameters"},
    "Choice": _ANY | _IO | {"Choices", "Default"},
    "Wait": _ANY | _MOVING | _IO | {"Seconds", "SecondsPath", "Timestamp", "TimestampPath"},
    "Succeed": _ANY | _IO,
    "Fail": _ANY | {"Error", "ErrorPath", "Cause", "CausePath"},
    "Parallel": _ANY | _MOVING | _IO | _RESULT | _ERRORS | {"Branches", "Parameters"},
    "Map": _ANY
    | _MOVING
    | _IO
    | _RESULT
    | _ERRORS
    | {"ItemProcessor", "Iterator", "ItemsPath", "ItemSelector", "Parameters", "MaxConcurrency"},
}
MACHINE_FIELDS = frozenset({"Comment", "StartAt", "States", "QueryLanguage"})
ROOT_FIELDS = MACHINE_FIELDS | {"Version", "TimeoutSeconds"}
PROCESSOR_FIELDS = MACHINE_FIELDS | {"ProcessorConfig"}

_VARIABLES = "keep the value in the state's data with `ResultPath`"
_DISTRIBUTED = "use an inline Map: `ItemsPath` over an array in the data"
LATER_FIELDS: dict[str, tuple[frozenset[str], str]] = {
    "Assign": (
        frozenset({"Task", "Pass", "Choice", "Wait", "Parallel", "Map"}),
        _VARIABLES,
    ),
    "Arguments": (frozenset({"Task", "Parallel"}), "use `Parameters`"),
    "Output": (
        frozenset({"Task", "Pass", "Choice", "Wait", "Succeed", "Parallel", "Map"}),
        "use `ResultSelector`, `ResultPath` and `OutputPath`",
    ),
    "Credentials": (frozenset({"Task"}), "leave it out: permissions come from skills"),
    "TimeoutSecondsPath": (frozenset({"Task"}), "use `TimeoutSeconds` with a number"),
    "HeartbeatSecondsPath": (frozenset({"Task"}), "use `HeartbeatSeconds` with a number"),
    "Items": (frozenset({"Map"}), "use `ItemsPath`"),
    "MaxConcurrencyPath": (frozenset({"Map"}), "use `MaxConcurrency` with a number"),
    "ItemReader": (frozenset({"Map"}), _DISTRIBUTED),
    "ItemBatcher": (frozenset({"Map"}), _DISTRIBUTED),
    "ResultWriter": (frozenset({"Map"}), "the Map's result is its output: use `ResultPath`"),
    "Label": (frozenset({"Map"}), "leave it out: only a distributed Map has a label"),
    "ToleratedFailureCount": (frozenset({"Map"}), "use `Catch` inside the item processor"),
    "ToleratedFailureCountPath": (frozenset({"Map"}), "use `Catch` inside the item processor"),
    "ToleratedFailurePercentage": (frozenset({"Map"}), "use `Catch` inside the item processor"),
    "ToleratedFailurePercentagePath": (
        frozenset({"Map"}),
        "use `Catch` inside the item processor",
    ),
}


def check_state_fields(node: Node, state_type: str) -> None:
    """Report each field that a state of this type may not have."""
    allowed = STATE_FIELDS[state_type]
    for field in node.value:
        if field in allowed:
            continue
        types, instead = LATER_FIELDS.get(field, (frozenset(), ""))
        if state_type in types:
            node.findings.not_supported(node.place(field), f"`{field}`", instead)
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

"""Which field may stand where, and which fields exclude one another."""

from __future__ import annotations

import difflib
from collections.abc import Collection, Iterable

from dcf.asl.reading.node import Node

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
    "Parallel": _ANY | _MOVING | _ERRORS | {"Branches", "memory"},
    "Map": _ANY
    | _MOVING
    | _ERRORS
    | {"ItemProcessor", "Iterator", "ItemReader", "ItemSelector", "ItemBatcher", "ResultWriter"}
    | {"MaxConcurrency", "ToleratedFailureCount", "ToleratedFailurePercentage", "Label"}
    | {"memory"},
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

BRANCH_FIELDS = frozenset({"Comment", "StartAt", "States"})
ROOT_FIELDS = BRANCH_FIELDS | {"QueryLanguage", "Version", "TimeoutSeconds"}
PROCESSOR_FIELDS = BRANCH_FIELDS | {"ProcessorConfig"}

EXCLUSIVE_FIELDS: tuple[tuple[str, str], ...] = (
    ("TimeoutSeconds", "TimeoutSecondsPath"),
    ("HeartbeatSeconds", "HeartbeatSecondsPath"),
    ("MaxConcurrency", "MaxConcurrencyPath"),
    ("ToleratedFailureCount", "ToleratedFailureCountPath"),
    ("ToleratedFailurePercentage", "ToleratedFailurePercentagePath"),
    ("MaxItemsPerBatch", "MaxItemsPerBatchPath"),
    ("MaxInputBytesPerBatch", "MaxInputBytesPerBatchPath"),
    ("MaxItems", "MaxItemsPath"),
    ("Error", "ErrorPath"),
    ("Cause", "CausePath"),
)
"""A value and the path to it: only one of the two may stand in an object."""

_PLACES = {"memory": "it stands in the `AgentBinding` of a Task, and in a Map or Parallel"}
"""Where a field belongs that is known elsewhere."""

_MANY = 8
"""Most names that a hint lists."""

_ALIKE, _ALIKE_BEGUN, _BEGINNING = 0.75, 0.65, 4
"""How much of two names is the same where one is meant by the other; less will do where so many
letters at the beginning are."""


def check_state_fields(node: Node, state_type: str, jsonata: bool, *, either: bool) -> None:
    """Report each field that a state of this type may not have in its query language.

    ``either``: which language it should speak is in doubt, so fields of both may stand.
    """
    here, there = (
        (JSONATA_FIELDS, JSONPATH_FIELDS) if jsonata else (JSONPATH_FIELDS, JSONATA_FIELDS)
    )
    allowed = STATE_FIELDS[state_type] | here[state_type]
    for field in node.value:
        if field in allowed:
            continue
        if field in there[state_type]:
            if not either:
                refuse_language(node, field, jsonata)
        else:
            _refuse(node, field, f"a {state_type} state", allowed)


def check_language_fields(
    node: Node, jsonata: bool, of_jsonpath: Collection[str], of_jsonata: Collection[str]
) -> None:
    """Report each field of ``node`` that only the query language has which is not spoken."""
    for field in of_jsonpath if jsonata else of_jsonata:
        if field in node:
            refuse_language(node, field, jsonata)


def refuse_language(node: Node, field: str, jsonata: bool) -> None:
    """Report a field of the query language that ``node`` does not speak."""
    spoken, other = ("JSONata", "JSONPath") if jsonata else ("JSONPath", "JSONata")
    message = f"`{field}` belongs to {other}, and this state speaks {spoken}"
    hint = f"set `QueryLanguage` to `{other}`, or use the fields of {spoken}"
    aws = (
        f"The QueryLanguage is set to '{spoken}', but field '{field}' is only supported for the"
        f" '{other}' QueryLanguage"
    )
    node.error("ASL_WRONG_QUERY_LANGUAGE", field, message, hint, aws)


def check_exclusive(node: Node, jsonata: bool) -> None:
    """Report each value that is given both as a field and as a path.

    Where JSONata is spoken the path alone is wrong already.
    """
    if jsonata:
        return
    for field, path in EXCLUSIVE_FIELDS:
        if field in node and path in node:
            message = f"`{field}` and `{path}` exclude each other"
            aws = f"There should only be one of the following fields: [{field}, {path}]"
            node.error("ASL_FIELD_CLASH", path, message, "keep one of them", aws)


def check_fields(node: Node, allowed: frozenset[str], owner: str) -> None:
    """Report each field of ``node`` that is not ``allowed`` in ``owner``."""
    for field in node.value:
        if field not in allowed:
            _refuse(node, field, owner, allowed)


def closest_hint(field: str, names: Iterable[str]) -> str:
    """``did you mean …?``, or which names there are."""
    known = sorted(names)
    closest = nearest(field, known)
    if closest is not None:
        return f"did you mean `{closest}`?"
    more = f" and {len(known) - _MANY} more" if len(known) > _MANY else ""
    return "known here: " + ", ".join(f"`{name}`" for name in known[:_MANY]) + more


def nearest(name: str, names: Iterable[str]) -> str | None:
    """The one of ``names`` of which ``name`` is a likely misspelling, as ``States.Timout`` is of
    ``States.Timeout``; None where there is none, as for ``States.Foo``."""
    written, known = _compared(name), {_compared(one): one for one in names}
    for best in difflib.get_close_matches(written, known, 1, _ALIKE_BEGUN):
        begins_alike = written[:_BEGINNING] == best[:_BEGINNING]
        has_swapped = sorted(written) == sorted(best)
        if (
            begins_alike
            or has_swapped
            or difflib.SequenceMatcher(None, best, written).ratio() >= _ALIKE
        ):
            return known[best]
    return None


def _compared(name: str) -> str:
    # What all names begin with would make any two of them alike.
    return name.removeprefix("States.").lower()


def _refuse(node: Node, field: str, owner: str, allowed: frozenset[str]) -> None:
    message = f"{owner} has no field `{field}`"
    hint = _PLACES.get(field) or closest_hint(field, allowed)
    node.error("ASL_UNKNOWN_FIELD", field, message, hint, f"Field '{field}' is not supported")

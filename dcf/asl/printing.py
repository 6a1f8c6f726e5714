"""A definition as canonical JSON text: every field in its place, under its present name."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from typing import Any

from dcf.asl.definition import parse
from dcf.asl.machine import StateMachine
from dcf.asl.payload import JSON

FIELD_ORDER: tuple[str, ...] = (
    *("Type", "Comment", "QueryLanguage", "Version", "TimeoutSeconds", "ProcessorConfig"),
    *("StartAt", "States", "Mode", "ExecutionType"),
    # what is worked on
    *(
        "Label",
        "Resource",
        "AgentBinding",
        "memory",
        "Credentials",
        "InputPath",
        "Parameters",
        "Arguments",
    ),
    *("ReaderConfig", "ItemReader", "ItemsPath", "Items", "ItemSelector", "ItemBatcher"),
    *("InputType", "Transformation", "ItemsPointer", "ManifestType", "CSVHeaderLocation"),
    *("CSVHeaders", "CSVDelimiter", "MaxItems", "MaxItemsPath", "MaxItemsPerBatch"),
    *("MaxItemsPerBatchPath", "MaxInputBytesPerBatch", "MaxInputBytesPerBatchPath", "BatchInput"),
    # the work and its limits
    *("Branches", "ItemProcessor", "MaxConcurrency", "MaxConcurrencyPath"),
    *("ToleratedFailureCount", "ToleratedFailureCountPath"),
    *("ToleratedFailurePercentage", "ToleratedFailurePercentagePath", "TimeoutSecondsPath"),
    *("HeartbeatSeconds", "HeartbeatSecondsPath"),
    *("Seconds", "SecondsPath", "Timestamp", "TimestampPath"),
    *("Error", "ErrorPath", "Cause", "CausePath", "Variable", "Condition", "Not", "And", "Or"),
    *("ErrorEquals", "IntervalSeconds", "MaxAttempts", "BackoffRate", "MaxDelaySeconds"),
    "JitterStrategy",
    # what comes out, and where it goes
    *("Result", "ResultSelector", "ResultPath", "ResultWriter", "WriterConfig", "OutputType"),
    *("OutputPath", "Output", "Assign", "Retry", "Catch", "Choices", "Default", "Next", "End"),
)
"""Fields of machines, states and what is in them; the comparison of a choice rule goes last."""

_PLACE = {field: number for number, field in enumerate(FIELD_ORDER)}
_NEW_NAMES = {"Iterator": "ItemProcessor", "Parameters": "ItemSelector"}
"""Old names in a Map, for the same thing."""

_SURROGATE = re.compile("[\ud800-\udfff]")


def dump(machine: StateMachine | Mapping[str, Any]) -> str:
    """A machine, or a definition of one, as JSON text of two spaces a level, without a newline.

    The same for definitions that differ in the order of their fields or in old names only; names
    of states and all data keep their order. Raises DefinitionError for a definition with errors.

    >>> print(dump({"States": {"S": {"Type": "Succeed"}}, "StartAt": "S"}))
    {
      "StartAt": "S",
      "States": {
        "S": {
          "Type": "Succeed"
        }
      }
    }
    """
    parsed = machine if isinstance(machine, StateMachine) else parse(machine)
    text = json.dumps(_machine(parsed.definition), ensure_ascii=False, indent=2)
    # Half a character cannot be written to a file as it is.
    return _SURROGATE.sub(lambda found: f"\\u{ord(found.group()):04x}", text)


def _machine(value: JSON) -> JSON:
    states = {name: _state(state) for name, state in value["States"].items()}
    return _parts({**value, "States": states})


def _state(value: JSON) -> JSON:
    if value["Type"] == "Map":
        value = {_NEW_NAMES.get(field, field): inner for field, inner in value.items()}
    return _parts(value)


def _parts(value: JSON) -> JSON:
    """``value`` in order, and what in it has an order of its own."""
    inner = {field: _INSIDE[field](part) for field, part in value.items() if field in _INSIDE}
    return _ordered({**value, **inner})


def _each(arrange: Callable[[JSON], JSON]) -> Callable[[JSON], JSON]:
    return lambda values: [arrange(value) for value in values]


def _ordered(value: JSON) -> JSON:
    return dict(sorted(value.items(), key=lambda member: _PLACE.get(member[0], len(_PLACE))))


_INSIDE: dict[str, Callable[[JSON], JSON]] = {
    "Branches": _each(_machine),
    "ItemProcessor": _machine,
    "ItemReader": _parts,
    "ReaderConfig": _ordered,
    "ItemBatcher": _ordered,
    "ResultWriter": _parts,
    "WriterConfig": _ordered,
    "ProcessorConfig": _ordered,
    "Retry": _each(_ordered),
    "Catch": _each(_ordered),
    "Choices": _each(_parts),
    "And": _each(_parts),
    "Or": _each(_parts),
    "Not": _parts,
}
"""The fields whose values are described by the language, not data of the author's."""

"""Machines inside machines, read from a definition with everything that is wrong in them."""

from __future__ import annotations

from dataclasses import replace

from dcf.asl.checks.author_warnings import warn_author
from dcf.asl.checks.jsonata_slips import warn_jsonata
from dcf.asl.checks.label import check_label
from dcf.asl.checks.map_rules import (
    check_distribution,
    check_map_fields,
    check_processor_config,
    processor_config,
)
from dcf.asl.checks.reference_paths import check_reference_paths
from dcf.asl.checks.task_rules import check_memory_on_aws, check_task
from dcf.asl.checks.transitions import check_transitions
from dcf.asl.checks.variable_rules import check_names
from dcf.asl.jsonata.rules import check_jsonata
from dcf.asl.machine import StateMachine
from dcf.asl.payload import kind
from dcf.asl.reading.fields import (
    BRANCH_FIELDS,
    PROCESSOR_FIELDS,
    ROOT_FIELDS,
    STATE_FIELDS,
    check_exclusive,
    check_fields,
    check_state_fields,
    closest_hint,
)
from dcf.asl.reading.node import OUT_OF_RANGE, WRONG_TYPE, Node
from dcf.asl.reading.state_reader import read_state
from dcf.asl.reading.state_tree import speaks_jsonata
from dcf.asl.retrier import LARGEST
from dcf.asl.state import State

MAX_NESTING = 16
"""How deep machines may stand inside machines."""

MAX_NAME = 80
"""Longest name of a state (a Step Functions limit)."""

_MOVING = ("Task", "Pass", "Wait", "Parallel", "Map")
_LANGUAGES = ("JSONPath", "JSONata")


class MachineReader:
    """Reads one definition; knows the names and labels of all states read so far.

    ``express`` is the type of the machine; inside a distributed Map it is the Map's.
    ``only_aws``: extensions of the language are errors.
    """

    def __init__(self, express: bool, only_aws: bool) -> None:
        self._only_aws = only_aws
        self._names: dict[str, str] = {}
        self._labels: dict[str, str] = {}
        self._depth = 0
        self._jsonata = False
        self._express = express

    def read_root(self, node: Node) -> StateMachine:
        """The machine that ``node`` describes; what is wrong goes to its findings."""
        check_fields(node, ROOT_FIELDS, "a state machine")
        node.choice("Version", ("1.0",))
        timeout = node.integer("TimeoutSeconds", 0, LARGEST)
        node.choice("QueryLanguage", _LANGUAGES)
        self._jsonata = speaks_jsonata(node, node)
        machine = self._read(node)
        # AWS takes a timeout of 0; it can only mean that there is none.
        limit = float(timeout) if timeout else None
        return replace(machine, timeout_s=limit)

    def _read_nested(self, node: Node, is_processor: bool, express: bool) -> StateMachine:
        allowed = PROCESSOR_FIELDS if is_processor else BRANCH_FIELDS
        check_fields(node, allowed, "an item processor" if is_processor else "a branch")
        if is_processor:
            check_processor_config(node, self._express)
        if self._depth == MAX_NESTING:
            message = f"machines nest deeper than {MAX_NESTING}"
            hint = "move an inner machine to a workflow of its own"
            node.error("ASL_TOO_DEEP", "", message, hint)
            return StateMachine("", {})
        outside, self._express = self._express, express
        self._depth += 1
        machine = self._read(node)
        self._depth -= 1
        self._express = outside
        return machine

    def _read(self, node: Node) -> StateMachine:
        for field in ("States", "StartAt"):
            if field not in node:
                node.missing(field, f"`{field}` is missing", "a machine needs both fields")
        start_at = node.text("StartAt")
        described = node.node("States")
        states: dict[str, Node] = {}
        parsed: dict[str, State] = {}
        for name, value in (described.value if described is not None else {}).items():
            assert described is not None
            place = described.place(name)
            if not isinstance(value, dict):
                message = f"a state is an object, found {kind(value)}"
                node.findings.error(WRONG_TYPE, place, message, "describe it in `{` and `}`")
                continue
            states[name] = Node(value, place, node.findings)
            self._check_name(name, states[name])
            state = self._read_state(name, states[name])
            if state is not None:
                parsed[name] = state
        if described is not None and not described.value:
            hint = "describe at least one state"
            node.error(OUT_OF_RANGE, "States", "`States` is empty", hint, "Value cannot be empty")
        elif described is not None:
            check_transitions(node, states, described.value, start_at)
        definition = {f: value for f, value in node.value.items() if f != "ProcessorConfig"}
        if self._jsonata:
            definition["QueryLanguage"] = "JSONata"
        return StateMachine(start_at or "", parsed, None, node.text("Comment") or "", definition)

    def _read_state(self, name: str, node: Node) -> State | None:
        state_type = node.text("Type")
        if "Type" not in node:
            node.missing("Type", "`Type` is missing", closest_hint("", STATE_FIELDS))
        if state_type is None:
            return None
        if state_type not in STATE_FIELDS:
            hint = closest_hint(state_type, STATE_FIELDS)
            aws = f"Value should be one of the following: [{', '.join(sorted(STATE_FIELDS))}]"
            node.error("ASL_UNKNOWN_TYPE", "Type", f"there is no type `{state_type}`", hint, aws)
            return None
        if state_type in _MOVING:
            _check_way_on(node, state_type)
        jsonata = self._check_language(node, state_type)
        check_exclusive(node, jsonata)
        check_reference_paths(node)
        check_names(node, jsonata)
        if state_type == "Task":
            check_task(node, self._express, self._only_aws)
        if state_type in ("Map", "Parallel") and self._only_aws:
            check_memory_on_aws(node)
        if state_type == "Map":
            check_distribution(node)
            check_map_fields(node, jsonata)
            check_label(node, self._labels)
        if jsonata:
            check_jsonata(node)
            warn_jsonata(node)
        warn_author(node, state_type, jsonata)
        express = self._express
        if state_type == "Map" and processor_config(node)[0] == "DISTRIBUTED":
            express = processor_config(node)[1] == "EXPRESS"
        # The language of a state is its own: inside it the language of the machine holds again.
        return read_state(
            name,
            node,
            jsonata,
            lambda inner, is_processor: self._read_nested(inner, is_processor, express),
        )

    def _check_language(self, node: Node, state_type: str) -> bool:
        """Whether the state speaks JSONata; its fields are checked for that."""
        jsonata = bool(node.value.get("QueryLanguage", "JSONPath") != "JSONPath")
        if "QueryLanguage" not in node:
            jsonata = self._jsonata
        is_reverted = self._jsonata and not jsonata
        if is_reverted:
            message = "a state of a JSONata machine cannot go back to JSONPath"
            aws = (
                "'QueryLanguage' can not be 'JSONPath' if set to 'JSONata' for whole state machine"
            )
            hint = "set JSONata state by state, and leave the machine's language JSONPath"
            node.error("ASL_QUERY_LANGUAGE_REVERTED", "", message, hint, aws)
        check_state_fields(node, state_type, jsonata, either=is_reverted)
        node.choice("QueryLanguage", _LANGUAGES)
        return jsonata

    def _check_name(self, name: str, node: Node) -> None:
        if not name or len(name) > MAX_NAME:
            message = f"the name of a state has 1 to {MAX_NAME} characters, not {len(name)}"
            aws = (
                f"State name '{name}' exceeds the {MAX_NAME}-character limit allowed by the service"
            )
            node.error("ASL_BAD_STATE_NAME", "", message, "give it a shorter name", aws)
        if name in self._names:
            message = f"the name `{name}` is taken by the state at {self._names[name]}"
            hint = "names are unique in the whole definition, nested machines included"
            aws = f"Duplicate State name: {name}"
            node.error("ASL_DUPLICATE_STATE_NAME", "", message, hint, aws)
        else:
            self._names[name] = node.pointer


def _check_way_on(node: Node, state_type: str) -> None:
    ends = node.value.get("End") is True
    if "Next" in node and ends:
        message = "`Next` and `End` exclude each other"
        aws = "There should only be one of the following fields: [Next, End]"
        node.error("ASL_NEXT_AND_END", "", message, "keep one of the two", aws)
    is_wrong_flag = "End" in node and not isinstance(node.value["End"], bool)
    if "Next" not in node and not ends and not is_wrong_flag:
        hint = "name the next state in `Next`, or write `End: true`"
        aws = "This object should have only one of the following fields: [Next, End]"
        node.error("ASL_NO_TRANSITION", "", f"a {state_type} needs `Next` or `End`", hint, aws)

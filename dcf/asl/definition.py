"""A whole definition: validated with all its problems, or parsed into a machine."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dcf.asl.errors import DefinitionError
from dcf.asl.fields import (
    MACHINE_FIELDS,
    PROCESSOR_FIELDS,
    ROOT_FIELDS,
    STATE_FIELDS,
    check_fields,
    check_state_fields,
    closest_hint,
)
from dcf.asl.findings import Findings, child
from dcf.asl.graph import check_transitions
from dcf.asl.machine import StateMachine
from dcf.asl.node import OUT_OF_RANGE, WRONG_TYPE, Node
from dcf.asl.payload import MAX_DEPTH, depth_exceeds, foreign_places, kind
from dcf.asl.retrier import LARGEST
from dcf.asl.state import State
from dcf.asl.state_reader import MISSING, read_state
from dcf.problem import Problem, has_errors

MAX_NESTING = 16
"""How deep machines may stand inside machines."""

MAX_NAME = 80
"""Longest name of a state (a Step Functions limit)."""

_MOVING = ("Task", "Pass", "Wait", "Parallel", "Map")


def validate(definition: Mapping[str, Any]) -> list[Problem]:
    """Every problem of ``definition``, errors and warnings; never raises.

    ``path`` of a problem is a JSON pointer into the definition.
    """
    return _read(definition)[1]


def parse(definition: Mapping[str, Any]) -> StateMachine:
    """``definition`` as a machine ready to step. Raises DefinitionError with all errors."""
    machine, problems = _read(definition)
    if machine is None or has_errors(problems):
        raise DefinitionError(problem for problem in problems if problem.is_error)
    return machine


def _read(definition: Mapping[str, Any]) -> tuple[StateMachine | None, list[Problem]]:
    findings = Findings()
    if not isinstance(definition, Mapping):
        message = f"a definition is a JSON object, found {kind(definition)}"
        findings.error(WRONG_TYPE, "", message)
        return None, findings.problems
    value = dict(definition)
    if depth_exceeds(value):
        message = f"the definition nests deeper than {MAX_DEPTH}"
        findings.error("ASL_TOO_DEEP", "", message, hint="nest less: at most 100 levels")
        return None, findings.problems
    for place, what in foreign_places(value):
        findings.error("ASL_NOT_JSON", child("", *place), what, "a definition is plain JSON")
    if findings.problems:
        return None, findings.problems
    root = Node(value, "", findings)
    machine = _MachineReader().read_root(root)
    return machine, findings.problems


class _MachineReader:
    """Reads machines inside machines; knows the names of all states read so far."""

    def __init__(self) -> None:
        self._names: dict[str, str] = {}
        self._depth = 0

    def read_root(self, node: Node) -> StateMachine:
        check_fields(node, ROOT_FIELDS, "a state machine")
        node.choice("Version", ("1.0",))
        timeout = node.integer("TimeoutSeconds", 1, LARGEST)
        machine = self._read(node, jsonata=False)
        return StateMachine(
            machine.start_at,
            machine.states,
            None if timeout is None else float(timeout),
            machine.comment,
        )

    def _read_nested(self, node: Node, jsonata: bool, is_processor: bool) -> StateMachine:
        allowed = PROCESSOR_FIELDS if is_processor else MACHINE_FIELDS
        check_fields(node, allowed, "an item processor" if is_processor else "a branch")
        if is_processor:
            _check_processor_config(node)
        if self._depth == MAX_NESTING:
            node.error(
                "ASL_TOO_DEEP",
                "",
                f"machines nest deeper than {MAX_NESTING}",
                hint="move an inner machine to a workflow of its own",
            )
            return StateMachine("", {})
        self._depth += 1
        machine = self._read(node, jsonata)
        self._depth -= 1
        return machine

    def _read(self, node: Node, jsonata: bool) -> StateMachine:
        jsonata = _check_query_language(node, jsonata)
        for field in ("StartAt", "States"):
            if field not in node:
                node.error(MISSING, "", f"`{field}` is missing", "a machine needs both fields")
        start_at = node.text("StartAt")
        described = node.node("States")
        states: dict[str, Node] = {}
        parsed: dict[str, State] = {}
        for name, value in (described.value if described is not None else {}).items():
            assert described is not None
            place = described.place(name)
            if not isinstance(value, dict):
                message = f"a state is an object, found {kind(value)}"
                node.findings.error(WRONG_TYPE, place, message)
                continue
            states[name] = Node(value, place, node.findings)
            self._check_name(name, states[name])
            state = self._read_state(name, states[name], jsonata)
            if state is not None:
                parsed[name] = state
        if described is not None and not described.value:
            node.error(OUT_OF_RANGE, "States", "`States` is empty", "describe at least one state")
        elif described is not None:
            check_transitions(node, states, described.value, start_at)
        return StateMachine(start_at or "", parsed, None, node.text("Comment") or "")

    def _read_state(self, name: str, node: Node, jsonata: bool) -> State | None:
        state_type = node.text("Type")
        if "Type" not in node:
            node.error(MISSING, "", "`Type` is missing", closest_hint("", STATE_FIELDS))
        if state_type is None:
            return None
        if state_type not in STATE_FIELDS:
            hint = closest_hint(state_type, STATE_FIELDS)
            node.error("ASL_UNKNOWN_TYPE", "Type", f"there is no type `{state_type}`", hint)
            return None
        if state_type in _MOVING:
            _check_way_on(node, state_type)
        if _check_query_language(node, jsonata):
            # One finding says that JSONata is not supported; its fields would only repeat that.
            self._read_inner_machines(node)
            return None
        check_state_fields(node, state_type, jsonata=False)
        return read_state(name, node, lambda inner, map_: self._read_nested(inner, False, map_))

    def _read_inner_machines(self, node: Node) -> None:
        for field in ("ItemProcessor", "Iterator"):
            inner = node.node(field)
            if inner is not None:
                self._read_nested(inner, True, True)
        for branch in node.nodes("Branches"):
            self._read_nested(branch, True, False)

    def _check_name(self, name: str, node: Node) -> None:
        if not name or len(name) > MAX_NAME:
            message = f"the name of a state has 1 to {MAX_NAME} characters, not {len(name)}"
            node.error(OUT_OF_RANGE, "", message)
        if name in self._names:
            message = f"the name `{name}` is taken by the state at {self._names[name]}"
            hint = "names are unique in the whole definition, nested machines included"
            node.error("ASL_DUPLICATE_STATE_NAME", "", message, hint)
        else:
            self._names[name] = node.pointer


def _check_way_on(node: Node, state_type: str) -> None:
    ends = node.value.get("End") is True
    if "Next" in node and ends:
        node.error(
            "ASL_NEXT_AND_END", "", "`Next` and `End` exclude each other", "keep one of the two"
        )
    if "Next" not in node and not ends and not _is_wrong_flag(node):
        hint = "name the next state in `Next`, or write `End: true`"
        node.error("ASL_NO_TRANSITION", "", f"a {state_type} needs `Next` or `End`", hint)


def _is_wrong_flag(node: Node) -> bool:
    return "End" in node and not isinstance(node.value["End"], bool)


def _check_query_language(node: Node, jsonata: bool) -> bool:
    """Whether JSONata holds from here on, reported where it is first asked for."""
    language = node.choice("QueryLanguage", ("JSONPath", "JSONata"))
    if language == "JSONata" and not jsonata:
        instead = "use JSONPath, the default: `Parameters`, `ResultPath`, `$.…`"
        node.findings.not_supported(node.place("QueryLanguage"), "JSONata", instead)
    return language == "JSONata" or (jsonata and language is None)


def _check_processor_config(node: Node) -> None:
    config = node.node("ProcessorConfig")
    if config is None:
        return
    check_fields(config, frozenset({"Mode", "ExecutionType"}), "`ProcessorConfig`")
    mode = config.choice("Mode", ("INLINE", "DISTRIBUTED"))
    config.choice("ExecutionType", ("STANDARD", "EXPRESS"))
    if mode == "DISTRIBUTED":
        instead = "use `INLINE`, the default"
        node.findings.not_supported(config.place("Mode"), "a distributed Map", instead)

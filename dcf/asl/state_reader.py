"""One state of a definition, read into its parsed form."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from dcf.asl.binding import check_binding
from dcf.asl.catcher import read_catchers
from dcf.asl.choice_rule import read_rule
from dcf.asl.dataflow import read_dataflow, read_path, read_template
from dcf.asl.errors import ExpressionError
from dcf.asl.machine import StateMachine
from dcf.asl.node import Node
from dcf.asl.retrier import LARGEST, read_retriers
from dcf.asl.scope import Expression, constant
from dcf.asl.state import (
    ChoiceState,
    FailState,
    MapState,
    ParallelState,
    PassState,
    State,
    SucceedState,
    TaskState,
    WaitState,
)
from dcf.asl.template import compile_value
from dcf.asl.timestamp import parse_timestamp

MISSING = "ASL_MISSING_FIELD"
ReadMachine = Callable[[Node, bool], StateMachine]
"""Reads a nested machine; the flag says that it is an item processor."""


def read_state(name: str, node: Node, read_machine: ReadMachine) -> State:
    """The state that ``node`` describes; what is wrong goes to its findings."""
    common = {
        "name": name,
        "type": node.value["Type"],
        "comment": node.text("Comment") or "",
        "next": node.text("Next", filled=True),
        "end": node.flag("End") or False,
    }
    return _READERS[node.value["Type"]](node, common, read_machine)


def _read_task(node: Node, common: dict[str, Any], _: ReadMachine) -> State:
    resource = node.text("Resource", filled=True)
    binding = node.node("AgentBinding")
    if "Resource" not in node and "AgentBinding" not in node:
        hint = "name an activity in `Resource` or an agent in `AgentBinding`"
        node.error(MISSING, "", "a Task needs `Resource` or `AgentBinding`", hint)
    if resource is not None and ".waitForTaskToken" in resource:
        instead = "use a Task that answers when its work is done"
        node.findings.not_supported(node.place("Resource"), "`.waitForTaskToken`", instead)
    if binding is not None:
        check_binding(binding)
    timeout = node.integer("TimeoutSeconds", 1, LARGEST)
    heartbeat = node.integer("HeartbeatSeconds", 1, LARGEST)
    if heartbeat is not None and timeout is not None and heartbeat >= timeout:
        message = f"a heartbeat every {heartbeat} s can never be missed within {timeout} s"
        hint = "make `HeartbeatSeconds` smaller than `TimeoutSeconds`"
        node.error("ASL_OUT_OF_RANGE", "HeartbeatSeconds", message, hint)
    return TaskState(
        **common,
        flow=read_dataflow(node),
        retriers=read_retriers(node),
        catchers=read_catchers(node),
        resource=resource,
        binding=binding.value if binding is not None else None,
        timeout_s=None if timeout is None else float(timeout),
        heartbeat_s=None if heartbeat is None else float(heartbeat),
    )


def _read_pass(node: Node, common: dict[str, Any], _: ReadMachine) -> State:
    return PassState(
        **common,
        flow=read_dataflow(node),
        result=node.value.get("Result"),
        has_result="Result" in node,
    )


def _read_choice(node: Node, common: dict[str, Any], _: ReadMachine) -> State:
    if "Choices" not in node:
        node.error(MISSING, "", "a Choice needs `Choices`", "give it at least one rule")
    elif node.value["Choices"] == []:
        node.error("ASL_BAD_CHOICE_RULE", "Choices", "`Choices` is empty", "give it a rule")
    rules = [read_rule(rule) for rule in node.nodes("Choices")]
    return ChoiceState(
        **common,
        flow=read_dataflow(node, None),
        rules=tuple(rule for rule in rules if rule is not None),
        default=node.text("Default", filled=True),
    )


_TIMES = ("Seconds", "SecondsPath", "Timestamp", "TimestampPath")


def _read_wait(node: Node, common: dict[str, Any], _: ReadMachine) -> State:
    given = [field for field in _TIMES if field in node]
    if len(given) != 1:
        found = ", ".join(f"`{field}`" for field in given) or "none"
        names = ", ".join(f"`{field}`" for field in _TIMES)
        message = f"a Wait has exactly one time, found {found}"
        node.error("ASL_BAD_WAIT", "", message, f"keep one of {names}")
    seconds = node.integer("Seconds", 0, LARGEST)
    text = node.text("Timestamp")
    timestamp = parse_timestamp(text)
    if text is not None and timestamp is None:
        message = f"`{text}` is no RFC 3339 timestamp"
        node.error("ASL_BAD_TIMESTAMP", "Timestamp", message, "write `2016-03-14T01:59:00Z`")
    return WaitState(
        **common,
        flow=read_dataflow(node, None),
        seconds=None if seconds is None else float(seconds),
        timestamp=timestamp,
        seconds_path=read_path(node, "SecondsPath"),
        timestamp_path=read_path(node, "TimestampPath"),
    )


def _read_succeed(node: Node, common: dict[str, Any], _: ReadMachine) -> State:
    return SucceedState(**common, flow=read_dataflow(node, None))


def _read_fail(node: Node, common: dict[str, Any], _: ReadMachine) -> State:
    return FailState(**common, error=_read_reason(node, "Error"), cause=_read_reason(node, "Cause"))


def _read_reason(node: Node, field: str) -> Expression:
    path = f"{field}Path"
    if field in node and path in node:
        node.error(
            "ASL_FIELD_CLASH",
            path,
            f"`{field}` and `{path}` exclude each other",
            hint="keep one of them",
        )
    text = node.text(path)
    if text is not None:
        try:
            return compile_value(text, path)
        except ExpressionError as error:
            node.findings.expression(error, node.place(path))
    return constant(node.text(field) or "")


def _read_parallel(node: Node, common: dict[str, Any], read_machine: ReadMachine) -> State:
    if "Branches" not in node:
        node.error(MISSING, "", "a Parallel needs `Branches`", "give it at least one branch")
    elif node.value["Branches"] == []:
        node.error("ASL_OUT_OF_RANGE", "Branches", "`Branches` is empty", "give it a branch")
    return ParallelState(
        **common,
        flow=read_dataflow(node),
        retriers=read_retriers(node),
        catchers=read_catchers(node),
        branches=tuple(read_machine(branch, False) for branch in node.nodes("Branches")),
    )


def _read_map(node: Node, common: dict[str, Any], read_machine: ReadMachine) -> State:
    for new, old in (("ItemProcessor", "Iterator"), ("ItemSelector", "Parameters")):
        if new in node and old in node:
            message = f"`{old}` is the old name of `{new}`: only one of them may stand here"
            node.error("ASL_FIELD_CLASH", old, message, f"keep `{new}`")
    if "ItemProcessor" not in node and "Iterator" not in node:
        hint = "give it a machine with `StartAt` and `States`"
        node.error(MISSING, "", "a Map needs `ItemProcessor`", hint)
    inner = node.node("ItemProcessor" if "ItemProcessor" in node else "Iterator")
    selector = "ItemSelector" if "ItemSelector" in node else "Parameters"
    return MapState(
        **common,
        flow=read_dataflow(node, None),
        retriers=read_retriers(node),
        catchers=read_catchers(node),
        processor=None if inner is None else read_machine(inner, True),
        items_path=read_path(node, "ItemsPath"),
        item_selector=read_template(node, selector),
        max_concurrency=node.integer("MaxConcurrency", 0, LARGEST) or 0,
    )


_READERS: dict[str, Callable[[Node, dict[str, Any], ReadMachine], State]] = {
    "Task": _read_task,
    "Pass": _read_pass,
    "Choice": _read_choice,
    "Wait": _read_wait,
    "Succeed": _read_succeed,
    "Fail": _read_fail,
    "Parallel": _read_parallel,
    "Map": _read_map,
}

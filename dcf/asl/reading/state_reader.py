"""One state of a definition, read into its parsed form."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from dcf.asl.catcher import read_catchers
from dcf.asl.choice_rule import read_rule
from dcf.asl.dataflow import read_dataflow
from dcf.asl.jsonata.flow import read_jsonata_flow
from dcf.asl.memory_policy import read_memory
from dcf.asl.reading.map_reader import read_map
from dcf.asl.reading.node import Node
from dcf.asl.reading.state_parts import Parts, ReadMachine
from dcf.asl.reading.task_reader import read_task
from dcf.asl.reading.typed_field import read_text
from dcf.asl.reading.wait_reader import read_wait
from dcf.asl.retrier import read_retriers
from dcf.asl.state import (
    ChoiceState,
    FailState,
    ParallelState,
    PassState,
    State,
    SucceedState,
)

__all__ = ["ReadMachine", "read_state"]


def read_state(name: str, node: Node, jsonata: bool, read_machine: ReadMachine) -> State:
    """The state that ``node`` describes; what is wrong goes to its findings.

    ``jsonata``: the state speaks JSONata. ``read_machine(node, is_processor)`` reads a machine
    inside it.
    """
    kind = node.value["Type"]
    common = {
        "name": name,
        "type": kind,
        "comment": node.text("Comment") or "",
        "next": node.text("Next", filled=True),
        "end": node.flag("End") or False,
        "jsonata": jsonata,
    }
    if kind != "Fail":
        template = "Parameters" if kind in ("Task", "Pass", "Parallel") else None
        common["flow"] = read_jsonata_flow(node) if jsonata else read_dataflow(node, template)
    if kind in ("Task", "Parallel", "Map"):
        common["retriers"] = read_retriers(node)
        common["catchers"] = read_catchers(node, jsonata)
    state: State = _READERS[kind](Parts(node, common, jsonata, read_machine))
    return state


def _read_pass(parts: Parts) -> State:
    node = parts.node
    return PassState(**parts.common, result=node.value.get("Result"), has_result="Result" in node)


def _read_choice(parts: Parts) -> State:
    node = parts.node
    if "Choices" not in node:
        node.missing("Choices", "a Choice needs `Choices`", "give it at least one rule")
    elif node.value["Choices"] == []:
        node.error("ASL_BAD_CHOICE_RULE", "Choices", "`Choices` is empty", "give it a rule")
    rules = [read_rule(rule, parts.jsonata) for rule in node.nodes("Choices")]
    return ChoiceState(
        **parts.common,
        rules=tuple(rule for rule in rules if rule is not None),
        default=node.text("Default", filled=True),
    )


def _read_succeed(parts: Parts) -> State:
    return SucceedState(**parts.common)


def _read_fail(parts: Parts) -> State:
    return FailState(
        **parts.common,
        error=read_text(parts.node, "Error", parts.jsonata),
        cause=read_text(parts.node, "Cause", parts.jsonata),
    )


def _read_parallel(parts: Parts) -> State:
    node = parts.node
    if "Branches" not in node:
        node.missing("Branches", "a Parallel needs `Branches`", "give it at least one branch")
    elif node.value["Branches"] == []:
        node.error("ASL_OUT_OF_RANGE", "Branches", "`Branches` is empty", "give it a branch")
    branches = tuple(parts.read_machine(branch, False) for branch in node.nodes("Branches"))
    memory = read_memory(node, is_task=False)
    return ParallelState(**parts.common, branches=branches, memory=memory)


_READERS: dict[str, Callable[[Parts], Any]] = {
    "Task": read_task,
    "Pass": _read_pass,
    "Choice": _read_choice,
    "Wait": read_wait,
    "Succeed": _read_succeed,
    "Fail": _read_fail,
    "Parallel": _read_parallel,
    "Map": read_map,
}

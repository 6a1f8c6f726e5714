"""The machines and states of a definition as they are written, sound or not."""

from __future__ import annotations

from collections.abc import Iterator

from dcf.asl.reading.findings import child
from dcf.asl.reading.node import Node


def states_of(machine: Node) -> dict[str, Node]:
    """The states of one machine by name, without those that are no objects."""
    described = machine.value.get("States")
    if not isinstance(described, dict):
        return {}
    place = machine.place("States")
    return {
        name: Node(value, child(place, name), machine.findings)
        for name, value in described.items()
        if isinstance(value, dict)
    }


def inner_machines(state: Node) -> Iterator[Node]:
    """The machines inside one state."""
    for field in ("ItemProcessor", "Iterator"):
        inner = state.value.get(field)
        if isinstance(inner, dict):
            yield Node(inner, state.place(field), state.findings)
    branches = state.value.get("Branches")
    for index, branch in enumerate(branches if isinstance(branches, list) else ()):
        if isinstance(branch, dict):
            yield Node(branch, child(state.place("Branches"), index), state.findings)


def all_states(machine: Node) -> Iterator[tuple[str, Node]]:
    """Every state at any depth with its name, outer ones first."""
    waiting = [machine]
    while waiting:
        for name, state in states_of(waiting.pop(0)).items():
            yield name, state
            waiting.extend(inner_machines(state))


def speaks_jsonata(state: Node, root: Node) -> bool:
    """Whether a state speaks JSONata: it says so, or the whole machine does.

    A machine that says nothing speaks JSONPath; a name that is neither stands for JSONata, on AWS
    too, besides being reported.
    """
    outer = root.value.get("QueryLanguage", "JSONPath")
    return bool(state.value.get("QueryLanguage", outer) != "JSONPath")

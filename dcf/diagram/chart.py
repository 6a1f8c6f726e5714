"""What is drawn: states, the ways between them, and machines inside of states."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

Place = tuple[str | int, ...]
"""Where a state stands: names of states and, between them, the number of the inner machine, as in
``("Ship", 0, "Pack")``. A Map has one inner machine, a Parallel one for each branch."""

EdgeKind = Literal["next", "choice", "default", "catch"]

MISSING = "missing"
"""The type of a node that stands for a state that is named but not there."""

REFERENCE = "reference"
"""The type of a node that only names a state which is drawn elsewhere."""


@dataclass(frozen=True, slots=True)
class Edge:
    """A way from one state to another of the same machine, or to its end (``target`` None).

    ``label`` says when it is taken: the condition of a Choice rule, the names of caught errors."""

    source: str
    target: str | None
    kind: EdgeKind
    label: str = ""


@dataclass(frozen=True, slots=True)
class Node:
    """One state. ``note`` is what it does in a few words; ``machines`` are those inside of it;
    ``by_person``: it is a Task that a person does."""

    name: str
    type: str
    place: Place
    note: str = ""
    machines: tuple[Machine, ...] = ()
    by_person: bool = False


@dataclass(frozen=True, slots=True)
class Machine:
    """``start`` is the name of the first state, None where the definition does not say."""

    title: str
    start: str | None
    nodes: tuple[Node, ...]
    edges: tuple[Edge, ...]


@dataclass(frozen=True, slots=True)
class Chart:
    """A whole definition, and what of it could not be drawn as it is written."""

    machine: Machine
    problems: tuple[str, ...] = ()


def all_nodes(machine: Machine) -> Iterator[Node]:
    """Every state at any depth, outer ones first."""
    waiting = [machine]
    while waiting:
        for node in waiting.pop().nodes:
            yield node
            waiting += node.machines

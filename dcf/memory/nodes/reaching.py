"""The way to a node from the root of its project: what is there of it, and what is made of it.

Programs that come by the same way at the same time, or one after another, come to the same node.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from itertools import count, takewhile
from typing import Any

from dcf.memory.audit.entity import Row
from dcf.memory.audit.journal import Journal
from dcf.memory.database import Connection
from dcf.memory.node import NewNode, Node, NodeStep
from dcf.memory.nodes.changing import made_under, root_row
from dcf.memory.nodes.fields import new_columns, node_of
from dcf.memory.nodes.finding import known_row, lineage_rows

_MARK, _MADE_FOR = "mark", "made_for"


def reach_node(journal: Journal, project: str, checkpoint: str, steps: Sequence[NodeStep]) -> Node:
    """The node at the end of ``steps``, made with those before it where they are missing; without
    steps the root. Raises InvalidEntry, NodeElsewhere."""
    row = root_row(journal, project)
    for step in steps:
        found, name, above = _at(journal.connection, project, checkpoint, step, row)
        if found is None:
            noted = {_MADE_FOR: step.made_for, _MARK: step.mark}
            new = NewNode(project, checkpoint, name, metadata=noted)
            found = made_under(journal, new, new_columns(new), above)
        row = found
    return node_of(row)


def nearest_node(
    connection: Connection, project: str, checkpoint: str, steps: Sequence[NodeStep]
) -> Node | None:
    """The last node on the way that is there; None where not even the root is."""
    row = known_row(connection, project)
    if row is None:
        return None
    for step in steps:
        found, _, above = _at(connection, project, checkpoint, step, row)
        if found is None:
            return node_of(above)
        row = found
    return node_of(row)


def made_node(connection: Connection, project: str, checkpoint: str, step: NodeStep) -> Node | None:
    """The node that was made for a step of a way, wherever it stands; None where there is none."""
    rows = (known_row(connection, project, checkpoint, name) for name in _names(step))
    there = takewhile(bool, rows)
    return next((node_of(row) for row in there if row and _mark_of(row) == step.mark), None)


def made_for(node: Node) -> str:
    """What a node on a way was made for; nothing for one that somebody made by name."""
    return str(node.metadata.get(_MADE_FOR, ""))


def _at(
    connection: Connection, project: str, checkpoint: str, step: NodeStep, parent: Row
) -> tuple[dict[str, Any] | None, str, Row]:
    """The node of a step below ``parent``, or None, what it is to be called and what it is to stand
    below. Nodes of the same name are numbered in the order in which they are made."""
    above = parent
    for name in _names(step):
        found = known_row(connection, project, checkpoint, name)
        if found is None:
            break
        if _mark_of(found) == step.mark:
            return found, name, parent
        if step.follows and _is_below(connection, found, parent):
            above = found
    return None, name, above


def _names(step: NodeStep) -> Iterator[str]:
    """What the node of a step may be called."""
    yield step.name
    yield from (f"{step.name}~{number}" for number in count(2))


def _mark_of(row: Row) -> object:
    return json.loads(row["metadata"]).get(_MARK)


def _is_below(connection: Connection, row: Row, above: Row) -> bool:
    return any(one["id"] == above["id"] for one in lineage_rows(connection, row["id"]))

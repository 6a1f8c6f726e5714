"""What of a snapshot can be restored: nodes whose ancestors are there, and their entries."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

from dcf.memory.audit.entity import Row
from dcf.memory.snapshots.lines import Contents, damaged
from dcf.memory.snapshots.version import Version, last_rows
from dcf.problem import Problem


def whole(contents: Contents, path: Path) -> tuple[tuple[Version, ...], tuple[Problem, ...]]:
    """The versions of what is whole, and all that is not, by line."""
    every = [version for _, version in contents.versions]
    nodes = last_rows(every, "node")
    placed = set(_placed(nodes))
    kept: list[Version] = []
    damage = list(contents.damage)
    for line, version in contents.versions:
        node_id = version.id if version.kind == "node" else version.row["node_id"]
        if node_id in placed:
            kept.append(version)
        else:
            what = f"the {version.kind} {version.id}"
            why = f"{what} is of a node that is not whole, or that stands below one"
            damage.append(damaged(why, line, path))
    return tuple(kept), tuple(sorted(damage, key=lambda one: one.line or 0))


def _placed(nodes: Mapping[str, Row]) -> Iterator[str]:
    """The nodes below the root, and those below them."""
    below: dict[str | None, list[str]] = {}
    for node_id, row in nodes.items():
        below.setdefault(row["parent"], []).append(node_id)
    waiting: list[str | None] = [None]
    while waiting:
        for node_id in below.get(waiting.pop(), ()):
            yield node_id
            waiting.append(node_id)

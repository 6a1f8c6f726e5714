"""What a run has done with the states of a chart."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Literal

from dcf.diagram.chart import Edge, Place

Status = Literal["pending", "ready", "running", "waiting", "done", "failed", "cancelled", "skipped"]

Way = tuple[Place, str | None, bool]
"""From the state at a place to the state of that name beside it, or to the end (None); whether an
error was caught."""


@dataclass(frozen=True, slots=True)
class Look:
    """``detail`` is said below the state: how long, how often, how many of its items."""

    status: Status
    detail: str = ""


@dataclass(frozen=True, slots=True)
class RunLook:
    """A run: how each state that it has entered looks, and which ways it has taken."""

    title: str = ""
    states: Mapping[Place, Look] = field(default_factory=lambda: MappingProxyType({}))
    taken: frozenset[Way] = frozenset()

    def has_taken(self, edge: Edge, place: Place) -> bool:
        """Whether the run went along ``edge`` in the machine at ``place``; an edge without a
        source is the one from the start."""
        if not edge.source:
            first = self.states.get((*place, edge.target)) if edge.target is not None else None
            return first is not None and first.status != "skipped"
        return ((*place, edge.source), edge.target, edge.kind == "catch") in self.taken

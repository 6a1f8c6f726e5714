"""What a runbook tells to do, as a tree. Decisions nest in it, and jumps lead to places by name."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from dcf.sop.conduct import Budget, Retry, Transfer
from dcf.sop.step import Command, StepKind

End = Literal["", "finish", "stop"]
YES, NO = "yes", "no"
OTHERWISE = "none of these"


@dataclass(slots=True, eq=False)
class Node:
    """Something to do, told on ``line``. ``anchors`` are names that jumps know it by. After it, and
    the one of its ``arms`` that was chosen, the next node follows, unless it jumps to ``jump`` or
    ``end`` says how the procedure ends; ``way_line`` is where that is told. ``failing`` is the
    place to go to when it cannot be done. ``inside`` are the steps that it consists of. A loop
    does its ``body`` for each ``item`` of ``items``. ``number`` is that of its step, given last."""

    line: int
    title: str
    kind: StepKind = "manual"
    texts: list[str] = field(default_factory=list)
    anchors: list[str] = field(default_factory=list)
    role: str | None = None
    commands: list[Command] = field(default_factory=list)
    reads: list[str] = field(default_factory=list)
    approvers: tuple[str, ...] = ()
    seconds: int | None = None
    deadline: int | None = None
    arms: list[Arm] = field(default_factory=list)
    inside: list[Node] = field(default_factory=list)
    body: list[Node] = field(default_factory=list)
    items: str = ""
    item: str = ""
    skills: tuple[str, ...] = ()
    writes: tuple[Transfer, ...] = ()
    retries: tuple[Retry, ...] = ()
    tier: int | None = None
    budget: Budget | None = None
    failing: str = ""
    jump: str = ""
    end: End = ""
    way_line: int = 0
    number: str = ""

    @property
    def is_open(self) -> bool:
        """Whether what is told next may still be said of it."""
        return not (self.arms or self.jump or self.end)

    @property
    def newest(self) -> Node:
        """The node of it that was told last."""
        node = self
        while below := node.inside or node.body or (node.arms[-1].nodes if node.arms else []):
            node = below[-1]
        return node

    def arm(self, label: str) -> Arm | None:
        return next((one for one in self.arms if one.label == label), None)


@dataclass(slots=True, eq=False)
class Arm:
    """What is done when somebody answers ``label``; ``line`` is where that is said."""

    label: str
    nodes: list[Node] = field(default_factory=list)
    line: int = 0


@dataclass(slots=True)
class Part:
    """A list of nodes that stands by itself, with how the procedure ends after it."""

    nodes: list[Node]
    end: End = "finish"

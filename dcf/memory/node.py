"""A node of a tree: what a branch of the work writes down, and what its children read."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

TRACE, CONTEXT = ".trace", ".context"
"""The names of the nodes of a checkpoint that are not scoped: the steps of all nodes, and what it
is about. They stand beside its tree, so no node inherits them."""
SHARED_NODES = (TRACE, CONTEXT)
ROOT = ""
"""The checkpoint and the name of a project's root, which stands above all checkpoints."""


@dataclass(frozen=True, slots=True)
class NewNode:
    """What a node is made with. ``name`` is unique in its ``checkpoint`` (a run, a session or an
    experiment) of the ``project``; ``parent`` is the id of the node above it, or None: the root of
    the project. ``score`` is how good it is found to be, the higher the better."""

    project: str
    checkpoint: str
    name: str
    parent: str | None = None
    title: str = ""
    score: float | None = None
    metadata: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class NodeStep:
    """A part of the way from a project's root to a node that a program works in. The node has this
    ``name``, or the name with a number where others have it: the ``mark`` tells which is meant.
    ``made_for`` says what it is there for. It stands below the one of the step before; where it
    ``follows``, below the last of the same name, whose work is done once more."""

    name: str
    mark: str
    made_for: str
    follows: bool = False


@dataclass(frozen=True, slots=True)
class Node:
    """A node as it is kept. ``parent`` is None for the root of a project alone. ``revision`` grows
    by one with each change; times are ms since the epoch, UTC."""

    id: str
    project: str
    checkpoint: str
    name: str
    parent: str | None
    title: str
    score: float | None
    metadata: Mapping[str, Any]
    revision: int
    created_at: int
    updated_at: int

    @property
    def is_root(self) -> bool:
        """Whether it stands above all checkpoints of its project."""
        return self.parent is None

    @property
    def is_shared(self) -> bool:
        """Whether it has what all nodes of its checkpoint read, and stands beside their tree."""
        return self.name in SHARED_NODES

    @property
    def called(self) -> str:
        """What people call it: ``checkpoint/name``; the root by its project."""
        return self.project if self.is_root else f"{self.checkpoint}/{self.name}"


@dataclass(frozen=True, slots=True)
class NewEntry:
    """What is written into a node. ``kind`` is what sort of text it is, in the writer's words;
    ``at`` is when it was written elsewhere before, in ms since the epoch (None: it is new)."""

    text: str
    kind: str = "note"
    metadata: Mapping[str, Any] = field(default_factory=dict)
    at: int | None = None


@dataclass(frozen=True, slots=True)
class NodeEntry:
    """An entry as it is kept in a node. ``shadows`` is the entry of an ancestor that it stands for
    in this node and below. Times are ms since the epoch, UTC."""

    id: str
    node_id: str
    kind: str
    text: str
    metadata: Mapping[str, Any]
    shadows: str | None
    revision: int
    created_at: int
    updated_at: int


@dataclass(frozen=True, slots=True)
class NodeResult:
    """What a node keeps of a piece of work: a ``text``, if there is one, and how good the node is
    (None: not said). ``of`` names the work; of those who did it, the one with the highest ``fence``
    counts."""

    of: str
    fence: int
    text: str = ""
    score: float | None = None


@dataclass(frozen=True, slots=True)
class TreeNode:
    """A node in its tree. ``depth`` counts from the root of the project, which has 0; ``entries``
    are those that were written into the node itself."""

    node: Node
    depth: int
    entries: int

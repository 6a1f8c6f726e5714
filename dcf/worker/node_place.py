"""Where in the tree of the memory a Task works: worked out from what the control plane says of it,
so that whoever takes it over, or works on it at the same time, works in the same node.

    project                       the root: what is known across runs
    └── run                       the checkpoint is the run's id
        ├── Fan[0]                an iteration of a Map, or a branch of a Parallel
        │   └── Fan[0]/Fetch#2    the second try of a Task, below the one that failed
        └── Fan[1]

A task that was delegated in a session stands in the session's checkpoint, below the companion that
does it.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import TYPE_CHECKING
from urllib.parse import quote

from control_plane import enclosing_joins, split_path
from dcf.asl import MapState, MemoryPolicy
from dcf.knowledge import SESSION_PIN
from dcf.memory import NodeStep

if TYPE_CHECKING:
    from control_plane import StateDocument
    from dcf.asl import StateMachine
    from dcf.workflow import Task

_LONGEST = 400
"""Characters of a node's name that are kept as they are."""


@dataclass(frozen=True, slots=True)
class NodePlace:
    """The way to a node of ``checkpoint``. It ``is_chosen`` where the workflow says so, not by
    default; with ``gathers`` the Task is shown what the branches below the node wrote."""

    checkpoint: str
    steps: tuple[NodeStep, ...]
    is_chosen: bool = False
    gathers: bool = False

    @property
    def branch(self) -> tuple[NodeStep, ...]:
        """The way to the node of the branch, in which the nodes of tries stand."""
        tries = sum(one.made_for == "try" for one in self.steps)
        return self.steps[: len(self.steps) - tries]


@dataclass(frozen=True, slots=True)
class Join:
    """A Map or Parallel that a Task stands in, in its child ``number``. ``round`` tells the child
    from those of other times that it fanned out; it ``is_again`` when the Map or Parallel as a
    whole was tried before."""

    path: str
    number: int
    round: int
    is_again: bool
    is_map: bool
    policy: MemoryPolicy | None


def chooses_memory(machine: StateMachine, path: str) -> bool:
    """Whether the workflow says in which memory the Task at ``path`` works: itself, or by a Map or
    Parallel around it."""
    around = (one for one, _ in enclosing_joins(path))
    return any(machine.locate(split_path(one)).memory for one in (path, *around))


def joins_of(task: Task, documents: Sequence[StateDocument]) -> tuple[Join, ...]:
    """What a Task stands in, the outermost first; ``documents`` are those of the Maps and Parallels
    in this order."""
    found = []
    # A Map or Parallel is itself in a child of the one around it.
    inner = [document.round for document in documents[1:]]
    for (path, number), document, round_ in zip(
        enclosing_joins(task.lease.path), documents, [*inner, task.lease.round], strict=False
    ):
        state = task.run.machine.locate(split_path(path))
        is_map = isinstance(state, MapState)
        found.append(Join(path, number, round_, document.try_ > 1, is_map, state.memory))
    return tuple(found)


def place_of(task: Task, joins: Sequence[Join]) -> NodePlace | None:
    """Where a Task works that stands in ``joins``; None where it is to have no memory."""
    own = task.state.memory
    policies = [one for one in (own, *(join.policy for join in joins)) if one is not None]
    if any(one.scope == "none" for one in policies):
        return None
    checkpoint, prefix, above = _top(task)
    # A child is of its own round in a child of that of the Map or Parallel around it.
    rounds = (str(one.round) for one in joins)
    marks = list(accumulate(rounds, lambda *both: ".".join(both), initial=above[-1].mark))
    frames = zip(joins, marks[1:], strict=True)
    steps = [*above, *(_frame(prefix, one, mark) for one, mark in frames if _has_node(one))]
    if own is None or own.scope == "branch":
        steps += _tries(task, prefix, marks[-1])
    else:
        steps = steps[:-1]
    gathers = own is not None and own.gather
    return NodePlace(checkpoint, tuple(steps), bool(policies), gathers)


def step_of_run(workflow_id: str, born: str, session: str | None) -> tuple[str, NodeStep]:
    """The checkpoint of a run, and the step to its node in it."""
    if session is None:
        return workflow_id, NodeStep("run", born, "run")
    return session, NodeStep(f"run/{workflow_id}", born, "run")


def _top(task: Task) -> tuple[str, str, list[NodeStep]]:
    """The checkpoint, what names in it begin with, and the way to the run's node."""
    run = task.run
    session = run.pins.get(SESSION_PIN)
    checkpoint, own = step_of_run(run.workflow_id, run.born, session)
    if session is None:
        return checkpoint, "", [own]
    above = [NodeStep("session", "", "session")]
    companion = task.lease.owner.removeprefix(f"{session}.")
    if companion != task.lease.owner:
        above.append(NodeStep(_name("companion/", companion), "", "companion"))
    return checkpoint, f"{own.name}/", [*above, own]


def _has_node(join: Join) -> bool:
    return join.policy is None or join.policy.scope == "branch"


def _frame(prefix: str, join: Join, mark: str) -> NodeStep:
    name = _name(prefix, f"{join.path}[{join.number}]")
    what = "iteration" if join.is_map else "branch"
    return NodeStep(name, mark, what, follows=join.is_again)


def _tries(task: Task, prefix: str, mark: str) -> Iterator[NodeStep]:
    """The tries that led to this one, from the second on: the first works in the node around it.
    The first try of a visit that follows a redrive goes on counting where the last one ended."""
    lease = task.lease
    first = lease.try_ - sum(lease.retries.values())
    tries = [(lease.visit, number) for number in range(first, lease.try_ + 1)]
    if first > 1:
        tries.insert(0, (lease.visit - 1, first - 1))
    for visit, number in tries:
        if number > 1:
            again = f"@{visit}" if visit > 1 else ""
            yield NodeStep(_name(prefix, f"{lease.path}{again}#{number}"), mark, "try")


def _name(prefix: str, path: str) -> str:
    """A name that can be kept and shown, the same for the same path."""
    whole = "".join(one if one.isprintable() else quote(one, errors="replace") for one in path)
    if len(whole) > _LONGEST:
        digest = hashlib.sha256(whole.encode()).hexdigest()[:16]
        whole = f"{whole[:_LONGEST]}…{digest}"
    return prefix + whole

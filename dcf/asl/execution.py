"""What an interpreted execution is: its calls to tasks, its answers, its end."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, TypeAlias

from dcf.asl.payload import JSON
from dcf.asl.visit import TaskFailed, TaskSucceeded

Path: TypeAlias = tuple[str | int, ...]
"""Where a state stands: ``("Fan", 2, "Fetch")``, as ``StateMachine.locate`` takes it."""


@dataclass(slots=True)
class VirtualClock:
    """Epoch seconds that move only when the interpreter has nothing left to do at ``now``."""

    now: float = 0.0


@dataclass(frozen=True, slots=True)
class TaskCall:
    """One try of a Task: ``attempt`` counts from 0."""

    path: Path
    resource: str | None
    arguments: JSON
    attempt: int


@dataclass(frozen=True, slots=True)
class Answer:
    """How a task call ends, ``after_s`` seconds later; ``event`` None: it never answers."""

    event: TaskSucceeded | TaskFailed | None
    after_s: float = 0.0


CallTask: TypeAlias = Callable[[TaskCall], Answer | TaskSucceeded | TaskFailed]

Moment: TypeAlias = Literal["entered", "task", "wait", "retry", "exited", "caught", "failed"]


@dataclass(frozen=True, slots=True)
class TraceEntry:
    """At ``at`` (epoch seconds) the state at ``path`` was entered, called, exited, …

    ``value``: the input, the task's arguments, the wait or delay in seconds, the output, or
    ``{"Error", "Cause"}``.
    """

    at: float
    path: Path
    moment: Moment
    value: JSON


Status: TypeAlias = Literal["SUCCEEDED", "FAILED", "TIMED_OUT"]


@dataclass(frozen=True, slots=True)
class Execution:
    """The end of an execution: ``output`` when it succeeded, else ``error`` and ``cause``."""

    status: Status
    output: JSON
    error: str
    cause: str
    trace: tuple[TraceEntry, ...]

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
    """One try of a Task: ``attempt`` counts from 0.

    With ``token`` the Task waits for whoever has that token: the answer is then theirs. The limits
    are those of the work, in seconds.
    """

    path: Path
    resource: str | None
    arguments: JSON
    attempt: int
    token: str | None = None
    timeout_s: float | None = None
    heartbeat_s: float | None = None


@dataclass(frozen=True, slots=True)
class Answer:
    """How a task call ends, ``after_s`` seconds later; ``event`` None: it never answers.

    Who answers is taken to send heartbeats until then. Who never does sends them at
    ``heartbeats_s``, seconds after the call.
    """

    event: TaskSucceeded | TaskFailed | None
    after_s: float = 0.0
    heartbeats_s: tuple[float, ...] = ()

    def missed_heartbeat(self, heartbeat_s: float) -> float:
        """When one is missing for the first time, in seconds after the call.

        >>> Answer(None, heartbeats_s=(8.0, 30.0)).missed_heartbeat(10.0)
        18.0
        """
        last = 0.0
        for moment in sorted(self.heartbeats_s):
            if moment - last > heartbeat_s:
                break
            last = moment
        return last + heartbeat_s


CallTask: TypeAlias = Callable[[TaskCall], Answer | TaskSucceeded | TaskFailed]

Moment: TypeAlias = Literal["entered", "task", "wait", "retry", "exited", "caught", "failed"]


@dataclass(frozen=True, slots=True)
class TraceEntry:
    """At ``at`` (epoch seconds) the state at ``path`` was entered, called, exited, …

    ``value``: the input, the task's arguments, the wait in seconds, the output, or
    ``{"Error", "Cause"}``, of a retry with the delay in ``Seconds``.
    """

    at: float
    path: Path
    moment: Moment
    value: JSON


Status: TypeAlias = Literal["SUCCEEDED", "FAILED", "TIMED_OUT"]


@dataclass(frozen=True, slots=True)
class Execution:
    """The end of an execution: ``output`` when it succeeded, else ``error`` and ``cause``.

    None where nobody gave an error name or a cause.
    """

    status: Status
    output: JSON
    error: str | None
    cause: str | None
    trace: tuple[TraceEntry, ...]

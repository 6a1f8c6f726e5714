"""What runs one execution for the corpus: the pure interpreter, or the engine on some backend."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol, TypeAlias

from dcf.asl import JSON
from dcf.asl.trial import CallTask

EngineName: TypeAlias = Literal["pure", "twin", "redis"]
OutcomeStatus: TypeAlias = Literal["SUCCEEDED", "FAILED", "TIMED_OUT", "ABORTED"]


@dataclass(frozen=True, slots=True)
class Job:
    """One execution to run.

    ``definition`` is plain ASL that parses. ``context`` replaces members of the context object
    (``Execution``, ``StateMachine``). ``objects`` are what an ItemReader can read, by
    ``bucket/key``. ``call_task`` answers each try of a Task as ``interpret`` wants it: at once
    or ``after_s`` of virtual seconds later, or never; it is called in the order the tries start
    and is not safe for threads. ``started_at`` (epoch seconds) is where virtual time begins.
    """

    definition: dict[str, Any]
    input: JSON
    call_task: CallTask
    context: Mapping[str, Any] = field(default_factory=dict)
    objects: Mapping[str, bytes] = field(default_factory=dict)
    started_at: float = 0.0
    seed: int = 0
    aws_limits: bool = True


@dataclass(frozen=True, slots=True)
class Outcome:
    """How the execution ended: ``output`` when it succeeded, else ``error`` and ``cause``, None
    where there is none."""

    status: OutcomeStatus
    output: JSON = None
    error: str | None = None
    cause: str | None = None


class Executor(Protocol):
    """Runs jobs one after another. Opened once for each process, closed at its end."""

    def execute(self, job: Job) -> Outcome:
        """Run ``job`` to its end on virtual time. What cannot be run raises; nothing is swallowed
        into an outcome that the language did not give."""

    def close(self) -> None:
        """Give back what the executor holds (a Redis process, a loop)."""

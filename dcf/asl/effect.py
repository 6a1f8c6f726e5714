"""What a step asks its caller to do."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from dcf.asl.payload import JSON


@dataclass(frozen=True, slots=True)
class RunTask:
    """Do the work of a Task with ``arguments``; time limits in seconds, None without."""

    arguments: JSON
    timeout_s: float | None
    heartbeat_s: float | None


@dataclass(frozen=True, slots=True)
class WaitUntil:
    """Fire the timer at ``at``, in epoch seconds; at once when that is past."""

    at: float


@dataclass(frozen=True, slots=True)
class WaitFor:
    """Fire the timer after ``seconds``."""

    seconds: float


@dataclass(frozen=True, slots=True)
class FanOut:
    """Run ``count`` children (none: answer ``Joined([])``), at most ``max_concurrency`` at once.

    Parallel: ``items`` is None and every branch gets ``input``. Map: one iteration for each of
    ``items``, its input from ``item_input``. ``max_concurrency`` 0 means no limit.
    """

    count: int
    items: list[JSON] | None
    input: JSON
    max_concurrency: int


@dataclass(frozen=True, slots=True)
class Transition:
    """Go on with the sibling state ``next``, whose input is ``output``."""

    next: str
    output: JSON
    assign: dict[str, JSON]


@dataclass(frozen=True, slots=True)
class Finish:
    """The machine, branch or iteration is over with ``output``."""

    output: JSON
    assign: dict[str, JSON]


@dataclass(frozen=True, slots=True)
class Failure:
    """The machine, branch or iteration failed: a Fail state, or an error nothing caught."""

    error: str
    cause: str


@dataclass(frozen=True, slots=True)
class RetryAfter:
    """Count one attempt for ``retrier`` and enter the state again after ``seconds``."""

    seconds: float
    retrier: int
    error: str
    cause: str


Effect: TypeAlias = (
    RunTask | WaitUntil | WaitFor | FanOut | Transition | Finish | Failure | RetryAfter
)

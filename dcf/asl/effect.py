"""What a step asks its caller to do."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from control_plane import cause_of, error_of
from dcf.asl.payload import JSON


@dataclass(frozen=True, slots=True)
class Trouble:
    """An error name and a cause, each cut where it is longer than Step Functions takes it."""

    error: str | None
    cause: str | None

    def __post_init__(self) -> None:
        object.__setattr__(self, "error", error_of(self.error))
        object.__setattr__(self, "cause", cause_of(self.cause))


@dataclass(frozen=True, slots=True)
class RunTask:
    """Do the work of a Task with ``arguments``; time limits in seconds, None without.

    With ``waits_for_token`` the answer of the work itself is dropped (unless it fails): whoever
    was given the task token (``$$.Task.Token``) answers.
    """

    arguments: JSON
    timeout_s: float | None
    heartbeat_s: float | None
    waits_for_token: bool = False


@dataclass(frozen=True, slots=True)
class ObjectRef:
    """An object in a store: ``key`` in ``bucket``."""

    bucket: str
    key: str
    version: str | None = None


@dataclass(frozen=True, slots=True)
class ReadItems:
    """Read what the ItemReader of a Map names; answer ``ItemsRead`` or ``ItemsUnreadable``.

    The bytes of each of ``objects``, in order, or, with ``listing``, the list of what is there
    under (bucket, prefix). ``manifest`` is a manifest that was read before, whose files these are.
    """

    objects: tuple[ObjectRef, ...]
    listing: tuple[str, str] | None = None
    manifest: JSON = None


@dataclass(frozen=True, slots=True)
class WriteResults:
    """Write ``files`` (key -> text) into ``bucket``; answer ``ResultsWritten`` or
    ``ResultsUnwritable``. ``output`` is what the Map then gives as its result."""

    bucket: str
    files: dict[str, str]
    output: JSON


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
    More than ``fail_limit`` failed children fail the fan; up to that many are tolerated.
    ``keyed``: the items are members of an object, each {Key, Value}.
    """

    count: int
    items: list[JSON] | None
    input: JSON
    max_concurrency: int
    fail_limit: int = 0
    keyed: bool = False


@dataclass(frozen=True, slots=True)
class Transition:
    """Go on with the sibling state ``next``, whose input is ``output``.

    ``assign`` are variables that the frame has from there on, besides those it had.
    """

    next: str
    output: JSON
    assign: dict[str, JSON]


@dataclass(frozen=True, slots=True)
class Finish:
    """The machine, branch or iteration is over with ``output``."""

    output: JSON
    assign: dict[str, JSON]


@dataclass(frozen=True, slots=True)
class Failure(Trouble):
    """The machine, branch or iteration failed: a Fail state, or an error nothing caught.

    None where a Fail state gives no error name or no cause, or a timeout has no cause to tell.
    """


@dataclass(frozen=True, slots=True)
class RetryAfter:
    """Count one attempt for ``retrier`` and enter the state again after ``seconds``."""

    seconds: float
    retrier: int
    error: str | None
    cause: str | None


Effect: TypeAlias = (
    RunTask
    | ReadItems
    | WriteResults
    | WaitUntil
    | WaitFor
    | FanOut
    | Transition
    | Finish
    | Failure
    | RetryAfter
)

"""The work of a Task, as choreography hands it out and gets it back."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any

from control_plane import Lease
from control_plane.payload import JSON
from dcf import asl
from dcf.workflow.run import Run


@dataclass(frozen=True, slots=True)
class Task:
    """One try of one Task state. ``lease.idempotency_key`` is the same after a takeover.

    ``timeout_s`` and ``heartbeat_s`` are its limits, None without. With a ``token`` the result of
    the work is dropped: whoever is given the token answers.
    """

    run: Run
    lease: Lease
    state: asl.State
    arguments: JSON
    timeout_s: float | None = None
    heartbeat_s: float | None = None
    token: str | None = field(default=None, repr=False)


@dataclass(frozen=True, slots=True)
class Succeeded:
    """The work was done; ``result`` is what ASL calls the result."""

    result: JSON
    summary: str | None = None
    artifacts: list[JSON] = field(default_factory=list)
    metrics: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Failed:
    """The work failed with an error name that ``Retry`` and ``Catch`` can match."""

    error: str | None
    cause: str | None
    metrics: dict[str, Any] = field(default_factory=dict)


Outcome = Succeeded | Failed
Perform = Callable[[Task], Awaitable[Outcome]]

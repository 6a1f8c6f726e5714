"""The work of a Task, as choreography hands it out and gets it back."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from control_plane import JSON, Lease
from dcf import asl
from dcf.workflow.run import Run

if TYPE_CHECKING:
    from dcf.tools import ApprovalRequest


@dataclass(frozen=True, slots=True)
class Task:
    """One try of one Task state. ``lease.idempotency_key`` is the same after a takeover.

    ``timeout_s`` and ``heartbeat_s`` are its limits, None without. With a ``token`` the result of
    the work is dropped: whoever is given the token answers. ``afterwards`` is what follows from the
    outcome, done by the worker once that is committed, and not where the lease was lost.
    """

    run: Run
    lease: Lease
    state: asl.State
    arguments: JSON
    timeout_s: float | None = None
    heartbeat_s: float | None = None
    token: str | None = field(default=None, repr=False)
    afterwards: list[Callable[[], Awaitable[object]]] = field(
        default_factory=list, repr=False, compare=False
    )


@dataclass(frozen=True, slots=True)
class Succeeded:
    """The work was done; ``result`` is what ASL calls the result. ``metrics`` is what the try used,
    ``amsp`` what its output says of the choice of the model, ``model_selection`` that choice."""

    result: JSON
    summary: str | None = None
    artifacts: list[JSON] = field(default_factory=list)
    metrics: dict[str, Any] = field(default_factory=dict)
    model_selection: dict[str, Any] | None = None
    amsp: dict[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class Failed:
    """The work failed with an error name that ``Retry`` and ``Catch`` can match."""

    error: str | None
    cause: str | None
    metrics: dict[str, Any] = field(default_factory=dict)
    model_selection: dict[str, Any] | None = None
    amsp: dict[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class AwaitingApproval:
    """The work stopped before a call (``kind`` tool), or before it began (``task``), until somebody
    decides on ``request``; or a person does all of it (``manual``).

    ``journal`` are the calls it made so far, ``[{number, digest, server_id, tool_name, result}]``;
    ``granted`` the approvals of this try that are not used yet, as ``standing_grants`` gives them.
    """

    request: ApprovalRequest
    kind: Literal["tool", "task", "manual"] = "tool"
    journal: list[dict[str, JSON]] = field(default_factory=list)
    granted: list[dict[str, JSON]] = field(default_factory=list)
    metrics: dict[str, Any] = field(default_factory=dict)
    model_selection: dict[str, Any] | None = None
    amsp: dict[str, Any] | None = None


Outcome = Succeeded | Failed | AwaitingApproval
Perform = Callable[[Task], Awaitable[Outcome]]

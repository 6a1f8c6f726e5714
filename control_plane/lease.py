"""Leases and what is done under them: the words of the protocol.

A lease gives the right to write one state. It is ``token`` (unguessable, fresh for each
acquisition) and ``fence`` (only grows); each write carries both, and the script that writes checks
them against Redis's clock. Who loses a lease can change nothing, whatever it does later.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

from control_plane.documents import NO_LIMITS, Event, Failure, Limits, Output, RunStatus
from control_plane.payload import JSON, Payload

DEFAULT_TTL_MS = 30_000


@dataclass(slots=True)
class Lease:
    """The right to write one state instance, with what its holder needs to know of it.

    ``input`` and ``variables`` (of its own frame, as they were when it was entered) are decoded
    values; who holds a lease does not change them; ``stored_variables`` are they as stored, where
    that is known. ``limits`` are those that the control plane enforces. ``round`` names the fan-out
    of the enclosing join that this instance belongs to (0 in the root frame). ``incarnation`` tells
    the run from an earlier one that had the same id and was removed. ``event`` says why a state is
    leased again.
    """

    workflow_id: str
    path: str
    token: str = field(repr=False)
    fence: int
    owner: str
    ttl_ms: int
    type: str
    kind: Literal["state", "frame"]
    visit: int
    try_: int
    round: int
    incarnation: str
    input: JSON = None
    variables: dict[str, JSON] = field(default_factory=dict)
    stored_variables: Payload | None = None
    limits: Limits = NO_LIMITS
    event: Event | None = None
    event_payload: JSON = None
    retries: dict[int, int] = field(default_factory=dict)
    fan: JSON = None
    join_n: int = 0
    join_failed: int = 0
    times: dict[str, int | None] = field(default_factory=dict)

    @property
    def idempotency_key(self) -> str:
        """The part that all tool calls of this try share: a takeover keeps it, a retry does not."""
        return f"{self.workflow_id}/{self.path}/{self.visit}/{self.try_}"


@dataclass(frozen=True, slots=True)
class Refusal:
    """An expected race or a lost authority: ``code`` as the script's header lists it."""

    code: str
    detail: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Enter:
    """The sibling state a commit enters. ``own`` are the variables of its frame, stored as
    ``variables`` (None where there are none); ``callback``: somebody outside may answer it."""

    path: str
    type: str
    input: Payload
    value: JSON
    limits: Limits = NO_LIMITS
    callback: bool = False
    variables: Payload | None = None
    own: dict[str, JSON] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Wait:
    """What a state waits for: until a moment (ms) or for a while (ms), or without end."""

    kind: Literal["timer", "retry", "callback"]
    until_ms: int | None = None
    delay_ms: int | None = None
    retries: dict[int, int] | None = None


@dataclass(frozen=True, slots=True)
class Fan:
    """The opening of a join: ``n`` frames, at most ``window`` at a time, ``fan`` for their use."""

    n: int
    window: int
    fan: Payload
    fail_limit: int = 0


@dataclass(frozen=True, slots=True)
class Commit:
    """The end of one step. Exactly one of: a finished state (``done``/``failed``, with ``enter`` or
    ``ends``), a wait, a fan-out, a frame ticket that enters its first state (``open``)."""

    outcome: Literal["done", "failed", "wait", "open"]
    event: dict[str, Any]
    output: Output | None = None
    enter: Enter | None = None
    ends: Literal["done", "failed"] | None = None
    wait: Wait | None = None
    fan: Fan | None = None
    failure: Failure | None = None
    metrics: dict[str, Any] | None = None
    effective_input: Payload | None = None


@dataclass(frozen=True, slots=True)
class Committed:
    """A commit took effect: ``lease`` is the state to go on with in place, ``run_status`` is set
    when the run ended."""

    lease: Lease | None
    run_status: RunStatus | None

"""Leases and what is done under them: the words of the protocol.

A lease gives the right to write one state. It is ``token`` (unguessable, fresh for each
acquisition) and ``fence`` (only grows); each write carries both, and the script that writes checks
them against Redis's clock. Who loses a lease can change nothing, whatever it does later.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

from control_plane.documents import NO_LIMITS, Event, Failure, Limits, RunStatus
from control_plane.errors import MissingBlob
from control_plane.output import Output
from control_plane.payload import JSON, Payload

DEFAULT_TTL_MS = 30_000

Alone = Literal["here", "watched"]
"""How a state is worked on alone: ``here``, in a process that works on one such state at a time,
and whose death counts; or ``watched``, in a process for nothing else, whose death another process
tells (``Leases.release``)."""


@dataclass(slots=True)
class Lease:
    """The right to write one state instance, with what its holder needs to know of it.

    ``input`` and ``variables`` (of its own frame, as they were when it was entered) are decoded
    values; who holds a lease does not change them; ``stored_variables`` are they as stored, where
    that is known. ``limits`` are those that the control plane enforces. ``round`` names the fan-out
    of the enclosing join that this instance belongs to (0 in the root frame). ``incarnation`` tells
    the run from an earlier one that had the same id and was removed. ``event`` says why a state is
    leased again. ``approval`` is what somebody was asked in this try, or None; then ``decision`` is
    the answer (None while there is none), ``given`` what the work was given as the state document
    keeps it (None: the input itself), ``asked_at`` when it was asked (ms). ``calls`` is
    what the try has called, as the state document keeps it, or None. ``takeovers`` is how many
    leases of this try have ended without a word since the state itself was heard of last.
    ``damage`` says that values of it cannot be read, which are missing here: it can be failed, or
    given back.
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
    approval: dict[str, Any] | None = None
    decision: dict[str, Any] | None = None
    given: JSON = None
    asked_at: int | None = None
    calls: dict[str, Any] | None = None
    takeovers: int = 0
    damage: MissingBlob | None = None

    @property
    def idempotency_key(self) -> str:
        """The part that all tool calls of this try share: a takeover keeps it, a retry does not."""
        return f"{self.workflow_id}/{self.path}/{self.visit}/{self.try_}"

    @property
    def credentials(self) -> dict[str, Any]:
        """What each write under it shows to the script."""
        return {"path": self.path, "token": self.token, "fence": self.fence}


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

    kind: Literal["timer", "retry", "callback", "approval"]
    until_ms: int | None = None
    delay_ms: int | None = None
    retries: dict[int, int] | None = None

    def due_in_ms(self, now_ms: int) -> int | None:
        """In how many milliseconds a wait that begins now ends by itself, or None."""
        return self.delay_ms if self.until_ms is None else self.until_ms - now_ms


@dataclass(frozen=True, slots=True)
class Fan:
    """The opening of a join: ``n`` frames, at most ``window`` at a time, ``fan`` for their use."""

    n: int
    window: int
    fan: Payload
    fail_limit: int = 0


@dataclass(frozen=True, slots=True)
class Question:
    """What somebody is asked before work goes on: ``record`` as the state document keeps it (see
    its schema); ``parts`` are the payloads that it refers to."""

    record: dict[str, Any]
    parts: tuple[Payload, ...] = ()


@dataclass(frozen=True, slots=True)
class Commit:
    """The end of one step. Exactly one of: a finished state (``done``/``failed``, with ``enter`` or
    ``ends``), a wait (for an approval with the ``question``), a fan-out, a frame ticket that enters
    its first state (``open``)."""

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
    question: Question | None = None
    model_selection: dict[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class Committed:
    """A commit took effect: ``lease`` is the state to go on with in place, ``run_status`` is set
    when the run ended, ``due_in_ms`` when a wait began that ends by itself: zero or less where its
    moment has come."""

    lease: Lease | None
    run_status: RunStatus | None
    due_in_ms: int | None = None


@dataclass(frozen=True, slots=True)
class Budget:
    """How many tool calls, milliseconds, requests to models, tokens and billionths of a US dollar
    something may use; None without a limit."""

    tool_calls: int | None = None
    wall_ms: int | None = None
    model_calls: int | None = None
    tokens: int | None = None
    nano_usd: int | None = None

    def to_json(self) -> dict[str, int] | None:
        """As the scripts take it; None where nothing is limited."""
        limits = {
            "tool_calls": self.tool_calls,
            "wall_ms": self.wall_ms,
            "model_calls": self.model_calls,
            "tokens": self.tokens,
            "nano": self.nano_usd,
        }
        return {name: limit for name, limit in limits.items() if limit is not None} or None


NO_BUDGET = Budget()


@dataclass(frozen=True, slots=True)
class Noted:
    """A decision is on record: how many calls the run and this try have made with it, and the
    number of the call that it lets pass."""

    run_calls: int
    try_calls: int
    number: int | None = None


@dataclass(frozen=True, slots=True)
class OverBudget:
    """A call would break the budget of this ``try`` or of the ``run``; the refusal is on record.
    ``used`` and ``limit`` are calls, tokens, US dollars or seconds."""

    whose: Literal["try", "run"]
    what: Literal["tool_calls", "model_calls", "tokens", "cost_usd", "wall_time_s"]
    used: float
    limit: float

"""The documents of a run's states, typed, and the words they share with its meta document. Shapes
are the JSON Schemas in ``schemas/``.

Times are milliseconds since the epoch, by Redis's clock. ``ctl`` decides; the public fields beside
it are its copy, written by the same script.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Any, Literal

from control_plane.failure_text import cause_of, error_of
from control_plane.payload import JSON

SCHEMA_VERSION = "1.4.0"
PROTOCOL = 4
"""The newest version of a run's rules that this client knows. A worker leases only what it knows;
see ``acquire.lua``. A run is submitted under the oldest version whose workers can take it."""
FIRST_PROTOCOL = 1
LANGUAGE_PROTOCOL = 2
APPROVAL_PROTOCOL = 3
EXPRESSION_PROTOCOL = 4

StateStatus = Literal[
    "pending", "ready", "running", "waiting", "done", "failed", "cancelled", "skipped"
]
RunStatus = Literal["pending", "running", "succeeded", "failed", "timed_out", "cancelled"]
Event = Literal[
    "timer", "timeout", "heartbeat", "worker_lost", "callback", "approval", "joined", "child_failed"
]

OPEN = frozenset({"pending", "ready", "running", "waiting"})
RUN_OVER = frozenset({"succeeded", "failed", "timed_out", "cancelled"})


@dataclass(frozen=True, slots=True)
class Failure:
    """Why something failed: an error name as in ASL (``States.Timeout``) and a cause for people.

    None where the language gives none: a Fail state without ``Error``, a timeout without a cause.
    Either is cut where it is too long.
    """

    error: str | None
    cause: str | None = ""

    def __post_init__(self) -> None:
        object.__setattr__(self, "error", error_of(self.error))
        object.__setattr__(self, "cause", cause_of(self.cause))

    @classmethod
    def parse(cls, raw: dict[str, Any] | None) -> Failure | None:
        """The failure that a document holds as ``error``."""
        return cls(raw["error"], raw.get("cause", "")) if raw else None

    def to_json(self) -> dict[str, str | None]:
        return {"error": self.error, "cause": self.cause}

    def __str__(self) -> str:
        return ": ".join(part for part in (self.error or "failed", self.cause) if part)


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits of time of each try of a state, in milliseconds; None where there is none."""

    timeout_ms: int | None = None
    heartbeat_ms: int | None = None

    def to_json(self) -> dict[str, int]:
        """As the scripts take them."""
        limits = {"timeout_ms": self.timeout_ms, "hb_ms": self.heartbeat_ms}
        return {name: limit for name, limit in limits.items() if limit is not None}


NO_LIMITS = Limits()


@dataclass(frozen=True, slots=True)
class Join:
    """The counters of a Map or Parallel state (see DESIGN of joins in ``docs/``)."""

    open: bool
    n: int
    window: int
    spawned: int
    finished: int
    failed: int
    fail_limit: int
    visit: int


@dataclass(frozen=True, slots=True)
class Holder:
    """Who holds a lease, without its token."""

    owner: str
    since: int
    ends: int


@dataclass(frozen=True, slots=True)
class StateDocument:
    """One state instance, frame ticket or earlier visit. ``input``, ``variables`` (what the frame
    had assigned when the state was entered), ``event_payload`` and ``fan`` are as stored
    (``payload.decode`` or ``Store.value`` gives the value). ``approval`` is what somebody was asked
    in this try, None before; ``ask`` the number of that question; once it is ``answered``, the
    decision is the event's payload. ``deaths`` are those of workers that are charged to it, and
    ``how`` tells of the last one, where somebody saw it."""

    path: str
    type: str
    kind: Literal["state", "frame"]
    status: StateStatus
    visit: int
    try_: int
    round: int
    attempts: int
    takeovers: int
    deaths: int
    how: str | None
    fence: int
    input: JSON
    variables: JSON
    event: Event | None
    event_payload: JSON
    error: Failure | None
    holder: Holder | None
    wait: str | None
    wait_until: int | None
    deadline: int | None
    heartbeat_due: int | None
    limits: Limits
    ready_at: int | None
    retries: dict[int, int]
    join: Join | None
    fan: JSON
    exit: str | None
    times: dict[str, int | None]
    metrics: dict[str, Any] | None
    approval: dict[str, Any] | None
    ask: int
    asked_at: int | None
    answered: bool
    raw: dict[str, Any]

    @classmethod
    def parse(cls, text: str) -> StateDocument:
        """The document in ``text`` (what ``JSON.GET key`` returns)."""
        raw = json.loads(text)
        ctl = raw["ctl"]
        lease = ctl.get("lease")
        join = ctl.get("join")
        return cls(
            path=raw["path"],
            type=raw["type"],
            kind=ctl["kind"],
            status=ctl["status"],
            visit=ctl["visit"],
            try_=ctl["try"],
            round=ctl["pv"],
            attempts=ctl["attempts"],
            takeovers=ctl["takeovers"],
            deaths=ctl.get("deaths", 0),
            how=ctl.get("how"),
            fence=int(ctl["fence"]),
            input=raw["input"],
            variables=raw.get("variables"),
            event=ctl.get("event"),
            event_payload=raw["event"],
            error=Failure.parse(raw["error"]),
            holder=Holder(lease["owner"], int(lease["ts"]), int(lease["ends"])) if lease else None,
            wait=ctl.get("wait"),
            wait_until=ctl.get("wait_until"),
            deadline=ctl.get("deadline"),
            heartbeat_due=ctl.get("hb_due"),
            limits=Limits(ctl.get("timeout_ms"), ctl.get("hb_ms")),
            ready_at=ctl.get("ready_at"),
            retries={int(key): used for key, used in (ctl.get("retries") or {}).items()},
            join=Join(**join) if join else None,
            fan=raw.get("fan"),
            exit=raw.get("exit"),
            times=raw["times"],
            metrics=raw["execution_metrics"],
            approval=raw.get("approval") if "ask" in ctl else None,
            ask=ctl.get("ask", 0),
            asked_at=ctl.get("asked_at"),
            answered=ctl.get("answered", False),
            raw=raw,
        )

    @property
    def is_open(self) -> bool:
        return self.status in OPEN

    @property
    def calls(self) -> dict[str, Any] | None:
        """What this try has called, ``{numbers, used, lease}``; ``lease`` only of the lease that is
        in force. None before the first call."""
        made, calls = self.raw["ctl"].get("made"), self.raw.get("calls")
        if made is None or calls is None:
            return None
        return {**calls, "lease": calls["lease"] if int(made) == self.fence else {}}


@cache
def schema(name: str) -> dict[str, Any]:
    """The JSON Schema (2020-12) of ``meta``, ``state``, ``output``, ``event``, ``finalize`` or
    ``agent``."""
    text = (resources.files("control_plane") / "schemas" / f"{name}.schema.json").read_text("utf-8")
    document: dict[str, Any] = json.loads(text)
    return document

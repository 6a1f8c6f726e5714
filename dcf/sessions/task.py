"""A task of a session: what was ordered, who has it, what came of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, get_args

from control_plane import JSON
from dcf.citation import Citation
from dcf.sessions.plain import plain, read_into

TaskStatus = Literal["queued", "assigned", "succeeded", "failed", "partial", "cancelled"]
TaskKind = Literal["companion", "workflow", "group"]
Priority = Literal["low", "normal", "high", "urgent"]

PRIORITIES: tuple[Priority, ...] = get_args(Priority)
"""From the one that waits longest."""

ID_TAKEN = "task_id_taken"
"""The error of a task that failed because the run of its id is somebody else's."""

CLOSED: frozenset[TaskStatus] = frozenset({"succeeded", "failed", "partial", "cancelled"})
DONE: frozenset[TaskStatus] = frozenset({"succeeded", "partial"})
"""What those that depend on a task wait for."""


@dataclass(frozen=True, slots=True)
class Attempt:
    """A companion had the task, from ``at`` (ms) on, till it was taken away: ``why``, and whether
    because it was ``lost``. ``specialization`` is what it was specialised in then."""

    companion_id: str
    at: int
    why: str | None = None
    lost: bool = False
    specialization: str | None = None


@dataclass(frozen=True, slots=True)
class SessionTask:
    """One task. Its run has the same id; that one's documents say how far it is.

    ``task_type`` is what statistics call it, and its state. ``skills`` are exactly those that are
    loaded for it, as their ``pins`` (manifest id -> digest) say. ``wanted`` is the companion that
    must do it, ``specialization`` what any that does it must have, ``after`` the tasks that must be
    done before. ``request`` is what the user had asked for, ``group`` the broadcast it belongs to;
    the group itself is a task with ``children``, done when ``need`` of them are. ``document`` is
    the workflow of a task for workers. ``first_at`` is when it was assigned for the first time:
    from then on it may have a run. Times are ms by Redis's clock.

    ``ordered`` is the digest of the order: the same again is the same task.
    ``cancelled_by``: its run is to be ended, and the task is cancelled then, or has failed if there
    is a ``verdict`` ({code, message}). ``told``: the graph has it (or will: the outbox has).
    ``size`` is how many bytes it had in the document when it was delegated; 0 once it is closed.
    """

    task_id: str
    task_type: str
    description: str
    by: str
    delegated_at: int
    deadline_at: int
    ordered: str = ""
    kind: TaskKind = "companion"
    status: TaskStatus = "queued"
    skills: tuple[str, ...] = ()
    input: JSON = None
    priority: Priority = "normal"
    wanted: str | None = None
    specialization: str | None = None
    after: tuple[str, ...] = ()
    request: str | None = None
    group: str | None = None
    children: tuple[str, ...] = ()
    need: int = 0
    tier: int | None = None
    model: str | None = None
    budget: dict[str, JSON] | None = None
    context: dict[str, JSON] | None = None
    pins: dict[str, str] | None = None
    document: dict[str, JSON] | None = field(default=None, repr=False)
    companion_id: str | None = None
    first_at: int | None = None
    attempts: tuple[Attempt, ...] = ()
    cancelled_by: str | None = None
    reason: str | None = None
    verdict: dict[str, str] | None = None
    started_at: int | None = None
    finished_at: int | None = None
    summary: str | None = None
    error: dict[str, str] | None = None
    selection: dict[str, JSON] | None = None
    metrics: dict[str, JSON] | None = None
    told: bool = False
    size: int = 0

    @property
    def is_open(self) -> bool:
        return self.status not in CLOSED

    @property
    def rank(self) -> tuple[int, int, str]:
        """Where it stands among those that wait: urgent ones first, then the oldest."""
        return (-PRIORITIES.index(self.priority), self.delegated_at, self.task_id)

    @property
    def state(self) -> str:
        """The name of its run's only state."""
        return self.task_type

    @property
    def is_namesake(self) -> bool:
        """Whether the run of its id, and all that this puts out, is somebody else's."""
        return (self.error or {}).get("code") == ID_TAKEN

    @property
    def reference(self) -> str | None:
        """Where its result stands, once it has one."""
        if self.status not in DONE or self.kind == "group":
            return None
        return str(Citation("run", self.task_id))

    def to_json(self) -> dict[str, Any]:
        """What is stored: all that is not as it is without saying."""
        return plain(self)

    @classmethod
    def parse(cls, raw: Mapping[str, Any]) -> SessionTask:
        attempts = tuple(read_into(Attempt, one)() for one in raw.get("attempts", ()))
        lists = {name: tuple(raw.get(name, ())) for name in ("skills", "after", "children")}
        return read_into(cls, raw)(attempts=attempts, **lists)

"""What happened in a session, as far as the Strategist looks at it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import Any, Literal, TypeAlias

from dcf.advisors.strategist.errors import InvalidActivity
from dcf.advisors.strategist.shape import misfits, root_of
from dcf.evidence import Record

TaskStatus: TypeAlias = Literal["queued", "assigned", "succeeded", "failed", "partial", "cancelled"]
CompanionStatus: TypeAlias = Literal["idle", "busy", "error", "lost"]

GENERALIST = "generalist"


@dataclass(frozen=True, slots=True)
class Task:
    """A delegated task. ``skills`` are manifest ids, ``specialization`` is that of the companion
    that has or had it; ``attempts`` counts the first one too. ``tier``, ``model`` and ``fcs`` are
    what was predicted for it, ``escalated`` whether it needed a higher tier. ``cost`` is in US
    dollars; None where it is not known. Times are ms since the epoch.
    """

    task_id: str
    task_type: str
    status: TaskStatus
    delegated_at: int
    skills: tuple[str, ...] = ()
    companion_id: str | None = None
    specialization: str | None = None
    priority: str = "normal"
    assigned_at: int | None = None
    started_at: int | None = None
    finished_at: int | None = None
    attempts: int = 1
    error_code: str | None = None
    tier: int | None = None
    model: str | None = None
    escalated: bool = False
    cost: float | None = None
    tokens: int | None = None
    fcs: float | None = None

    @property
    def is_open(self) -> bool:
        return self.status in ("queued", "assigned")

    @property
    def is_outcome(self) -> bool:
        """Whether a companion worked at it to its end, so that it says something of both. What was
        cancelled, or failed before anybody began, does not."""
        return (
            self.status in ("succeeded", "failed", "partial")
            and self.companion_id is not None
            and self.started_at is not None
            and self.finished_at is not None
        )

    @property
    def ok(self) -> bool:
        """Whether it did all that was asked: a partial result did not."""
        return self.status == "succeeded"

    @property
    def wait_ms(self) -> int | None:
        """From its delegation to its start; None if it has not begun."""
        return None if self.started_at is None else max(0, self.started_at - self.delegated_at)

    @property
    def work_ms(self) -> int:
        """From its start to its end; 0 before that."""
        if self.started_at is None or self.finished_at is None:
            return 0
        return max(0, self.finished_at - self.started_at)


@dataclass(frozen=True, slots=True)
class Companion:
    """A companion that is there now. ``skills`` are those it was made for or has loaded;
    ``idle_since`` (ms) is None while it is busy."""

    companion_id: str
    name: str
    created_at: int
    status: CompanionStatus = "idle"
    specialization: str = GENERALIST
    idle_since: int | None = None
    skills: tuple[str, ...] = ()

    @property
    def can_work(self) -> bool:
        return self.status in ("idle", "busy")


@dataclass(frozen=True, slots=True)
class SkillHistory:
    """What earlier sessions and runs say of a skill version at a type of task."""

    task_type: str
    skill: str
    record: Record


@dataclass(frozen=True, slots=True)
class CompanionHistory:
    """What earlier sessions say of a specialization at a type of task."""

    task_type: str
    specialization: str
    record: Record


@dataclass(frozen=True)
class Activity:
    """A session as it stands at ``now`` (ms): all its tasks, and the companions that are there.

    ``pool_since`` (ms) is when a companion last joined or left; None where nobody left. The
    histories are of the time before the session: what it counts itself must not be in them.
    """

    session_id: str
    now: int
    tasks: tuple[Task, ...] = ()
    companions: tuple[Companion, ...] = ()
    conductor_id: str = ""
    pool_since: int | None = None
    skill_history: tuple[SkillHistory, ...] = ()
    companion_history: tuple[CompanionHistory, ...] = ()

    @cached_property
    def outcomes(self) -> tuple[Task, ...]:
        """The tasks that were worked at to their end, in the order in which they ended."""
        ended = (task for task in self.tasks if task.is_outcome)
        return tuple(sorted(ended, key=lambda task: (task.finished_at or 0, task.task_id)))

    @cached_property
    def specializations(self) -> Mapping[str, str]:
        """The specialization of each companion that is there or ended a task."""
        ended = {
            task.companion_id: task.specialization or GENERALIST
            for task in self.outcomes
            if task.companion_id is not None
        }
        return ended | {one.companion_id: one.specialization for one in self.companions}

    def to_json(self) -> dict[str, Any]:
        """A JSON object with every field; ``from_json`` is the way back."""
        fields = ("tasks", "companions", "skill_history", "companion_history")
        lists = {name: [_plain(asdict(one)) for one in getattr(self, name)] for name in fields}
        return {
            "session_id": self.session_id,
            "conductor_id": self.conductor_id,
            "now": self.now,
            "pool_since": self.pool_since,
            **lists,
        }

    @classmethod
    def from_json(cls, document: Any) -> Activity:
        """The activity in a JSON object. Raises InvalidActivity with all that is wrong."""
        problems = misfits(root_of(document), "activity", "STRATEGIST")
        if problems:
            raise InvalidActivity(problems)
        return cls(
            session_id=document["session_id"],
            conductor_id=document.get("conductor_id", ""),
            now=document["now"],
            pool_since=document.get("pool_since"),
            tasks=tuple(Task(**_tuples(one)) for one in document.get("tasks", ())),
            companions=tuple(Companion(**_tuples(one)) for one in document.get("companions", ())),
            skill_history=tuple(
                SkillHistory(**_recorded(one)) for one in document.get("skill_history", ())
            ),
            companion_history=tuple(
                CompanionHistory(**_recorded(one)) for one in document.get("companion_history", ())
            ),
        )


def _plain(fields: dict[str, Any]) -> dict[str, Any]:
    return {name: list(one) if isinstance(one, tuple) else one for name, one in fields.items()}


def _tuples(fields: Mapping[str, Any]) -> dict[str, Any]:
    return {name: tuple(one) if isinstance(one, list) else one for name, one in fields.items()}


def _recorded(fields: Mapping[str, Any]) -> dict[str, Any]:
    return {**fields, "record": Record(**fields["record"])}

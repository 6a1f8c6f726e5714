"""What is told of sessions: records that wait in the outbox until they are in the graph.

Each has an ``id``; told again it is the same fact, and what is told later takes the place of what
was told before. Times are ms since the epoch, by Redis's clock.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from typing import Any, ClassVar, Final, Literal, Self, get_args

from control_plane import Outbox
from dcf.knowledge.record_form import (
    demand_choice,
    demand_counts,
    demand_ids,
    demand_numbers,
    demand_texts,
    demand_time,
)
from dcf.workflow import SESSION_PIN as SESSION_PIN
from dcf.workflow import TASK_WORKFLOW as TASK_WORKFLOW

SessionState = Literal["active", "paused", "completing", "completed", "abandoned"]
DelegationStatus = Literal["succeeded", "failed", "partial", "cancelled"]
DelegationKind = Literal["task", "workflow"]
TASK_COUNTS: Final = ("delegated", "succeeded", "failed", "partial", "cancelled")
"""What is counted of the tasks of a session."""
COMPANION_POOL: Final = "inbox."
"""The pool of a companion's tasks is called this, and its id."""


@dataclass(frozen=True, slots=True)
class _Record:
    """What the records have in common."""

    KIND: ClassVar[str]
    """The kind of the outbox's records that are such facts."""
    _LISTS: ClassVar[tuple[str, ...]] = ()

    def to_json(self) -> dict[str, Any]:
        return {**asdict(self), **{name: list(getattr(self, name)) for name in self._LISTS}}

    @classmethod
    def from_json(cls, given: Mapping[str, Any]) -> Self:
        """The opposite of ``to_json``; fields that are not known are left out. Raises TypeError
        where one is missing or is not what it should be."""
        if not isinstance(given, Mapping):
            raise TypeError("it is no object")
        known = {one.name: given[one.name] for one in fields(cls) if one.name in given}
        for name in cls._LISTS:
            if not isinstance(known.get(name, []), list):
                raise TypeError(f"{name} is no list")
        made = cls(**{**known, **{name: tuple(known.get(name, ())) for name in cls._LISTS}})
        made._demand()
        return made

    def _demand(self) -> None:
        """Raises TypeError where a field is not what it should be."""
        raise NotImplementedError


@dataclass(frozen=True, slots=True)
class SessionFact(_Record):
    """A session, once more with each change of it that is told.

    ``tasks`` counts its tasks by ``TASK_COUNTS`` (``delegated`` are all of them), ``companions`` is
    how many it ever had, ``workflows`` are the ids of runs of whole workflows that were delegated
    in it (the first hundred are kept). ``objective`` is redacted and cut.
    """

    KIND: ClassVar[str] = "session"
    _LISTS: ClassVar[tuple[str, ...]] = ("workflows",)

    session_id: str
    conductor_id: str
    objective: str
    state: SessionState
    created_at: int
    ended_at: int | None = None
    tasks: Mapping[str, int] = field(default_factory=dict, hash=False)
    companions: int = 0
    workflows: tuple[str, ...] = ()

    @property
    def id(self) -> str:
        return self.session_id

    def _demand(self) -> None:
        demand_ids(self, ("session_id", "conductor_id"))
        demand_texts(self, ("objective",))
        demand_choice("state", self.state, get_args(SessionState))
        demand_time("created_at", self.created_at)
        if self.ended_at is not None:
            demand_time("ended_at", self.ended_at)
        demand_counts("tasks", self.tasks, TASK_COUNTS)
        demand_counts("companions", {"companions": self.companions}, ("companions",))
        demand_ids(self, (), lists=("workflows",))


@dataclass(frozen=True, slots=True)
class DelegationFact(_Record):
    """A task that was delegated and is closed.

    ``companion_id``, ``companion_name`` and ``specialization`` are those of who had it last, None
    where nobody had. ``skills`` are manifest ids. ``started_at`` is None where nobody began it;
    ``attempts`` counts the first one too. ``cost_usd`` and ``tokens`` are None where not known.
    ``run_id`` is that of the task's run, None where that has the task's own id; ``kind`` says
    whether the run is the task alone or a whole workflow. What the run came to is told by the run:
    a delegation counts in no sum of a skill.
    """

    KIND: ClassVar[str] = "delegation"
    _LISTS: ClassVar[tuple[str, ...]] = ("skills",)

    task_id: str
    session_id: str
    conductor_id: str
    task_type: str
    status: DelegationStatus
    delegated_at: int
    finished_at: int
    companion_id: str | None = None
    companion_name: str | None = None
    specialization: str | None = None
    skills: tuple[str, ...] = ()
    error_code: str | None = None
    priority: str = "normal"
    started_at: int | None = None
    attempts: int = 1
    tier: int | None = None
    model: str | None = None
    cost_usd: float | None = None
    tokens: int | None = None
    kind: DelegationKind = "task"
    run_id: str | None = None

    @property
    def id(self) -> str:
        return self.task_id

    @property
    def run(self) -> str:
        """The id of the task's run."""
        return self.run_id or self.task_id

    @property
    def ok(self) -> bool:
        return self.status == "succeeded"

    def _demand(self) -> None:
        demand_ids(self, ("task_id", "session_id", "conductor_id"))
        demand_ids(self, ("companion_id", "run_id"), optional=True)
        demand_texts(self, ("task_type", "priority"))
        if not self.task_type:
            raise TypeError("task_type is empty")
        demand_texts(
            self, ("companion_name", "specialization", "error_code", "model"), optional=True
        )
        demand_texts(self, (), lists=("skills",))
        demand_choice("status", self.status, get_args(DelegationStatus))
        demand_choice("kind", self.kind, get_args(DelegationKind))
        for name in ("delegated_at", "finished_at"):
            demand_time(name, getattr(self, name))
        if self.started_at is not None:
            demand_time("started_at", self.started_at)
        demand_counts("attempts", {"attempts": self.attempts}, ("attempts",))
        for name in ("tier", "tokens"):
            if getattr(self, name) is not None:
                demand_counts(name, {name: getattr(self, name)}, (name,))
        if self.cost_usd is not None:
            demand_numbers("cost_usd", {"cost_usd": self.cost_usd})


@dataclass(frozen=True, slots=True)
class PatternFact(_Record):
    """What an analysis of a session has measured.

    ``id`` is the same for the same subject of the same session. ``subject`` says in short what it
    is about, ``statement`` in a sentence what was found; ``task_type``, ``skill`` (a manifest id,
    or a name without version), ``companion_id`` and ``specialization`` are what it concerns, where
    it concerns any ("" is none). ``values`` are numbers by name, from ``observations`` tasks;
    ``confidence`` is 0 to 1, ``interval`` the bounds of the value that matters most. ``evidence``
    are ids of tasks (the first hundred are kept).
    """

    _LISTS: ClassVar[tuple[str, ...]] = ("evidence",)

    id: str
    session_id: str
    subject: str
    observations: int
    values: Mapping[str, float] = field(hash=False)
    confidence: float
    at: int
    interval: tuple[float, float] | None = None
    evidence: tuple[str, ...] = ()
    statement: str = ""
    conductor_id: str = ""
    task_type: str = ""
    skill: str = ""
    companion_id: str = ""
    specialization: str = ""

    def to_json(self) -> dict[str, Any]:
        interval = None if self.interval is None else list(self.interval)
        return {**_Record.to_json(self), "values": dict(self.values), "interval": interval}

    @classmethod
    def from_json(cls, given: Mapping[str, Any]) -> Self:
        """As of any record."""
        interval = given.get("interval") if isinstance(given, Mapping) else None
        if isinstance(interval, list):
            given = {**given, "interval": tuple(interval)}
        return super(PatternFact, cls).from_json(given)

    def _demand(self) -> None:
        demand_ids(self, ("session_id",), lists=("evidence",))
        if not self.id:
            raise TypeError("id is empty")
        demand_ids(self, ("conductor_id", "companion_id"), empty=True)
        demand_texts(self, ("id", "subject", "statement", "task_type", "skill", "specialization"))
        demand_counts("observations", {"observations": self.observations}, ("observations",))
        demand_numbers("values", self.values)
        demand_numbers("confidence", {"confidence": self.confidence})
        if not 0 <= self.confidence <= 1:
            raise TypeError("confidence is not between 0 and 1")
        demand_time("at", self.at)
        if self.interval is not None:
            if not isinstance(self.interval, tuple) or len(self.interval) != 2:
                raise TypeError("interval is no pair of numbers")
            low, high = self.interval
            demand_numbers("interval", {"low": low, "high": high})
            if low > high:
                raise TypeError("interval ends before it begins")


class SessionPatternFact(PatternFact):
    """What was measured of a session as a whole."""

    __slots__ = ()
    KIND: ClassVar[str] = "session_pattern"


class SkillMetricFact(PatternFact):
    """What was measured of a skill in a session; ``skill`` says which, ``task_type`` at what."""

    __slots__ = ()
    KIND: ClassVar[str] = "skill_metric"


class CompanionPatternFact(PatternFact):
    """What was measured of a companion, or of all of one specialization, in a session."""

    __slots__ = ()
    KIND: ClassVar[str] = "companion_pattern"


SessionRecord = SessionFact | DelegationFact | PatternFact
SESSION_RECORDS: Final[dict[str, type[SessionRecord]]] = {
    one.KIND: one
    for one in (
        SessionFact,
        DelegationFact,
        SessionPatternFact,
        SkillMetricFact,
        CompanionPatternFact,
    )
}
"""Kind of a record -> what it is."""


async def tell_fact(outbox: Outbox, fact: SessionRecord) -> None:
    """Put ``fact`` where it waits for the graph; telling it again does no harm. Raises OutboxFull:
    then the producer keeps it and comes again."""
    await outbox.put(fact.KIND, fact.id, fact.to_json())

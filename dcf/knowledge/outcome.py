"""What a finished visit of a Task, and a finished run, tell: numbers, names and redacted causes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Literal, Self

from dcf.knowledge.naming import run_uuid, state_outcome_uuid

OutcomeStatus = Literal["done", "failed"]
_LISTS = ("skills", "tools", "approvals")


@dataclass(frozen=True, slots=True)
class ToolUse:
    """A tool that a Task called, by its ``server:name``; ``calls`` that were let pass, and how many
    of them came to a failure: an error that the tool reported, or no answer."""

    tool: str
    calls: int
    failures: int


@dataclass(frozen=True, slots=True)
class Approval:
    """What somebody decided (``approve`` or ``reject``) at ``at`` (ms), ``waited_ms`` after it was
    asked for."""

    by: str
    decision: str
    at: int
    waited_ms: int


@dataclass(frozen=True, slots=True)
class Outcome:
    """One finished visit of a Task state. Times are ms since the epoch, by Redis's clock.

    ``run`` names the run for good: its id, and when it was seeded (an id may be used again).
    ``path`` is the instance (``Fan[2]/Fetch``), without ``@visit``; ``state`` the name in the
    definition. ``tries`` counts the first try too. ``task_type`` is what the binding declares, else
    the name of its first skill without version, else the state's name. ``skills`` are manifest ids
    (``skill.orders.charge_payment@1.0.0``); each of them is credited with the whole outcome.
    ``error`` is an error name as in ASL, ``cause`` is redacted and cut. ``cost_usd`` is None where
    no price was known. ``tier`` and ``fcs`` are what was predicted (None: nothing was),
    ``escalated`` whether a higher tier worked. ``chosen`` is why the plan took its skills, None
    where it does not say. ``session`` is where the run was delegated, None for most runs. A Map's
    iterations each have their own path. ``tools`` and ``approvals`` are what the run's history says
    of the visit.
    """

    run: str
    workflow_id: str
    workflow_name: str
    path: str
    state: str
    visit: int
    tries: int
    task_type: str
    skills: tuple[str, ...]
    agent: str | None
    status: OutcomeStatus
    error: str | None
    cause: str | None
    started_at: int
    ended_at: int
    duration_ms: int
    cost_usd: float | None = None
    tokens: int | None = None
    tool_calls: int | None = None
    tier: int | None = None
    fcs: float | None = None
    escalated: bool = False
    model: str | None = None
    session: str | None = None
    chosen: str | None = None
    tools: tuple[ToolUse, ...] = ()
    approvals: tuple[Approval, ...] = ()

    @property
    def id(self) -> str:
        """The same for the same visit, whoever computes it: a UUID, and its node's in the graph."""
        return state_outcome_uuid(self.run, self.path, self.visit)

    @property
    def ok(self) -> bool:
        return self.status == "done"

    def to_json(self) -> dict[str, Any]:
        lists = {name: list(found) for name, found in asdict(self).items() if name in _LISTS}
        return {**asdict(self), **lists, "id": self.id}

    @classmethod
    def from_json(cls, fields: Mapping[str, Any]) -> Self:
        """The opposite of ``to_json``; fields that are not known are left out."""
        known = {name: fields[name] for name in cls.__slots__ if name in fields}
        tools = tuple(ToolUse(**one) for one in known.get("tools") or ())
        approvals = tuple(Approval(**one) for one in known.get("approvals") or ())
        skills = tuple(known.get("skills") or ())
        return cls(**{**known, "skills": skills, "tools": tools, "approvals": approvals})


@dataclass(frozen=True, slots=True)
class RunFact:
    """One end of a run; a redriven run has one for each (``redrives`` counts them), of which the
    last one holds. Times are ms since the epoch.

    ``status`` is succeeded, failed, timed_out or cancelled. ``digest`` is that of the definition.
    ``states`` counts state instances by status. ``sop`` names what the workflow was made from (its
    plan or SOP), None when it does not say.
    """

    run: str
    redrives: int
    workflow_id: str
    workflow_name: str
    version: str | None
    digest: str
    status: str
    started_at: int
    ended_at: int
    duration_ms: int
    states: Mapping[str, int]
    cost_usd: float
    tokens: int
    error: str | None
    cause: str | None
    sop: str | None = None

    @property
    def id(self) -> str:
        """A UUID, and its node's in the graph."""
        return run_uuid(self.run, self.redrives)

    def to_json(self) -> dict[str, Any]:
        return {**asdict(self), "states": dict(self.states), "id": self.id}

    @classmethod
    def from_json(cls, fields: Mapping[str, Any]) -> Self:
        """The opposite of ``to_json``; fields that are not known are left out."""
        return cls(**{name: fields[name] for name in cls.__slots__ if name in fields})

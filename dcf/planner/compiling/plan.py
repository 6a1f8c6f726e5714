"""What compiling a procedure came to: the workflow, the choices, what stands in the way."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from dcf.planner.compiling.binding import BindingQuestion
from dcf.planner.compiling.gap import Gap
from dcf.planner.compiling.skill_choice import Candidate
from dcf.problem import Problem, has_errors


@dataclass(frozen=True, slots=True)
class PlannedStep:
    """One step of the procedure and what became of it. ``states`` are its states, the first one
    first; ``skills`` references with versions, ``why`` and ``brief`` why these; ``choices`` what
    the measures say of their versions, as ``dcf.evidence.Choice`` has it; ``given`` the dotted
    names by argument; ``writes`` the names that are known after it. ``tier`` and ``fcs`` are what
    the work asks for, ``tokens`` what the skills cost a model each time it reads them; None
    for a step that needs no agent."""

    number: str
    title: str
    kind: str
    line: int
    states: tuple[str, ...]
    skills: tuple[str, ...] = ()
    why: str = ""
    brief: str = ""
    named: bool = False
    explored: bool = False
    choices: tuple[Mapping[str, Any], ...] = ()
    runners_up: tuple[Candidate, ...] = ()
    given: tuple[tuple[str, str], ...] = ()
    writes: tuple[str, ...] = ()
    tier: int | None = None
    fcs: float | None = None
    risk: str | None = None
    egress: str | None = None
    secrets: tuple[str, ...] = ()
    approval: bool = False
    tokens: int | None = None
    budget: dict[str, Any] | None = None

    def to_json(self) -> dict[str, Any]:
        """Every field; runners-up as ``{skill, score, data, matched}``."""
        return {
            "step": self.number,
            "title": self.title,
            "kind": self.kind,
            "line": self.line or None,
            "states": list(self.states),
            "skills": list(self.skills),
            "why": self.why,
            "named": self.named,
            "explored": self.explored,
            "choices": [dict(one) for one in self.choices],
            "runners_up": [runner_json(one) for one in self.runners_up],
            "reads": dict(self.given),
            "writes": list(self.writes),
            "tier": self.tier,
            "fcs": self.fcs,
            "risk": self.risk,
            "egress": self.egress,
            "secrets": list(self.secrets),
            "approval": self.approval,
            "tokens": self.tokens,
            "budget": self.budget,
        }


@dataclass(frozen=True, slots=True)
class Risk:
    """What running the workflow may do and cost: the highest risk level, how far its tools reach,
    the secrets they need, the steps that somebody has to approve, the highest tier, and the tokens
    of all skills read once."""

    level: str
    egress: str
    secrets: tuple[str, ...]
    approvals: tuple[str, ...]
    tier: int
    tokens: int

    def to_json(self) -> dict[str, Any]:
        return {
            "level": self.level,
            "egress": self.egress,
            "secrets": list(self.secrets),
            "approvals": list(self.approvals),
            "highest_tier": self.tier,
            "skill_tokens": self.tokens,
        }


@dataclass(frozen=True, slots=True)
class Plan:
    """``document`` is the workflow document, None where ``problems`` have an error. ``gaps`` are
    the steps that no skill covers, ``bindings`` questions about arguments that no value has the
    name of; each of them is a problem too."""

    document: dict[str, Any] | None
    problems: tuple[Problem, ...]
    steps: tuple[PlannedStep, ...]
    gaps: tuple[Gap, ...]
    risk: Risk
    bindings: tuple[BindingQuestion, ...] = ()

    @property
    def is_complete(self) -> bool:
        return self.document is not None and not has_errors(self.problems)

    def to_json(self) -> dict[str, Any]:
        return {
            "workflow": self.document,
            "steps": [step.to_json() for step in self.steps],
            "gaps": [gap.to_json() for gap in self.gaps],
            "bindings": [one.to_json() for one in self.bindings],
            "risk": self.risk.to_json(),
        }


def runner_json(one: Candidate) -> dict[str, Any]:
    return {
        "skill": f"{one.skill.name}@{one.skill.version}",
        "score": round(one.score, 2),
        "data": round(one.data, 2),
        "matched": list(one.matched),
    }


def risk_of(steps: Sequence[PlannedStep]) -> Risk:
    """The risk of all ``steps`` together."""
    levels, reaches = ("low", "medium", "high"), ("none", "intranet", "internet")
    return Risk(
        max((one.risk or "low" for one in steps), key=levels.index, default="low"),
        max((one.egress or "none" for one in steps), key=reaches.index, default="none"),
        tuple(sorted({secret for one in steps for secret in one.secrets})),
        tuple(one.number for one in steps if one.approval),
        max((one.tier or 0 for one in steps), default=0),
        sum(one.tokens or 0 for one in steps),
    )

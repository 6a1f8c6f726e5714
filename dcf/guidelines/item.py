"""The items of guidelines, by list."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal, TypeAlias

from dcf.guidelines.insight import Severity

Action: TypeAlias = Literal["recalibrate", "maintain"]
Author: TypeAlias = Literal["person", "agent"]
Goal: TypeAlias = Literal["speed"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """What every item may say beside what its list is for.

    ``insight`` is the id of the insight that it comes from, None for what somebody wrote;
    ``written_by`` says who, None where that is not known. ``last_evidence_at`` (ms) is when it was
    last borne out; ``goal`` what following it is good for, None for success; ``more`` are fields
    that are not ours. ``confidence`` and ``evidence`` of what has no insight are claims.
    """

    LIST: ClassVar[str]
    SAYS: ClassVar[tuple[str, ...]]
    """The fields that make the item what it is: two that agree in them are one."""

    confidence: float | None = None
    evidence: Any = None
    insight: str | None = None
    written_by: Author | None = None
    goal: Goal | None = None
    last_evidence_at: int | None = None
    more: Mapping[str, Any] = field(default_factory=dict)

    @property
    def said(self) -> tuple[Any, ...]:
        return tuple(getattr(self, name) for name in self.SAYS)

    @property
    def rank(self) -> int:
        """How much it counts: 2 for what a person wrote, 1 for what was measured, 0 for all else,
        however sure that says it is."""
        if self.insight is not None:
            return 1
        return 2 if self.written_by == "person" else 0


@dataclass(frozen=True, slots=True, kw_only=True)
class SkillRecommendation(Item):
    """When ``condition`` holds, take the skill version ``prefer`` and not ``avoid``.
    ``task_type`` is the condition for programs: the type of task it is meant for."""

    LIST = "skill_recommendations"
    SAYS = ("condition", "prefer", "avoid", "goal")

    condition: str
    prefer: str | None = None
    avoid: str | None = None
    reason: str = ""
    task_type: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkflowPattern(Item):
    """Something about the shape of workflows that runs bore out."""

    LIST = "workflow_patterns"
    SAYS = ("pattern",)

    pattern: str


@dataclass(frozen=True, slots=True, kw_only=True)
class UserIntentTip(Item):
    """What people mean when they ask."""

    LIST = "user_intent_tips"
    SAYS = ("tip",)

    tip: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Warning(Item):
    """Something that goes wrong, and what to do about it."""

    LIST = "warnings"
    SAYS = ("warning",)

    warning: str
    severity: Severity = "medium"
    workaround: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelAdvice(Item):
    """Whether a skill's complexity, and so the tier of its models, is right."""

    LIST = "model_selection"
    SAYS = ("skill",)

    skill: str
    current_tier: int | None = None
    recommended_action: Action = "maintain"
    reason: str = ""
    suggested_fcs_adjustment: float | None = None


ITEMS: tuple[type[Item], ...] = (
    SkillRecommendation,
    WorkflowPattern,
    UserIntentTip,
    Warning,
    ModelAdvice,
)
"""One type for each list of the document."""

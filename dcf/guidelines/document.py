"""The guidelines that a Reflector publishes and a Planner reads: one document with revisions."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields, replace
from datetime import UTC, datetime
from typing import Any

from dcf.guidelines.item import (
    Item,
    ModelAdvice,
    SkillRecommendation,
    UserIntentTip,
    Warning,
    WorkflowPattern,
)

LABEL = "reflector_guidelines"
"""The label of the memory block that holds the document."""


@dataclass(frozen=True, slots=True)
class Guidelines:
    """``revision`` grows by one with each change; ``last_updated`` is ms since the epoch, None for
    a document that nobody wrote yet. ``recent_insights`` are JSON objects, the newest first."""

    revision: int = 0
    last_updated: int | None = None
    skill_recommendations: tuple[SkillRecommendation, ...] = ()
    workflow_patterns: tuple[WorkflowPattern, ...] = ()
    user_intent_tips: tuple[UserIntentTip, ...] = ()
    warnings: tuple[Warning, ...] = ()
    model_selection: tuple[ModelAdvice, ...] = ()
    recent_insights: tuple[Any, ...] = ()

    def items(self, kind: type[Item]) -> tuple[Any, ...]:
        """The items of the list that ``kind`` is of."""
        return tuple(getattr(self, kind.LIST))

    def with_items(self, lists: Mapping[str, Iterable[Item]]) -> Guidelines:
        """The document with other items in these lists."""
        changed: dict[str, Any] = {name: tuple(items) for name, items in lists.items()}
        return replace(self, **changed)

    def for_task(self, task_type: str) -> tuple[SkillRecommendation, ...]:
        """The recommendations for a type of task: first those of persons, then what was measured,
        then what else was said; of each, those to succeed before those to be quick, the most
        certain first. How sure somebody says to be is no measure."""
        meant = (one for one in self.skill_recommendations if one.task_type == task_type)
        return tuple(
            sorted(meant, key=lambda one: (-one.rank, one.goal == "speed", -(one.confidence or 0)))
        )

    def to_json(self) -> dict[str, Any]:
        """The document as it is kept: ``{last_updated, revision, guidelines, recent_insights}``."""
        lists = ("skill_recommendations", "workflow_patterns", "user_intent_tips", "warnings")
        return {
            "last_updated": None if self.last_updated is None else iso(self.last_updated),
            "revision": self.revision,
            "guidelines": {
                name: [item_json(item) for item in getattr(self, name)]
                for name in (*lists, "model_selection")
            },
            "recent_insights": list(self.recent_insights),
        }


def item_json(item: Item) -> dict[str, Any]:
    """The item as a JSON object; what it does not say is left out, but for its list's own fields
    (``prefer`` null says that nothing is preferred)."""
    common = {field.name for field in fields(Item)}
    own = {f.name: getattr(item, f.name) for f in fields(item) if f.name not in common}
    beside: Mapping[str, Any] = {
        "confidence": item.confidence,
        "evidence": item.evidence,
        "insight": item.insight,
        "written_by": item.written_by,
        "goal": item.goal,
        "last_evidence_at": None if item.last_evidence_at is None else iso(item.last_evidence_at),
    }
    said = {name: value for name, value in beside.items() if value is not None}
    return {**item.more, **own, **said}


def iso(at: int) -> str:
    """Milliseconds since the epoch as ISO 8601, UTC."""
    moment = datetime.fromtimestamp(at / 1000, UTC)
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")

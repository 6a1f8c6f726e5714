"""From insights to guidelines: which become one, in which words, and which are withdrawn."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import Any, cast

from dcf.guidelines.document import Guidelines
from dcf.guidelines.insight import Insight
from dcf.guidelines.item import (
    Action,
    Item,
    ModelAdvice,
    SkillRecommendation,
    UserIntentTip,
    Warning,
    WorkflowPattern,
)
from dcf.guidelines.merging import merge, with_insights, without_expired, without_insights
from dcf.guidelines.rules import Rules

_RUNS = 3
"""Of an insight's runs, so many are named in the guideline."""


def is_publishable(insight: Insight, now: int, rules: Rules) -> bool:
    """Whether planners should act on it: enough runs speak for it, it is sure enough and holds at
    ``now`` (ms)."""
    return (
        insight.evidence.workflows >= rules.min_workflows
        and insight.evidence.outcomes >= rules.min_outcomes
        and insight.confidence > rules.min_confidence
        and insight.expires_at > now
    )


def publish(
    guidelines: Guidelines,
    insights: Sequence[Insight],
    now: int,
    rules: Rules,
    *,
    retracted: Collection[str] = (),
) -> Guidelines:
    """``guidelines`` after an analysis found ``insights`` at ``now`` (ms): with those that are
    publishable; without those that are not any more, those superseded, those whose ids are
    ``retracted`` and what has expired."""
    withdrawn = {old for insight in insights for old in insight.supersedes} | set(retracted)
    withdrawn |= {one.id for one in insights if not is_publishable(one, now, rules)}
    published = [one for one in insights if is_publishable(one, now, rules)]
    left = without_expired(without_insights(guidelines, withdrawn), now, rules)
    merged = merge(left, [item_of(insight) for insight in published], now)
    recent = [one for one in merged.recent_insights if _id_of(one) not in withdrawn]
    left = replace(merged, recent_insights=tuple(recent))
    return with_insights(left, [insight.to_json() for insight in published], rules)


def item_of(insight: Insight) -> Item:
    """The item that says what the insight says."""
    common: dict[str, Any] = {
        "confidence": round(insight.confidence, 4),
        "evidence": _evidence(insight),
        "insight": insight.id,
        "last_evidence_at": insight.evidence.until,
    }
    condition = insight.condition
    if insight.category in ("skill_effectiveness", "efficiency"):
        return SkillRecommendation(
            condition=condition_text(insight),
            prefer=insight.prefer,
            avoid=insight.avoid,
            reason=insight.reason,
            task_type=condition.get("task_type"),
            goal="speed" if insight.category == "efficiency" else None,
            **common,
        )
    if insight.category == "workflow_pattern":
        return WorkflowPattern(pattern=insight.reason, **common)
    if insight.category == "user_intent":
        return UserIntentTip(tip=insight.reason, **common)
    if insight.category == "warning":
        return Warning(
            warning=insight.reason,
            severity=insight.severity or "medium",
            workaround=insight.prefer or "",
            **common,
        )
    measures = insight.evidence.measures
    tier, adjustment = measures.get("tier"), measures.get("suggested_fcs_adjustment")
    return ModelAdvice(
        skill=condition.get("skill", ""),
        current_tier=None if tier is None else round(tier),
        recommended_action=cast(Action, insight.prefer or "maintain"),
        reason=insight.reason,
        suggested_fcs_adjustment=adjustment,
        **common,
    )


def condition_text(insight: Insight) -> str:
    """When the insight holds, in words: ``task_type = refund``."""
    said = sorted(insight.condition.items())
    return " and ".join(f"{name} = {value}" for name, value in said) or "always"


def _id_of(recent: Any) -> Any:
    return recent.get("id") if isinstance(recent, dict) else None


def _evidence(insight: Insight) -> dict[str, Any]:
    evidence = insight.evidence
    return {
        "outcomes": evidence.outcomes,
        "workflows": evidence.workflows,
        "runs": list(evidence.links[-_RUNS:]),
        **{name: round(value, 4) for name, value in evidence.measures.items()},
    }

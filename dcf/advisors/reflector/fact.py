"""Insights as the graph keeps them, and back."""

from __future__ import annotations

import json
from contextlib import suppress
from typing import cast

from dcf.guidelines import Category, Evidence, Guidelines, Insight, Severity
from dcf.knowledge import InsightFact


def fact_of(insight: Insight, *, retracted_at: int | None = None) -> InsightFact:
    """The insight as it is written to the graph; ``retracted_at`` (ms) says that it is over."""
    condition, evidence, followed = insight.condition, insight.evidence, insight.followed
    measured = {
        "topic": insight.topic,
        "severity": insight.severity,
        "outcomes": evidence.outcomes,
        "workflows": evidence.workflows,
        "since": evidence.since,
        "until": evidence.until,
        "measures": {name: round(value, 4) for name, value in evidence.measures.items()},
    }
    named = (insight.prefer, insight.avoid, condition.get("skill"))
    is_skill = insight.category in ("skill_effectiveness", "efficiency", "model_selection")
    skills = [name for name in named if is_skill and name and name.startswith("skill.")]
    return InsightFact(
        id=insight.id,
        category=insight.category,
        statement=insight.reason,
        confidence=insight.confidence,
        created_at=insight.created_at,
        condition=json.dumps(dict(condition), sort_keys=True),
        prefer=insight.prefer or "",
        avoid=insight.avoid or "",
        task_types=(condition["task_type"],) if "task_type" in condition else (),
        skills=tuple(dict.fromkeys(skills)),
        evidence=json.dumps(measured, sort_keys=True, separators=(",", ":")),
        evidence_runs=evidence.runs,
        expires_at=insight.expires_at,
        retracted_at=retracted_at,
        supersedes=insight.supersedes,
        conflicts_with=insight.conflicts_with,
        taken=followed.taken if followed else 0,
        helped=followed.succeeded if followed else 0,
    )


def insight_from(fact: InsightFact) -> Insight | None:
    """The insight in a fact of the graph; None if somebody else wrote it in another form."""
    try:
        condition, measured = json.loads(fact.condition), json.loads(fact.evidence)
        return Insight(
            id=fact.id,
            category=cast(Category, fact.category),
            topic=str(measured["topic"]),
            condition={str(name): str(value) for name, value in condition.items()},
            prefer=fact.prefer or None,
            avoid=fact.avoid or None,
            reason=fact.statement,
            evidence=Evidence(
                outcomes=measured["outcomes"],
                workflows=measured["workflows"],
                since=measured["since"],
                until=measured["until"],
                runs=fact.evidence_runs,
                measures=measured["measures"],
            ),
            confidence=fact.confidence,
            created_at=fact.created_at,
            expires_at=fact.expires_at or measured["until"],
            supersedes=fact.supersedes,
            conflicts_with=fact.conflicts_with,
            severity=cast(Severity | None, measured["severity"]),
        )
    except (ValueError, KeyError, TypeError, AttributeError):
        return None


def known_insights(facts: list[InsightFact]) -> tuple[Insight, ...]:
    """Those of ``facts`` that are insights of ours."""
    found = (insight_from(fact) for fact in facts)
    return tuple(insight for insight in found if insight is not None)


def recent_insights(guidelines: Guidelines) -> tuple[Insight, ...]:
    """Those of the document's recent insights that are insights of ours."""
    found = []
    for document in guidelines.recent_insights:
        with suppress(KeyError, TypeError):
            found.append(Insight.from_json(document))
    return tuple(found)

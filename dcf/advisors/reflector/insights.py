"""Insights from an analysis, with their history: which are new, which stand, which are over."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from dcf.advisors.analysis import Analysis
from dcf.advisors.reflector.draft import Draft
from dcf.advisors.reflector.finding import findings
from dcf.advisors.reflector.pseudonyms import pseudonym, pseudonymous
from dcf.evidence import MIN_SAMPLES
from dcf.guidelines import Insight, Rules, insight_id, with_conflicts


def insights_of(
    analysis: Analysis, known: Sequence[Insight], now: int, rules: Rules
) -> tuple[Insight, ...]:
    """What ``analysis`` shows at ``now`` (ms), the surest first. What says the same as one of the
    ``known`` insights that still hold is that one, with new evidence; what says something else of
    the same subject supersedes it."""
    standing = [insight for insight in known if insight.expires_at > now]
    found = [_insight(draft, standing, now, rules) for draft in findings(pseudonymous(analysis))]
    ordered = sorted(found, key=lambda one: (-one.confidence, one.id))
    return with_conflicts(ordered)


def retracted(
    analysis: Analysis, known: Sequence[Insight], found: Sequence[Insight], now: int
) -> tuple[Insight, ...]:
    """The ``known`` insights that hold no longer although their subject was looked at again with
    enough outcomes: nothing that was ``found`` says so any more."""
    subjects = {insight.subject for insight in found}
    return tuple(
        insight
        for insight in known
        if insight.expires_at > now
        and insight.subject not in subjects
        and _was_looked_at(analysis, insight)
    )


def _insight(draft: Draft, standing: Sequence[Insight], now: int, rules: Rules) -> Insight:
    # A clock that ran ahead must not keep an insight from expiring.
    until = min(draft.evidence.until, now)
    evidence = replace(draft.evidence, since=min(draft.evidence.since, until), until=until)
    fresh = Insight(
        id=insight_id(draft.category, draft.topic, draft.condition, draft.prefer, now),
        category=draft.category,
        topic=draft.topic,
        condition=draft.condition,
        prefer=draft.prefer,
        avoid=draft.avoid,
        reason=draft.reason,
        evidence=evidence,
        confidence=draft.confidence,
        created_at=now,
        expires_at=until + rules.expiry_ms,
        severity=draft.severity,
    )
    same = [insight for insight in standing if insight.subject == fresh.subject]
    kept = next((insight for insight in same if insight.prefer == fresh.prefer), None)
    others = tuple(insight.id for insight in same if insight is not kept)
    if kept is None:
        return replace(fresh, supersedes=others)
    return replace(
        fresh,
        id=kept.id,
        created_at=kept.created_at,
        supersedes=tuple(dict.fromkeys((*kept.supersedes, *others))),
        followed=kept.followed,
    )


def _was_looked_at(analysis: Analysis, insight: Insight) -> bool:
    condition = insight.condition
    if "workflow" in condition:
        return any(
            pseudonym(one.workflow_name) == condition["workflow"]
            and one.runs_counted >= MIN_SAMPLES
            for one in analysis.bottlenecks
        )
    if "task_type" in condition:
        return any(
            pseudonym(track.task_type) == condition["task_type"] and track.counts.n >= MIN_SAMPLES
            for track in analysis.task_types()
        )
    if "skill" in condition:
        return any(
            pseudonym(one.skill) == condition["skill"] and one.n >= MIN_SAMPLES
            for one in analysis.recalibrations
        )
    return analysis.tier_share.n >= MIN_SAMPLES

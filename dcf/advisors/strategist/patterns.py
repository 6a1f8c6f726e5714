"""What of an analysis is kept for good: plain records, the same for the same thing."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from dcf.advisors.strategist.analysis import Analysis
from dcf.advisors.strategist.finding import Finding, Kind, rounded, short_digest
from dcf.advisors.strategist.rules import StrategistRules
from dcf.evidence import Beta, Counts

PatternKind: TypeAlias = Literal["session_pattern", "skill_metric", "companion_pattern", "insight"]

_CATEGORIES: dict[Kind, str] = {
    "prefer_skill": "skill_preference",
    "prefer_specialization": "specialization",
    "specialize_companion": "specialization",
    "scale_up": "companion_scaling",
    "scale_down": "companion_scaling",
    "tier_too_low": "model_selection",
    "tier_too_high": "model_selection",
    "cost_off": "model_selection",
    "top_tier_crowded": "model_selection",
    "failing_skill": "warning",
    "failing_companion": "warning",
}


@dataclass(frozen=True, slots=True)
class Pattern:
    """A record of ``kind`` for the graph: ``data`` is a JSON object with an ``id``, which is the
    same for the same subject of the same session, so that writing it twice is one fact."""

    kind: PatternKind
    data: dict[str, Any]


def patterns(analysis: Analysis, rules: StrategistRules) -> tuple[Pattern, ...]:
    """What ``analysis`` measured with enough observations: the session, each skill at each type of
    task, each companion at each, clusters of failures; and what it published, as insights."""
    found = (
        *_session(analysis),
        *_skills(analysis),
        *_companions(analysis),
        *_failures(analysis),
    )
    enough = [one for one in found if one.data["observations"] >= rules.min_observations]
    return (*enough, *_insights(analysis, rules))


def _session(analysis: Analysis) -> Iterator[Pattern]:
    health, load = analysis.health, analysis.load
    waits = analysis.distribution.waits_ms.get("all")
    values = {
        "success_rate": health.counts.rate or 0.0,
        "retried": health.retried,
        "companions": load.pool,
        **({"load": load.load} if load.load is not None else {}),
        **({"wait_p50_ms": waits.p50, "wait_p90_ms": waits.p90} if waits else {}),
    }
    yield _pattern(
        analysis,
        "session_pattern",
        "session",
        f"{health.counts.successes} of {health.counts.n} tasks succeeded",
        health.counts,
        values,
    )


def _skills(analysis: Analysis) -> Iterator[Pattern]:
    for track in analysis.skills:
        values: dict[str, float] = {
            "success_rate": track.counts.rate or 0.0,
            "usage_count": track.counts.n,
            "success_count": track.counts.successes,
            "failure_count": track.counts.failures,
            "expected": track.expected,
        }
        if track.work_ms is not None:
            values["work_p50_ms"] = track.work_ms.p50
        if track.cost is not None:
            values["cost_mean"] = track.cost.mean
        yield _pattern(
            analysis,
            "skill_metric",
            f"{track.skill} at {track.task_type}",
            f"{track.counts.successes} of {track.counts.n} {track.task_type} succeeded "
            f"with {track.skill}",
            track.counts,
            values,
            task_type=track.task_type,
            skill=track.skill,
        )


def _companions(analysis: Analysis) -> Iterator[Pattern]:
    for track in analysis.companions:
        values: dict[str, float] = {
            "success_rate": track.counts.rate or 0.0,
            "tasks_completed": track.counts.n,
        }
        if track.fit is not None:
            values["specialization_fit"] = track.fit
        if track.speed is not None:
            values["speed"] = track.speed
        if track.work_ms is not None:
            values["work_p50_ms"] = track.work_ms.p50
        yield _pattern(
            analysis,
            "companion_pattern",
            f"{track.companion_id} at {track.task_type}",
            f"{track.companion_id} succeeded at {track.counts.successes} of {track.counts.n} "
            f"{track.task_type}",
            track.counts,
            values,
            task_type=track.task_type,
            companion_id=track.companion_id,
            specialization=track.specialization,
        )


def _failures(analysis: Analysis) -> Iterator[Pattern]:
    for one in analysis.failures:
        where = one.skill or one.companion_id or ""
        record = _pattern(
            analysis,
            "skill_metric" if one.skill else "companion_pattern",
            f"{one.error} of {where}",
            f"{one.n} of {one.of} tasks of {where} failed with {one.error}",
            Counts(one.n, one.of - one.n),
            {"failures": one.n, "elsewhere": one.elsewhere, "p_value": one.p_value},
            skill=one.skill or "",
            companion_id=one.companion_id or "",
        )
        yield Pattern(
            record.kind, {**record.data, "observations": one.n, "evidence": list(one.tasks)}
        )


def _pattern(
    analysis: Analysis,
    kind: PatternKind,
    subject: str,
    statement: str,
    counts: Counts,
    values: dict[str, float],
    **concerns: str,
) -> Pattern:
    """``confidence`` is the probability that the rate is within ten points of what was counted."""
    belief = Beta(1 + counts.successes, 1 + counts.failures)
    rate = counts.rate or 0.0
    low, high = counts.interval()
    return Pattern(
        kind,
        {
            "id": f"{kind.replace('_', '-')}-{short_digest([analysis.session_id, subject])}",
            "session_id": analysis.session_id,
            "conductor_id": analysis.conductor_id,
            "subject": subject,
            "statement": statement,
            "observations": counts.n,
            "values": rounded(values),
            "confidence": round(belief.cdf(rate + 0.1) - belief.cdf(rate - 0.1), 4),
            "interval": [round(low, 4), round(high, 4)],
            "evidence": [],
            "at": analysis.at,
            **concerns,
        },
    )


def _insights(analysis: Analysis, rules: StrategistRules) -> Iterator[Pattern]:
    for one in analysis.published:
        yield Pattern("insight", _insight(analysis, one, rules))


def _insight(analysis: Analysis, one: Finding, rules: StrategistRules) -> dict[str, Any]:
    measured = {
        "observations": one.observations,
        "p_value": one.p_value,
        "low": one.low,
        "high": one.high,
        "measures": dict(one.measures),
        "session": analysis.session_id,
    }
    subject = one.subject
    return {
        "id": f"insight-{short_digest([analysis.session_id, one.id])}",
        "category": _CATEGORIES[one.kind],
        "statement": one.text,
        "confidence": round(one.confidence, 4),
        "created_at": analysis.at,
        "condition": json.dumps(dict(subject), sort_keys=True),
        "prefer": "" if one.value is None else str(one.value),
        "avoid": "",
        "task_types": [subject["task_type"]] if "task_type" in subject else [],
        "skills": [subject["skill"]] if "skill" in subject else [],
        "evidence": json.dumps(rounded(measured), sort_keys=True, separators=(",", ":")),
        "evidence_runs": list(one.tasks),
        "expires_at": analysis.at + rules.expiry_ms,
    }

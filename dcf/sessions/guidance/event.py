"""What a Strategist that is an agent is told of an analysis."""

from __future__ import annotations

from collections import Counter
from typing import Any

from dcf.sessions.figures import figures_of
from dcf.sessions.guidance.activity import SessionActivity
from dcf.sessions.guidance.answers import Analysed, Reason
from dcf.workflow import iso

TYPE = "analysis_event"
_LAST = 20


def analysis_event(
    activity: SessionActivity,
    analysed: Analysed,
    conductor_id: str,
    reason: Reason,
    *,
    full: bool = False,
) -> dict[str, Any]:
    """The message ``analysis_event``. ``activity`` is that of before the analysis, so that what is
    new since the last one is counted here; ``full`` adds the context and the last delegations."""
    head = activity.session.head
    whole = activity.to_json() if full else {}
    since = head.analysed_at or 0
    return {
        "type": TYPE,
        "session_id": activity.session.session_id,
        "conductor_agent_id": conductor_id,
        "trigger_reason": reason,
        "timestamp": iso(activity.now),
        "tasks_since_last_analysis": max(0, head.counts.closed - head.analysed),
        "recent_failures": sum(
            task.status == "failed" and (task.finished_at or 0) > since for task in activity.tasks
        ),
        "amsp_metrics": _models(activity),
        "analysis": analysed.to_json(),
        **{name: whole[name] for name in ("session_context", "delegations") if full},
    }


def _models(activity: SessionActivity) -> dict[str, Any]:
    """Of the last delegations, which tiers were chosen, and the mean of their scores."""
    figures = [figures_of(task) for task in activity.tasks[-_LAST:]]
    tiers = Counter(str(one.tier) for one in figures if one.tier is not None)
    scores = [one.fcs for one in figures if one.fcs is not None]
    return {
        "delegations_analyzed": len(figures),
        "tier_distribution": dict(sorted(tiers.items())),
        "avg_fcs": round(sum(scores) / len(scores), 3) if scores else None,
    }

"""A planning as clients see it."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from dcf.diagram import read_chart, to_mermaid
from dcf.planner import Planning

_NEXT = {
    "asking": "plan_answer with what is asked",
    "unmatched": "plan_start with a procedure of yours as sop, or answer procedure",
    "drafting": "plan_show asks the model again",
    "invalid": "mend what problems say: plan_answer, or plan_start with a better sop",
    "shown": "show it to the person; plan_approve with digest after their yes",
    "approved": "plan_run",
    "running": "read_workflow_control_plane until it is over, then finalize_workflow",
    "ended": "tell the person; trigger_reflection",
}


def planning_view(planning: Planning) -> dict[str, Any]:
    """What a client gets of a planning."""
    source = planning.source
    workflow = planning.workflow
    is_learned = (planning.reflection or {}).get("status") == "done"
    return {
        "planning_id": planning.id,
        "revision": planning.revision,
        "objective": planning.objective,
        "questions": [{**asdict(one), "choices": list(one.choices)} for one in planning.questions],
        "nearest": [dict(one) for one in planning.nearest],
        "source": source and {name: source[name] for name in ("kind", "id", "title")},
        "guidance": dict(planning.guidance),
        "plan": planning.plan and dict(planning.plan),
        "permissions": planning.permissions and dict(planning.permissions),
        "workflow": workflow and dict(workflow),
        "input": dict(planning.input),
        "picture": to_mermaid(read_chart(dict(workflow))) if workflow else None,
        "digest": planning.shown,
        "approval": planning.approval and dict(planning.approval),
        "run": planning.run and dict(planning.run),
        "steps": planning.steps(),
        "next": "tell the person" if is_learned else _NEXT[planning.status],
    }

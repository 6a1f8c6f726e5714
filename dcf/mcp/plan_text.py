"""The workflow that a planner sends: a document of ours, plain ASL, or a list of steps."""

from __future__ import annotations

import json
from typing import Any

from dcf.mcp.json_text import read_json


def plan_text(given: str) -> tuple[str, str | None]:
    """The text of the document, and the ``workflow_id`` in it. Steps of the earlier version
    (``steps: [{step_id}]``) become a chain of Tasks. Text that is no JSON stays as it is."""
    value, wrong = read_json("workflow_json", given)
    if wrong is not None or not isinstance(value, dict):
        return given, None
    named = value.get("workflow_id")
    id_ = named if isinstance(named, str) else None
    steps = value.get("steps")
    if "asl" not in value and "States" not in value and isinstance(steps, list):
        return json.dumps(_chain(value, steps), ensure_ascii=False), id_
    # A fence of Markdown around the text is no part of it.
    return (given if given.lstrip().startswith("{") else json.dumps(value)), id_


def _chain(value: dict[str, Any], steps: list[Any]) -> dict[str, Any]:
    names = [
        str(step.get("step_id", number)) if isinstance(step, dict) else str(step)
        for number, step in enumerate(steps)
    ]
    states: dict[str, Any] = {}
    for name, following, step in zip(names, [*names[1:], None], steps, strict=True):
        given = step if isinstance(step, dict) else {}
        binding = given.get("AgentBinding") or {"skills": given.get("skills") or []}
        after = {"Next": following} if following is not None else {"End": True}
        states[name] = {"Type": "Task", "AgentBinding": binding, **after}
    rest = {name: part for name, part in value.items() if name != "steps"}
    rest.setdefault("workflow_name", str(value.get("workflow_id") or "workflow"))
    return {**rest, "asl": {"StartAt": names[0] if names else "", "States": states}}

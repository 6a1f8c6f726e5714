"""From rows of the graph back to what was written."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from dcf.knowledge.insight_fact import InsightFact
from dcf.knowledge.outcome import Outcome, RunFact

# Stands in no manifest id, nor in any other name that comes here joined.
_BETWEEN = "\n"
_OUTCOME = (
    "run", "workflow_id", "workflow_name", "path", "state", "visit", "tries", "task_type", "agent",
    "status", "error", "cause", "started_at", "ended_at", "duration_ms", "cost_usd", "tokens",
    "tool_calls", "tier", "fcs", "escalated", "model",
)  # fmt: skip
_RUN = (
    "run", "redrives", "workflow_id", "workflow_name", "version", "digest", "status", "started_at",
    "ended_at", "duration_ms", "cost_usd", "tokens", "error", "cause", "sop",
)  # fmt: skip
_STATES = ("total", "done", "failed", "cancelled", "skipped")

OUTCOME_COLUMNS = (*(f"e.{name}" for name in _OUTCOME), f"string.join(e.skills, '{_BETWEEN}')")
"""What ``outcome_of`` wants of a node ``e``."""
RUN_COLUMNS = (*(f"e.{name}" for name in _RUN), *(f"e.states_{name}" for name in _STATES))
"""What ``run_fact_of`` wants of a node ``e``."""


def outcome_of(row: Sequence[Any]) -> Outcome:
    """The outcome in the values of ``OUTCOME_COLUMNS``, as ``GraphConnection.rows`` gives them."""
    fields = dict(zip(_OUTCOME, row, strict=False))
    return Outcome(
        **{
            **fields,
            "cost_usd": _number(fields["cost_usd"]),
            "fcs": _number(fields["fcs"]),
            "escalated": fields["escalated"] == "true",
        },
        skills=tuple(part for part in str(row[-1] or "").split(_BETWEEN) if part),
    )


def run_fact_of(row: Sequence[Any]) -> RunFact:
    """The run in the values of ``RUN_COLUMNS``."""
    fields = dict(zip(_RUN, row, strict=False))
    counts = dict(zip(_STATES, row[len(_RUN) :], strict=True))
    return RunFact(
        **{**fields, "cost_usd": _number(fields["cost_usd"]) or 0.0},
        states={name: count for name, count in counts.items() if count},
    )


def insight_of(properties: Mapping[str, Any], edges: Sequence[Sequence[Any]]) -> InsightFact:
    """The insight of a node with its edges, each (name, labels of the other, its name, its id)."""
    task_types: list[str] = []
    skills: list[str] = []
    supersedes: list[str] = []
    conflicts: list[str] = []
    for name, labels, other, insight_id in edges:
        if name == "CONCERNS":
            (task_types if "TaskType" in labels else skills).append(other)
        elif name == "SUPERSEDES":
            supersedes.append(insight_id)
        elif name == "CONFLICTS_WITH":
            conflicts.append(insight_id)
    known = {name: value for name, value in properties.items() if name in InsightFact.__slots__}
    invalid = properties.get("invalid_at")
    return InsightFact.from_json(
        {
            **known,
            "id": properties["insight_id"],
            "created_at": _milliseconds(properties["valid_at"]),
            "retracted_at": _milliseconds(invalid) if invalid else None,
            "task_types": sorted(task_types),
            "skills": sorted(skills),
            "supersedes": sorted(supersedes),
            "conflicts_with": sorted(conflicts),
        }
    )


def _number(text: Any) -> float | None:
    return None if text is None else float(text)


def _milliseconds(text: str) -> int:
    return round(datetime.fromisoformat(text).timestamp() * 1000)

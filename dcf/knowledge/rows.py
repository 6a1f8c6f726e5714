"""From rows of the graph back to what was written. Others may write to the graph too: what bears
one of our labels, and is not what DCF writes, is None here."""

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
    "tool_calls", "tier", "fcs", "escalated", "model", "session", "chosen",
)  # fmt: skip
_RUN = (
    "run", "redrives", "workflow_id", "workflow_name", "version", "digest", "status", "started_at",
    "ended_at", "duration_ms", "cost_usd", "tokens", "error", "cause", "sop",
)  # fmt: skip
_OUTCOME_TEXTS = ("run", "workflow_id", "workflow_name", "path", "state", "task_type", "status")
_OUTCOME_NUMBERS = ("visit", "tries", "started_at", "ended_at", "duration_ms")
_RUN_TEXTS = ("run", "workflow_id", "workflow_name", "status")
_RUN_NUMBERS = ("redrives", "started_at", "ended_at", "duration_ms")
_STATES = ("total", "done", "failed", "cancelled", "skipped")

OUTCOME_COLUMNS = (*(f"e.{name}" for name in _OUTCOME), f"string.join(e.skills, '{_BETWEEN}')")
"""What ``outcome_of`` wants of a node ``e``."""
RUN_COLUMNS = (*(f"e.{name}" for name in _RUN), *(f"e.states_{name}" for name in _STATES))
"""What ``run_fact_of`` wants of a node ``e``."""


def outcome_of(row: Sequence[Any]) -> Outcome | None:
    """The outcome in the values of ``OUTCOME_COLUMNS``, as ``GraphConnection.rows`` gives them."""
    fields = dict(zip(_OUTCOME, row, strict=False))
    if not _are(fields, str, _OUTCOME_TEXTS) or not _are(fields, int, _OUTCOME_NUMBERS):
        return None
    return Outcome(
        **{
            **fields,
            "cost_usd": _number(fields["cost_usd"]),
            "fcs": _number(fields["fcs"]),
            "escalated": fields["escalated"] == "true",
        },
        skills=tuple(part for part in str(row[-1] or "").split(_BETWEEN) if part),
    )


def run_fact_of(row: Sequence[Any]) -> RunFact | None:
    """The run in the values of ``RUN_COLUMNS``."""
    fields = dict(zip(_RUN, row, strict=False))
    if not _are(fields, str, _RUN_TEXTS) or not _are(fields, int, _RUN_NUMBERS):
        return None
    counts = dict(zip(_STATES, row[len(_RUN) :], strict=True))
    return RunFact(
        **{**fields, "cost_usd": _number(fields["cost_usd"]) or 0.0},
        states={name: count for name, count in counts.items() if count},
    )


def insight_of(properties: Mapping[str, Any], edges: Sequence[Sequence[Any]]) -> InsightFact | None:
    """The insight of a node with its edges, each (name, labels of the other, its name, its id)."""
    valid_at, invalid_at = _milliseconds(properties, "valid_at"), None
    if properties.get("invalid_at"):
        invalid_at = _milliseconds(properties, "invalid_at")
    confidence, until = properties.get("confidence"), properties.get("expires_at")
    if (
        not _are(properties, str, ("insight_id", "category", "statement"))
        or not isinstance(confidence, int | float)
        or not isinstance(until, int | None)
        or valid_at is None
    ):
        return None
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
    return InsightFact.from_json(
        {
            **known,
            "id": properties["insight_id"],
            "created_at": valid_at,
            "retracted_at": invalid_at,
            "task_types": sorted(task_types),
            "skills": sorted(skills),
            "supersedes": sorted(supersedes),
            "conflicts_with": sorted(conflicts),
        }
    )


def _are(fields: Mapping[str, Any], kind: type, names: Sequence[str]) -> bool:
    return all(isinstance(fields.get(name), kind) for name in names)


def _number(text: Any) -> float | None:
    return None if text is None else float(text)


def _milliseconds(properties: Mapping[str, Any], name: str) -> int | None:
    """The instant of a property, None where it is none."""
    try:
        return round(datetime.fromisoformat(properties[name]).timestamp() * 1000)
    except (KeyError, TypeError, ValueError):
        return None

"""Runs one by one: those that failed, succeeded, or used something, from one end of the time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal

from dcf.knowledge.asking.crossing import Narrowed
from dcf.knowledge.asking.looking import look
from dcf.knowledge.connection import GraphConnection
from dcf.knowledge.session_fact import TASK_WORKFLOW

Ended = Literal["failed", "succeeded", "any"]
SHOWN = 20
_WHAT = "listing runs"
_TEXT = """MATCH (e:%s) %s
RETURN e.workflow_id, e.workflow_name, e.status, e.ended_at, e.path, e.agent, e.error, e.cause
ORDER BY e.ended_at %s LIMIT $most"""
_WHOLE = " AND e.invalid_at IS NULL AND NOT e.workflow_name STARTS WITH $prefix"
_TOOL_FAILED = """ AND any(i IN range(0, size(coalesce(e.tools, [])) - 1)
  WHERE e.tools[i] = $tool AND e.tool_failures[i] > 0)"""
_STATUS = {
    "StateOutcome": {"failed": " AND e.status <> 'done'", "succeeded": " AND e.status = 'done'"},
    "WorkflowRun": {
        "failed": " AND e.status <> 'succeeded'",
        "succeeded": " AND e.status = 'succeeded'",
    },
}


@dataclass(frozen=True, slots=True)
class Listed:
    """A run, and where it was asked for by a task, skill, agent or error, the newest (or oldest)
    outcome of it that fits: ``state`` is its path, ``status`` then the outcome's. ``at`` (ms) is
    when that ended."""

    run: str
    workflow: str
    status: str
    at: int
    state: str | None
    agent: str | None
    error: str | None
    cause: str | None

    def to_json(self) -> dict[str, Any]:
        return asdict(self)


async def runs_listed(
    graph: GraphConnection,
    narrowed: Narrowed | None = None,
    *,
    status: Ended = "any",
    oldest: bool = False,
    limit: int = SHOWN,
) -> list[Listed]:
    """At most ``limit`` runs of ``narrowed``, the newest first, or the oldest. A delegated task is
    one only where it is asked for by its task, skill, agent, error or tool. With a tool, ``failed``
    are those in which a call of it did, whatever the Task came to. Raises GraphAway,
    GraphRefused, QuestionTooWide."""
    narrowed = narrowed or Narrowed()
    within = any(
        (narrowed.task_type, narrowed.skill, narrowed.agent, narrowed.error, narrowed.tool)
    )
    rows: list[Sequence[Any]] = []
    for label in _STATUS:
        # An error may end a run without any Task that failed with it, as a limit of time does.
        by_task = narrowed.task_type or narrowed.skill or narrowed.tool
        ends_with = bool(narrowed.error) and not by_task
        if within != (label == "StateOutcome") and not (ends_with and not narrowed.agent):
            continue
        where, given = narrowed.terms()
        of_tool = narrowed.tool is not None and status == "failed"
        where += _TOOL_FAILED if of_tool else _STATUS[label].get(status, "")
        if label == "WorkflowRun":
            where += _WHOLE
            given["prefix"] = TASK_WORKFLOW
        order = "ASC" if oldest else "DESC"
        # A run may have many outcomes that fit.
        rows += await look(graph, _WHAT, _TEXT % (label, where, order), **given, most=limit * 5)
    rows.sort(key=lambda row: row[3], reverse=not oldest)
    found: dict[str, Listed] = {}
    for row in rows:
        found.setdefault(row[0], Listed(*row))
    return list(found.values())[:limit]

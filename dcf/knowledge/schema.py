"""The words of the graph: labels, edge names, properties. Everything is in one graph, ``dcf``.

Nodes and edges have Graphiti's own labels and properties, and ours beside them, flat:

- ``(:Episodic:WorkflowRun)``, ``(:Episodic:StateOutcome)``: one for each end of a run, and for each
  finished visit of a Task. What was measured stands on the node (``EPISODE_FIELDS``); what it is
  about are its ``MENTIONS`` edges to entities.
- ``(:Episodic:Delegation)``: one for each delegated task of a session that is closed. It counts in
  no sum: its run does.
- ``(:Entity:Skill)`` … (``ENTITIES``): one for each thing that has a name.
- ``RELATES_TO`` between entities, with ``name`` out of ``FACTS``: one edge for each distinct fact,
  never one for each run. ``support`` counts the valid episodes that say so; where none is left, the
  fact has an ``invalid_at``.
- ``STAT`` from SkillVersion to TaskType: the sums over all outcomes (``STAT_FIELDS``), with the
  newest ``RECENT`` of them one by one (``recent``), and ``STAT_DAY`` the same sums for each UTC day
  (``day``, as in 2026-11-22).

Times are ISO 8601 texts in UTC where Graphiti has them (``created_at``, ``valid_at``,
``invalid_at``, ``expired_at``), ms since the epoch where they are ours (``started_at``,
``ended_at``, ``first_at``, ``last_at``).
"""

from __future__ import annotations

from typing import Final, Literal

GRAPH: Final = "dcf"
"""The name of the graph, and the ``group_id`` of everything in it."""

EpisodeLabel = Literal["WorkflowRun", "StateOutcome", "Delegation"]
PatternLabel = Literal["SessionPattern", "SkillMetric", "CompanionPattern"]
EntityLabel = Literal[
    "Workflow",
    "Skill",
    "SkillVersion",
    "TaskType",
    "Agent",
    "ErrorKind",
    "Tool",
    "Approver",
    "Insight",
    "Session",
    "SessionPattern",
    "SkillMetric",
    "CompanionPattern",
    "Adaptation",
]
FactName = Literal[
    "VERSION_OF",
    "USED_BY",
    "PART_OF",
    "SUCCEEDED_AT",
    "FAILED_AT",
    "FAILED_WITH",
    "RAISES",
    "ENDED_WITH",
    "WORKED_ON",
    "CONCERNS",
    "SUPERSEDES",
    "CONFLICTS_WITH",
    "DELEGATED_TO",
    "TOOK_PART_IN",
    "MEASURED_IN",
    "DESCRIBES",
]

ENTITIES: Final[dict[EntityLabel, str]] = {
    "Workflow": "a workflow by its name",
    "Skill": "a skill by its name without version",
    "SkillVersion": "a version of a skill, by its manifest id; `skill`, `version`",
    "TaskType": "a kind of task",
    "Agent": "an agent or a template of agents that work is bound to",
    "ErrorKind": "an error by its name, as in States.Timeout",
    "Tool": "a tool that Tasks called, by `server:name`",
    "Approver": "who decided on an approval, by the name that was given",
    "Insight": "what an analysis found; see `INSIGHT_FIELDS`",
    "Session": "a session of a conductor and its companions, by its id; see `SESSION_FIELDS`",
    "SessionPattern": "what was measured of a session as a whole; see `PATTERN_FIELDS`",
    "SkillMetric": "what was measured of a skill in a session",
    "CompanionPattern": "what was measured of a companion, or of a specialization, in a session",
    "Adaptation": "declared: a change of a workflow",
}
FACTS: Final[dict[FactName, tuple[EntityLabel, EntityLabel, str]]] = {
    "VERSION_OF": ("SkillVersion", "Skill", "which skill a version is of"),
    "USED_BY": ("SkillVersion", "Workflow", "a workflow has run with this version"),
    "PART_OF": ("TaskType", "Workflow", "a workflow has such a task"),
    "SUCCEEDED_AT": ("SkillVersion", "TaskType", "it succeeded at such a task at least once"),
    "FAILED_AT": ("SkillVersion", "TaskType", "it failed at such a task at least once"),
    "FAILED_WITH": ("SkillVersion", "ErrorKind", "how a version failed"),
    "RAISES": ("TaskType", "ErrorKind", "how such a task failed, with whatever skill"),
    "ENDED_WITH": ("Workflow", "ErrorKind", "how a run of a workflow ended"),
    "WORKED_ON": ("Agent", "TaskType", "an agent has done such a task"),
    "CONCERNS": ("Insight", "TaskType", "what an insight is about; also to SkillVersion, Skill"),
    "SUPERSEDES": ("Insight", "Insight", "the newer one takes the place of the older one"),
    "CONFLICTS_WITH": ("Insight", "Insight", "both cannot be followed"),
    "DELEGATED_TO": ("Agent", "Agent", "a conductor has delegated a task to a companion"),
    "TOOK_PART_IN": ("Agent", "Session", "a conductor, or a companion that had a task in it"),
    "MEASURED_IN": ("SessionPattern", "Session", "where; also from SkillMetric, CompanionPattern"),
    "DESCRIBES": (
        "SkillMetric",
        "SkillVersion",
        "what a pattern is about; also to Skill, TaskType, Agent, also from the other patterns",
    ),
}

DATASETS: Final[dict[str, str]] = {
    "dcf_executions": "WorkflowRun",
    "dcf_metrics": "StateOutcome",
    "dcf_insights": "Insight",
}
"""Names of groups that used to be graphs of their own, as filters: the label they stand for."""

EPISODE_FIELDS: Final[dict[EpisodeLabel, tuple[str, ...]]] = {
    # What Outcome and RunFact have, under the same names; None is left out. The nth of
    # `tool_calls_made` and `tool_failures` is of the nth of `tools`, and so it is with `approvers`
    # and what follows them; `decision_ms` is how long was waited.
    "StateOutcome": (
        "run", "workflow_id", "workflow_name", "path", "state", "visit", "tries", "task_type",
        "skills", "agent", "status", "error", "cause", "started_at", "ended_at", "duration_ms",
        "cost_usd", "tokens", "tool_calls", "tier", "fcs", "escalated", "model", "session",
        "chosen", "tools", "tool_calls_made", "tool_failures", "approvers", "decisions",
        "decided_at", "decision_ms", "day",
    ),
    "WorkflowRun": (
        "run", "redrives", "workflow_id", "workflow_name", "version", "digest", "status",
        "started_at", "ended_at", "duration_ms", "cost_usd", "tokens", "error", "cause", "sop",
        "states_total", "states_done", "states_failed", "states_cancelled", "states_skipped",
    ),
    # `workflow_id` is the task's run, `error` its code; `wait_ms` is from its delegation to its
    # start, `duration_ms` from there to its end: neither is there where nobody began it.
    "Delegation": (
        "task_id", "workflow_id", "session_id", "conductor_id", "companion_id", "companion_name",
        "specialization", "task_type", "skills", "kind", "status", "error", "priority",
        "delegated_at", "started_at", "ended_at", "wait_ms", "duration_ms", "attempts", "tier",
        "model", "cost_usd", "tokens", "day", "revision",
    ),
}  # fmt: skip
RECENT: Final = 128
"""So many of the newest outcomes of a version at a kind of task stand on its STAT one by one, in
the order in which they ended: a change shows within a day. Some six times as many as it takes in
half of all cases to notice a fall from 0.90 to 0.50."""
STAT_FIELDS: Final = {
    "n": "outcomes",
    "ok": "of them done",
    "duration_ms": "sum over all",
    "duration_ok_ms": "sum over those that were done",
    "cost_usd": "sum of what is known",
    "tokens": "sum of what is known",
    "tries": "sum; n of them are first tries",
    "escalated": "how often a higher tier worked",
    "first_at": "when the first one ended (ms)",
    "last_at": "when the last one ended (ms)",
    "recent": "only on STAT: the newest, in order, each as 2 * ended_at + (1 if done else 0)",
}
INSIGHT_FIELDS: Final = (
    "insight_id", "category", "statement", "condition", "prefer", "avoid", "evidence_runs",
    "evidence", "confidence", "expires_at", "taken", "helped",
)  # fmt: skip
SESSION_FIELDS: Final = (
    "session_id", "conductor_id", "objective", "state", "began_at", "ended_at", "companions",
    "tasks_delegated", "tasks_succeeded", "tasks_failed", "tasks_partial", "tasks_cancelled",
    "workflows", "revision",
)  # fmt: skip
"""Of a session that others speak of, and that is not told yet, there is ``session_id`` alone, and
its ``revision`` is -1."""
PATTERN_FIELDS: Final = (
    "pattern_id", "session_id", "conductor_id", "subject", "statement", "task_type", "skill",
    "companion_id", "specialization", "observations", "measured", "confidence", "low", "high",
    "evidence", "measured_at", "revision",
)  # fmt: skip
"""``measured`` is a JSON text of numbers by name, ``low`` and ``high`` are the bounds of the value
that matters most, ``evidence`` ids of tasks."""

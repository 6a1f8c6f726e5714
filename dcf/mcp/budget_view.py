"""Budgets of runs and agents, as tools show them."""

from __future__ import annotations

from typing import Any

from control_plane import AgentChange, AgentDocument, UnknownAgent
from dcf.agents.loading import BUDGET, USAGE, Usage
from dcf.mcp.platform import Platform
from dcf.tools import Budget

Figures = dict[str, int | float | None]


async def run_budget(platform: Platform, workflow_id: str) -> dict[str, Figures]:
    """``{limits, used, left}`` of a run, each ``{tool_calls, wall_time_s}``. A redrive begins
    anew. Raises UnknownRun."""
    run = await platform.store.run(workflow_id)
    policy = await platform.policy()
    limits = Budget.from_document(run.raw.get("budget") or {})
    limits = limits.lowest(policy.budgets.get("run", Budget()))
    calls = await platform.backend.command(
        "HGET", platform.store.keys(workflow_id).chain, "tool_calls"
    )
    begun = run.raw["ctl"].get("since") or run.started_at
    end = run.finished_at or await platform.agents.now_ms()
    seconds = (end - begun) / 1000 if begun else 0.0
    return _figures(limits, int(calls or 0), seconds)


async def agent_budget(platform: Platform, agent_id: str) -> dict[str, Figures]:
    """``{limits, used, left}`` of an agent. Raises UnknownAgent."""
    document = await platform.agents.get(agent_id, (BUDGET, USAGE))
    if document is None:
        raise UnknownAgent(agent=agent_id)
    policy = await platform.policy()
    limits = Budget.from_document(document.record.get(BUDGET) or {})
    limits = limits.lowest(policy.budgets.get("agent", Budget()))
    usage = Usage.of(document.record)
    return _figures(limits, usage.tool_calls, usage.wall_time_ms / 1000)


async def write_agent_budget(
    platform: Platform, agent_id: str, tool_calls: int | None, wall_time_s: float | None
) -> None:
    """Replace the agent's own budget; None is no limit. Raises UnknownAgent."""
    given = {"tool_calls": tool_calls, "wall_time_s": wall_time_s}
    budget = {name: limit for name, limit in given.items() if limit is not None}

    def plan(document: AgentDocument) -> AgentChange | None:
        if document.record.get(BUDGET) == budget:
            return None
        return AgentChange([{"type": "BudgetSet", **budget}], {BUDGET: budget})

    await platform.agents.update(agent_id, plan, (BUDGET,))


def _figures(limits: Budget, calls: int, seconds: float) -> dict[str, Any]:
    used: Figures = {"tool_calls": calls, "wall_time_s": round(seconds, 3)}
    allowed: Figures = {"tool_calls": limits.tool_calls, "wall_time_s": limits.wall_time_s}
    left: Figures = {
        "tool_calls": None if limits.tool_calls is None else max(0, limits.tool_calls - calls),
        "wall_time_s": (
            None if limits.wall_time_s is None else round(max(0.0, limits.wall_time_s - seconds), 3)
        ),
    }
    return {"limits": allowed, "used": used, "left": left}

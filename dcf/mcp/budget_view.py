"""Budgets of runs and agents, as tools show them."""

from __future__ import annotations

from typing import Any

from control_plane import AgentChange, AgentDocument, UnknownAgent
from dcf.agents.loading import BUDGET, USAGE, Usage
from dcf.mcp.platform import Platform
from dcf.tools import Budget

Figures = dict[str, int | float | None]

_KEPT = ("tool_calls", "model_calls", "model_tokens", "model_nano")


async def run_budget(platform: Platform, workflow_id: str) -> dict[str, Figures]:
    """``{limits, used, left}`` of a run, each ``{tool_calls, wall_time_s, model_calls, tokens,
    cost_usd}``; what requests to models have reserved counts as used. The time begins anew with a
    redrive. Raises UnknownRun."""
    run = await platform.store.run(workflow_id)
    policy = await platform.policy()
    limits = Budget.from_document(run.raw.get("budget") or {})
    limits = limits.lowest(policy.budgets.get("run", Budget()))
    chain = platform.store.keys(workflow_id).chain
    kept = await platform.backend.command("HMGET", chain, *_KEPT)
    calls, asked, tokens, nano = (int(one or 0) for one in kept)
    begun = run.raw["ctl"].get("since") or run.started_at
    end = run.finished_at or await platform.agents.now_ms()
    seconds = (end - begun) / 1000 if begun else 0.0
    used: Figures = {"tool_calls": calls, "wall_time_s": round(seconds, 3)}
    used |= {"model_calls": asked, "tokens": tokens, "cost_usd": nano / 1e9}
    return _figures(limits, used)


async def agent_budget(platform: Platform, agent_id: str) -> dict[str, Figures]:
    """``{limits, used, left}`` of an agent. Raises UnknownAgent."""
    document = await platform.agents.get(agent_id, (BUDGET, USAGE))
    if document is None:
        raise UnknownAgent(agent=agent_id)
    policy = await platform.policy()
    limits = Budget.from_document(document.record.get(BUDGET) or {})
    limits = limits.lowest(policy.budgets.get("agent", Budget()))
    usage = Usage.of(document.record)
    seconds = round(usage.wall_time_ms / 1000, 3)
    return _figures(limits, {"tool_calls": usage.tool_calls, "wall_time_s": seconds})


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


def _figures(limits: Budget, used: Figures) -> dict[str, Any]:
    """The same members as ``used`` has, of all three."""
    allowed: Figures = {name: getattr(limits, name) for name in used}
    return {
        "limits": allowed,
        "used": used,
        "left": {name: _left(allowed[name], spent) for name, spent in used.items()},
    }


def _left(limit: float | None, spent: float | None) -> float | None:
    return None if limit is None else round(max(0, limit - (spent or 0)), 9)

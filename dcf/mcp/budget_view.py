"""Budgets of runs and agents, as tools show them."""

from __future__ import annotations

from typing import Any

from control_plane import AgentChange, AgentDocument
from dcf.agents.loading import BUDGET, USAGE, Usage
from dcf.mcp.agent_life import record_of
from dcf.mcp.platform import Platform
from dcf.tools import Budget

Figures = dict[str, int | float | None]

_KEPT = ("tool_calls", "model_calls", "model_tokens", "model_nano", "model_unpriced")


async def run_budget(platform: Platform, workflow_id: str) -> dict[str, Figures]:
    """``{limits, used, left}`` of a run, each ``{tool_calls, wall_time_s, model_calls, tokens,
    cost_usd}``; what requests to models have reserved counts as used, and money is None where the
    price of a request is not known. The time begins anew with a
    redrive. Raises UnknownRun."""
    run = await platform.store.run(workflow_id)
    policy = await platform.policy()
    limits = Budget.from_document(run.raw.get("budget") or {})
    limits = limits.lowest(policy.budgets.get("run", Budget()))
    chain = platform.store.keys(workflow_id).chain
    kept = await platform.backend.command("HMGET", chain, *_KEPT)
    calls, asked, tokens, nano, unpriced = (int(one or 0) for one in kept)
    begun = run.raw["ctl"].get("since") or run.started_at
    end = run.finished_at or await platform.agents.now_ms()
    seconds = (end - begun) / 1000 if begun else 0.0
    used: Figures = {"tool_calls": calls, "wall_time_s": round(seconds, 3)}
    used |= {"model_calls": asked, "tokens": tokens, "cost_usd": nano / 1e9}
    return _figures(limits, used, priced=not unpriced)


async def agent_budget(platform: Platform, agent_id: str) -> dict[str, Figures]:
    """``{limits, used, left}`` of an agent. Raises UnknownAgent."""
    document = await platform.agents.get(agent_id, (BUDGET, USAGE)) or await record_of(
        platform, agent_id
    )
    policy = await platform.policy()
    limits = Budget.from_document(document.record.get(BUDGET) or {})
    limits = limits.lowest(policy.budgets.get("agent", Budget()))
    usage = Usage.of(document.record)
    used: Figures = {
        "tool_calls": usage.tool_calls,
        "wall_time_s": round(usage.wall_time_ms / 1000, 3),
        "model_calls": usage.model_calls,
        "tokens": usage.tokens,
        "cost_usd": usage.nano_usd / 1e9,
    }
    return _figures(limits, used, priced=not usage.unpriced)


async def write_agent_budget(platform: Platform, agent_id: str, limits: Budget) -> None:
    """Replace the agent's own budget. Raises UnknownAgent."""
    budget = limits.to_json()

    def plan(document: AgentDocument) -> AgentChange | None:
        if document.record.get(BUDGET) == budget:
            return None
        return AgentChange([{"type": "BudgetSet", **budget}], {BUDGET: budget})

    await record_of(platform, agent_id)
    await platform.agents.update(agent_id, plan, (BUDGET,))


def _figures(limits: Budget, used: Figures, *, priced: bool) -> dict[str, Any]:
    """The same members as ``used`` has, of all three. What a request of an unknown price cost makes
    the sum unknown; the limit holds for what is known."""
    allowed: Figures = {name: getattr(limits, name) for name in used}
    return {
        "limits": allowed,
        "used": used if priced else {**used, "cost_usd": None},
        "left": {name: _left(allowed[name], spent) for name, spent in used.items()},
    }


def _left(limit: float | None, spent: float | None) -> float | None:
    return None if limit is None else round(max(0, limit - (spent or 0)), 9)

"""What runs and agents may use, and what they have used."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Field

from dcf.mcp.approval_token import check_approval_token
from dcf.mcp.budget_view import agent_budget, run_budget, write_agent_budget
from dcf.mcp.envelope import Envelope, Refused
from dcf.mcp.help import Obvious
from dcf.mcp.kinds import RunId
from dcf.mcp.platform import Platform
from dcf.mcp.tool import tool
from dcf.tools import Budget

AgentOf = Annotated[str, Obvious("The agent.")]


class BudgetRead(Envelope, total=False):
    """A budget; null in a limit: there is none."""

    workflow_id: Annotated[str, Field(description="The run.")]
    agent_id: Annotated[str, Field(description="The agent.")]
    limits: Annotated[
        dict[str, Any],
        Field(description="tool_calls, wall_time_s, model_calls, tokens, cost_usd."),
    ]
    used: Annotated[
        dict[str, Any],
        Field(description="The same, reservations too; cost_usd null: a price is not known."),
    ]
    left: Annotated[dict[str, Any], Field(description="The same.")]


@tool("planner", "conductor", "strategist", "worker")
async def read_budget(
    platform: Platform,
    workflow_id: Annotated[RunId | None, Obvious("The run.")] = None,
    agent_id: Annotated[str | None, "Or the agent outside runs."] = None,
) -> BudgetRead:
    """Read what a run or an agent may use and has used."""
    if (workflow_id is None) == (agent_id is None):
        raise Refused("bad_arguments", "name either workflow_id or agent_id")
    if workflow_id is not None:
        return {"workflow_id": workflow_id, **await run_budget(platform, workflow_id)}  # type: ignore[typeddict-item]
    return {"agent_id": str(agent_id), **await agent_budget(platform, str(agent_id))}  # type: ignore[typeddict-item]


@tool(strict=True)
async def set_budget(
    platform: Platform,
    agent_id: AgentOf,
    tool_calls: Annotated[int | None, "Calls; none: no limit of its own.", Field(ge=0)] = None,
    wall_time_s: Annotated[float | None, Obvious("Seconds at work."), Field(ge=0)] = None,
    approval_token: Annotated[str | None, Obvious("Secret of those who approve.")] = None,
    model_calls: Annotated[int | None, Obvious("Requests to models."), Field(ge=0)] = None,
    tokens: Annotated[int | None, Obvious("What models read and write."), Field(ge=0)] = None,
    cost_usd: Annotated[float | None, Obvious("US dollars."), Field(ge=0)] = None,
) -> BudgetRead:
    """Set the budget of an agent outside runs. The policy's stays the upper bound; that of a run
    stands in its document."""
    check_approval_token(platform, approval_token)
    limits = Budget(tool_calls, wall_time_s, model_calls, tokens, cost_usd)
    await write_agent_budget(platform, agent_id, limits)
    return {"agent_id": agent_id, **await agent_budget(platform, agent_id)}  # type: ignore[typeddict-item]


FAMILY = (read_budget, set_budget)

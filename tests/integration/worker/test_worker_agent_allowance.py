"""The budget of an agent outside runs: whoever spends it, it is never overdrawn."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from decimal import Decimal
from pathlib import Path

import pytest
from memory_world import Numbered, Ticking

from control_plane import AgentChange, AgentStore, RedisBackend, read_agent_history
from dcf.agents.loading import BUDGET, USAGE
from dcf.agents.models import Bound, ModelBudgetExhausted, PriceUnknown, Used
from dcf.memory import SYSTEM, Agent, Memory, NewAgent, Source
from dcf.tools import Budget, Policy
from dcf.worker import AgentAllowances

BOUND = Bound("m", 100, Decimal("0.01"))
USED = Used("m", 30, 10, 0, Decimal("0.002"), 5)


@pytest.fixture
async def agents(redis_url: str) -> AsyncIterator[AgentStore]:
    backend = RedisBackend.from_url(redis_url)
    yield AgentStore(backend)
    await backend.close()


@pytest.fixture
async def agent(tmp_path: Path) -> Agent:
    source = Source(tmp_path / "memory.db")
    async with Memory.open(source, clock=Ticking(), new_id=Numbered()) as memory:
        return await memory.agents.create(NewAgent("ann"), by=SYSTEM)


async def with_budget(agents: AgentStore, agent: Agent, **limits: float) -> AgentAllowances:
    await agents.create(agent.id, agent.name)
    await agents.update(agent.id, lambda _: AgentChange(members={BUDGET: limits}))
    return AgentAllowances(agents, Policy)


async def used(agents: AgentStore, agent: Agent) -> dict[str, int]:
    document = await agents.get(agent.id)
    assert document is not None
    return dict(document.record.get(USAGE) or {})


async def test_what_was_used_takes_the_place_of_what_was_reserved(
    agents: AgentStore, agent: Agent
) -> None:
    # Without a record before: the first request makes it.
    allowance = AgentAllowances(agents, Policy).of(agent)
    name = await allowance.reserve(BOUND)
    reserved = await used(agents, agent)
    assert (reserved["model_calls"], reserved["tokens"]) == (1, 100)
    assert reserved["nano_usd"] == 10_000_000
    await allowance.settle(name, USED)
    settled = await used(agents, agent)
    assert (settled["model_calls"], settled["tokens"]) == (1, 40)
    assert settled["nano_usd"] == 2_000_000
    kinds = [entry.event["type"] async for entry in read_agent_history(agents, agent.id)]
    assert kinds == ["AgentCreated", "ModelCall"]


async def test_many_at_once_never_overdraw_it(agents: AgentStore, agent: Agent) -> None:
    allowances = await with_budget(agents, agent, tokens=450)
    asked = [allowances.of(agent).reserve(BOUND) for _ in range(12)]
    answers = await asyncio.gather(*asked, return_exceptions=True)
    refused = [one for one in answers if isinstance(one, ModelBudgetExhausted)]
    assert len(refused) == 8 and (await used(agents, agent))["tokens"] == 400


@pytest.mark.parametrize(
    "limits", [{"model_calls": 0}, {"tokens": 99}, {"cost_usd": 0.0099}], ids=str
)
async def test_each_limit_is_asked_before_the_request(
    agents: AgentStore, agent: Agent, limits: dict[str, float]
) -> None:
    allowances = await with_budget(agents, agent, **limits)
    with pytest.raises(ModelBudgetExhausted, match="the budget of this agent is spent"):
        await allowances.of(agent).reserve(BOUND)
    assert "model_calls" not in await used(agents, agent)
    kinds = [entry.event["type"] async for entry in read_agent_history(agents, agent.id)]
    assert kinds[-1] == "ModelCallRefused"


async def test_a_limit_of_money_needs_a_price(agents: AgentStore, agent: Agent) -> None:
    allowances = await with_budget(agents, agent, cost_usd=1.0)
    with pytest.raises(PriceUnknown):
        await allowances.of(agent).reserve(Bound("m", 100, None))


async def test_the_policy_is_the_upper_bound_and_may_change(
    agents: AgentStore, agent: Agent
) -> None:
    policies = [Policy(budgets={"agent": Budget(model_calls=0)}), Policy()]
    allowance = AgentAllowances(agents, lambda: policies[0]).of(agent)
    with pytest.raises(ModelBudgetExhausted):
        await allowance.reserve(BOUND)
    policies.pop(0)
    await allowance.reserve(BOUND)

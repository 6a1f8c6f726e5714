"""What agents may ask of models in their own conversations: the budget of each."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress

from control_plane import (
    AgentChange,
    AgentDocument,
    AgentExists,
    AgentStore,
    BadName,
    NameTaken,
)
from control_plane import UnknownAgent as NoRecord
from dcf.agents.loading import BUDGET, USAGE, Usage
from dcf.agents.models import Allowance, Bound, ModelBudgetExhausted, PriceUnknown, Used, nano_of
from dcf.memory import Agent
from dcf.tools import Budget, Policy, spent_words
from dcf.worker.model_allowance import told_of, usd_of

_MEMBERS = (BUDGET, USAGE)
Plan = Callable[[AgentDocument], AgentChange | None]


class AgentAllowances:
    """Allowances by agent, in their records in the control plane: all processes in which an agent
    talks spend the same budget. ``policy`` is asked anew each time."""

    def __init__(self, agents: AgentStore, policy: Callable[[], Policy]) -> None:
        self._agents = agents
        self._policy = policy

    def of(self, agent: Agent) -> Allowance:
        """What the agent's next turn may spend."""
        return _AgentAllowance(self._agents, agent, self._policy)


class _AgentAllowance:
    def __init__(self, agents: AgentStore, agent: Agent, policy: Callable[[], Policy]) -> None:
        self._agents = agents
        self._agent = agent
        self._policy = policy
        self._reserved: dict[str, Bound] = {}

    async def reserve(self, bound: Bound) -> str:
        """Raises ModelBudgetExhausted (on record then) and PriceUnknown."""
        refusal: list[Exception] = []
        of_policy = self._policy().budgets.get("agent", Budget())

        def plan(document: AgentDocument) -> AgentChange | None:
            refusal.clear()
            own = Budget.from_document(document.record.get(BUDGET) or {})
            budget, usage = own.lowest(of_policy), Usage.of(document.record)
            if budget.cost_usd is not None and bound.cost_usd is None:
                refusal.append(_priceless(bound))
                return None
            nano = nano_of(bound.cost_usd) or 0
            over = usage.over_models(budget, tokens=bound.tokens, nano_usd=nano)
            if over is None:
                taken = usage.asked(1, bound.tokens, nano)
                return AgentChange(members={USAGE: taken.to_json()})
            words = spent_words(over.member, over.limit, over.used, "agent")
            refusal.append(ModelBudgetExhausted(f"{bound.model} was not asked: {words}"))
            refused = {
                "type": "ModelCallRefused",
                "model": bound.model,
                "tokens": bound.tokens,
                "cost_usd": usd_of(bound.cost_usd),
                "what": over.member,
                "limit": over.limit,
                "used": over.used,
            }
            return AgentChange([refused])

        await self._update(plan)
        if refusal:
            raise refusal[0]
        name = self._agents.new_id()
        self._reserved[name] = bound
        return name

    async def settle(self, reservation: str, used: Used) -> None:
        """Put what was used in the place of what was reserved, and on record."""
        bound = self._reserved.pop(reservation)
        nano = (nano_of(used.cost_usd) or 0) - (nano_of(bound.cost_usd) or 0)
        event = {"type": "ModelCall", **told_of(used)}
        unpriced = int(used.cost_usd is None)

        def plan(document: AgentDocument) -> AgentChange:
            before, tokens = Usage.of(document.record), used.tokens - bound.tokens
            usage = before.asked(0, tokens, nano, unpriced)
            return AgentChange([event], {USAGE: usage.to_json()})

        # Who was deleted while its model answered has nobody to keep account for.
        with suppress(NoRecord):
            await self._agents.update(self._agent.id, plan, _MEMBERS)

    async def _update(self, plan: Plan) -> None:
        try:
            await self._agents.update(self._agent.id, plan, _MEMBERS)
        except NoRecord:
            await make_record(self._agents, self._agent)
            await self._agents.update(self._agent.id, plan, _MEMBERS)


async def make_record(agents: AgentStore, agent: Agent) -> None:
    """Give an agent of the runtime a record in the control plane, if it has none: with its name,
    or with its id where that cannot be the name of a record."""
    with suppress(AgentExists):
        try:
            await agents.create(agent.id, agent.name, tags=agent.tags)
        except (NameTaken, BadName):
            await agents.create(agent.id, agent.id, tags=agent.tags)


def _priceless(bound: Bound) -> PriceUnknown:
    return PriceUnknown(
        f"the budget of this agent limits money, and the price of {bound.model} is not known: name "
        "it in a file of prices (DCF_MODEL_PRICES)"
    )

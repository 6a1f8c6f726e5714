"""How many calls, and how much time, a piece of work may spend."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal, get_args

from dcf.tools.gate.decision import Decision

Spender = Literal["run", "state", "agent"]
Member = Literal["tool_calls", "wall_time_s", "model_calls", "tokens", "cost_usd"]
MEMBERS: tuple[Member, ...] = get_args(Member)

_SPENT: dict[Member, str] = {
    "tool_calls": "{spent:g} of {limit:g} tool calls are made",
    "wall_time_s": "{spent:g} of {limit:g} seconds have passed",
    "model_calls": "{spent:g} of {limit:g} requests to models are made",
    "tokens": "{spent:,.0f} of {limit:,.0f} tokens are used or reserved",
    "cost_usd": "{spent:g} of {limit:g} US dollars are spent or reserved",
}


@dataclass(frozen=True, slots=True)
class Budget:
    """None is no limit. ``wall_time_s`` is in seconds, ``cost_usd`` in US dollars; ``model_calls``
    are requests to models, ``tokens`` what they read and write.

    >>> Budget(tool_calls=5).lowest(Budget(tool_calls=9, wall_time_s=60)).to_json()
    {'tool_calls': 5, 'wall_time_s': 60}
    """

    tool_calls: int | None = None
    wall_time_s: float | None = None
    model_calls: int | None = None
    tokens: int | None = None
    cost_usd: float | None = None

    @classmethod
    def from_document(cls, document: Mapping[str, Any]) -> Budget:
        """Of ``{"tool_calls": …, "wall_time_s": …, …}``, where each may be missing."""
        return cls(**{member: document.get(member) for member in MEMBERS})

    def to_json(self) -> dict[str, Any]:
        """The limits that there are."""
        limits = {member: getattr(self, member) for member in MEMBERS}
        return {member: limit for member, limit in limits.items() if limit is not None}

    def lowest(self, other: Budget) -> Budget:
        """The budget that keeps both."""
        here, there = self.to_json(), other.to_json()
        both = {one: [limits[one] for limits in (here, there) if one in limits] for one in MEMBERS}
        return Budget(**{one: min(limits) for one, limits in both.items() if limits})


def spent_words(member: Member, limit: float, spent: float, of: Spender) -> str:
    """That the budget of ``of`` is spent, and by how much."""
    what = _SPENT[member].format(limit=limit, spent=spent)
    return f"the budget of this {of} is spent: {what}"


def denied_by_budget(
    decision: Decision, member: Member, limit: float, spent: float, of: Spender
) -> Decision:
    """The denial of a call that the gate allowed, because the budget of ``of`` is spent."""
    reason = spent_words(member, limit, spent, of)
    return replace(decision, verdict="deny", rule=f"budget.{member}", reason=reason, details=())

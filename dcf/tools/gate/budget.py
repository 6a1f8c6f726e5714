"""How many calls, and how much time, a piece of work may spend."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

from dcf.tools.gate.decision import Decision

Spender = Literal["run", "state", "agent"]
Member = Literal["tool_calls", "wall_time_s"]

_SPENT: dict[Member, str] = {
    "tool_calls": "{spent:g} of {limit:g} tool calls are made",
    "wall_time_s": "{spent:g} of {limit:g} seconds have passed",
}


@dataclass(frozen=True, slots=True)
class Budget:
    """None is no limit. ``wall_time_s`` is in seconds.

    >>> Budget(tool_calls=5).lowest(Budget(tool_calls=9, wall_time_s=60))
    Budget(tool_calls=5, wall_time_s=60)
    """

    tool_calls: int | None = None
    wall_time_s: float | None = None

    @classmethod
    def from_document(cls, document: Mapping[str, Any]) -> Budget:
        """Of ``{"tool_calls": …, "wall_time_s": …}``, where each may be missing."""
        return cls(document.get("tool_calls"), document.get("wall_time_s"))

    def lowest(self, other: Budget) -> Budget:
        """The budget that keeps both."""
        calls = [n for n in (self.tool_calls, other.tool_calls) if n is not None]
        times = [s for s in (self.wall_time_s, other.wall_time_s) if s is not None]
        return Budget(min(calls, default=None), min(times, default=None))


def denied_by_budget(
    decision: Decision, member: Member, limit: float, spent: float, of: Spender
) -> Decision:
    """The denial of a call that the gate allowed, because the budget of ``of`` is spent."""
    what = _SPENT[member].format(limit=limit, spent=spent)
    reason = f"the budget of this {of} is spent: {what}"
    return replace(decision, verdict="deny", rule=f"budget.{member}", reason=reason, details=())

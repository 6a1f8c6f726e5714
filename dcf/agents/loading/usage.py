"""What the tool calls of an agent outside runs have used, in its record."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

from dcf.tools import Budget

USAGE = "usage"
BUDGET = "budget"


@dataclass(frozen=True, slots=True)
class Spent:
    """What is used up, in the units of ``dcf.tools.Budget``."""

    member: Literal["tool_calls", "wall_time_s"]
    limit: float
    used: float


@dataclass(frozen=True, slots=True)
class Usage:
    """Calls that were allowed, and ms at work: from the opening of a ledger to its last answer.
    Pieces of work at the same time add up; the time in which nobody works, for instance waiting for
    an approval, does not count."""

    tool_calls: int = 0
    wall_time_ms: int = 0

    @classmethod
    def of(cls, record: Mapping[str, Any]) -> Usage:
        """The usage in an agent's record."""
        kept = record.get(USAGE) or {}
        return cls(int(kept.get("tool_calls", 0)), int(kept.get("wall_time_ms", 0)))

    def to_json(self) -> dict[str, int]:
        return {"tool_calls": self.tool_calls, "wall_time_ms": self.wall_time_ms}

    def after(self, ms: int) -> Usage:
        """With so much more time at work."""
        return replace(self, wall_time_ms=self.wall_time_ms + max(0, ms))

    def one_more(self) -> Usage:
        """With one more call."""
        return replace(self, tool_calls=self.tool_calls + 1)

    def over(self, budget: Budget) -> Spent | None:
        """What ``budget`` has none left of for another call."""
        if budget.tool_calls is not None and self.tool_calls >= budget.tool_calls:
            return Spent("tool_calls", budget.tool_calls, self.tool_calls)
        seconds = self.wall_time_ms / 1000
        if budget.wall_time_s is not None and seconds >= budget.wall_time_s:
            return Spent("wall_time_s", budget.wall_time_s, seconds)
        return None

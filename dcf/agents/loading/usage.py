"""What the tool calls of an agent outside runs have used, in its record."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields, replace
from typing import Any, Literal

from dcf.tools import Budget

USAGE = "usage"
BUDGET = "budget"


@dataclass(frozen=True, slots=True)
class Spent:
    """What is used up, in the units of ``dcf.tools.Budget``."""

    member: Literal["tool_calls", "wall_time_s", "model_calls", "tokens", "cost_usd"]
    limit: float
    used: float


@dataclass(frozen=True, slots=True)
class Usage:
    """Calls that were allowed, and ms at work: from the opening of a ledger to its last answer.
    Pieces of work at the same time add up; the time in which nobody works, for instance waiting for
    an approval, does not count. Then
    what its own conversations asked of models: requests, tokens and billionths of a dollar, with
    what is reserved; ``unpriced`` of the requests have a price that nobody knows."""

    tool_calls: int = 0
    wall_time_ms: int = 0
    model_calls: int = 0
    tokens: int = 0
    nano_usd: int = 0
    unpriced: int = 0

    @classmethod
    def of(cls, record: Mapping[str, Any]) -> Usage:
        """The usage in an agent's record."""
        kept = record.get(USAGE) or {}
        return cls(**{field.name: int(kept.get(field.name, 0)) for field in fields(cls)})

    def to_json(self) -> dict[str, int]:
        """What there is of it; tool calls and time always."""
        always = ("tool_calls", "wall_time_ms")
        return {name: one for name, one in asdict(self).items() if one or name in always}

    def after(self, ms: int) -> Usage:
        """With so much more time at work."""
        return replace(self, wall_time_ms=self.wall_time_ms + max(0, ms))

    def one_more(self) -> Usage:
        """With one more call."""
        return replace(self, tool_calls=self.tool_calls + 1)

    def asked(self, requests: int, tokens: int, nano_usd: int, unpriced: int = 0) -> Usage:
        """With so much more asked of models."""
        return replace(
            self,
            model_calls=self.model_calls + requests,
            tokens=self.tokens + tokens,
            nano_usd=self.nano_usd + nano_usd,
            unpriced=self.unpriced + unpriced,
        )

    def over_models(self, budget: Budget, *, tokens: int, nano_usd: int) -> Spent | None:
        """What ``budget`` has not enough left of for a request that may take so much."""
        if budget.model_calls is not None and self.model_calls >= budget.model_calls:
            return Spent("model_calls", budget.model_calls, self.model_calls)
        if budget.tokens is not None and self.tokens + tokens > budget.tokens:
            return Spent("tokens", budget.tokens, self.tokens)
        dollars = (self.nano_usd + nano_usd) / 1e9
        if budget.cost_usd is not None and dollars > budget.cost_usd:
            return Spent("cost_usd", budget.cost_usd, self.nano_usd / 1e9)
        return None

    def over(self, budget: Budget) -> Spent | None:
        """What ``budget`` has none left of for another call."""
        if budget.tool_calls is not None and self.tool_calls >= budget.tool_calls:
            return Spent("tool_calls", budget.tool_calls, self.tool_calls)
        seconds = self.wall_time_ms / 1000
        if budget.wall_time_s is not None and seconds >= budget.wall_time_s:
            return Spent("wall_time_s", budget.wall_time_s, seconds)
        return None

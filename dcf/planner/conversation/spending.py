"""What drafting a procedure may cost."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal

from dcf.agents.models import Bound, ModelBudgetExhausted, PriceUnknown, Used


@dataclass(frozen=True, slots=True)
class DraftLimits:
    """At most so many ``rounds`` (drafts that were checked) and ``requests`` to the model for one
    set of wishes, so many ``tokens``, and US dollars where money is limited."""

    rounds: int = 4
    requests: int = 16
    tokens: int = 400_000
    cost_usd: Decimal | None = None


class Spending:
    """An allowance of ``limits``. What was reserved and never settled stays taken."""

    def __init__(self, limits: DraftLimits) -> None:
        self._limits = limits
        self._taken: dict[str, tuple[int, Decimal]] = {}
        self.tokens = 0
        self.cost_usd: Decimal | None = Decimal(0)

    async def reserve(self, bound: Bound) -> str:
        """Raises ModelBudgetExhausted, PriceUnknown."""
        limits = self._limits
        taken = self.tokens + sum(tokens for tokens, _ in self._taken.values())
        if taken + bound.tokens > limits.tokens:
            raise ModelBudgetExhausted(
                f"a draft may use {limits.tokens:,} tokens; {taken:,} are gone, and the next "
                f"request may use {bound.tokens:,}"
            )
        if limits.cost_usd is not None:
            if bound.cost_usd is None or self.cost_usd is None:
                raise PriceUnknown(f"nobody knows what {bound.model} costs")
            spent = self.cost_usd + sum((cost for _, cost in self._taken.values()), Decimal(0))
            if spent + bound.cost_usd > limits.cost_usd:
                raise ModelBudgetExhausted(
                    f"a draft may cost ${limits.cost_usd}; ${spent:.4f} is gone"
                )
        name = f"r{len(self._taken)}-{self.tokens}"
        self._taken[name] = (bound.tokens, bound.cost_usd or Decimal(0))
        return name

    async def settle(self, reservation: str, used: Used) -> None:
        self._taken.pop(reservation, None)
        self.tokens += used.tokens
        known = self.cost_usd is not None and used.cost_usd is not None
        self.cost_usd = self.cost_usd + used.cost_usd if known else None  # type: ignore[operator]

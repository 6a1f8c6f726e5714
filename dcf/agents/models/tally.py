"""What one piece of work has asked of models so far."""

from __future__ import annotations

from decimal import Decimal

from dcf.agents.models.allowance import Allowance, Bound, Unlimited, Used


class Tally:
    """An allowance that counts what passes to another one."""

    def __init__(self, allowance: Allowance | None = None) -> None:
        self._allowance = allowance or Unlimited()
        self._cost: Decimal | None = Decimal(0)
        self.requests = 0

    async def reserve(self, bound: Bound) -> str:
        reservation = await self._allowance.reserve(bound)
        self.requests += 1
        return reservation

    async def settle(self, reservation: str, used: Used) -> None:
        known = self._cost is not None and used.cost_usd is not None
        self._cost = self._cost + used.cost_usd if known else None  # type: ignore[operator]
        await self._allowance.settle(reservation, used)

    @property
    def cost_usd(self) -> float | None:
        """US dollars of what was settled; None once a price was not known."""
        return None if self._cost is None else float(self._cost)

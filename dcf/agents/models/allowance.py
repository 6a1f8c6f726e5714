"""What a piece of work may still ask of models: reserved before a request, settled after it."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import ROUND_CEILING, Decimal
from typing import Final, Protocol

NANO: Final = Decimal(1_000_000_000)


def nano_of(cost: Decimal | None) -> int | None:
    """Billionths, the last one whole: what is spent is never less than it was."""
    return None if cost is None else int((cost * NANO).to_integral_value(ROUND_CEILING))


@dataclass(frozen=True, slots=True)
class Bound:
    """The most that a request can use. ``cost_usd`` is None where nobody knows the price."""

    model: str
    tokens: int
    cost_usd: Decimal | None


@dataclass(frozen=True, slots=True)
class Used:
    """What a request used, by the provider's count. ``estimated``: the provider did not say, and
    these are the numbers of the bound. ``failure`` is the error name of one that failed."""

    model: str
    input_tokens: int
    output_tokens: int
    cached_tokens: int
    cost_usd: Decimal | None
    duration_ms: int
    estimated: bool = False
    failure: str | None = None

    @property
    def tokens(self) -> int:
        return self.input_tokens + self.output_tokens


class Allowance(Protocol):
    """The budgets of one piece of work, shared with whoever else spends them."""

    async def reserve(self, bound: Bound) -> str:
        """Take ``bound`` from the budgets; the name of the reservation. Raises
        ModelBudgetExhausted, PriceUnknown, and whatever says that the authority over the work is
        lost. What is never settled stays taken."""
        ...

    async def settle(self, reservation: str, used: Used) -> None:
        """Put what was really used in the place of the reservation, and on record."""
        ...


class Unlimited:
    """No budget; ``used`` keeps what was settled, in order."""

    def __init__(self) -> None:
        self.used: list[Used] = []

    async def reserve(self, bound: Bound) -> str:
        return ""

    async def settle(self, reservation: str, used: Used) -> None:
        self.used.append(used)

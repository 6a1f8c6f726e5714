"""What can go wrong while a model is asked for observations."""

from __future__ import annotations

from typing import Any

from dcf.memory.errors import MemoryProblem


class ClaimLost(MemoryProblem):
    """Event {event} of {source_id} was taken over by another process."""

    code = "memory_extraction_claim_lost"
    hint = "it is that process's now: nothing was kept here, and nothing is lost"


class BudgetUsedUp(MemoryProblem):
    """A request of up to {tokens:,} tokens does not fit in the {limit:,} of {span}, of which {used:,} are used."""  # noqa: E501

    code = "memory_extraction_budget"
    hint = "DCF_EXTRACT_HOUR and DCF_EXTRACT_DAY set the budgets"

    def __init__(self, *, again_at: int | None, **fields: Any) -> None:
        """``again_at`` (ms) is when it will fit; None: never."""
        self.again_at = again_at
        super().__init__(**fields)


class RateReached(MemoryProblem):
    """{limit:,} requests were sent within a minute."""

    code = "memory_extraction_rate"
    hint = "DCF_EXTRACT_RATE sets how many may be"

    def __init__(self, *, again_at: int, **fields: Any) -> None:
        """``again_at`` (ms) is when the next one may be sent."""
        self.again_at = again_at
        super().__init__(**fields)

"""Requests to models under a lease: reserved before they are sent, billed after."""

from __future__ import annotations

from typing import Any

from control_plane import payload
from control_plane.lease import NO_BUDGET, Budget, Lease, OverBudget, Refusal
from control_plane.tool_calls import ToolCalls


class ModelCalls(ToolCalls):
    """What models are asked under the leases of runs."""

    async def reserve(
        self,
        lease: Lease,
        call: str,
        refused: dict[str, Any],
        *,
        tokens: int,
        nano_usd: int | None,
        try_budget: Budget = NO_BUDGET,
        run_budget: Budget = NO_BUDGET,
    ) -> OverBudget | Refusal | None:
        """Take ``tokens`` and billionths of a US dollar (None: nobody knows the price) for one
        request from the budgets; None when they fit. ``call`` (``new_id``) is the name of the
        reservation: the same again is the same one. ``refused`` is recorded when they do not fit.
        """
        request = self._about(lease, call, tokens, nano_usd)
        budgets = {"try": try_budget.to_json(), "run": run_budget.to_json()}
        request["budget"] = {name: limits for name, limits in budgets.items() if limits}
        answer = await self.call("reserve", lease.workflow_id, request, payload.to_text(refused))
        if answer[0] == "over_budget":
            return OverBudget(answer[1], answer[2], float(answer[3]), float(answer[4]))
        return _refusal(answer)

    async def bill(
        self, lease: Lease, call: str, event: dict[str, Any], *, tokens: int, nano_usd: int | None
    ) -> Refusal | None:
        """Put what the request used in the place of its reservation, and ``event`` into the
        history; once for each reservation."""
        request = self._about(lease, call, tokens, nano_usd)
        answer = await self.call("bill", lease.workflow_id, request, payload.to_text(event))
        return _refusal(answer)

    def _about(self, lease: Lease, call: str, tokens: int, nano_usd: int | None) -> dict[str, Any]:
        about = {"call": call, "tokens": tokens, "nano": nano_usd}
        return {**lease.credentials, **about, "events_limit": self._limits["events_limit"]}


def _refusal(answer: list[Any]) -> Refusal | None:
    if answer[0] == "ok":
        return None
    return Refusal(answer[0], tuple(str(part) for part in answer[1:-1]))

"""What the work of one lease may ask of models: the budgets of its try and of its run."""

from __future__ import annotations

from decimal import Decimal
from typing import Any, Literal

from control_plane import Budget as Limits
from control_plane import Lease, OverBudget, Refusal, Store
from dcf.agents import TaskError
from dcf.agents.models import NANO, Bound, ModelBudgetExhausted, PriceUnknown, Used, nano_of
from dcf.tools import Budget, spent_words
from dcf.worker.lease_lost import LeaseLost
from dcf.worker.patience import patiently

_LIMIT_EXCEEDED = "DCF.LimitExceeded"
_WHOSE: dict[str, Literal["state", "run"]] = {"try": "state", "run": "run"}


class LeaseAllowance:
    """A ``dcf.agents.models.Allowance`` in the control plane: all workers of a run spend the same
    budget, and who lost the lease can ask nothing more. Every request is in the history with what
    it used, every refusal too."""

    def __init__(self, store: Store, lease: Lease, of_try: Budget, of_run: Budget) -> None:
        self._store = store
        self._lease = lease
        self._budgets = {"try_budget": limits_of(of_try), "run_budget": limits_of(of_run)}
        self._about = {
            "path": lease.path,
            "visit": lease.visit,
            "try": lease.try_,
            "owner": lease.owner,
        }

    async def reserve(self, bound: Bound) -> str:
        """Raises ModelBudgetExhausted (on record then), PriceUnknown, LeaseLost, and TaskError when
        the run's history is full."""
        name = self._store.new_id()
        refused = {"type": "ModelCallRefused", "model": bound.model, **self._about}
        answer = await patiently(
            self._lease,
            lambda: self._store.reserve(
                self._lease,
                name,
                {**refused, "tokens": bound.tokens, "cost_usd": usd_of(bound.cost_usd)},
                tokens=bound.tokens,
                nano_usd=nano_of(bound.cost_usd),
                **self._budgets,
            ),
        )
        if isinstance(answer, OverBudget):
            spent = spent_words(answer.what, answer.limit, answer.used, _WHOSE[answer.whose])
            raise ModelBudgetExhausted(
                f"{bound.model} was not asked: {spent}{_wanted(bound, answer)}"
            )
        if answer is not None:
            raise self._raised(answer, bound)
        return name

    async def settle(self, reservation: str, used: Used) -> None:
        """Put what was used on record. Raises LeaseLost."""
        answer = await patiently(
            self._lease,
            lambda: self._store.bill(
                self._lease,
                reservation,
                {"type": "ModelCall", **self._about, **told_of(used)},
                tokens=used.tokens,
                nano_usd=nano_of(used.cost_usd),
            ),
        )
        if answer is not None and answer.code != "limit_exceeded":
            raise LeaseLost(answer.code)

    def _raised(self, refusal: Refusal, bound: Bound) -> Exception:
        if refusal.code == "price_unknown":
            whose = _WHOSE[refusal.detail[0]]
            return PriceUnknown(
                f"the budget of this {whose} limits money, and the price of {bound.model} is not "
                "known: name it in a file of prices (DCF_MODEL_PRICES)"
            )
        if refusal.code == "limit_exceeded":
            return TaskError(_LIMIT_EXCEEDED, "the run used up its events")
        return LeaseLost(refusal.code)


def limits_of(budget: Budget) -> Limits:
    """A budget in the units of the control plane."""
    seconds, dollars = budget.wall_time_s, budget.cost_usd
    return Limits(
        tool_calls=budget.tool_calls,
        wall_ms=None if seconds is None else round(seconds * 1000),
        model_calls=budget.model_calls,
        tokens=budget.tokens,
        nano_usd=None if dollars is None else int(Decimal(str(dollars)) * NANO),
    )


def usd_of(cost: Decimal | None) -> float | None:
    """As records have it."""
    return None if cost is None else float(cost)


def _wanted(bound: Bound, over: OverBudget) -> str:
    """What the request would have taken, where that is not plainly one."""
    if over.what == "tokens":
        return f", and this request may take {bound.tokens:,}"
    if over.what == "cost_usd" and bound.cost_usd is not None:
        return f", and this request may cost {float(bound.cost_usd):g}"
    return ""


def told_of(used: Used) -> dict[str, Any]:
    """The members of the event; ``estimated`` and ``error`` only where they say something."""
    told: dict[str, Any] = {
        "model": used.model,
        "input_tokens": used.input_tokens,
        "output_tokens": used.output_tokens,
        "cached_tokens": used.cached_tokens,
        "cost_usd": usd_of(used.cost_usd),
        "duration_ms": used.duration_ms,
    }
    if used.estimated:
        told["estimated"] = True
    if used.failure:
        told["error"] = used.failure
    return told

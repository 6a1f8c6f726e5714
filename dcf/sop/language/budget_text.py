"""Budgets in words: ``20 tool calls, 10000 tokens, 1.50 USD, 10 minutes``."""

from __future__ import annotations

import re
from typing import Any

from dcf.sop.conduct import Budget
from dcf.sop.language.duration import print_duration, read_duration
from dcf.sop.language.phrase import Unreadable

_COUNT = re.compile(r"([0-9]{1,15}) (tool calls?|model calls?|tokens?)")
_COST = re.compile(r"\$ ?([0-9.]+)|([0-9.]+(?:e-?[0-9]+)?) ?(?:usd|dollars?)")
_HINT = "write some of `20 tool calls, 5 model calls, 10000 tokens, 1.50 USD, 10 minutes`"


def read_budget(text: str) -> Budget:
    """Raises ``Unreadable``."""
    limits: dict[str, Any] = {}
    parts = re.split(r"\s*,\s*(?:and\s+)?|\s+and\s+", text.strip().rstrip(".").lower())
    for part in parts:
        name, value = _limit(text, re.sub(r"^(?:at most|up to) ", "", part))
        if name in limits:
            raise Unreadable(
                "SOP_BUDGET", f"the budget {text!r} names {name} twice", "keep one of the two"
            )
        limits[name] = value
    return Budget(**limits)


def _limit(text: str, part: str) -> tuple[str, int | float]:
    if found := _COUNT.fullmatch(part):
        return found[2].replace(" ", "_").rstrip("s") + "s", int(found[1])
    if found := _COST.fullmatch(part):
        try:
            cost = float(found[1] or found[2])
        except ValueError:
            cost = 0.0
        if 0 < cost < 1e9:
            return "cost_usd", cost
        raise Unreadable(
            "SOP_BUDGET", f"the budget {text!r}: {part!r} is no amount of money", _HINT
        )
    try:
        return "wall_time_s", read_duration(part)
    except Unreadable:
        raise Unreadable(
            "SOP_BUDGET", f"the budget {text!r}: {part!r} is no limit", _HINT
        ) from None


def print_budget(budget: Budget) -> str:
    """As ``read_budget`` reads it."""
    parts = [
        f"{limit} {name.replace('_', ' ')}"
        for name in ("tool_calls", "model_calls", "tokens")
        if (limit := getattr(budget, name)) is not None
    ]
    if budget.cost_usd is not None:
        parts.append(f"{_amount(float(budget.cost_usd))} USD")
    if budget.wall_time_s is not None:
        parts.append(print_duration(budget.wall_time_s))
    return ", ".join(parts)


def _amount(cost: float) -> str:
    """``2``, ``1.50``; with more digits where two are not all."""
    if cost.is_integer():
        return str(int(cost))
    cents = f"{cost:.2f}"
    return cents if float(cents) == cost else str(cost)

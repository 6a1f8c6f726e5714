"""Deadlines and budgets of the YAML form."""

from __future__ import annotations

from typing import Any

from dcf.sop.conduct import Budget
from dcf.sop.findings import Findings
from dcf.sop.language.duration import read_duration


def read_duration_of(place: Any, findings: Findings) -> int | None:
    """Seconds of a place; None where there is none, or it cannot be read."""
    if place is None:
        return None
    return findings.attempt(lambda: read_duration(place.value), place.value, place.mark[0])


def read_budget_of(place: Any, findings: Findings) -> Budget | None:
    """The budget of a place of the shape that the schema demands; None where there is none."""
    if place is None:
        return None
    limits = {name: value for name, value in place.value.items() if name != "wall_time"}
    if "cost_usd" in limits:
        limits["cost_usd"] = float(limits["cost_usd"])
    return Budget(**limits, wall_time_s=read_duration_of(place.member("wall_time"), findings))
